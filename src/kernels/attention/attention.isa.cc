#include "kernels/attention/attention.h"

#include "kernels/attention/blocks.h"
#include "kernels/gemm/gemm.h"
#include "kernels/pack/pack.h"
#include "kernels/reduce/sum.inl"

namespace mica::MICA_ISA {

extern const GemmKernels gemm_kernels;

namespace {

constexpr float kInfinity = __builtin_inff();

// A block of queries of one head.
struct Block {
  int64_t batch, head, first, rows;
  const float *q, *k, *v;
  float* y;
  int64_t keys;  // the first so many hold all that its queries see
};

// The keys that a query sees: low to high - 1.
struct Range {
  int64_t low, high;
};
Range seen_by(const AttentionArgs& args, const AttentionOperands& at, int64_t batch, int64_t query) {
  const int64_t length = args.has_lengths ? at.lengths[batch] : args.shape.keys;
  const int64_t place = query + (args.has_lengths ? length - args.shape.queries : args.past);
  Range range{0, length};
  if (args.has_mask) range.high = least(range.high, args.mask_keys);
  if (args.right >= 0) range.high = least(range.high, place + args.right + 1);
  if (args.left >= 0 && place - args.left > 0) range.low = place - args.left;
  if (range.high < 0) range.high = 0;
  if (range.low > range.high) range.low = range.high;
  return range;
}

Block block_of(const AttentionArgs& args, const AttentionOperands& at, int64_t task) {
  const AttentionShape& s = args.shape;
  Block b{};
  b.head = task / args.blocks % s.heads;
  b.batch = task / args.blocks / s.heads;
  b.first = task % args.blocks * args.row_block;
  b.rows = least(args.row_block, s.queries - b.first);
  const int64_t kv_head = b.head / (s.heads / s.kv_heads);
  b.q = at.q + b.batch * args.q.batch + b.head * args.q.head + b.first * args.q.row;
  b.k = at.k + b.batch * args.k.batch + kv_head * args.k.head;
  b.v = at.v + b.batch * args.v.batch + kv_head * args.v.head;
  b.y = at.y + b.batch * args.y.batch + b.head * args.y.head + b.first * args.y.row;
  b.keys = seen_by(args, at, b.batch, b.first + b.rows - 1).high;  // later queries see later keys
  return b;
}

// c = factor · a · b for one block, b plain.
void product(const GemmArgs& plain, float* packing) {
  GemmArgs g = plain;
  const attention::Panels panels = attention::panels_of(g.problem.n, g.problem.k);
  const int64_t all = (g.problem.n + kPanel - 1) / kPanel;
  g.choice = {.tile_rows = gemm_kernels.tile_rows,
              .m_block = g.problem.m,
              .n_block = all,
              .n_group = panels.group,
              .k_block = panels.depth,
              .m_tasks = 1,
              .n_tasks = 1,
              .tasks = 1,
              .scratch_floats = attention::kPackingFloats};
  gemm_kernels.run(g, 0, 1, packing);
}

float dot(const float* a, const float* b, int64_t n) {
  constexpr ReduceFunction kSum = ReduceFunction::kSum;
  Sums sum[4];
  MICA_UNROLL for (int j = 0; j < 4; ++j) sum[j] = neutral_sums<kSum>();
  const auto product = [&](F32 to, int64_t at, int width) {
    return fma(load_some(a + at, width), load_some(b + at, width), to);
  };
  int64_t i = 0;
  for (; i + 4 * kSumLanes <= n; i += 4 * kSumLanes)
    MICA_UNROLL for (int j = 0; j < 4; ++j) add_elements(sum[j], i + j * kSumLanes, n, product);
  for (; i < n; i += kSumLanes) add_elements(sum[0], i, n, product);
  return over_lanes<kSum>(combined<kSum>(combined<kSum>(sum[0], sum[1]), combined<kSum>(sum[2], sum[3])));
}

// scores = scale · q · kᵀ.
void scores_of(const AttentionArgs& args, const Block& b, float* scores, float* packing) {
  const AttentionShape& s = args.shape;
  if (s.queries >= attention::kFewQueries) {
    GemmArgs g{.a = b.q, .a_stride = args.q.row, .b = b.k, .b_stride = args.k.row, .c = scores};
    g.problem = {.m = b.rows, .n = b.keys, .k = s.size, .b_form = MatrixForm::kTransposed};
    g.c_stride = args.score_stride;
    g.alpha = args.scale;
    product(g, packing);
    return;
  }
  for (int64_t i = 0; i < b.rows; ++i)
    for (int64_t j = 0; j < b.keys; ++j)
      scores[i * args.score_stride + j] = args.scale * dot(b.q + i * args.q.row, b.k + j * args.k.row, s.size);
}

// One row of the sums of few queries: kWidth vectors of values stay in registers while the keys pass.
template <int kWidth>
void weigh_values(const float* weights, int64_t keys, const float* v, int64_t v_row, float* y, int64_t width) {
  F32 sum[kWidth];
  MICA_UNROLL for (int j = 0; j < kWidth; ++j) sum[j] = zero();
  const auto at = [&](int j) { return static_cast<int>(least(kLanes, width - j * kLanes)); };
  for (int64_t i = 0; i < keys; ++i, v += v_row) {
    const F32 weight = set1(weights[i]);
    MICA_UNROLL for (int j = 0; j < kWidth; ++j) sum[j] = fma(weight, load_some(v + j * kLanes, at(j)), sum[j]);
  }
  MICA_UNROLL for (int j = 0; j < kWidth; ++j) store_some(y + j * kLanes, sum[j], at(j));
}

// y = weights · v, where the rows of weights add up to 1 / factors.
void sums_of(const AttentionArgs& args, const Block& b, const float* weights, const float* factors, float* packing) {
  const AttentionShape& s = args.shape;
  if (s.queries >= attention::kFewQueries) {
    GemmArgs g{.a = weights, .a_stride = args.score_stride, .b = b.v, .b_stride = args.v.row, .c = b.y};
    g.problem = {.m = b.rows, .n = s.value_size, .k = b.keys, .b_form = MatrixForm::kRows};
    g.c_stride = args.y.row;
    product(g, packing);
  } else {
    for (int64_t i = 0; i < b.rows; ++i) {
      const float* row = weights + i * args.score_stride;
      float* y = b.y + i * args.y.row;
      int64_t e = 0;
      for (; e + 4 * kLanes <= s.value_size; e += 4 * kLanes)
        weigh_values<4>(row, b.keys, b.v + e, args.v.row, y + e, 4 * kLanes);
      for (; e < s.value_size; e += kLanes)
        weigh_values<1>(row, b.keys, b.v + e, args.v.row, y + e, least(kLanes, s.value_size - e));
    }
  }
  for (int64_t i = 0; i < b.rows; ++i)
    for (int64_t e = 0; e < s.value_size; e += kLanes) {
      const int width = static_cast<int>(least(kLanes, s.value_size - e));
      float* y = b.y + i * args.y.row + e;
      store_some(y, mul(load_some(y, width), set1(factors[i])), width);
    }
}

void cap_scores(float* row, int64_t begin, int64_t end, float cap) {
  const F32 factor = set1(1 / cap), limit = set1(cap);
  for (int64_t j = begin; j < end; j += kLanes) {
    const int width = static_cast<int>(least(kLanes, end - j));
    store_some(row + j, mul(limit, tanh_of(mul(load_some(row + j, width), factor))), width);
  }
}

void mask_scores(const AttentionArgs& args, const void* mask, int64_t offset, float* row, Range seen) {
  if (args.truth_mask) {
    const auto* shown = static_cast<const uint8_t*>(mask) + offset;
    for (int64_t j = seen.low; j < seen.high; ++j) row[j] = shown[j] ? row[j] : -kInfinity;
    return;
  }
  const float* summand = static_cast<const float*>(mask) + offset;
  for (int64_t j = seen.low; j < seen.high; j += kLanes) {
    const int width = static_cast<int>(least(kLanes, seen.high - j));
    store_some(row + j, add(load_some(row + j, width), load_some(summand + j, width)), width);
  }
}

// Scores to powers of e, zeros where nothing is seen; returns what makes them add up to 1.
float to_weights(float* row, Range seen, int64_t keys, bool zero_nan) {
  for (int64_t j = 0; j < seen.low; ++j) row[j] = 0;
  for (int64_t j = seen.high; j < keys; ++j) row[j] = 0;
  const int64_t count = seen.high - seen.low;
  const float largest = reduce_run<ReduceFunction::kMax>(row + seen.low, count, 1);
  const bool unknown = largest != largest || largest == kInfinity;  // then all powers are NaN, or the sum is
  if (count == 0 || largest == -kInfinity || (zero_nan && unknown)) {
    for (int64_t j = 0; j < keys; ++j) row[j] = 0;
    return 0;
  }
  return 1 / sum_of_powers(row + seen.low, count, largest, row + seen.low);
}

void run_block(const AttentionArgs& args, const AttentionOperands& at, const Block& b, float* scratch) {
  if (b.keys == 0) {
    for (int64_t i = 0; i < b.rows; ++i)
      for (int64_t e = 0; e < args.shape.value_size; ++e) b.y[i * args.y.row + e] = 0;
    return;
  }
  float *scores = scratch, *factors = scores + args.row_block * args.score_stride;
  float* packing = factors + (args.row_block + 15) / 16 * 16;
  scores_of(args, b, scores, packing);
  for (int64_t i = 0; i < b.rows; ++i) {
    float* row = scores + i * args.score_stride;
    const int64_t query = b.first + i;
    const Range seen = seen_by(args, at, b.batch, query);
    if (args.softcap > 0) cap_scores(row, seen.low, seen.high, args.softcap);
    if (args.has_mask)
      mask_scores(args, at.mask, b.batch * args.mask.batch + b.head * args.mask.head + query * args.mask.row, row,
                  seen);
    factors[i] = to_weights(row, seen, b.keys, args.zero_nan);
  }
  sums_of(args, b, scores, factors, packing);
}

void run(const AttentionArgs& args, const AttentionOperands& at, int64_t begin, int64_t end, float* scratch) {
  for (int64_t task = begin; task < end; ++task) run_block(args, at, block_of(args, at, task), scratch);
}

}  // namespace

extern const AttentionKernels attention_kernels;
const AttentionKernels attention_kernels = {.run = run};

}  // namespace mica::MICA_ISA
