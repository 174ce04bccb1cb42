// Dai et al., Deformable Convolutional Networks (arXiv:1703.06211), with the modulation of v2 (arXiv:1811.11168).
#include "ops/conv/deform_conv.h"

#include <cmath>

#include "types/dense.h"
#include "types/infer.h"
#include "types/stop.h"

namespace mica {
namespace {

enum Input { kX, kW, kOffset, kBias, kMask };

Status check_groups(const DeformConv& a, int64_t channels, int64_t group_in, int64_t out_channels) {
  MICA_CHECK(a.groups > 0 && a.offset_groups > 0, kBadAttribute, "groups must be at least 1: {}, {}", a.groups,
             a.offset_groups);
  int64_t wanted = 0;
  MICA_CHECK(!__builtin_mul_overflow(group_in, a.groups, &wanted) && channels == wanted && out_channels % a.groups == 0,
             kBadShape, "{} channels, weights {} x {}, {} groups", channels, out_channels, group_in, a.groups);
  MICA_CHECK(channels % a.offset_groups == 0, kBadShape, "{} channels cannot be split into {} offset groups", channels,
             a.offset_groups);
  return {};
}

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<DeformConv>();
  MICA_TRY_STATUS(require_float(scope, kX));
  for (int i = 1; i < 5; ++i)
    if (scope.has(i)) MICA_TRY_STATUS(require_same_dtype(scope, kX, i));
  for (int i : {kX, kW, kOffset}) MICA_TRY_STATUS(require_rank(scope, i, 3, kMaxRank));
  const Shape &x = scope.shape(kX), &w = scope.shape(kW);
  scope.out(0, scope.dtype(kX), Shape());
  if (!x.known() || !w.known()) return {};
  MICA_CHECK(w.rank == x.rank, kBadRank, "the weights have {} dimensions, the input {}", static_cast<int>(w.rank),
             static_cast<int>(x.rank));
  const int spatial = x.rank - 2;
  MICA_TRY_STATUS(check_window(a.window(), spatial));
  if (x[1].is_fixed() && w[0].is_fixed() && w[1].is_fixed())
    MICA_TRY_STATUS(check_groups(a, x[1].value(), w[1].value(), w[0].value()));
  Shape out = Shape::of_rank(x.rank);
  out[0] = x[0];
  out[1] = w[0];
  for (int i = 0; i < spatial; ++i) {
    MICA_TRY(out[i + 2], window_count(a.window(), {i, spatial}, x[i + 2], w[i + 2], scope.dims()));
  }
  scope.out(0, scope.dtype(kX), out);
  return {};
}

// Linear interpolation in `spatial` dimensions; zeros outside of the plane.
double sample(const double* plane, const Window& w, const double* at) {
  double sum = 0;
  for (int corner = 0; corner < 1 << w.spatial; ++corner) {
    double weight = 1;
    int64_t linear = 0;
    bool inside = true;
    for (int i = 0; i < w.spatial && inside; ++i) {
      const auto k = static_cast<size_t>(i);
      if (!(at[i] > -1 && at[i] < static_cast<double>(w.in[k]))) return 0;
      const double low = std::floor(at[i]), part = at[i] - low;
      const bool upper = (corner >> i & 1) != 0;
      const int64_t x = static_cast<int64_t>(low) + upper;
      weight *= upper ? part : 1 - part;
      inside = x >= 0 && x < w.in[k] && weight != 0;
      linear = linear * w.in[k] + x;
    }
    if (inside) sum += weight * plane[linear];
  }
  return sum;
}

struct Problem {
  DeformConv attributes;
  Window window;
  int64_t batch, channels, group_in, out_channels, positions, taps;
  const double *x, *w, *offset, *mask;
};

// The sampled inputs under every tap of all windows of channel c: columns[tap * positions + position].
void sample_channel(const Problem& q, int64_t n, int64_t c, double* columns) {
  const Window& w = q.window;
  const int64_t group = c / (q.channels / q.attributes.offset_groups), taps = q.taps;
  const double* plane = q.x + (n * q.channels + c) * w.pixels();
  const double* offset = q.offset + (n * q.attributes.offset_groups + group) * taps * w.spatial * q.positions;
  const double* mask = q.mask ? q.mask + (n * q.attributes.offset_groups + group) * taps * q.positions : nullptr;
  std::array<int64_t, kMaxSpatial> at{}, tap{};
  for (int64_t t = 0; t < taps; ++t, next_index(tap.data(), w.kernel_dims())) {
    at = {};
    for (int64_t p = 0; p < q.positions; ++p, next_index(at.data(), w.out_dims())) {
      double place[kMaxSpatial];
      for (int i = 0; i < w.spatial; ++i) {
        const auto k = static_cast<size_t>(i);
        place[i] = static_cast<double>(at[k] * w.stride[k] - w.pad_begin[k] + tap[k] * w.dilation[k]) +
                   offset[(t * w.spatial + i) * q.positions + p];
      }
      columns[t * q.positions + p] = sample(plane, w, place) * (mask ? mask[t * q.positions + p] : 1);
    }
  }
}

Status check_operands(const RunScope& scope, const Problem& q) {
  const int64_t groups = q.attributes.offset_groups;
  MICA_CHECK(scope.in(kOffset).count() == q.batch * groups * q.taps * q.window.spatial * q.positions, kBadShape,
             "{} offsets do not fit {} groups, {} taps, {} outputs", scope.in(kOffset).count(), groups, q.taps,
             q.positions);
  if (scope.has(kMask))
    MICA_CHECK(scope.in(kMask).count() == q.batch * groups * q.taps * q.positions, kBadShape,
               "a mask of {} elements does not fit {} groups, {} taps, {} outputs", scope.in(kMask).count(), groups,
               q.taps, q.positions);
  if (scope.has(kBias))
    MICA_CHECK(scope.in(kBias).count() == q.out_channels, kBadShape, "{} biases for {} channels",
               scope.in(kBias).count(), q.out_channels);
  return {};
}

Result<Problem> problem_of(RunScope& scope) {
  const auto& a = scope.attributes<DeformConv>();
  const TensorView &x = scope.in(kX), &w = scope.in(kW);
  MICA_CHECK(x.rank >= 3 && w.rank == x.rank, kBadRank, "input of {} and weights of {} dimensions", x.rank, w.rank);
  MICA_TRY(const Window window, fixed_window(a.window(), x.shape().subspan(2), w.shape().subspan(2)));
  MICA_TRY_STATUS(check_groups(a, x.dim(1), w.dim(1), w.dim(0)));
  Problem q{a,       window,  x.dim(0), x.dim(1), w.dim(1), w.dim(0), window.positions(), window.taps(),
            nullptr, nullptr, nullptr,  nullptr};
  MICA_TRY_STATUS(check_operands(scope, q));
  MICA_TRY(q.x, dense_numbers(scope, x));
  MICA_TRY(q.w, dense_numbers(scope, w));
  MICA_TRY(q.offset, dense_numbers(scope, scope.in(kOffset)));
  if (scope.has(kMask)) {
    MICA_TRY(q.mask, dense_numbers(scope, scope.in(kMask)));
  }
  return q;
}

Status reference(RunScope& scope) {
  MICA_TRY(const Problem q, problem_of(scope));
  std::array<int64_t, kMaxRank> dims{q.batch, q.out_channels};
  for (int i = 0; i < q.window.spatial; ++i) dims[static_cast<size_t>(i) + 2] = q.window.out[static_cast<size_t>(i)];
  MICA_TRY_STATUS(scope.allocate_output(0, std::span(dims.data(), static_cast<size_t>(q.window.spatial) + 2)));
  MICA_TRY(double* sums, zero_numbers(scope, q.batch * q.out_channels * q.positions));
  MICA_TRY(double* columns, zero_numbers(scope, q.taps * q.positions));
  if (q.positions == 0) return {};
  const int64_t group_out = q.out_channels / q.attributes.groups;
  StopCheck stop(scope);
  for (int64_t n = 0; n < q.batch; ++n)
    for (int64_t c = 0; c < q.channels; ++c) {
      sample_channel(q, n, c, columns);
      for (int64_t m = c / q.group_in * group_out; m < (c / q.group_in + 1) * group_out; ++m)
        for (int64_t t = 0; t < q.taps; ++t) {
          MICA_TRY_STATUS(stop.before(q.positions));
          const double weight = q.w[(m * q.group_in + c % q.group_in) * q.taps + t];
          double* sum = sums + (n * q.out_channels + m) * q.positions;
          for (int64_t p = 0; p < q.positions; ++p) sum[p] += weight * columns[t * q.positions + p];
        }
    }
  if (scope.has(kBias)) {
    const Elements bias(scope.in(kBias));
    for (int64_t i = 0; i < q.batch * q.out_channels * q.positions; ++i)
      sums[i] += bias.number(i / q.positions % q.out_channels);
  }
  store_dense(sums, scope.out(0));
  return {};
}

}  // namespace

MICA_OP(deform_conv) = {
    .name = "deform_conv",
    .doc = "convolution whose taps are moved by offsets and weighted by a mask; inputs x, w, offset, bias, mask",
    .inputs = {3, 5},
    .attributes = attr_class<DeformConv>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
