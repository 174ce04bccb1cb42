#include "import/onnx/types.h"

#include <algorithm>
#include <cctype>

#include "ir/did_you_mean.h"
#include "ir/spelling.h"

namespace mica::onnx {
namespace {

constexpr size_t kMaxSymbol = sizeof(SymbolInfo::name) - 1;

// Only with spaces around its signs is a name an expression: `batch-size` is a name.
bool reads_as_expression(const std::string& name) {
  return name.size() <= 256 && (name.find(" + ") != std::string::npos || name.find(" - ") != std::string::npos ||
                                (name.find('*') != std::string::npos && name.find('*') != 0));
}

}  // namespace

bool has_name(const pb::Shape::Dimension& dim) {
  const std::string& name = dim.dim_param();
  const auto names = [](unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; };
  return std::ranges::any_of(name, names) && name != "None" && name != "-1";
}

void Symbols::fix(const std::string& name, int64_t size) {
  const auto [known, fresh] = fixed_.emplace(name, size);
  if (!fresh && known->second != size)
    fail(Code::kUsage, "the dimension `{}` is given the sizes {} and {}", name, known->second, size);
}

std::string Symbols::clean(const std::string& name) {
  if (const auto known = cleaned_.find(name); known != cleaned_.end()) return known->second;
  return cleaned_[name] = unused(name);
}

std::string Symbols::unused(const std::string& name) {
  std::string text;
  for (char c : name.substr(0, kMaxSymbol))
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '`' ? '_' : c;
  for (int n = 2; !taken_.insert(text).second; ++n) {
    const std::string ending = "_" + std::to_string(n);
    text = text.substr(0, kMaxSymbol - ending.size()) + ending;
  }
  return text;
}

Dim Symbols::plain(const std::string& name) {
  if (const auto known = fixed_.find(name); known != fixed_.end()) return known->second;
  return dims_.symbol(clean(name));
}

Dim Symbols::named(const std::string& name) {
  if (fixed_.contains(name) || cleaned_.contains(name) || !reads_as_expression(name)) return plain(name);
  DimTable trial;
  const Result<Dim> tried = trial.parse(name);
  if (!tried.ok() || !trial.status().ok()) return plain(name);
  for (size_t i = 0; i < trial.symbols(); ++i) plain(std::string(trial.symbol_info(i).name.view()));
  Result<Dim> parsed = dims_.parse(name);
  if (!parsed.ok()) return plain(name);
  std::vector<Dim> to;
  for (size_t i = 0; i < dims_.symbols(); ++i) {
    const auto known = fixed_.find(std::string(dims_.symbol_info(i).name.view()));
    to.push_back(known == fixed_.end() ? dims_.symbol_dim(i) : Dim(known->second));
  }
  return dims_.substitute(*parsed, to);
}

Dim Symbols::unnamed(std::string_view input, int axis) {
  return dims_.symbol(unused(std::string(input.substr(0, 48)) + "_" + std::to_string(axis)));
}

void Symbols::apply_bounds() {
  for (const auto& [name, bound] : options_.bounds) {
    const auto known = cleaned_.find(name);
    const int index = dims_.find_symbol(known == cleaned_.end() ? name : known->second);
    if (index < 0) {
      Nearest nearest(name);
      for (size_t i = 0; i < dims_.symbols(); ++i) nearest.offer(dims_.symbol_info(i).name);
      throw Failure(error(Code::kNotFound, "no input has a dimension `{}` that could be bounded", name)
                        .hinting(did_you_mean(nearest)));
    }
    if (bound < 1) fail(Code::kUsage, "the bound {} of the dimension `{}` is not positive", bound, name);
    SymbolInfo& symbol = dims_.symbol_info(static_cast<size_t>(index));
    symbol.kind = SymbolKind::kBounded;
    symbol.bound = bound;
  }
}

namespace {

DType read_dtype(int32_t code) {
  const DType dtype = source_dtype(Format::kOnnx, code);
  if (dtype == DType::kNone && code != 0)
    fail(Code::kUnsupportedModel, "a value has the unknown element type {}", code);
  return dtype;
}

Shape read_shape(const pb::Shape& proto, const DimOf& axis_of) {
  if (proto.dim_size() > kMaxRank)
    fail(Code::kLimit, "a value of rank {}: at most {} dimensions are supported", proto.dim_size(), kMaxRank);
  Shape shape = Shape::of_rank(0);
  for (int i = 0; i < proto.dim_size(); ++i) shape.push(axis_of(i, proto.dim(i)));
  return shape;
}

// An optional or a sequence of what `inner` is.
Type holder(Kind kind, const pb::Type::Holder& proto, const DimOf& axis_of) {
  const Type inner = read_type(proto.elem_type(), axis_of);
  if (inner.of != Kind::kTensor || inner.kind == Kind::kOptional ||
      (kind == Kind::kSequence && inner.kind == Kind::kSequence))
    fail(Code::kUnsupportedModel, "a value's type is nested too deep");
  Type type = inner;
  type.of = inner.kind;
  type.kind = kind;
  return type;
}

}  // namespace

Type read_type(const pb::Type& type, const DimOf& axis_of) {
  switch (type.value_case()) {
    case pb::Type::kTensor: {
      const auto& tensor = type.tensor();
      return Type::tensor(read_dtype(tensor.elem_type()),
                          tensor.has_shape() ? read_shape(tensor.shape(), axis_of) : Shape());
    }
    case pb::Type::kSequence: return holder(Kind::kSequence, type.sequence(), axis_of);
    case pb::Type::kOptionalValue: return holder(Kind::kOptional, type.optional_value(), axis_of);
    case pb::Type::kMap: {
      Type map;
      map.kind = Kind::kMap;
      map.key = read_dtype(type.map().key_type());
      map.dtype = read_dtype(type.map().value_type().tensor().elem_type());
      return map;
    }
    case pb::Type::kSparseTensor:
      fail(Code::kUnsupportedModel, "sparse tensors as inputs or outputs are not supported");
    case pb::Type::kOpaque: fail(Code::kUnsupportedModel, "opaque values are not supported");
    case pb::Type::VALUE_NOT_SET: break;
  }
  return {};
}

Type read_type(const pb::Type& type, DimTable& dims, std::string_view stem) {
  return read_type(type, [&](int, const pb::Shape::Dimension&) { return dims.fresh(stem); });
}

}  // namespace mica::onnx
