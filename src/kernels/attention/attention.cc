#include "kernels/attention/attention.h"

#include "base/integers.h"
#include "base/isa.h"
#include "kernels/attention/blocks.h"
#include "kernels/gemm/gemm.h"
#include "kernels/pack/pack.h"
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

constexpr int64_t kLeastBlockRows = 16;
constexpr int64_t kTileRows = 14;  // of the highest tile, which is the fastest one
// So many that a few threads have equal work, or fewer in numbers that two and four of them share equally.
constexpr int64_t kWantedTasks = 8, kManyTasks = 32, kEvenTasks = 4;

}  // namespace

void prepare_attention(AttentionArgs& args) {
  const AttentionShape& s = args.shape;
  const int64_t key_blocks = ceil_div(s.keys, attention::kMostBlockKeys);
  args.key_block = ceil_div(s.keys, key_blocks * kPanel) * kPanel;
  args.score_stride = key_blocks > 1 ? copied_pitch(args.key_block) : args.key_block;
  const int64_t heads = s.batch * s.heads, most_blocks = ceil_div(s.queries, kLeastBlockRows);
  args.blocks = most(ceil_div(s.queries, attention::kMostBlockRows), least(ceil_div(kWantedTasks, heads), most_blocks));
  while (heads * args.blocks % kEvenTasks != 0 && heads * args.blocks < kManyTasks && args.blocks < most_blocks)
    ++args.blocks;
  args.row_block = ceil_div(s.queries, args.blocks);
  if (args.row_block > kTileRows) args.row_block = ceil_div(args.row_block, kTileRows) * kTileRows;
  args.blocks = ceil_div(s.queries, args.row_block);
  args.tasks = s.batch * s.heads * args.blocks;
  if (s.queries < attention::kFewQueries) {
    args.scratch_floats = args.row_block * args.score_stride;
    return;
  }
  const int64_t sums = key_blocks > 1 ? args.row_block : kMostRows;
  args.scratch_floats = kMostRows * args.score_stride + sums * panel_count(s.value_size) * kPanel;
  args.pack_tasks = 2 * s.batch * s.kv_heads;
  args.packed_head = panels_size(s.size, s.keys) + panels_size(s.keys, s.value_size);
  args.packed_floats = args.packed_head * s.batch * s.kv_heads;
}

}  // namespace mica
