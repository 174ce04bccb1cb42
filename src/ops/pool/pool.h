// Attributes of pooling, and the walk over windows that the references share.
#pragma once
#include "types/dense.h"
#include "types/infer.h"
#include "types/stop.h"
#include "types/window.h"

namespace mica {

struct PoolAttributes {
  Ints kernel, strides, dilations, pads;
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  template <class V>
  void visit(V&& v) {
    v("kernel", kernel, "the window's size per spatial axis");
    v("strides", strides, "step per spatial axis; 1 when empty");
    v("dilations", dilations, "distance of the window's elements per spatial axis; 1 when empty");
    v("pads", pads, "padding before each spatial axis, then after each; 0 when empty");
    v("auto_pad", auto_pad, "same_upper and same_lower: pads that give ceil(input / stride) outputs");
    v("ceil_mode", ceil_mode, "windows may reach beyond the padding at the end");
  }
  WindowSpec window() const { return {strides, dilations, pads, auto_pad, ceil_mode}; }
};

struct MaxPool : PoolAttributes {
  bool column_major = false;
  template <class V>
  void visit(V&& v) {
    PoolAttributes::visit(v);
    v("column_major", column_major, "indices count the first spatial axis fastest");
  }
};

struct AveragePool : PoolAttributes {
  bool count_include_pad = false;
  template <class V>
  void visit(V&& v) {
    PoolAttributes::visit(v);
    v("count_include_pad", count_include_pad, "the padding counts as zeros");
  }
};

struct LpPool : PoolAttributes {
  int64_t p = 2;
  template <class V>
  void visit(V&& v) {
    PoolAttributes::visit(v);
    v("p", p, "the norm's exponent");
  }
};

namespace pool {

// The result's shape for x [N,C,...].
inline Result<Shape> output_shape(InferScope& scope, const PoolAttributes& a) {
  MICA_TRY_STATUS(require_rank(scope, 0, 3, kMaxRank));
  const Shape& x = scope.shape(0);
  if (!x.known()) return Shape();
  const int spatial = x.rank - 2;
  MICA_TRY_STATUS(check_window(a.window(), spatial));
  MICA_CHECK(a.kernel.size() == static_cast<size_t>(spatial), kBadAttribute,
             "`kernel` has {} items, expected {}: one for each spatial axis", a.kernel.size(), spatial);
  Shape out = x;
  for (int i = 0; i < spatial; ++i) {
    MICA_TRY(out[i + 2],
             window_count(a.window(), {i, spatial}, x[i + 2], a.kernel[static_cast<size_t>(i)], scope.dims()));
  }
  return out;
}

template <class A>
Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY(const Shape shape, output_shape(scope, scope.attributes<A>()));
  scope.out(0, scope.dtype(0), shape);
  return {};
}

// The index of a position counted with the first spatial axis fastest.
inline int64_t column_major(const Window& w, int64_t linear) {
  std::array<int64_t, kMaxSpatial> at{};
  for (int i = w.spatial; i-- > 0;) {
    at[static_cast<size_t>(i)] = linear % w.in[static_cast<size_t>(i)];
    linear /= w.in[static_cast<size_t>(i)];
  }
  int64_t index = 0;
  for (int i = w.spatial; i-- > 0;) index = index * w.in[static_cast<size_t>(i)] + at[static_cast<size_t>(i)];
  return index;
}

struct Sizes {
  int64_t planes;  // batch · channels
  Window window;
};

// Checks, and makes room for the outputs that are wanted (all of one shape).
inline Result<Sizes> prepare(RunScope& scope, const PoolAttributes& a) {
  const TensorView& x = scope.in(0);
  MICA_CHECK(x.rank >= 3, kBadRank, "pooling over {} dimensions", x.rank);
  MICA_TRY(const Window window, fixed_window(a.window(), x.shape().subspan(2), a.kernel.span()));
  std::array<int64_t, kMaxRank> dims{x.dim(0), x.dim(1)};
  for (int i = 0; i < window.spatial; ++i) dims[static_cast<size_t>(i) + 2] = window.out[static_cast<size_t>(i)];
  for (int i = 0; i < static_cast<int>(scope.outputs.size()); ++i)
    if (scope.wants(i)) MICA_TRY_STATUS(scope.allocate_output(i, std::span(dims.data(), static_cast<size_t>(x.rank))));
  return Sizes{x.dim(0) * x.dim(1), window};
}

// visit(at) for each window's elements in the input, by rising tap; done(window) after each window. Stops between two
// windows when the run is to.
template <class Visit, class Done>
Status for_each_window(RunScope& scope, const Sizes& s, const int64_t* table, Visit visit, Done done) {
  const int64_t positions = s.window.positions(), taps = s.window.taps();
  if (positions == 0) return {};  // planes beyond counting may be empty
  StopCheck stop(scope);
  for (int64_t plane = 0; plane < s.planes; ++plane) {
    for (int64_t p = 0; p < positions; ++p) {
      MICA_TRY_STATUS(stop.before(taps));
      for (int64_t t = 0; t < taps; ++t)
        if (const int64_t at = table[t * positions + p]; at >= 0) visit(at + plane * s.window.pixels());
      done(plane * positions + p);
    }
  }
  return {};
}

// One operation for each element of each window.
inline int64_t flops(const CostScope& scope, const PoolAttributes& a) {
  const auto outputs = element_count(scope.outputs[0].shape);
  int64_t taps = 1;
  for (int64_t k : a.kernel) taps *= k;
  return outputs.ok() ? *outputs * taps : 0;
}
template <class A>
int64_t flops_of(const CostScope& scope) {
  return flops(scope, scope.attributes<A>());
}

}  // namespace pool
}  // namespace mica
