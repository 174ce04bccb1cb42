#include "types/type.h"

namespace mica {
namespace {

Status print_tensor(const Type& type, const DimTable& dims, String& out) {
  MICA_TRY_STATUS(out.append(name_of(type.dtype)));
  return print(type.shape, dims, out);
}

// `inner`: what a sequence or an optional of this kind holds.
Status print_kind(Kind kind, Kind inner, const Type& type, const DimTable& dims, String& out) {
  if (kind == Kind::kTensor) return print_tensor(type, dims, out);
  if (kind == Kind::kMap) return out.print("map({},{})", name_of(type.key), name_of(type.dtype));
  MICA_TRY_STATUS(out.append(kind == Kind::kSequence ? "seq(" : "opt("));
  MICA_TRY_STATUS(print_kind(inner, Kind::kTensor, type, dims, out));
  return out.append(")");
}

// Splits "f32[N,max(a, 3)]" at commas outside parentheses and backquotes.
Result<Shape> parse_shape(std::string_view text, DimTable& dims) {
  Shape shape = Shape::of_rank(0);
  if (text == "?") return Shape();
  while (!text.empty()) {
    size_t end = 0;
    bool quoted = false;
    for (int depth = 0; end < text.size() && (quoted || depth || text[end] != ','); ++end) {
      if (text[end] == '`') quoted = !quoted;
      if (!quoted) depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    }
    MICA_CHECK(shape.rank < kMaxRank, kLimit, "a shape has more than {} dimensions", kMaxRank);
    MICA_TRY(Dim d, dims.parse(slice(text, 0, end)));
    shape.push(d);
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
    MICA_CHECK(!text.empty(), kBadText, "a shape ends with a comma");
  }
  return shape;
}

Result<DType> parse_dtype(std::string_view text) {
  const DType dtype = text == "none" ? DType::kNone : dtype_of(text);
  MICA_CHECK(dtype != DType::kNone || text == "none", kBadText, "`{}` is no element type", slice(text, 0, 32));
  return dtype;
}

// `depth`: how many kinds stand around it.
Result<Type> parse_kind(std::string_view text, DimTable& dims, int depth) {
  MICA_CHECK(depth <= 2, kBadText, "a type is nested too deep");
  const auto inside = [&](std::string_view head) -> std::string_view {
    return text.starts_with(head) && text.ends_with(")") ? slice(text, head.size(), text.size() - head.size() - 1)
                                                         : std::string_view();
  };
  if (const auto inner = inside("map("); !inner.empty()) {
    const size_t comma = inner.find(',');
    MICA_CHECK(comma != std::string_view::npos, kBadText, "a map's type is map(KEY,VALUE)");
    Type type;
    type.kind = Kind::kMap;
    MICA_TRY(type.key, parse_dtype(slice(inner, 0, comma)));
    MICA_TRY(type.dtype, parse_dtype(slice(inner, comma + 1)));
    return type;
  }
  for (Kind kind : {Kind::kSequence, Kind::kOptional})
    if (const auto inner = inside(kind == Kind::kSequence ? "seq(" : "opt("); !inner.empty()) {
      MICA_TRY(Type type, parse_kind(inner, dims, depth + 1));
      MICA_CHECK(type.of == Kind::kTensor, kBadText, "the type `{}` is nested too deep", slice(text, 0, 64));
      type.of = type.kind;
      type.kind = kind;
      return type;
    }
  const size_t bracket = text.find('[');
  MICA_CHECK(bracket != std::string_view::npos && text.ends_with("]"), kBadText, "`{}` is no type", slice(text, 0, 64));
  Type type;
  MICA_TRY(type.dtype, parse_dtype(slice(text, 0, bracket)));
  MICA_TRY(type.shape, parse_shape(slice(text, bracket + 1, text.size() - bracket - 2), dims));
  return type;
}

}  // namespace

Status print(const Shape& shape, const DimTable& dims, String& out) {
  if (!shape.known()) return out.append("[?]");
  MICA_TRY_STATUS(out.append("["));
  for (int i = 0; i < shape.rank; ++i) {
    if (i) MICA_TRY_STATUS(out.append(","));
    MICA_TRY_STATUS(dims.print(shape[i], out));
  }
  return out.append("]");
}

Status print(const Type& type, const DimTable& dims, String& out) {
  return print_kind(type.kind, type.of, type, dims, out);
}

Result<Type> parse_type(std::string_view text, DimTable& dims) { return parse_kind(text, dims, 0); }

Result<int64_t> element_count(const Shape& shape) {
  MICA_CHECK(shape.fixed(), kBadShape, "a shape is not fixed yet");
  int64_t count = 1;
  for (Dim d : shape.span()) {
    MICA_CHECK(d.value() >= 0, kBadShape, "a dimension is negative: {}", d.value());
    MICA_CHECK(!__builtin_mul_overflow(count, d.value(), &count), kBadShape, "a shape has more than 2^63 elements");
  }
  return count;
}

}  // namespace mica
