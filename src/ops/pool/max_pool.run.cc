#include "ops/pool/pool.h"
#include "ops/pool/pool_step.h"

namespace mica {
namespace {

constexpr int64_t kMostTaps = 64;  // of windows whose maxima are looked up

struct PlacesStep {
  Window window;
  TensorView x, y, places;  // dims and strides of the operands
  bool column_major;
  int slot;  // of y; the places are behind it
};

// The taps of one window that lie in the picture: bytes from a plane's first element, and places in the plane.
struct Taps {
  int64_t bytes[kMostTaps], places[kMostTaps];
  int count = 0;

  Taps(const PlacesStep& s, const int64_t* position) {
    int64_t tap[kMaxSpatial] = {};
    do {
      const int64_t linear = s.window.input_at(position, tap);
      if (linear < 0) continue;
      int64_t offset = 0;
      for (int i = 0; i < s.window.spatial; ++i) {
        const auto k = static_cast<size_t>(i);
        const int64_t at = position[i] * s.window.stride[k] - s.window.pad_begin[k] + tap[i] * s.window.dilation[k];
        offset += at * s.x.stride(i + 2);
      }
      bytes[count] = offset;
      places[count++] = s.column_major ? pool::column_major(s.window, linear) : linear;
    } while (next_index(tap, s.window.kernel_dims()));
  }
};

// Where the maxima y stand in x, each window's first one. A task is a window in all channels of an image.
void find_places(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& s = *static_cast<const PlacesStep*>(arguments);
  const int64_t windows = s.window.positions(), pixels = s.window.pixels(), channels = s.x.dim(1);
  for (int64_t task = range.begin; task < range.end; ++task) {
    const int64_t image = task / windows;
    int64_t position[kMaxSpatial], rest = task % windows, y_at = image * s.y.stride(0),
                                   to_at = image * s.places.stride(0);
    for (int i = s.window.spatial; i-- > 0; rest /= s.window.out[static_cast<size_t>(i)]) {
      position[i] = rest % s.window.out[static_cast<size_t>(i)];
      y_at += position[i] * s.y.stride(i + 2);
      to_at += position[i] * s.places.stride(i + 2);
    }
    const Taps taps(s, position);
    const char* from = static_cast<const char*>(operands[0]) + image * s.x.stride(0);
    const char* best = static_cast<const char*>(operands[s.slot]) + y_at;
    char* to = static_cast<char*>(operands[s.slot + 1]) + to_at;
    for (int64_t c = 0; c < channels; ++c) {
      const float most = *reinterpret_cast<const float*>(best + c * s.y.stride(1));
      const bool nan = most != most;
      int64_t place = -1;
      for (int t = taps.count; t-- > 0;) {
        const float value = *reinterpret_cast<const float*>(from + c * s.x.stride(1) + taps.bytes[t]);
        place = (value == most) | (nan & (value != value)) ? taps.places[t] : place;
      }
      *reinterpret_cast<int64_t*>(to + c * s.places.stride(1)) =
          place < 0 ? -1 : (image * channels + c) * pixels + place;
    }
  }
}

bool wants_places(const BindScope& scope) { return scope.outputs.size() > 1 && scope.output(1).present; }

MICA_AT_BIND Status add_places(BindScope& scope, const Window& window) {
  MICA_TRY(PlacesStep * step, scope.arguments<PlacesStep>());
  *step = {window,
           scope.input(0).view,
           scope.output(0).view,
           scope.output(1).view,
           scope.attributes<MaxPool>().column_major,
           static_cast<int>(scope.inputs.size())};
  return scope.add({.kernel = find_places,
                    .arguments = step,
                    .tasks = window.positions() * scope.input(0).view.dim(0),
                    .work = static_cast<double>(scope.output(0).view.count() * window.taps()) * 4,
                    .name = "max_pool_places"});
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<MaxPool>();
  PoolProblem problem{.kind = PoolKind::kMax};
  MICA_TRY(const Window window, fixed_window(a.window(), scope.whole_input().shape().subspan(2), a.kernel.span()));
  if (!pool::set_window(problem, window)) return false;
  const bool bytes = is_byte(scope.input(0).view.dtype);
  if (wants_places(scope) && (bytes || window.taps() > kMostTaps)) return false;
  if (bytes) return pool::bind_pool_8bit(scope, problem, "max_pool_8bit");
  MICA_TRY(const bool bound, pool::bind_pool(scope, problem, "max_pool_f32"));
  if (bound && wants_places(scope)) MICA_TRY_STATUS(add_places(scope, window));
  return bound;
}

bool rows(const BindScope& scope, RowWindow& window) {
  const auto& a = scope.attributes<MaxPool>();
  return !wants_places(scope) && pool::rows(scope, a.window(), a.kernel.span(), window);
}

}  // namespace

MICA_RUN(max_pool) = {.bind = bind, .rows = rows};

}  // namespace mica
