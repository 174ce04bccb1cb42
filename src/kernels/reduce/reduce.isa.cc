#include "kernels/reduce/reduce.h"

#include "kernels/reduce/sum.inl"

namespace mica::MICA_ISA {
namespace {

// Whether rows of neighbours go a vector of them at a time: 20 KB of code that few processors without fused
// multiply-add would ever run.
constexpr bool kRowsTogether = kHasFma;

F32 finished(F32 x, const ReduceArgs& args) {
  switch (args.finish) {
    case ReduceFinish::kScale: return mul(x, set1(args.scale));
    case ReduceFinish::kSqrt: return sqrt(x);
    case ReduceFinish::kLog: return log_of(x);
    default: return x;
  }
}
float finished(float x, const ReduceArgs& args) {
  float lane[kLanes];
  store(lane, finished(set1(x), args));
  return lane[0];
}

// Offset of the index-th combination of loops.
int64_t offset_of(int64_t index, const int64_t* dims, const int64_t* strides, int loops) {
  int64_t offset = 0;
  for (int i = loops - 1; i > 0; --i) {
    offset += index % dims[i] * strides[i];
    index /= dims[i];
  }
  return loops > 0 ? offset + index * strides[0] : 0;
}

// The reduced loops but the last, counted through.
int64_t runs_of(const ReduceArgs& args) {
  int64_t runs = 1;
  for (int i = 0; i + 1 < args.inner_loops; ++i) runs *= args.inner[i];
  return runs;
}

template <ReduceFunction kF>
float reduce_single(const ReduceArgs& args, const float* in) {
  const int last = args.inner_loops - 1;
  const int64_t runs = runs_of(args);
  if (runs == 1) return reduce_run<kF>(in, args.inner[last], args.in_inner[last]);
  Tree<kF, 1> tree;  // the same in every lane
  for (int64_t r = 0; r < runs; ++r) {
    const float* from = in + offset_of(r, args.inner, args.in_inner, last);
    tree.push({{set1(reduce_run<kF>(from, args.inner[last], args.in_inner[last]))}});
  }
  float lane[kLanes];
  store(lane, runs > 0 ? tree.result().part[0] : neutral<kF>());
  return lane[0];
}

// `width` neighbours side by side, at most kVectors vectors of them; fewer only of one vector.
template <ReduceFunction kF, int kVectors>
void reduce_vectors(const ReduceArgs& args, const float* in, float* out, int width) {
  const int last = args.inner_loops - 1;
  const int64_t runs = runs_of(args), n = args.inner[last], step = args.in_inner[last];
  Lanes<kVectors> none;
  MICA_UNROLL for (int v = 0; v < kVectors; ++v) none.part[v] = neutral<kF>();
  Tree<kF, kVectors> tree;
  Lanes<kVectors> sum = none;  // of the block that is not yet in the tree
  int64_t in_block = 0;
  for (int64_t r = 0; r < runs; ++r) {
    const float* from = in + offset_of(r, args.inner, args.in_inner, last);
    for (int64_t i = 0; i < n; ++i, from += step) {
      MICA_UNROLL for (int v = 0; v < kVectors; ++v) sum.part[v] =
          with_element<kF>(sum.part[v], kVectors > 1 ? load(from + v * kLanes) : load_some(from, width));
      if (++in_block < kBlockVectors) continue;
      tree.push(sum);
      sum = none;
      in_block = 0;
    }
  }
  if (tree.count) {
    if (in_block) tree.push(sum);
    sum = tree.result();
  }
  MICA_UNROLL for (int v = 0; v < kVectors; ++v) {
    const F32 result = finished(sum.part[v], args);
    if (args.out_lane == 1) {
      store_some(out + v * kLanes, result, kVectors > 1 ? kLanes : width);
      continue;
    }
    float lane[kLanes];
    store(lane, result);
    for (int i = 0; i < least(kLanes, width - v * kLanes); ++i) out[(v * kLanes + i) * args.out_lane] = lane[i];
  }
}

// Up to kLaneBlock neighbours. Sums, the common case, run over four vectors at a time: as many chains of additions,
// and lines of memory that lie side by side.
template <ReduceFunction kF>
void reduce_lanes(const ReduceArgs& args, const float* in, float* out, int64_t lanes) {
  int64_t v = 0;
  if constexpr (kF == ReduceFunction::kSum)
    for (; v + 4 * kLanes <= lanes; v += 4 * kLanes)
      reduce_vectors<kF, 4>(args, in + v, out + v * args.out_lane, 4 * kLanes);
  for (; v < lanes; v += kLanes)
    reduce_vectors<kF, 1>(args, in + v, out + v * args.out_lane, static_cast<int>(least(kLanes, lanes - v)));
}

// kLanes short rows of neighbours from `first` on, to the bits of reduce_single: results are the lanes of a vector.
template <ReduceFunction kF>
void reduce_short_rows(const ReduceArgs& args, const float* in, float* out, int64_t first) {
  Sums rows[kLanes];
  for (int r = 0; r < kLanes; ++r)
    rows[r] = block_sums<kF>(in + offset_of(first + r, args.outer, args.in_outer, args.outer_loops), args.inner[0]);
  float lane[kLanes];
  store(lane, finished(over_lanes_of_rows<kF>(rows), args));
  for (int r = 0; r < kLanes; ++r) out[offset_of(first + r, args.outer, args.out_outer, args.outer_loops)] = lane[r];
}

template <ReduceFunction kF>
void reduce_tasks(const ReduceArgs& args, const float* in, float* out, int64_t begin, int64_t end) {
  if constexpr (kRowsTogether) {
    const bool neighbours = args.lanes == 1 && args.inner_loops == 1 && args.in_inner[0] == 1;
    if (neighbours && args.inner[0] <= kSumBlock)
      for (; begin + kLanes <= end; begin += kLanes) reduce_short_rows<kF>(args, in, out, begin);
  }
  for (int64_t task = begin; task < end; ++task) {
    const int64_t row = task / args.lane_blocks, lane = task % args.lane_blocks * kLaneBlock;
    const float* from = in + offset_of(row, args.outer, args.in_outer, args.outer_loops) + lane;
    float* to = out + offset_of(row, args.outer, args.out_outer, args.outer_loops) + lane * args.out_lane;
    if (args.lanes == 1)
      *to = finished(reduce_single<kF>(args, from), args);
    else
      reduce_lanes<kF>(args, from, to, least(kLaneBlock, args.lanes - lane));
  }
}

void reduce(const ReduceArgs& args, const float* in, float* out, int64_t begin, int64_t end) {
  switch (args.function) {
    case ReduceFunction::kSum: return reduce_tasks<ReduceFunction::kSum>(args, in, out, begin, end);
    case ReduceFunction::kMax: return reduce_tasks<ReduceFunction::kMax>(args, in, out, begin, end);
    case ReduceFunction::kMin: return reduce_tasks<ReduceFunction::kMin>(args, in, out, begin, end);
    case ReduceFunction::kProd: return reduce_tasks<ReduceFunction::kProd>(args, in, out, begin, end);
    case ReduceFunction::kSumOfAbs: return reduce_tasks<ReduceFunction::kSumOfAbs>(args, in, out, begin, end);
    case ReduceFunction::kSumOfSquares: return reduce_tasks<ReduceFunction::kSumOfSquares>(args, in, out, begin, end);
  }
}

// What a row's sum of powers comes to: a factor, or what is subtracted from logarithms.
MICA_INLINE F32 softmax_end(const SoftmaxArgs& args, F32 sum) {
  return args.logarithm ? log_of(sum) : div(set1(1.0f), sum);
}

// A row's results from its powers, which are in `out`, or of logarithms from itself. end: softmax_end.
void end_softmax_row(const SoftmaxArgs& args, const float* x, float largest, float end, float* out) {
  const int64_t n = args.n;
  if (args.logarithm) {
    const F32 shift = add(set1(largest), zero()), log_sum = set1(end);
    for (int64_t i = 0; i < n; i += kLanes) {
      const int width = static_cast<int>(least(kLanes, n - i));
      store_some(out + i, sub(sub(load_some(x + i, width), shift), log_sum), width);
    }
    return;
  }
  const F32 factor = set1(end);
  const bool zeros = args.zero_nan && end != end;
  for (int64_t i = 0; i < n; i += kLanes) {
    const int width = static_cast<int>(least(kLanes, n - i));
    store_some(out + i, zeros ? zero() : mul(load_some(out + i, width), factor), width);
  }
}

// Neighbours along the axis in both tensors.
void softmax_row(const SoftmaxArgs& args, const float* x, float* out) {
  const float largest = reduce_run<ReduceFunction::kMax>(x, args.n, 1);
  const float sum = sum_of_powers(x, args.n, largest, args.logarithm ? nullptr : out);
  float end[kLanes];
  store(end, softmax_end(args, set1(sum)));
  end_softmax_row(args, x, largest, end[0], out);
}

// `count` such rows from `first` on, at most kLanes and of 1 to kSumBlock elements, to the bits of softmax_row: what a
// row waits for is hidden behind the others.
void softmax_rows(const SoftmaxArgs& args, const float* in, float* out, int64_t first, int64_t count) {
  constexpr ReduceFunction kMax = ReduceFunction::kMax, kSum = ReduceFunction::kSum;
  PowerRow rows[kLanes];
  float *to[kLanes], largest[kLanes], end[kLanes];
  Sums values[kLanes];
  for (int r = 0; r < kLanes; ++r) values[r] = neutral_sums<kSum>();
  for (int64_t r = 0; r < count; ++r) {
    to[r] = out + offset_of(first + r, args.outer, args.out_outer, args.outer_loops);
    rows[r] = {in + offset_of(first + r, args.outer, args.in_outer, args.outer_loops), args.logarithm ? nullptr : to[r],
               args.n, 0};
    values[r] = block_sums<kMax>(rows[r].x, args.n);
  }
  store(largest, over_lanes_of_rows<kMax>(values));
  for (int64_t r = 0; r < count; ++r) rows[r].largest = largest[r];
  powers_of_rows(rows, count, [&](int64_t r, const Sums& sums) { values[r] = sums; });
  store(end, softmax_end(args, over_lanes_of_rows<kSum>(values)));
  for (int64_t r = 0; r < count; ++r) end_softmax_row(args, rows[r].x, largest[r], end[r], to[r]);
}

// One vector of neighbours across the axis.
void softmax_lanes(const SoftmaxArgs& args, const float* x, float* out, int width) {
  F32 largest = set1(-__builtin_inff());
  for (int64_t i = 0; i < args.n; ++i) largest = max_nan(largest, load_some(x + i * args.in_stride, width));
  Tree<ReduceFunction::kSum, 1> tree;
  F32 sum = zero();
  for (int64_t i = 0; i < args.n; ++i) {
    const F32 e = exp_of(sub(load_some(x + i * args.in_stride, width), largest));
    if (!args.logarithm) store_some(out + i * args.out_stride, e, width);
    sum = add(sum, e);
    if ((i + 1) % kBlockVectors) continue;
    tree.push({{sum}});
    sum = zero();
  }
  tree.push({{sum}});
  const F32 total = tree.result().part[0];
  if (args.logarithm) {
    const F32 log_sum = log_of(total);
    for (int64_t i = 0; i < args.n; ++i)
      store_some(out + i * args.out_stride, sub(sub(load_some(x + i * args.in_stride, width), largest), log_sum),
                 width);
    return;
  }
  const F32 factor = div(set1(1.0f), total);
  const Mask known = args.zero_nan ? mask_not(is_nan(total)) : eq(zero(), zero());
  for (int64_t i = 0; i < args.n; ++i) {
    float* to = out + i * args.out_stride;
    store_some(to, select(known, mul(load_some(to, width), factor), zero()), width);
  }
}

// n times so many neighbours, from places to places that are so far apart.
__attribute__((noinline)) void copy_lanes(const float* from, int64_t from_step, float* to, int64_t to_step, int64_t n,
                                          int64_t lanes) {
  for (int64_t j = 0; j < lanes; ++j)
    for (int64_t i = 0; i < n; ++i) to[i * to_step + j] = from[i * from_step + j];
}

// Few neighbours across a short enough axis: those of several rows go side by side. Each is a lane, whoever the others
// are.
constexpr int64_t kFewLanesAxis = 512;
void softmax_few_lanes(const SoftmaxArgs& args, const float* in, float* out, int64_t row, int64_t end) {
  const SoftmaxArgs across = {
      .logarithm = args.logarithm, .zero_nan = args.zero_nan, .n = args.n, .in_stride = kLanes, .out_stride = kLanes};
  float block[kFewLanesAxis * kLanes];
  const int64_t lanes = args.lanes, together = kLanes / lanes;
  for (; row < end; row += together) {
    const int64_t rows = least(together, end - row);
    for (int64_t r = 0; r < rows; ++r) {
      const float* from = in + offset_of(row + r, args.outer, args.in_outer, args.outer_loops);
      copy_lanes(from, args.in_stride, block + r * lanes, kLanes, args.n, lanes);
    }
    softmax_lanes(across, block, block, static_cast<int>(rows * lanes));
    for (int64_t r = 0; r < rows; ++r) {
      float* to = out + offset_of(row + r, args.outer, args.out_outer, args.outer_loops);
      copy_lanes(block + r * lanes, kLanes, to, args.out_stride, args.n, lanes);
    }
  }
}

// Rows too short for a vector of their own.
void softmax_short_rows(const SoftmaxArgs& args, const float* in, float* out, int64_t first, int64_t end) {
  SoftmaxArgs across = {
      .logarithm = args.logarithm, .zero_nan = args.zero_nan, .n = args.n, .in_stride = kLanes, .out_stride = kLanes};
  float block[kShortAxis * kLanes];
  // Rows that are all as far apart go by whole vectors.
  const int64_t in_row = args.in_outer[0], out_row = args.out_outer[0];
  int64_t row = first;
  for (; args.outer_loops == 1 && row + kLanes <= end; row += kLanes) {
    for (int64_t i = 0; i < args.n; ++i) store(block + i * kLanes, load_strided(in + row * in_row + i, in_row));
    softmax_lanes(across, block, block, kLanes);
    for (int64_t i = 0; i < args.n; ++i) store_strided(out + row * out_row + i, out_row, load(block + i * kLanes));
  }
  softmax_few_lanes(args, in, out, row, end);
}

void softmax(const SoftmaxArgs& args, const float* in, float* out, int64_t begin, int64_t end) {
  int64_t rows = 1;
  for (int i = 0; i < args.outer_loops; ++i) rows *= args.outer[i];
  const bool along_rows = args.lanes == 1 && args.in_stride == 1 && args.out_stride == 1;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t block = task / args.lane_blocks, lane = task % args.lane_blocks * kLaneBlock;
    const int64_t first = block * args.row_block, last = least(rows, first + args.row_block);
    if (along_rows && args.n <= kShortAxis) {
      softmax_short_rows(args, in, out, first, last);
      continue;
    }
    if (args.lanes > 1 && 2 * args.lanes <= kLanes && args.n <= kFewLanesAxis) {
      softmax_few_lanes(args, in, out, first, last);
      continue;
    }
    if (kRowsTogether && along_rows && args.n <= kSumBlock) {
      for (int64_t r = first; r < last; r += kLanes) softmax_rows(args, in, out, r, least(kLanes, last - r));
      continue;
    }
    for (int64_t r = first; r < last; ++r) {
      const float* from = in + offset_of(r, args.outer, args.in_outer, args.outer_loops) + lane;
      float* to = out + offset_of(r, args.outer, args.out_outer, args.outer_loops) + lane;
      if (along_rows) {
        softmax_row(args, from, to);
        continue;
      }
      const int64_t lanes = least(kLaneBlock, args.lanes - lane);
      for (int64_t v = 0; v < lanes; v += kLanes)
        softmax_lanes(args, from + v, to + v, static_cast<int>(least(kLanes, lanes - v)));
    }
  }
}

// Rows of so many neighbours are searched side by side: longer ones are worth vectors of their own.
constexpr int64_t kMostArgRows = 4 * kLanes;

// Whether y takes the leader's place, when it stands behind it.
MICA_INLINE Mask leads(F32 y, F32 leader, bool last) {
  if (last) return mask_or(ge(y, leader), is_nan(y));
  return mask_or(gt(y, leader), mask_and(is_nan(y), mask_not(is_nan(leader))));
}
// The same for any two places.
bool leads(float y, int32_t y_at, float leader, int32_t leader_at, bool last) {
  const bool y_nan = y != y, leader_nan = leader != leader;
  if (y_nan != leader_nan) return y_nan;
  if (y_nan || y == leader) return last ? y_at > leader_at : y_at < leader_at;
  return y > leader;
}

// Lanes side by side: neighbours, or the rows of neighbours that lie `apart` floats from each other (else 1).
struct ArgLanes {
  int width;
  int64_t apart, out_lane;
  MICA_INLINE F32 at(const float* x) const { return apart == 1 ? load_some(x, width) : load_strided(x, apart); }
};
void arg_lanes(const ArgArgs& args, F32 sign, const float* x, int64_t* out, const ArgLanes& lanes) {
  F32 leader = bit_xor(lanes.at(x), sign);
  I32 place = zero_i32();
  for (int64_t i = 1; i < args.n; ++i) {
    const F32 y = bit_xor(lanes.at(x + i * args.in_stride), sign);
    const Mask wins = leads(y, leader, args.last);
    leader = select(wins, y, leader);
    place = select(wins, set1(static_cast<int32_t>(i)), place);
  }
  int32_t lane[kLanes];
  store(lane, place);
  for (int i = 0; i < lanes.width; ++i) out[i * lanes.out_lane] = lane[i];
}

// A row of neighbours: each lane finds its own leader, and they meet at the end.
int64_t arg_row(const ArgArgs& args, F32 sign, const float* x) {
  const int first = static_cast<int>(least(kLanes, args.n));
  F32 leader = bit_xor(load_some(x, first), sign);
  I32 place = iota(), at = place;
  int64_t i = kLanes;
  for (; i + kLanes <= args.n; i += kLanes) {
    at = add(at, set1(static_cast<int32_t>(kLanes)));
    const F32 y = bit_xor(load(x + i), sign);
    const Mask wins = leads(y, leader, args.last);
    leader = select(wins, y, leader);
    place = select(wins, at, place);
  }
  float values[2 * kLanes];
  int32_t places[2 * kLanes];
  store(values, leader);
  store(places, place);
  int count = first;
  for (; i < args.n; ++i, ++count) {
    values[count] = args.smallest ? -x[i] : x[i];
    places[count] = static_cast<int32_t>(i);
  }
  int best = 0;
  for (int k = 1; k < count; ++k)
    if (leads(values[k], places[k], values[best], places[best], args.last)) best = k;
  return places[best];
}

void arg(const ArgArgs& args, const float* in, int64_t* out, int64_t begin, int64_t end) {
  const F32 sign = set1(args.smallest ? -0.0f : 0.0f);
  // Short rows: as many at a time as there are lanes.
  const bool neighbours = args.lanes == 1 && args.in_stride == 1;
  const ArgLanes rows = {kLanes, args.in_outer[0], args.out_outer[0]};
  if (neighbours && args.n <= kMostArgRows && args.outer_loops == 1 && rows.apart > 1)
    for (; begin + kLanes <= end; begin += kLanes)
      arg_lanes(args, sign, in + begin * rows.apart, out + begin * rows.out_lane, rows);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t row = task / args.lane_blocks, lane = task % args.lane_blocks * kLaneBlock;
    const float* from = in + offset_of(row, args.outer, args.in_outer, args.outer_loops) + lane;
    int64_t* to = out + offset_of(row, args.outer, args.out_outer, args.outer_loops) + lane * args.out_lane;
    if (neighbours) {
      *to = arg_row(args, sign, from);
      continue;
    }
    const int64_t lanes = least(kLaneBlock, args.lanes - lane);
    for (int64_t v = 0; v < lanes; v += kLanes)
      arg_lanes(args, sign, from + v, to + v * args.out_lane,
                {static_cast<int>(least(kLanes, lanes - v)), 1, args.out_lane});
  }
}

}  // namespace

extern const ReduceKernels reduce_kernels;
const ReduceKernels reduce_kernels = {.reduce = reduce, .softmax = softmax, .arg = arg};

}  // namespace mica::MICA_ISA
