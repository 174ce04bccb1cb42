#include "value.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "import/onnx/tensor.h"
#include "onnx_suite/data.pb.h"

namespace mica::suite {
namespace {

std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) fail(Code::kIo, "{} cannot be read", path.string());
  return text.str();
}

template <class Message>
Message parse(const std::string& bytes, const std::filesystem::path& path) {
  Message message;
  if (!message.ParseFromString(bytes)) fail(Code::kBadModel, "{} is no test data", path.string());
  return message;
}

void add_items(CaseValue& value, mica_onnx::SequenceData& sequence, onnx::Tensors& tensors) {
  for (auto& tensor : *sequence.mutable_tensor_values()) value.items.push_back(tensors.read(tensor));
}

std::string shape_text(const TensorView& view) {
  std::string text = std::string(name_of(view.dtype)) + "[";
  for (int i = 0; i < view.rank; ++i) text += (i ? "," : "") + std::to_string(view.dim(i));
  return text + "]";
}

bool close(double got, double expected, const Tolerance& t) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  return std::fabs(got - expected) <=
         t.absolute + t.relative * std::fabs(expected);  // false for a NaN that is not expected
}

}  // namespace

CaseValue read_value(const std::filesystem::path& path, const Type& type) {
  const std::string bytes = read_all(path);
  onnx::Tensors tensors(path.parent_path().string());
  CaseValue value;
  value.is_object = !type.is_tensor();
  if (type.kind == Kind::kSequence) {
    auto sequence = parse<mica_onnx::SequenceData>(bytes, path);
    add_items(value, sequence, tensors);
  } else if (type.kind == Kind::kOptional) {
    auto optional = parse<mica_onnx::OptionalData>(bytes, path);
    if (optional.has_tensor_value()) value.items.push_back(tensors.read(*optional.mutable_tensor_value()));
    if (optional.has_sequence_value()) add_items(value, *optional.mutable_sequence_value(), tensors);
  } else {
    auto tensor = parse<mica_onnx::Tensor>(bytes, path);
    value.tensor = tensors.read(tensor);
  }
  return value;
}

std::string difference(const TensorView& got, const TensorView& expected, const Tolerance& tolerance) {
  if (got.dtype != expected.dtype || got.rank != expected.rank || got.dims != expected.dims)
    return "got " + shape_text(got) + ", expected " + shape_text(expected);
  const Elements a(got), b(expected);
  const bool exact = is_integer(got.dtype) || got.dtype == DType::kBool;
  const int64_t n = got.count();
  int64_t wrong = 0, first = -1;
  const int parts = kind_of(got.dtype) == NumberKind::kComplex ? 2 : 1;
  for (int64_t i = 0; i < n; ++i) {
    bool same;
    if (got.dtype == DType::kString) {
      same = a.text(i).view() == b.text(i).view();
    } else if (parts == 2) {
      const DType part = got.dtype == DType::kC64 ? DType::kF32 : DType::kF64;
      same = true;
      for (int k = 0; k < 2; ++k)
        same = same && close(load_number(part, a.address(i) + k * element_bytes(part)),
                             load_number(part, b.address(i) + k * element_bytes(part)), tolerance);
    } else {
      same = exact ? a.integer(i) == b.integer(i) : close(a.number(i), b.number(i), tolerance);
    }
    if (!same && wrong++ == 0) first = i;
  }
  if (!wrong) return {};
  std::ostringstream text;
  text << wrong << " of " << n << " elements differ, the first at " << first;
  if (got.dtype != DType::kString) text << ": got " << a.number(first) << ", expected " << b.number(first);
  return text.str();
}

std::string difference_of_statistics(const TensorView& got, const TensorView& expected) {
  if (got.dtype != expected.dtype || got.rank != expected.rank || got.dims != expected.dims)
    return "got " + shape_text(got) + ", expected " + shape_text(expected);
  struct Moments {
    double mean = 0, variance = 0, low = INFINITY, high = -INFINITY;
  };
  const auto n = static_cast<double>(got.count());
  const auto moments = [&](const TensorView& view) {
    const Elements x(view);
    Moments m;
    for (int64_t i = 0; i < view.count(); ++i) {
      m.mean += x.number(i) / n;
      m.low = std::min(m.low, x.number(i));
      m.high = std::max(m.high, x.number(i));
    }
    for (int64_t i = 0; i < view.count(); ++i) m.variance += (x.number(i) - m.mean) * (x.number(i) - m.mean) / n;
    return m;
  };
  const Moments a = moments(got), b = moments(expected);
  // The standard error of a mean is sqrt(variance / n), of a deviation no more than range / sqrt(n) / 2.
  const double range = std::max(a.high, b.high) - std::min(a.low, b.low);
  const double mean_error = std::sqrt((a.variance + b.variance) / n), deviation_error = range / std::sqrt(2 * n);
  constexpr double kErrors = 5;
  const bool near = std::abs(a.mean - b.mean) <= kErrors * mean_error &&
                    std::abs(std::sqrt(a.variance) - std::sqrt(b.variance)) <= kErrors * deviation_error;
  if (near) return {};
  std::ostringstream text;
  text << "the statistics differ: mean " << a.mean << ", expected " << b.mean << "; variance " << a.variance
       << ", expected " << b.variance;
  return text.str();
}

}  // namespace mica::suite
