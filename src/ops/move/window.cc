#include "ops/move/window.h"

#include <cmath>

#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_CHECK(is_integer(scope.dtype(0)), kBadType, "window of {}: its sizes are whole numbers",
             name_of(scope.dtype(0)));
  std::span<const Dim> size;
  const Dim length = scope.known_dims(0, size) && size.size() == 1 ? size[0] : scope.dims().fresh("window");
  MICA_CHECK(!length.is_fixed() || length.value() >= 0, kBadValue, "a window of {} elements", length.value());
  scope.out(0, scope.attributes<SignalWindow>().dtype, Shape{length});
  return {};
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<SignalWindow>();
  MICA_TRY(const int64_t size, read_int(scope.in(0), "size"));
  MICA_CHECK(size >= 0, kBadValue, "a window of {} elements", size);
  MICA_TRY_STATUS(scope.allocate_output(0, std::span(&size, 1)));
  // a0 - a1·cos(2πi/n) + a2·cos(4πi/n); the first coefficients are those that the ONNX standard writes down.
  static constexpr double kTerms[][3] = {{0.5, 0.5, 0}, {25.0 / 46, 21.0 / 46, 0}, {0.42, 0.5, 0.08}};
  const auto& terms = kTerms[static_cast<int>(attributes.kind)];
  const double n = static_cast<double>(attributes.periodic ? size : std::max<int64_t>(size - 1, 1));
  const Elements out(scope.out(0));
  for (int64_t i = 0; i < size; ++i) {
    const double angle = 2 * M_PI * static_cast<double>(i) / n;
    out.set_number(i, terms[0] - terms[1] * std::cos(angle) + terms[2] * std::cos(2 * angle));
  }
  return {};
}

}  // namespace

MICA_OP(window) = {.name = "window",
                   .doc = "A Hann, Hamming or Blackman window of the length in input 0",
                   .attributes = attr_class<SignalWindow>(),
                   .infer = infer,
                   .reference = reference};

}  // namespace mica
