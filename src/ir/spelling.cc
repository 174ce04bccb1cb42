#include "ir/spelling.h"

#include <algorithm>

#include "ir/did_you_mean.h"

namespace mica {
namespace {

using AttrKind = SourceAttribute::Kind;

std::string_view name_of(AttrKind kind) {
  constexpr std::string_view kNames[] = {"an integer",        "a number",        "a text",
                                         "a tensor",          "a graph",         "a list of integers",
                                         "a list of numbers", "a list of texts", "a list of tensors",
                                         "a list of graphs",  "a type"};
  return kNames[static_cast<size_t>(kind)];
}

const SourceAttribute& checked(const SourceAttribute& attribute, std::string_view key, AttrKind kind) {
  if (attribute.kind != kind)
    fail(Code::kBadAttribute, "attribute `{}` is {}, expected {}", key, name_of(attribute.kind), name_of(kind));
  return attribute;
}

bool same_in_any_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

const SourceAttribute* SourceNode::find(std::string_view key) const {
  read.emplace(key);
  const auto found = attributes.find(key);
  return found == attributes.end() ? nullptr : &found->second;
}

int64_t SourceNode::integer(std::string_view key, int64_t otherwise) const {
  const SourceAttribute* a = find(key);
  return a ? checked(*a, key, AttrKind::kInt).i : otherwise;
}

int64_t SourceNode::integer(std::string_view key) const {
  if (!has(key)) fail(Code::kBadAttribute, "attribute `{}` is missing", key);
  return integer(key, 0);
}

float SourceNode::number(std::string_view key, float otherwise) const {
  const SourceAttribute* a = find(key);
  if (!a) return otherwise;
  return a->kind == AttrKind::kInt ? static_cast<float>(a->i) : checked(*a, key, AttrKind::kFloat).f;
}

std::string SourceNode::text(std::string_view key, std::string_view otherwise) const {
  const SourceAttribute* a = find(key);
  return a ? checked(*a, key, AttrKind::kText).text : std::string(otherwise);
}

std::vector<int64_t> SourceNode::ints(std::string_view key, std::vector<int64_t> otherwise) const {
  const SourceAttribute* a = find(key);
  if (!a) return otherwise;
  return checked(*a, key, AttrKind::kInts).ints;
}

Ints SourceNode::int_list(std::string_view key, Ints otherwise) const {
  const SourceAttribute* a = find(key);
  if (!a) return otherwise;
  Ints list;
  if (!list.assign(checked(*a, key, AttrKind::kInts).ints))
    fail(Code::kLimit, "attribute `{}` has {} items: at most {} are supported", key, a->ints.size(), list.items.size());
  return list;
}

std::vector<float> SourceNode::floats(std::string_view key) const {
  const SourceAttribute* a = find(key);
  return a ? checked(*a, key, AttrKind::kFloats).floats : std::vector<float>();
}

std::vector<std::string> SourceNode::texts(std::string_view key) const {
  const SourceAttribute* a = find(key);
  return a ? checked(*a, key, AttrKind::kTexts).texts : std::vector<std::string>();
}

ConstantPtr SourceNode::tensor(std::string_view key) const {
  const SourceAttribute* a = find(key);
  return a ? checked(*a, key, AttrKind::kTensor).tensors.at(0) : nullptr;
}

Value* SourceNode::input(size_t i) const {
  if (!has_input(i)) fail(Code::kBadModel, "`{}` needs its input {}, which is left out", op, i);
  return inputs[i];
}

std::vector<int64_t> SourceNode::constant_ints(size_t i) const {
  const Value& value = *input(i);
  std::vector<int64_t> list;
  if (const TensorView* contents = value.contents()) {
    if (!is_integer(contents->dtype))
      fail(Code::kBadType, "input {} is {}, expected integers", i, name_of(contents->dtype));
    const Elements elements(*contents);
    for (int64_t k = 0; k < contents->count(); ++k) list.push_back(elements.integer(k));
    return list;
  }
  const auto fixed = [](Dim d) { return d.is_fixed(); };
  if (!value.has_values || !std::ranges::all_of(value.values, fixed))
    fail(Code::kUnsupportedOperator, "input {} (`{}`) must be known before the model runs", i, value.name);
  for (Dim d : value.values) list.push_back(d.value());
  return list;
}

void check_all_read(const SourceNode& node) {
  std::string unknown, hint;
  for (const auto& [key, attribute] : node.attributes) {
    if (node.read.contains(key)) continue;
    unknown += (unknown.empty() ? "`" : ", `") + key + "`";
    Nearest nearest(key);
    for (const std::string& known : node.read)
      if (!node.attributes.contains(known)) nearest.offer(known);
    if (!nearest.best().empty()) hint += (hint.empty() ? "did you mean `" : ", `") + std::string(nearest.best()) + "`";
  }
  if (unknown.empty()) return;
  throw Failure(error(Code::kBadAttribute, "`{}` has no attribute {} in version {}", node.op, unknown, node.version)
                    .hinting(hint.empty() ? hint : hint + "?"));
}

DType source_dtype(Format format, int64_t code) {
  if (format != Format::kOnnx) return DType::kNone;
  // TensorProto.DataType of the ONNX specification, from 0.
  constexpr DType kOnnx[] = {DType::kNone,       DType::kF32,  DType::kU8,       DType::kI8,         DType::kU16,
                             DType::kI16,        DType::kI32,  DType::kI64,      DType::kString,     DType::kBool,
                             DType::kF16,        DType::kF64,  DType::kU32,      DType::kU64,        DType::kC64,
                             DType::kC128,       DType::kBf16, DType::kF8E4m3fn, DType::kF8E4m3fnuz, DType::kF8E5m2,
                             DType::kF8E5m2fnuz, DType::kU4,   DType::kI4,       DType::kF4E2m1,     DType::kF8E8m0,
                             DType::kU2,         DType::kI2};
  return code >= 0 && code < std::ssize(kOnnx) ? kOnnx[code] : DType::kNone;
}

namespace {

// Sets each field that the source names; the rest keep their defaults.
class Reader final : public AttrVisitor {
 public:
  explicit Reader(const SourceNode& node) : node_(node) {}
  void field(std::string_view name, bool& value, std::string_view) override { value = node_.integer(name, value) != 0; }
  void field(std::string_view name, int64_t& value, std::string_view) override { value = node_.integer(name, value); }
  void field(std::string_view name, float& value, std::string_view) override { value = node_.number(name, value); }
  void field(std::string_view name, DType& value, std::string_view) override {
    if (!node_.has(name)) return;
    const int64_t code = node_.integer(name);
    value = source_dtype(node_.format, code);
    if (value == DType::kNone) fail(Code::kBadAttribute, "attribute `{}` is {}, which is no element type", name, code);
  }
  void field(std::string_view name, Ints& value, std::string_view) override { value = node_.int_list(name, value); }
  void field(std::string_view name, Floats& value, std::string_view) override {
    if (!node_.has(name)) return;
    const auto list = node_.floats(name);
    if (!value.assign(list))
      fail(Code::kLimit, "attribute `{}` has {} items: at most {} are supported", name, list.size(),
           value.items.size());
  }
  void field(std::string_view name, Dims& value, std::string_view) override {
    if (!node_.has(name)) return;
    const auto list = node_.ints(name);
    if (list.size() > value.items.size())
      fail(Code::kLimit, "attribute `{}` has {} items: at most {} are supported", name, list.size(),
           value.items.size());
    value = {};
    for (int64_t d : list) value.push(d);
  }
  void field(std::string_view name, Name& value, std::string_view) override {
    const std::string given = node_.text(name, value);
    if (given.find('\0') != std::string::npos || !value.assign(given))
      fail(Code::kLimit, "attribute `{}` has {} bytes: at most {} are supported", name, given.size(), sizeof(Name) - 1);
  }
  void choice(std::string_view name, int64_t& index, std::span<const std::string_view> names,
              std::string_view) override {
    if (!node_.has(name)) return;
    const std::string given = node_.text(name, "");
    const auto found = std::ranges::find_if(names, [&](std::string_view n) { return same_in_any_case(n, given); });
    if (found == names.end()) {
      Nearest nearest(given);
      for (std::string_view n : names) nearest.offer(n);
      throw Failure(error(Code::kBadAttribute, "attribute `{}` is `{}`, which is not known", name, given)
                        .hinting(did_you_mean(nearest)));
    }
    index = found - names.begin();
  }

 private:
  const SourceNode& node_;
};

}  // namespace

void read_attributes_by_name(const SourceNode& node, const AttrClass& attributes, void* blob) {
  if (!attributes.visit) return;
  Reader reader(node);
  attributes.visit(blob, reader);
}

Values import_direct(const SourceNode& node, Builder& build, const OpDef& op) {
  alignas(16) std::byte blob[kMaxAttrBytes];
  if (op.attributes.init) op.attributes.init(blob);
  read_attributes_by_name(node, op.attributes, blob);
  Values made = build.add(op, blob, node.inputs, std::max(node.outputs(), op.outputs.min));
  for (size_t i = 0; i < made.size(); ++i)
    if (!node.wants(i)) made[0]->producer->outputs[i] = nullptr;
  return made;
}

}  // namespace mica
