#include "kernels/norm/norm.h"

#include "kernels/math/pow.inl"
#include "kernels/reduce/sum.inl"

namespace mica::MICA_ISA {
namespace {

// Sum of (x - shift)^2 of n <= kSumBlock elements.
MICA_INLINE Sums block_squares(const float* x, int64_t n, float shift) {
  const F32 s = set1(shift);
  const auto square = [&](F32 sum, int64_t at, int width) __attribute__((always_inline)) {
    F32 u = sub(load_some(x + at, width), s);
    if (width < kLanes) u = select(first_lanes(width), u, zero());
    return fma(u, u, sum);
  };
  Sums a = neutral_sums<ReduceFunction::kSum>(), b = a;
  int64_t k = 0;
  for (; k + 2 * kSumLanes <= n; k += 2 * kSumLanes) {
    add_elements(a, k, n, square);
    add_elements(b, k + kSumLanes, n, square);
  }
  for (; k < n; k += kSumLanes) add_elements(a, k, n, square);
  return combined<ReduceFunction::kSum>(a, b);
}

// The same for any n, blocked as reduce_run is.
float sum_of_squares(const float* x, int64_t n, float shift) {
  if (n <= kSumBlock) return n > 0 ? over_lanes<ReduceFunction::kSum>(block_squares(x, n, shift)) : 0.0f;
  Tree<ReduceFunction::kSum, kSumParts> tree;
  for (int64_t i = 0; i < n; i += kSumBlock) tree.push(block_squares(x + i, least(kSumBlock, n - i), shift));
  return over_lanes<ReduceFunction::kSum>(tree.result());
}

void scale_elements(const float* x, float* y, int64_t n, float mean, float factor, const float* scale,
                    const float* bias) {
  const F32 m = set1(mean), f = set1(factor);
  for (int64_t i = 0; i < n; i += kLanes) {
    const int width = static_cast<int>(least(kLanes, n - i));
    const F32 normal = mul(sub(load_some(x + i, width), m), f);
    const F32 s = scale ? load_some(scale + i, width) : set1(1.0f), b = bias ? load_some(bias + i, width) : zero();
    store_some(y + i, fma(normal, s, b), width);
  }
}
void scale_run(const float* x, float* y, int64_t n, float mean, float factor, float bias) {
  const F32 m = set1(mean), f = set1(factor), b = set1(bias);
  for (int64_t i = 0; i < n; i += kLanes) {
    const int width = static_cast<int>(least(kLanes, n - i));
    store_some(y + i, fma(sub(load_some(x + i, width), m), f, b), width);
  }
}

void norm_row(const NormArgs& args, const NormOperands& at, int64_t row) {
  const int64_t batch = row / args.groups, group = row % args.groups;
  const float* x = at.x + batch * args.in_batch + group * args.in_group;
  float* y = at.y + batch * args.out_batch + group * args.out_group;
  const auto total = static_cast<float>(args.runs * args.n);
  float mean = 0;
  if (args.center) {
    for (int64_t r = 0; r < args.runs; ++r) mean += reduce_run<ReduceFunction::kSum>(x + r * args.in_run, args.n, 1);
    mean /= total;
  }
  float square = 0;
  for (int64_t r = 0; r < args.runs; ++r) square += sum_of_squares(x + r * args.in_run, args.n, mean);
  const float factor = 1 / __builtin_sqrtf(square / total + args.epsilon);
  if (at.mean) at.mean[row] = mean;
  if (at.deviation) at.deviation[row] = factor;
  for (int64_t r = 0; r < args.runs; ++r) {
    const float* from = x + r * args.in_run;
    float* to = y + r * args.out_run;
    if (args.per_element) {
      scale_elements(from, to, args.n, mean, factor, at.scale, at.bias);
      continue;
    }
    const int64_t p = group * args.parameters_per_group + r;
    scale_run(from, to, args.n, mean, at.scale ? factor * at.scale[p] : factor, at.bias ? at.bias[p] : 0);
  }
}

// kLanes short rows from `row` on, to the bits of norm_row: their means and deviations are the lanes of vectors.
void norm_rows(const NormArgs& args, const NormOperands& at, int64_t row) {
  const float* x[kLanes];
  float* y[kLanes];
  int64_t batch = row / args.groups, group = row % args.groups;
  for (int r = 0; r < kLanes; ++r) {
    x[r] = at.x + batch * args.in_batch + group * args.in_group;
    y[r] = at.y + batch * args.out_batch + group * args.out_group;
    if (++group < args.groups) continue;
    group = 0;
    ++batch;
  }
  const F32 total = set1(static_cast<float>(args.n));
  Sums sums[kLanes];
  float mean[kLanes] = {}, factor[kLanes];
  if (args.center) {
    for (int r = 0; r < kLanes; ++r) sums[r] = block_sums<ReduceFunction::kSum>(x[r], args.n);
    store(mean, div(add(zero(), over_lanes_of_rows<ReduceFunction::kSum>(sums)), total));  // as norm_row: -0 becomes 0
  }
  for (int r = 0; r < kLanes; ++r) sums[r] = block_squares(x[r], args.n, mean[r]);
  const F32 variance = div(over_lanes_of_rows<ReduceFunction::kSum>(sums), total);
  store(factor, div(set1(1.0f), sqrt(add(variance, set1(args.epsilon)))));
  if (at.mean) store(at.mean + row, load(mean));
  if (at.deviation) store(at.deviation + row, load(factor));
  for (int r = 0; r < kLanes; ++r) scale_elements(x[r], y[r], args.n, mean[r], factor[r], at.scale, at.bias);
}

// Sums over pixels of what `term` adds for each, a vector of channels at a time: four chains in blocks of 128 pixels,
// and blocks as a binary tree, in an order that the number of pixels alone decides.
template <class Term>
MICA_INLINE F32 over_pixels(const float* x, int64_t pixels, int64_t step, int width, Term term) {
  constexpr int64_t kBlock = 128;
  Tree<ReduceFunction::kSum, 1> tree;
  for (int64_t first = 0; first < pixels; first += kBlock) {
    const int64_t last = least(pixels, first + kBlock);
    F32 sum[4] = {zero(), zero(), zero(), zero()};
    int64_t i = first;
    for (; i + 4 <= last; i += 4)
      MICA_UNROLL for (int k = 0; k < 4; ++k) sum[k] = term(sum[k], load_some(x + (i + k) * step, width));
    for (int k = 0; i + k < last; ++k) sum[k] = term(sum[k], load_some(x + (i + k) * step, width));
    tree.push({{add(add(sum[0], sum[1]), add(sum[2], sum[3]))}});
  }
  return tree.result().part[0];
}

// Groups [first, last) of a picture whose channels are neighbours: at most kNormLine channels, or one group.
void norm_pixels(const NormArgs& args, const NormOperands& at, int64_t image, int64_t first, int64_t last) {
  const int64_t width = args.runs, begin = first * width, end = last * width;
  const float* x = at.x + image * args.in_batch;
  float* y = at.y + image * args.out_batch;
  const auto total = static_cast<double>(width * args.n);
  float mean[kNormLine] = {}, factor[kNormLine];
  // A number of each lane's group, and the other way, sums of groups from those of lanes.
  const auto spread = [&](const float* of_group, int64_t c, int lanes) __attribute__((always_inline)) {
    float lane[kLanes] = {};
    for (int i = 0; i < lanes; ++i) lane[i] = of_group[(c + i) / width - first];
    return load(lane);
  };
  const auto gather = [&](F32 sums, int64_t c, int lanes, double* of_group) __attribute__((always_inline)) {
    float lane[kLanes];
    store(lane, sums);
    for (int i = 0; i < lanes; ++i) of_group[(c + i) / width - first] += static_cast<double>(lane[i]);
  };
  double sum[kNormLine] = {}, square[kNormLine] = {};
  for (int64_t c = begin; c < end; c += kLanes) {
    const int lanes = static_cast<int>(least(kLanes, end - c));
    const auto element = [](F32 s, F32 v) __attribute__((always_inline)) { return add(s, v); };
    gather(over_pixels(x + c, args.n, args.in_pixel, lanes, element), c, lanes, sum);
  }
  for (int64_t g = 0; g < last - first; ++g) mean[g] = static_cast<float>(sum[g] / total);
  for (int64_t c = begin; c < end; c += kLanes) {
    const int lanes = static_cast<int>(least(kLanes, end - c));
    const F32 m = spread(mean, c, lanes);
    const auto distance = [&](F32 s, F32 v) __attribute__((always_inline)) {
      const F32 u = sub(v, m);
      return fma(u, u, s);
    };
    gather(over_pixels(x + c, args.n, args.in_pixel, lanes, distance), c, lanes, square);
  }
  for (int64_t g = 0; g < last - first; ++g)
    factor[g] = 1 / __builtin_sqrtf(static_cast<float>(square[g] / total) + args.epsilon);
  for (int64_t c = begin; c < end; c += kLanes) {
    const int lanes = static_cast<int>(least(kLanes, end - c));
    const F32 m = spread(mean, c, lanes), f = spread(factor, c, lanes);
    const F32 scale = at.scale ? mul(f, load_some(at.scale + c, lanes)) : f;
    const F32 bias = at.bias ? load_some(at.bias + c, lanes) : zero();
    for (int64_t i = 0; i < args.n; ++i)
      store_some(y + i * args.out_pixel + c, fma(sub(load_some(x + i * args.in_pixel + c, lanes), m), scale, bias),
                 lanes);
  }
}

void norm(const NormArgs& args, const NormOperands& operands, int64_t begin, int64_t end) {
  if (args.in_pixel != 0) {
    const int64_t blocks = (args.groups + args.row_block - 1) / args.row_block;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % blocks * args.row_block;
      norm_pixels(args, operands, task / blocks, first, least(args.groups, first + args.row_block));
    }
    return;
  }
  // Longer rows are sums of blocks, beside which the way through two vectors is little.
  const bool is_short = args.per_element && args.runs == 1 && args.n > 0 && args.n <= kSumBlock;
  for (int64_t task = begin; task < end; ++task) {
    int64_t row = task * args.row_block;
    const int64_t last = least(args.rows, row + args.row_block);
    if (is_short)
      for (; row + kLanes <= last; row += kLanes) norm_rows(args, operands, row);
    for (; row < last; ++row) norm_row(args, operands, row);
  }
}

// base^-beta for positive numbers; 3/4 by square roots, which are exact to half a unit each.
MICA_INLINE F32 power_of(F32 base, float beta) {
  if (beta == 0.75f) {
    const F32 root = sqrt(base);
    return div(set1(1.0f), mul(root, sqrt(root)));
  }
  if (beta == 0.5f) return div(set1(1.0f), sqrt(base));
  if (beta == 1.0f) return div(set1(1.0f), base);
  return pow_of(base, set1(-beta));
}

MICA_INLINE F32 normalized(const LrnArgs& args, F32 x, F32 square) {
  return mul(x, power_of(fma(set1(args.factor), square, set1(args.bias)), args.beta));
}

// One vector of pixels of channel c; channels are `channel` floats apart.
void lrn_vector(const LrnArgs& args, const float* x, float* y, int64_t c, int64_t channel, int width) {
  const int64_t first = c - args.before > 0 ? c - args.before : 0, last = least(args.channels - 1, c + args.behind);
  F32 square = zero();
  for (int64_t k = first; k <= last; ++k) {
    const F32 v = load_some(x + (k - c) * channel, width);
    square = fma(v, v, square);
  }
  store_some(y, normalized(args, load_some(x, width), square), width);
}

// Channels are neighbours: windows slide along a copy of a block of them and of what lies around it, zeros beyond the
// ends. Larger windows go a channel at a time.
void lrn_pixel(const LrnArgs& args, const float* x, float* y) {
  constexpr int64_t kAround = 64, kBlock = 256;
  if (args.before > kAround || args.behind > kAround) {
    for (int64_t c = 0; c < args.channels; ++c) lrn_vector(args, x + c, y + c, c, 1, 1);
    return;
  }
  alignas(64) float near[kAround + kBlock + kAround + 2 * kLanes];
  for (int64_t block = 0; block < args.channels; block += kBlock) {
    const int64_t count = least(kBlock, args.channels - block),
                  first = block - args.before > 0 ? block - args.before : 0;
    const int64_t begin = args.before - (block - first),
                  end = begin + least(args.channels, block + count + args.behind) - first;
    for (int64_t i = 0; i < begin; i += kLanes) store(near + i, zero());
    for (int64_t i = begin; i < end; i += kLanes)
      store(near + i, load_some(x + first + i - begin, static_cast<int>(least(kLanes, end - i))));
    for (int64_t i = end; i < args.before + count + args.behind; i += kLanes) store(near + i, zero());
    for (int64_t c = 0; c < count; c += kLanes) {
      F32 square = zero();
      for (int64_t k = 0; k <= args.before + args.behind; ++k) {
        const F32 v = load(near + c + k);
        square = fma(v, v, square);
      }
      store_some(y + block + c, normalized(args, load(near + c + args.before), square),
                 static_cast<int>(least(kLanes, count - c)));
    }
  }
}

// A task is a channel's plane of an image, or an image's pixels in runs of 64.
void lrn(const LrnArgs& args, const float* x, float* y, int64_t begin, int64_t end) {
  constexpr int64_t kPixelBlock = 64;
  for (int64_t task = begin; task < end; ++task) {
    if (args.in_channel == 1 && args.in_pixel != 1) {
      const int64_t blocks = (args.pixels + kPixelBlock - 1) / kPixelBlock, image = task / blocks,
                    p0 = task % blocks * kPixelBlock;
      for (int64_t p = p0; p < least(args.pixels, p0 + kPixelBlock); ++p)
        lrn_pixel(args, x + image * args.in_image + p * args.in_pixel, y + image * args.out_image + p * args.out_pixel);
      continue;
    }
    const int64_t image = task / args.channels, c = task % args.channels;
    const float* from = x + image * args.in_image + c * args.in_channel;
    float* to = y + image * args.out_image + c * args.out_channel;
    for (int64_t p = 0; p < args.pixels; p += kLanes)
      lrn_vector(args, from + p, to + p, c, args.in_channel, static_cast<int>(least(kLanes, args.pixels - p)));
  }
}

}  // namespace

extern const NormKernels norm_kernels;
const NormKernels norm_kernels = {.norm = norm, .lrn = lrn};

}  // namespace mica::MICA_ISA
