#include "ops/pool/pool.h"

#include <algorithm>

namespace mica {
namespace {

// Elements of each window inside the padded input.
void count_padded(const Window& w, int64_t* counts) {
  std::array<int64_t, kMaxSpatial> at{};
  if (w.positions() == 0) return;
  do {
    int64_t count = 1;
    for (size_t i = 0; i < static_cast<size_t>(w.spatial); ++i) {
      const int64_t first = at[i] * w.stride[i] - w.pad_begin[i], room = w.in[i] + w.pad_end[i] - first;
      count *= std::clamp<int64_t>((room + w.dilation[i] - 1) / w.dilation[i], 0, w.kernel[i]);
    }
    *counts++ = count;
  } while (next_index(at.data(), w.out_dims()));
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<AveragePool>();
  MICA_TRY(const pool::Sizes s, pool::prepare(scope, a));
  MICA_TRY(const int64_t* table, window_table(scope, s.window));
  MICA_TRY(const double* x, dense_numbers(scope, scope.in(0)));
  const int64_t positions = s.window.positions();
  MICA_TRY(int64_t * padded, zero_integers(scope, positions));
  if (a.count_include_pad) count_padded(s.window, padded);
  const Elements y(scope.out(0));
  double sum = 0;
  int64_t count = 0;
  return pool::for_each_window(
      scope, s, table, [&](int64_t at) { sum += x[at], ++count; },
      [&](int64_t window) {
        const int64_t divisor = a.count_include_pad ? padded[window % positions] : count;
        y.set_number(window, divisor > 0 ? sum / static_cast<double>(divisor) : 0);
        sum = 0;
        count = 0;
      });
}

}  // namespace

MICA_OP(average_pool) = {.name = "average_pool",
                         .doc = "mean of each window of x [N,C,...]",
                         .attributes = attr_class<AveragePool>(),
                         .infer = pool::infer<AveragePool>,
                         .reference = reference,
                         .flops = pool::flops_of<AveragePool>,
                         .layout = LayoutRule::kChannelsLast};

}  // namespace mica
