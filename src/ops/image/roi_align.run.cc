#include <algorithm>

#include "ops/image/roi_bins.h"
#include "step/run.h"
#include "types/operand.h"

namespace mica {
namespace {

// Places and weights of samples are worked out once for all channels: as many bins as fit the table, or, where a bin
// has more samples, a part of one.
constexpr int64_t kMostTaps = 4096;  // four to a sample

struct Tap {
  int32_t offset;
  float weight;
};

struct RoiStep {
  RoiAlign attributes;
  int64_t regions, channels, pictures;
  int64_t size[2];
  int64_t picture, channel, row, column;  // strides of the input, in elements
  int out;
};

roi::Region region_at(const RoiStep& step, const float* regions, int64_t r) {
  const double corners[] = {regions[4 * r], regions[4 * r + 1], regions[4 * r + 2], regions[4 * r + 3]};
  return roi::region_of(step.attributes, corners, r).take();  // `check` has let it pass
}

Status check_regions(const void* arguments, void* const* operands) {
  const auto& step = *static_cast<const RoiStep*>(arguments);
  const auto* regions = static_cast<const float*>(operands[1]);
  const auto* pictures = static_cast<const int64_t*>(operands[2]);
  for (int64_t r = 0; r < step.regions; ++r) {
    const double corners[] = {regions[4 * r], regions[4 * r + 1], regions[4 * r + 2], regions[4 * r + 3]};
    auto region = roi::region_of(step.attributes, corners, r);
    if (!region.ok()) return region.take_error();
    MICA_TRY_STATUS(checked_index(pictures[r], step.pictures, "batch index"));
  }
  return {};
}

// A sample outside of the picture is 0, whatever stands in it.
Tap* put_sample(const RoiStep& step, const roi::Corners& c, Tap* taps) {
  for (int k = 0; k < 4; ++k)
    *taps++ = c.outside ? Tap{-1, 0}
                        : Tap{static_cast<int32_t>(c.y[k / 2] * step.row + c.x[k % 2] * step.column),
                              static_cast<float>(c.wy[k / 2] * c.wx[k % 2])};
  return taps;
}

struct Pooled {
  float sum = 0;
  void add(float value, bool max, bool first) {
    if (!max)
      sum += value;
    else if (first || value > sum || value != value)
      sum = value;
  }
};

struct Taps {
  const Tap* taps;
  int64_t count;
  bool first;  // of their bin
};
void pool(const Taps& list, const float* plane, bool max, Pooled& to) {
  for (int64_t i = 0; i < list.count; ++i) {
    const Tap& tap = list.taps[i];
    to.add(tap.offset < 0 ? 0 : tap.weight * plane[tap.offset], max, list.first && i == 0);
  }
}

// One region's work.
struct Work {
  const RoiStep& step;
  const roi::Region region;
  const float* x;  // of its picture
  Tap* taps;
  float* out;

  int64_t bins() const { return step.attributes.height * step.attributes.width; }
  Tap* put(int64_t bin, int64_t sample, Tap* to) const {
    const int64_t width = step.attributes.width;
    return put_sample(step, region.sample(bin / width, bin % width, sample, step.size), to);
  }
  float share() const {
    return step.attributes.max ? 1 : 1 / static_cast<float>(std::max<int64_t>(region.samples(), 1));
  }
};

// Bins [begin, end), whose taps all fit the table.
void run_bins(const Work& work, int64_t begin, int64_t end) {
  const int64_t bins = work.bins(), samples = work.region.samples();
  const bool max = work.step.attributes.max;
  Tap* next = work.taps;
  for (int64_t b = begin; b < end; ++b)
    for (int64_t i = 0; i < samples; ++i) next = work.put(b, i, next);
  const float share = work.share();
  for (int64_t c = 0; c < work.step.channels; ++c)
    for (int64_t b = begin; b < end; ++b) {
      Pooled pooled;
      pool({work.taps + (b - begin) * samples * 4, samples * 4, true}, work.x + c * work.step.channel, max, pooled);
      work.out[c * bins + b] = pooled.sum * share;
    }
}

// One bin with more taps than the table has.
void run_large_bin(const Work& work, int64_t bin) {
  const int64_t bins = work.bins(), samples = work.region.samples();
  const float share = work.share();
  for (int64_t begin = 0; begin < samples; begin += kMostTaps / 4) {
    const int64_t end = std::min(samples, begin + kMostTaps / 4);
    Tap* next = work.taps;
    for (int64_t i = begin; i < end; ++i) next = work.put(bin, i, next);
    for (int64_t c = 0; c < work.step.channels; ++c) {
      float& out = work.out[c * bins + bin];
      Pooled pooled{begin ? out : 0};
      pool({work.taps, (end - begin) * 4, begin == 0}, work.x + c * work.step.channel, work.step.attributes.max,
           pooled);
      out = end == samples ? pooled.sum * share : pooled.sum;
    }
  }
}

// A task is a region.
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const RoiStep*>(arguments);
  const auto* pictures = static_cast<const int64_t*>(operands[2]);
  const int64_t bins = step.attributes.height * step.attributes.width;
  for (int64_t r = range.begin; r < range.end; ++r) {
    const int64_t picture = pictures[r] < 0 ? pictures[r] + step.pictures : pictures[r];
    const Work work{step, region_at(step, static_cast<const float*>(operands[1]), r),
                    static_cast<const float*>(operands[0]) + picture * step.picture, static_cast<Tap*>(range.scratch),
                    static_cast<float*>(operands[step.out]) + r * step.channels * bins};
    const int64_t taps_a_bin = work.region.samples() * 4;
    const int64_t block = taps_a_bin ? kMostTaps / taps_a_bin : bins;
    for (int64_t b = 0; b < bins; b += std::max<int64_t>(block, 1))
      if (block)
        run_bins(work, b, std::min(bins, b + block));
      else
        run_large_bin(work, b);
  }
}

bool floats_fit(const TensorView& view) {
  for (int i = 0; i < view.rank; ++i)
    if (view.stride(i) % static_cast<int64_t>(sizeof(float))) return false;
  return view.dtype == DType::kF32;
}

Result<bool> bind(BindScope& scope) {
  const TensorView &x = scope.input(0).view, &regions = scope.input(1).view, &pictures = scope.input(2).view,
                   &out = scope.output(0).view;
  if (!floats_fit(x) || regions.dtype != DType::kF32 || pictures.dtype != DType::kI64 || x.rank != 4) return false;
  if (x.empty() || regions.rank != 2 || regions.dim(1) != 4 || pictures.rank != 1) return false;
  if (pictures.dim(0) != regions.dim(0) || !regions.contiguous() || !pictures.contiguous() || !out.contiguous())
    return false;
  constexpr int64_t kFloat = sizeof(float);
  MICA_TRY(RoiStep * step, scope.arguments<RoiStep>());
  *step = {.attributes = scope.attributes<RoiAlign>(),
           .regions = regions.dim(0),
           .channels = x.dim(1),
           .pictures = x.dim(0),
           .size = {x.dim(2), x.dim(3)},
           .picture = x.stride(0) / kFloat,
           .channel = x.stride(1) / kFloat,
           .row = x.stride(2) / kFloat,
           .column = x.stride(3) / kFloat,
           .out = static_cast<int>(scope.inputs.size())};
  if (step->row < 0 || step->column < 0 || (x.dim(2) - 1) * step->row + (x.dim(3) - 1) * step->column > INT32_MAX)
    return false;
  const int64_t sampling = std::max<int64_t>(step->attributes.sampling, 1);
  if (sampling >= roi::kMostSamples) return false;
  MICA_TRY_STATUS(scope.add({.kernel = run,
                             .arguments = step,
                             .tasks = step->regions,
                             .work = 4 * static_cast<double>(out.count()) * static_cast<double>(sampling * sampling),
                             .scratch_bytes = kMostTaps * sizeof(Tap),
                             .check = check_regions,
                             .name = "roi_align_f32"}));
  return true;
}

}  // namespace

MICA_RUN(roi_align) = {.bind = bind};

}  // namespace mica
