#include <algorithm>
#include <span>

#include "ops/image/roi_bins.h"
#include "step/copy_step.h"
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
  int64_t region, corner, index;          // those of the regions and of their pictures
  int x, out;
};

Result<roi::Region> region_at(const RoiStep& step, void* const* operands, int64_t r) {
  const auto* at = static_cast<const float*>(operands[1]) + r * step.region;
  const double corners[] = {at[0], at[step.corner], at[2 * step.corner], at[3 * step.corner]};
  return roi::region_of(step.attributes, corners, r);
}

int64_t picture_at(const RoiStep& step, void* const* operands, int64_t r) {
  return static_cast<const int64_t*>(operands[2])[r * step.index];
}

Status check_regions(const void* arguments, void* const* operands) {
  const auto& step = *static_cast<const RoiStep*>(arguments);
  for (int64_t r = 0; r < step.regions; ++r) {
    auto region = region_at(step, operands, r);
    if (!region.ok()) return region.take_error();
    MICA_TRY_STATUS(checked_index(picture_at(step, operands, r), step.pictures, "batch index"));
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

// One bin's weighted sums of neighbouring channels; a fixed number of them stays in registers.
template <int kCount>
void sum_pixels(std::span<const Tap> taps, const float* x, float* sums) {
  float local[kCount] = {};
  for (const Tap& tap : taps) {
    if (tap.offset < 0) continue;
    for (int c = 0; c < kCount; ++c) local[c] += tap.weight * x[tap.offset + c];
  }
  std::copy_n(local, kCount, sums);
}

// Bins [begin, end), whose taps are in the table, of channels that are neighbours.
void run_bins_of_pixels(const Work& work, int64_t begin, int64_t end) {
  constexpr int kTogether = 32;
  const int64_t bins = work.bins(), taps = work.region.samples() * 4;
  const float share = work.share();
  float sums[kTogether];
  for (int64_t first = 0; first < work.step.channels; first += kTogether) {
    const int64_t count = std::min<int64_t>(kTogether, work.step.channels - first);
    for (int64_t b = begin; b < end; ++b) {
      const std::span list(work.taps + (b - begin) * taps, static_cast<size_t>(taps));
      if (count == kTogether)
        sum_pixels<kTogether>(list, work.x + first, sums);
      else
        for (int64_t c = 0; c < count; ++c) sum_pixels<1>(list, work.x + first + c, sums + c);
      for (int64_t c = 0; c < count; ++c) work.out[(first + c) * bins + b] = sums[c] * share;
    }
  }
}

// Bins [begin, end), whose taps all fit the table.
void run_bins(const Work& work, int64_t begin, int64_t end) {
  const int64_t bins = work.bins(), samples = work.region.samples();
  const bool max = work.step.attributes.max;
  Tap* next = work.taps;
  for (int64_t b = begin; b < end; ++b)
    for (int64_t i = 0; i < samples; ++i) next = work.put(b, i, next);
  if (work.step.channel == 1 && !max) return run_bins_of_pixels(work, begin, end);
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
  const int64_t bins = step.attributes.height * step.attributes.width;
  for (int64_t r = range.begin; r < range.end; ++r) {
    const int64_t index = picture_at(step, operands, r), picture = index < 0 ? index + step.pictures : index;
    const Work work{step, region_at(step, operands, r).take(),  // `check_regions` has let it pass
                    static_cast<const float*>(operands[step.x]) + picture * step.picture,
                    static_cast<Tap*>(range.scratch),
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

bool strides_fit(const TensorView& view, DType dtype) {
  for (int i = 0; i < view.rank; ++i)
    if (view.stride(i) % element_bytes(dtype)) return false;
  return view.dtype == dtype;
}

// Where the channels of a picture's pixels are neighbours: in a copy, where they are not and bins read more than that.
Result<move::Side> pixels_of(BindScope& scope, double taps) {
  const move::Side x = move::input_side(scope, 0);
  constexpr int64_t kFloat = sizeof(float);
  if (x.view.stride(1) == kFloat || taps < 2 * static_cast<double>(x.view.count())) return x;
  move::Side pixels = x;
  const int64_t column = x.view.dim(1) * kFloat, row = x.view.dim(3) * column;
  pixels.view.strides = {x.view.dim(2) * row, kFloat, row, column};
  MICA_TRY(pixels.operand, scope.temporary(static_cast<size_t>(x.view.count() * kFloat)));
  MICA_TRY_STATUS(move::add_copy_step(scope, x, pixels));
  return pixels;
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const TensorView &x = scope.input(0).view, &regions = scope.input(1).view, &pictures = scope.input(2).view,
                   &out = scope.output(0).view;
  if (!strides_fit(x, DType::kF32) || !strides_fit(regions, DType::kF32) || !strides_fit(pictures, DType::kI64))
    return false;
  if (x.rank != 4 || x.empty() || regions.rank != 2 || regions.dim(1) != 4 || pictures.rank != 1) return false;
  if (pictures.dim(0) != regions.dim(0) || !out.contiguous()) return false;
  constexpr int64_t kFloat = sizeof(float);
  const int64_t sampling = std::max<int64_t>(scope.attributes<RoiAlign>().sampling, 1);
  if (sampling >= roi::kMostSamples) return false;
  const double taps = 4 * static_cast<double>(out.count()) * static_cast<double>(sampling * sampling);
  MICA_TRY(const move::Side pixels, pixels_of(scope, scope.attributes<RoiAlign>().max ? 0 : taps));
  const TensorView& seen = pixels.view;
  MICA_TRY(RoiStep * step, scope.arguments<RoiStep>());
  *step = {.attributes = scope.attributes<RoiAlign>(),
           .regions = regions.dim(0),
           .channels = x.dim(1),
           .pictures = x.dim(0),
           .size = {x.dim(2), x.dim(3)},
           .picture = seen.stride(0) / kFloat,
           .channel = seen.stride(1) / kFloat,
           .row = seen.stride(2) / kFloat,
           .column = seen.stride(3) / kFloat,
           .region = regions.stride(0) / kFloat,
           .corner = regions.stride(1) / kFloat,
           .index = pictures.stride(0) / element_bytes(DType::kI64),
           .x = pixels.operand,
           .out = static_cast<int>(scope.inputs.size())};
  if (step->row < 0 || step->column < 0 || (x.dim(2) - 1) * step->row + (x.dim(3) - 1) * step->column > INT32_MAX)
    return false;
  MICA_TRY_STATUS(scope.add({.kernel = run,
                             .arguments = step,
                             .tasks = step->regions,
                             .work = taps,
                             .scratch_bytes = kMostTaps * sizeof(Tap),
                             .check = check_regions,
                             .name = "roi_align_f32"}));
  return true;
}

}  // namespace

MICA_RUN(roi_align) = {.bind = bind};

}  // namespace mica
