#include "kernels/norm/norm.h"

#include "kernels/split.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                \
  namespace set {                        \
  extern const NormKernels norm_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const NormKernels& norm_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::norm_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::norm_kernels;
}

void prepare_norm(NormArgs& args) {
  constexpr int64_t kTaskElements = 16384;  // three passes of some microseconds
  const int64_t elements = args.runs * args.n;
  if (args.in_pixel != 0) {
    args.row_block = args.runs > 0 && args.runs < kNormLine ? kNormLine / args.runs : 1;
    args.tasks = elements > 0 ? args.rows / args.groups * ((args.groups + args.row_block - 1) / args.row_block) : 0;
    return;
  }
  args.row_block = elements > 0 ? rows_of_task(args.rows, kTaskElements / elements) : 1;
  args.tasks = elements > 0 ? (args.rows + args.row_block - 1) / args.row_block : 0;
}

}  // namespace mica
