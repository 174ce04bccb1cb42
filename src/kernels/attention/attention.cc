#include "kernels/attention/attention.h"

#include "base/isa.h"
#include "kernels/attention/blocks.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                          \
  namespace set {                                  \
  extern const AttentionKernels attention_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const AttentionKernels& attention_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::attention_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::attention_kernels;
}

namespace {

constexpr int64_t kScoreFloats = 48 << 10;  // of a block: a share of the second-level cache
constexpr int64_t kLeastRows = 16;          // fewer do not repay the packing of keys and values
constexpr int64_t kWantedTasks = 8;         // so many that a few threads come out even

int64_t up(int64_t n, int64_t d) { return (n + d - 1) / d; }
int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

}  // namespace

void prepare_attention(AttentionArgs& args) {
  const AttentionShape& s = args.shape;
  args.score_stride = up(s.keys, 16) * 16;
  const int64_t fitting = most(kScoreFloats / args.score_stride, kLeastRows);
  const int64_t wanted = up(kWantedTasks, s.batch * s.heads);
  args.blocks = least(most(up(s.queries, fitting), wanted), up(s.queries, kLeastRows));
  args.row_block = up(s.queries, args.blocks);
  args.blocks = up(s.queries, args.row_block);
  args.tasks = s.batch * s.heads * args.blocks;
  const int64_t packing = s.queries < attention::kFewQueries ? 0 : attention::kPackingFloats;
  args.scratch_floats = args.row_block * args.score_stride + up(args.row_block, 16) * 16 + packing;
}

}  // namespace mica
