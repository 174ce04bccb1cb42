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
  int64_t first_key, keys;  // all that its queries see is from the one, at which keys are cut, to before the other
};

// The keys that a query sees: low to high - 1.
struct Range {
  int64_t low, high;
};

// A query's scores so far.
struct Running {
  float largest = -kInfinity, sum = 0;  // of powers of e below the largest one
  float fall = 0;                       // of these when the last keys came
};

// Queries, and the block of keys that they meet.
struct Tile {
  const Block* block;
  int64_t row, rows;  // of the block
  Range keys;
  float* scores;
  Running* running;
  float* sums;  // of values before these keys
  int64_t sum_stride;
};
int64_t within(int64_t i, int64_t end) { return i < 0 ? 0 : least(i, end); }
__attribute__((noinline)) Range seen_by(const AttentionArgs& args, const AttentionOperands& at, int64_t batch,
                                        int64_t query) {
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
  b.first_key = least(seen_by(args, at, b.batch, b.first).low, b.keys - 1) / args.key_block * args.key_block;
  return b;
}

// Rows of a product whose other operand is packed: c[i] = a[i] · b for `rows` rows of `a` over `depth`. Up to whole
// panels of c are written, as far as its rows have room.
struct PackedProduct {
  const float* a;
  int64_t a_stride;
  const float* b;
  int64_t panel_stride, columns, depth;
  float* c;
  int64_t c_stride;
  bool half_units, adds = false;  // to what c holds
};
void multiply_rows(const PackedProduct& p, int rows) {
  const GemmEpilogue plain;
  // The highest tile leaves out an empty half of the last panel, lower ones would need a buffer for it.
  const int64_t unit = rows == gemm_kernels.tile_rows ? kPanel / 2 : kPanel, panels = panel_count(p.columns);
  gemm_kernels.row_block({.segments = &p.a,
                          .segment_k = p.depth,
                          .a_stride = p.a_stride,
                          .rows = rows,
                          .b = p.b,
                          .panel_stride = p.panel_stride,
                          .panel_end = panels,
                          .n = (p.columns + unit - 1) / unit * unit,
                          .c = p.c,
                          .c_stride = p.c_stride,
                          .first_k = !p.adds,
                          .half_units = p.half_units,
                          .epilogue = &plain});
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

// Adds to one row of the sums of few queries: kWidth vectors of them stay in registers while the keys pass.
template <int kWidth>
void weigh_values(const float* weights, int64_t keys, const float* v, int64_t v_row, float* y, int64_t width) {
  F32 sum[kWidth];
  const auto at = [&](int j) { return static_cast<int>(least(kLanes, width - j * kLanes)); };
  MICA_UNROLL for (int j = 0; j < kWidth; ++j) sum[j] = load_some(y + j * kLanes, at(j));
  for (int64_t i = 0; i < keys; ++i, v += v_row) {
    const F32 weight = set1(weights[i]);
    MICA_UNROLL for (int j = 0; j < kWidth; ++j) sum[j] = fma(weight, load_some(v + j * kLanes, at(j)), sum[j]);
  }
  MICA_UNROLL for (int j = 0; j < kWidth; ++j) store_some(y + j * kLanes, sum[j], at(j));
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

// Zeros where nothing is seen; false, and zeros everywhere, where nothing becomes powers.
bool take_seen(float* scores, Range seen, int64_t keys, bool zero_nan, Running& so_far) {
  for (int64_t j = 0; j < seen.low; ++j) scores[j] = 0;
  for (int64_t j = seen.high; j < keys; ++j) scores[j] = 0;
  const float here = reduce_run<ReduceFunction::kMax>(scores + seen.low, seen.high - seen.low, 1);
  so_far.fall = 0;
  if (seen.high > seen.low && here != -kInfinity) {
    const float before = so_far.largest;
    so_far.largest = here > before || here != here ? here : before;
    // Then all powers are NaN, or the sum is.
    const bool unknown = so_far.largest != so_far.largest || so_far.largest == kInfinity;
    if (!(zero_nan && unknown)) {
      so_far.fall = before - so_far.largest;
      return true;
    }
    so_far.fall = -kInfinity;
  }
  for (int64_t j = 0; j < keys; ++j) scores[j] = 0;
  return false;
}

__attribute__((noinline)) void scale_row(const float* sums, float factor, float* y, int64_t n) {
  const F32 f = set1(factor);
  for (int64_t e = 0; e < n; e += kLanes) {
    const int width = static_cast<int>(least(kLanes, n - e));
    store_some(y + e, mul(load_some(sums + e, width), f), width);
  }
}

// The sums of the tile's row i, of powers below a largest score that is no more.
void lower_sums(const Tile& t, int64_t i, int64_t n) {
  float factor[kLanes];
  store(factor, end_exp_below(begin_exp_below(set1(t.running[i].fall))));
  t.running[i].sum *= factor[0];
  float* sums = t.sums + i * t.sum_stride;
  scale_row(sums, factor[0], sums, n);
}

// The tile's scores to powers of e below the largest ones so far.
void weigh(const AttentionArgs& args, const AttentionOperands& at, const Tile& t) {
  PowerRow row[kMostRows];
  const Block& b = *t.block;
  const int64_t keys = t.keys.high - t.keys.low;
  int64_t place[kMostRows], count = 0;
  for (int64_t i = 0; i < t.rows; ++i) {
    float* to = t.scores + i * args.score_stride;
    const int64_t query = b.first + t.row + i;
    Range seen = seen_by(args, at, b.batch, query);
    seen.high = within(seen.high - t.keys.low, keys);
    seen.low = within(seen.low - t.keys.low, seen.high);
    if (args.softcap > 0) cap_scores(to, seen.low, seen.high, args.softcap);
    if (args.has_mask)
      mask_scores(args, at.mask,
                  b.batch * args.mask.batch + b.head * args.mask.head + query * args.mask.row + t.keys.low, to, seen);
    if (take_seen(to, seen, keys, args.zero_nan, t.running[i])) {
      row[count] = {to + seen.low, to + seen.low, seen.high - seen.low, t.running[i].largest};
      place[count++] = i;
    }
    if (t.running[i].fall != 0 && t.keys.low > b.first_key) lower_sums(t, i, args.shape.value_size);
  }
  if (keys > kSumBlock) {
    for (int64_t i = 0; i < count; ++i)
      t.running[place[i]].sum += sum_of_powers(row[i].x, row[i].n, row[i].largest, row[i].out);
  } else if (count > 0) {
    powers_of_rows(row, count, [&](int64_t i, const Sums& sums) {
      t.running[place[i]].sum += over_lanes<ReduceFunction::kSum>(sums);
    });
  }
}

// What makes a query's powers add up to 1; 0 where there are none.
float factor_of(const Running& running) { return running.sum == 0 ? 0 : 1 / running.sum; }

// A tile of queries at a time: its scores do not leave the first-level cache.
void run_tiles(const AttentionArgs& args, const AttentionOperands& at, Tile t) {
  const AttentionShape& s = args.shape;
  const Block& b = *t.block;
  const int64_t kv = b.batch * s.kv_heads + b.head / (s.heads / s.kv_heads);
  const float* keys = at.packed + kv * args.packed_head;
  PackedProduct first{.a_stride = args.q.row,
                      .b = keys + t.keys.low * s.size,
                      .panel_stride = s.size * kPanel,
                      .columns = t.keys.high - t.keys.low,
                      .depth = s.size,
                      .c = t.scores,
                      .c_stride = args.score_stride,
                      .half_units = args.half_units};
  PackedProduct second{.a = t.scores,
                       .a_stride = args.score_stride,
                       .b = keys + panels_size(s.size, s.keys) + t.keys.low * kPanel,
                       .panel_stride = s.keys * kPanel,
                       .columns = s.value_size,
                       .depth = t.keys.high - t.keys.low,
                       .c_stride = t.sum_stride,
                       .half_units = args.half_units,
                       .adds = t.keys.low > b.first_key};
  const bool whole = args.key_block >= s.keys;  // sums go with their tile
  int64_t tiles = (b.rows + gemm_kernels.tile_rows - 1) / gemm_kernels.tile_rows;
  for (; t.row < b.rows; t.row += t.rows, t.running += t.rows, --tiles) {
    t.rows = tile_height(b.rows - t.row, tiles, gemm_kernels.tile_rows);
    first.a = b.q + t.row * args.q.row;
    multiply_rows(first, static_cast<int>(t.rows));
    weigh(args, at, t);
    second.c = t.sums;
    multiply_rows(second, static_cast<int>(t.rows));
    for (int64_t i = 0; t.keys.high == b.keys && i < t.rows; ++i)
      scale_row(t.sums + i * t.sum_stride, factor_of(t.running[i]), b.y + (t.row + i) * args.y.row, s.value_size);
    if (!whole) t.sums += t.rows * t.sum_stride;
  }
}

// Few queries: keys and values are read where they stand, and sums of values where they will.
void run_few(const AttentionArgs& args, const AttentionOperands& at, Tile t) {
  const AttentionShape& s = args.shape;
  const Block& b = *t.block;
  t.sums = b.y, t.sum_stride = args.y.row, t.rows = b.rows;
  const int64_t keys = t.keys.high - t.keys.low;
  for (int64_t i = 0; i < b.rows; ++i)
    for (int64_t j = 0; j < keys; ++j)
      t.scores[i * args.score_stride + j] =
          args.scale * dot(b.q + i * args.q.row, b.k + (t.keys.low + j) * args.k.row, s.size);
  weigh(args, at, t);
  const float* v = b.v + t.keys.low * args.v.row;
  for (int64_t i = 0; i < b.rows; ++i) {
    const float* row = t.scores + i * args.score_stride;
    float* y = b.y + i * args.y.row;
    int64_t e = 0;
    for (; e + 4 * kLanes <= s.value_size; e += 4 * kLanes)
      weigh_values<4>(row, keys, v + e, args.v.row, y + e, 4 * kLanes);
    for (; e < s.value_size; e += kLanes)
      weigh_values<1>(row, keys, v + e, args.v.row, y + e, least(kLanes, s.value_size - e));
    if (t.keys.high == b.keys) scale_row(y, factor_of(t.running[i]), y, s.value_size);
  }
}

void run(const AttentionArgs& args, const AttentionOperands& at, int64_t begin, int64_t end, float* scratch) {
  for (int64_t task = begin; task < end; ++task) {
    const Block b = block_of(args, at, task);
    if (args.pack_tasks == 0 || b.keys == 0)
      for (int64_t i = 0; i < b.rows; ++i)
        for (int64_t e = 0; e < args.shape.value_size; ++e) b.y[i * args.y.row + e] = 0;
    Running running[attention::kMostBlockRows];
    Tile t{.block = &b,
           .scores = scratch,
           .running = running,
           .sums = scratch + kMostRows * args.score_stride,
           .sum_stride = panel_count(args.shape.value_size) * kPanel};
    for (int64_t low = b.first_key; low < b.keys; low += args.key_block) {
      t.keys = {low, least(low + args.key_block, b.keys)};
      (args.pack_tasks > 0 ? run_tiles : run_few)(args, at, t);
    }
  }
}

// Panels of 16 keys, scaled.
void pack_keys(const float* k, int64_t row, int64_t keys, int64_t size, float scale, float* out) {
  const F32 factor = set1(scale);
  for (int64_t first = 0; first < keys; first += kPanel, out += size * kPanel) {
    const int64_t width = least(kPanel, keys - first);
    gemm_kernels.transpose(k + first * row, row, out, kPanel, width, size);
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = width; j < kPanel; ++j) out[i * kPanel + j] = 0;
    for (int64_t i = 0; i < size * kPanel; i += kLanes) store(out + i, mul(factor, load(out + i)));
  }
}

// Panels of 16 columns, `rows` rows apart.
void pack_values(const float* v, int64_t row, int64_t keys, int64_t rows, int64_t size, float* out) {
  for (int64_t first = 0; first < size; first += kPanel, out += rows * kPanel)
    for (int64_t i = 0; i < keys; ++i) MICA_UNROLL for (int j = 0; j < kPanel; j += kLanes) {
        const int64_t rest = size - first - j;
        const float* from = v + i * row + first + j;
        store(out + i * kPanel + j, rest >= kLanes ? load(from)
                                    : rest > 0     ? load_partial(from, static_cast<int>(rest))
                                                   : zero());
      }
}

// A task is the keys or the values of one head.
void pack(const AttentionArgs& args, const AttentionOperands& at, int64_t begin, int64_t end) {
  const AttentionShape& s = args.shape;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t kv = task / 2, batch = kv / s.kv_heads, head = kv % s.kv_heads;
    const int64_t keys = args.has_lengths ? at.lengths[batch] : s.keys;
    float* out = at.packed + kv * args.packed_head;
    if (task % 2 == 0)
      pack_keys(at.k + batch * args.k.batch + head * args.k.head, args.k.row, keys, s.size, args.scale, out);
    else
      pack_values(at.v + batch * args.v.batch + head * args.v.head, args.v.row, keys, s.keys, s.value_size,
                  out + panels_size(s.size, s.keys));
  }
}

}  // namespace

extern const AttentionKernels attention_kernels;
const AttentionKernels attention_kernels = {.pack = pack, .run = run};

}  // namespace mica::MICA_ISA
