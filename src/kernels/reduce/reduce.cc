#include "kernels/reduce/reduce.h"

#include "base/integers.h"
#include "kernels/split.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                    \
  namespace set {                            \
  extern const ReduceKernels reduce_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const ReduceKernels& reduce_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::reduce_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::reduce_kernels;
}

namespace {

constexpr int64_t kTaskElements = 8192;  // of softmax: some microseconds

int64_t product(const int64_t* dims, int count) {
  int64_t n = 1;
  for (int i = 0; i < count; ++i) n *= dims[i];
  return n;
}

}  // namespace

void prepare_reduce(ReduceArgs& args) {
  args.lane_blocks = ceil_div(args.lanes, kLaneBlock);
  args.tasks = product(args.outer, args.outer_loops) * args.lane_blocks;
}

void prepare_softmax(SoftmaxArgs& args) {
  args.lane_blocks = ceil_div(args.lanes, kLaneBlock);
  const int64_t rows = product(args.outer, args.outer_loops);
  const int64_t elements = args.n <= kShortAxis ? kTaskElements / 8 : kTaskElements;  // gathered one by one
  args.row_block = args.lanes == 1 && args.n > 0 ? rows_of_task(rows, elements / args.n) : 1;
  args.tasks = args.n == 0 ? 0 : ceil_div(rows, args.row_block) * args.lane_blocks;
}

void prepare_arg(ArgArgs& args) {
  args.lane_blocks = ceil_div(args.lanes, kLaneBlock);
  args.tasks = product(args.outer, args.outer_loops) * args.lane_blocks;
}

}  // namespace mica
