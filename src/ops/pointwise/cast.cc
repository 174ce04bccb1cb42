#include "ops/pointwise/cast.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ops/pointwise/broadcast.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_tensor(scope, 0));
  const DType to = scope.attributes<Cast>().to;
  for (DType dtype : {scope.dtype(0), to})
    MICA_CHECK(dtype != DType::kNone && kind_of(dtype) != NumberKind::kComplex, kBadType, "cannot cast {} to {}",
               name_of(scope.dtype(0)), name_of(to));
  scope.out(0, to, scope.shape(0));
  const InferValue& in = scope.in(0);
  // Dimensions are non-negative numbers that fit every integer of 32 bits or more.
  if (in.has_values && (to == DType::kI64 || to == DType::kI32)) return scope.set_values(0, in.values);
  return {};
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, [&](char x, char y) { return lower(x) == lower(y); });
}

Result<double> parse_number(std::string_view text) {
  const std::string_view whole = text;
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (equal_ignoring_case(text, "inf")) return INFINITY;
  if (equal_ignoring_case(text, "-inf")) return -INFINITY;
  if (equal_ignoring_case(text, "nan")) return NAN;
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  MICA_CHECK(problem != std::errc::invalid_argument && end == text.data() + text.size(), kBadValue,
             "\"{}\" is no number", whole);
  return value;
}

// Integers keep all 64 bits.
Status store_text(std::string_view text, DType to, const Elements& out, const int64_t* at) {
  int64_t integer = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (is_integer(to) && problem == std::errc() && end == text.data() + text.size()) {
    out.set_integer_at(at, integer);
    return {};
  }
  MICA_TRY(const double value, parse_number(text));
  out.set_number_at(at, value);
  return {};
}

// The shortest text that reads back to the same number.
Result<StringRef> text_of(RunScope& scope, const Elements& in, DType from, const int64_t* at) {
  char text[64];
  char* end = text;
  if (is_float(from)) {
    const double value = in.number_at(at);
    if (std::isnan(value)) return scope.keep("NaN");
    if (std::isinf(value)) return scope.keep(value > 0 ? "INF" : "-INF");
    end = from == DType::kF64 ? std::to_chars(text, text + sizeof text, value).ptr
                              : std::to_chars(text, text + sizeof text, static_cast<float>(value)).ptr;
  } else if (kind_of(from) == NumberKind::kUnsigned) {
    end = std::to_chars(text, text + sizeof text, static_cast<uint64_t>(in.integer_at(at))).ptr;
  } else {
    end = std::to_chars(text, text + sizeof text, in.integer_at(at)).ptr;
  }
  return scope.keep({text, static_cast<size_t>(end - text)});
}

bool float8_kind(DType dtype, SmallFloat& kind) {
  switch (dtype) {
    case DType::kF8E4m3fn: kind = SmallFloat::kE4m3Fn; return true;
    case DType::kF8E4m3fnuz: kind = SmallFloat::kE4m3FnUz; return true;
    case DType::kF8E5m2: kind = SmallFloat::kE5m2; return true;
    case DType::kF8E5m2fnuz: kind = SmallFloat::kE5m2FnUz; return true;
    default: return false;
  }
}

void store_cast(const Cast& cast, const Elements& in, const int64_t* i, const Elements& out, const int64_t* o) {
  SmallFloat kind;
  const DType from = in.dtype();
  const bool whole = is_integer(from) || from == DType::kBool;
  if (cast.to == DType::kF8E8m0) {
    *reinterpret_cast<uint8_t*>(out.address_at(o)) = to_e8m0(in.number_at(i), cast.round_mode, cast.saturate);
  } else if (float8_kind(cast.to, kind)) {
    *reinterpret_cast<uint8_t*>(out.address_at(o)) = to_small_float(kind, in.number_at(i), cast.saturate);
  } else if (whole && from != DType::kU64) {
    out.set_integer_at(o, in.integer_at(i));
  } else if (whole && !is_float(cast.to)) {
    out.set_integer_at(o, in.integer_at(i));
  } else if (is_integer(cast.to)) {
    out.set_truncated_at(o, in.number_at(i));
  } else {
    out.set_number_at(o, in.number_at(i));
  }
}

Status reference(RunScope& scope) {
  const TensorView& x = scope.in(0);
  const auto& cast = scope.attributes<Cast>();
  MICA_TRY_STATUS(scope.allocate_output(0, x.shape()));
  const Elements in(x), out(scope.out(0));
  return pointwise::for_each_broadcast(
      scope, 1, [&](const int64_t* o, const int64_t* i, const int64_t*, const int64_t*) -> Status {
        if (x.dtype == cast.to) {
          pointwise::move_element(x, i, scope.out(0), o);
        } else if (x.dtype == DType::kString) {
          return store_text(reinterpret_cast<StringRef*>(in.address_at(i))->view(), cast.to, out, o);
        } else if (cast.to == DType::kString) {
          MICA_TRY(*reinterpret_cast<StringRef*>(out.address_at(o)), text_of(scope, in, x.dtype, i));
        } else {
          store_cast(cast, in, i, out, o);
        }
        return {};
      });
}

}  // namespace

MICA_OP(cast) = {.name = "cast",
                 .doc = "the elements in another type, rounded to nearest even; to integers towards zero",
                 .attributes = attr_class<Cast>(),
                 .infer = infer,
                 .reference = reference,
                 .layout = LayoutRule::kAny};

}  // namespace mica
