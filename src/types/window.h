// Sliding windows over the spatial axes of [N, C, spatial...]: what convolution and pooling share.
#pragma once
#include "types/op.h"

namespace mica {

enum class AutoPad : uint8_t { kNotSet, kSameUpper, kSameLower, kValid };
inline constexpr std::string_view kAutoPadNames[] = {"notset", "same_upper", "same_lower", "valid"};
constexpr std::span<const std::string_view> names_of(AutoPad) { return kAutoPadNames; }

inline constexpr int kMaxSpatial = kMaxRank - 2;

// The attributes of a window. `pads` holds all beginnings, then all ends; empty lists mean 1 (steps) or 0 (pads).
struct WindowSpec {
  const Ints& strides;
  const Ints& dilations;
  const Ints& pads;
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
};

// Lists are empty or fit `spatial` axes, steps are positive, pads and kernel sizes neither negative nor beyond 2^31.
// Errors: kBadAttribute.
Status check_window(const WindowSpec& spec, int spatial);

// One of `count` spatial axes.
struct SpatialAxis {
  int index, count;
};

// The number of windows along `axis`: floor((in + pads - extent) / stride) + 1, where extent = (kernel - 1) * dilation
// + 1; rounded up in ceil mode, without windows that would begin in the padding at the end; ceil(in / stride) with
// `same`. Errors: kBadShape when the window is larger than the padded input.
Result<Dim> window_count(const WindowSpec& spec, SpatialAxis axis, Dim in, Dim kernel, DimTable& dims);

// All numbers of a window over fixed dimensions.
struct Window {
  int spatial = 0;
  std::array<int64_t, kMaxSpatial> in{}, out{}, kernel{}, stride{}, dilation{}, pad_begin{}, pad_end{};
  int64_t positions() const { return product(out); }
  int64_t taps() const { return product(kernel); }
  int64_t pixels() const { return product(in); }
  // The linear input position under tap `tap` of the window at `position` (both in source order), or -1 in the padding.
  int64_t input_at(const int64_t* position, const int64_t* tap) const {
    int64_t linear = 0;
    for (int i = 0; i < spatial; ++i) {
      const auto k = static_cast<size_t>(i);
      const int64_t x = position[i] * stride[k] - pad_begin[k] + tap[i] * dilation[k];
      if (x < 0 || x >= in[k]) return -1;
      linear = linear * in[k] + x;
    }
    return linear;
  }
  std::span<const int64_t> out_dims() const { return {out.data(), static_cast<size_t>(spatial)}; }
  std::span<const int64_t> kernel_dims() const { return {kernel.data(), static_cast<size_t>(spatial)}; }

 private:
  int64_t product(const std::array<int64_t, kMaxSpatial>& list) const {
    int64_t n = 1;
    for (int i = 0; i < spatial; ++i) n *= list[static_cast<size_t>(i)];
    return n;
  }
};

// For each (tap, window) the linear position in the input plane, or -1: table[tap * positions + window], in the scope's
// memory.
Result<int64_t*> window_table(RunScope& scope, const Window& window);

// `in`, `kernel`: the spatial dimensions. Errors: those of check_window and window_count.
Result<Window> fixed_window(const WindowSpec& spec, std::span<const int64_t> in, std::span<const int64_t> kernel);

}  // namespace mica
