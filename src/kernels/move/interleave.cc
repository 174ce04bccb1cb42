#include "kernels/move/interleave.h"

#include <algorithm>

#include "base/isa.h"
#include "kernels/split.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                            \
  namespace set {                                    \
  extern const InterleaveKernels interleave_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const InterleaveKernels& interleave_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::interleave_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::interleave_kernels;
}

void prepare_interleave(InterleaveArgs& args) {
  constexpr int64_t kTaskBytes = 32 << 10;
  const int64_t row_bytes = std::max<int64_t>(1, args.parts * args.row * args.element);
  args.row_block = rows_of_task(args.rows, kTaskBytes / row_bytes);
  args.tasks = (args.rows + args.row_block - 1) / args.row_block;
}

}  // namespace mica
