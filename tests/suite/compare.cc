#include <algorithm>
#include <cmath>

#include "problem.h"

namespace mica::suite {
namespace {

// One unit in the last place of 1, and the smallest normal number: below it kernels may flush to zero.
struct Precision {
  double unit, smallest;
};
Precision precision_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kC128: return {0x1p-52, 0x1p-1022};
    case DType::kF16: return {0x1p-10, 0x1p-24};
    case DType::kBf16: return {0x1p-7, 0x1p-126};
    case DType::kF8E4m3fn:
    case DType::kF8E4m3fnuz: return {0x1p-3, 0x1p-9};
    case DType::kF8E5m2:
    case DType::kF8E5m2fnuz: return {0x1p-2, 0x1p-16};
    case DType::kF4E2m1: return {0x1p-1, 0.5};
    case DType::kF8E8m0: return {1, 0x1p-127};
    default: return {0x1p-23, 0x1p-126};
  }
}

bool numbers_agree(double wanted, double got, double bound) {
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got);
  return wanted == got || std::fabs(wanted - got) <= bound;
}

double largest_magnitude(const TensorView& view) {
  double largest = 0;
  for (int64_t k = 0; k < view.count(); ++k)
    if (const double x = std::fabs(Elements(view).number(k)); std::isfinite(x)) largest = std::max(largest, x);
  return largest;
}

std::string compare_floats(const TensorView& reference, const TensorView& actual, const Problem& problem) {
  const Precision precision = precision_of(reference.dtype);
  const double scale = problem.terms > 0 && problem.scale == 0 ? largest_magnitude(reference) : problem.scale;
  const double relative = (problem.units + problem.terms) * precision.unit;
  const Elements wanted(reference), got(actual);
  std::string first;
  double worst = 0;
  int64_t wrong = 0;
  for (int64_t k = 0; k < reference.count(); ++k) {
    const double w = wanted.number(k), g = got.number(k), magnitude = std::fmax(std::fabs(w), scale);
    if (numbers_agree(w, g, std::isfinite(magnitude) ? relative * magnitude + precision.smallest : 0)) continue;
    if (first.empty()) {
      char text[160];
      std::snprintf(text, sizeof text, "element %lld is %.9g, not %.9g", static_cast<long long>(k), g, w);
      first = text;
    }
    ++wrong;
    worst = std::fmax(worst, std::fabs(w - g) / std::fmax(magnitude, precision.smallest) / precision.unit);
  }
  if (!wrong) return {};
  return first + "; " + std::to_string(wrong) + " of " + std::to_string(reference.count()) + " differ, the worst by " +
         std::to_string(worst) + " units";
}

std::string compare_exactly(const TensorView& reference, const TensorView& actual, int64_t steps) {
  const Elements wanted(reference), got(actual);
  for (int64_t k = 0; k < reference.count(); ++k) {
    if (reference.dtype == DType::kString) {
      if (wanted.text(k).view() != got.text(k).view())
        return "element " + std::to_string(k) + " is \"" + std::string(got.text(k).view()) + "\"";
      continue;
    }
    const int64_t w = wanted.integer(k), g = got.integer(k);
    if (w != g && (steps == 0 || std::abs(w - g) > steps))
      return "element " + std::to_string(k) + " is " + std::to_string(g) + ", not " + std::to_string(w);
  }
  return {};
}

}  // namespace

std::string compare(const TensorView& reference, const TensorView& actual, const Problem& problem) {
  if (reference.dtype != actual.dtype) return "another element type";
  if (!std::ranges::equal(reference.shape(), actual.shape())) return "another shape";
  const bool number = is_float(reference.dtype) || kind_of(reference.dtype) == NumberKind::kComplex;
  return number ? compare_floats(reference, actual, problem) : compare_exactly(reference, actual, problem.steps);
}

}  // namespace mica::suite
