#include "ops/image/grid_places.h"
#include "step/run.h"

namespace mica {
namespace {

constexpr int kMostAxes = 3;
constexpr int64_t kMostTaps = 1024;  // of a task's points together

struct Tap {
  int32_t offset;  // less than 0: a zero, whatever stands in the input
  float weight;
};

// A task is a block of points of one batch: what they take is worked out once for all channels.
struct GridStep {
  GridSample attributes;
  int axes;
  grid::Axis axis[kMostAxes];
  int64_t step[kMostAxes];  // strides of the input, in elements
  int64_t batch, channel;   // the same
  int64_t channels, points, block, blocks, taps;
  int out;
};

// The taps of one point, whose coordinates come last axis first; returns behind them.
Tap* put_point(const GridStep& s, const float* coordinates, Tap* taps) {
  int count[kMostAxes];
  int64_t place[kMostAxes][4];
  double weight[kMostAxes][4];
  for (int i = 0; i < s.axes; ++i)
    count[i] = grid::axis_samples(s.attributes, s.axis[i], coordinates[s.axes - 1 - i], place[i], weight[i]);
  int at[kMostAxes] = {};
  for (;;) {
    int64_t offset = 0;
    double product = 1;
    bool inside = true;
    for (int i = 0; i < s.axes; ++i) {
      const int64_t p = place[i][at[i]];
      inside &= p >= 0;
      offset += p * s.step[i];
      product *= weight[i][at[i]];
    }
    *taps++ = inside ? Tap{static_cast<int32_t>(offset), static_cast<float>(product)} : Tap{-1, 0};
    int i = s.axes - 1;
    while (i >= 0 && ++at[i] == count[i]) at[i--] = 0;
    if (i < 0) return taps;
  }
}

void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& s = *static_cast<const GridStep*>(arguments);
  auto* taps = static_cast<Tap*>(range.scratch);
  for (int64_t task = range.begin; task < range.end; ++task) {
    const int64_t batch = task / s.blocks, first = task % s.blocks * s.block;
    const int64_t count = s.points - first < s.block ? s.points - first : s.block;
    const float* places = static_cast<const float*>(operands[1]) + (batch * s.points + first) * s.axes;
    Tap* next = taps;
    for (int64_t p = 0; p < count; ++p) next = put_point(s, places + p * s.axes, next);
    const float* x = static_cast<const float*>(operands[0]) + batch * s.batch;
    float* out = static_cast<float*>(operands[s.out]) + batch * s.channels * s.points + first;
    for (int64_t c = 0; c < s.channels; ++c, x += s.channel, out += s.points)
      for (int64_t p = 0; p < count; ++p) {
        float sum = 0;
        for (int64_t t = 0; t < s.taps; ++t) {
          const Tap& tap = taps[p * s.taps + t];
          if (tap.offset >= 0) sum += tap.weight * x[tap.offset];
        }
        out[p] = sum;
      }
  }
}

Result<bool> bind(BindScope& scope) {
  constexpr int64_t kFloat = sizeof(float);
  const auto& attributes = scope.attributes<GridSample>();
  const TensorView &x = scope.input(0).view, &places = scope.input(1).view, &out = scope.output(0).view;
  if (x.dtype != DType::kF32 || places.dtype != DType::kF32 || x.rank < 3 || x.rank > 2 + kMostAxes) return false;
  if (places.rank != x.rank || places.dim(0) != x.dim(0) || places.dim(places.rank - 1) != x.rank - 2) return false;
  if (x.empty() || out.empty() || !places.contiguous() || !out.contiguous()) return false;
  for (int i = 0; i < x.rank; ++i)
    if (x.stride(i) % kFloat || x.stride(i) < 0) return false;
  MICA_TRY(GridStep * s, scope.arguments<GridStep>());
  *s = {.attributes = attributes,
        .axes = x.rank - 2,
        .axis = {},
        .step = {},
        .batch = x.stride(0) / kFloat,
        .channel = x.stride(1) / kFloat,
        .channels = x.dim(1),
        .points = out.count() / (x.dim(0) * x.dim(1)),
        .block = 0,
        .blocks = 0,
        .taps = 1,
        .out = static_cast<int>(scope.inputs.size())};
  int64_t last = 0;
  for (int i = 0; i < s->axes; ++i) {
    s->axis[i] = grid::axis_of(attributes, x.dim(2 + i));
    s->step[i] = x.stride(2 + i) / kFloat;
    last += (x.dim(2 + i) - 1) * s->step[i];
    s->taps *= attributes.mode == GridMode::kNearest ? 1 : attributes.mode == GridMode::kLinear ? 2 : 4;
  }
  if (last > INT32_MAX) return false;
  s->block = kMostTaps / s->taps;
  s->blocks = (s->points + s->block - 1) / s->block;
  constexpr double kPlace = 16;  // multiply-adds to find a tap
  MICA_TRY_STATUS(scope.add(
      {.kernel = run,
       .arguments = s,
       .tasks = x.dim(0) * s->blocks,
       .work = static_cast<double>(x.dim(0) * s->points * s->taps) * (kPlace + static_cast<double>(s->channels)),
       .scratch_bytes = kMostTaps * sizeof(Tap),
       .name = "grid_sample_f32"}));
  return true;
}

}  // namespace

MICA_RUN(grid_sample) = {.bind = bind};

}  // namespace mica
