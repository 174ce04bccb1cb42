// Triangular filters, evenly spaced on the mel scale 2595·log10(1 + f/700), as ONNX defines their corners.
#include "ops/move/mel_weight_matrix.h"

#include <cmath>

#include "types/operand.h"

namespace mica {
namespace {

constexpr int64_t kMaxBins = int64_t{1} << 30;

Status infer(InferScope& scope) {
  MICA_CHECK(is_integer(scope.dtype(0)), kBadType, "mel_weight_matrix of {}: its sizes are whole numbers",
             name_of(scope.dtype(0)));
  std::span<const Dim> bins, length;
  Dim rows, columns;
  columns = scope.known_dims(0, bins) && bins.size() == 1 ? bins[0] : scope.dims().fresh("mel_bins");
  rows = scope.known_dims(1, length) && length.size() == 1 ? scope.dims().add(scope.dims().floor_div(length[0], 2), 1)
                                                           : scope.dims().fresh("spectrum_bins");
  scope.out(0, scope.attributes<MelWeightMatrix>().dtype, Shape{rows, columns});
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const int64_t bins, read_int(scope.in(0), "num_mel_bins"));
  MICA_TRY(const int64_t length, read_int(scope.in(1), "dft_length"));
  MICA_TRY(const int64_t rate, read_int(scope.in(2), "sample_rate"));
  MICA_TRY(const double low, read_number(scope.in(3), "lower_edge_hertz"));
  MICA_TRY(const double high, read_number(scope.in(4), "upper_edge_hertz"));
  MICA_CHECK(bins >= 0 && bins < kMaxBins && length >= 0 && length < kMaxBins && rate > 0, kBadValue,
             "{} mel bins of a transform of {} at {} Hz", bins, length, rate);
  MICA_CHECK(low >= 0 && high >= low && high < 1e9, kBadValue, "mel bands from {} to {} Hz", low, high);
  const int64_t rows = length / 2 + 1, dims[] = {rows, bins};
  MICA_TRY_STATUS(scope.allocate_output(0, dims));
  const TensorView& out = scope.out(0);
  const Elements elements(out);
  for (int64_t i = 0; i < out.count(); ++i) elements.set_number(i, 0);
  const auto mel = [](double f) { return 2595 * std::log1p(f / 700) / M_LN10; };
  const double first = mel(low), step = (mel(high) - first) / static_cast<double>(bins + 2);
  const auto corner = [&](int64_t i) {
    const double hertz = 700 * std::expm1((first + static_cast<double>(i) * step) / 2595 * M_LN10);
    return static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate)));
  };
  const auto set = [&](int64_t row, int64_t bin, double value) {
    const int64_t at[] = {row, bin};
    if (row >= 0 && row < rows) elements.set_number_at(at, value);
  };
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t left = corner(i), centre = corner(i + 1), right = corner(i + 2);
    if (left == centre) set(centre, i, 1);
    for (int64_t j = left; j <= centre && j < rows && left != centre; ++j)
      set(j, i, static_cast<double>(j - left) / static_cast<double>(centre - left));
    for (int64_t j = centre; j < right && j < rows; ++j)
      set(j, i, static_cast<double>(right - j) / static_cast<double>(right - centre));
  }
  return {};
}

}  // namespace

MICA_OP(mel_weight_matrix) = {.name = "mel_weight_matrix",
                              .doc = "Weights [spectrum bins, mel bins] that turn a spectrum into mel bands",
                              .inputs = {5, 5},
                              .attributes = attr_class<MelWeightMatrix>(),
                              .infer = infer,
                              .reference = reference};

}  // namespace mica
