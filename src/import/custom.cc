#include "import/custom.h"

#include <deque>

namespace mica {
namespace {

using AttrKind = SourceAttribute::Kind;

// What an attribute's lists point into.
struct Lists {
  std::deque<std::vector<int64_t>> integers;
  std::deque<std::vector<float>> floats;
  std::deque<std::string> texts;
};

void take_tensor(const TensorView& view, CustomAttribute& to, Lists& lists) {
  const Elements elements(view);
  const bool whole = is_integer(view.dtype) || view.dtype == DType::kBool;
  if (whole) {
    auto& list = lists.integers.emplace_back();
    for (int64_t i = 0; i < view.count(); ++i) list.push_back(elements.integer(i));
    to.integers = list;
  } else {
    auto& list = lists.floats.emplace_back();
    for (int64_t i = 0; i < view.count(); ++i) list.push_back(static_cast<float>(elements.number(i)));
    to.floats = list;
  }
  to.kind = whole ? 'i' : 'f';
}

void take_texts(const std::vector<std::string>& from, CustomAttribute& to, Lists& lists) {
  std::string& all = lists.texts.emplace_back();
  for (const std::string& text : from) {
    if (text.find('\0') != std::string::npos) fail(Code::kBadAttribute, "a text in `{}` has a zero inside", to.name);
    all.append(text).push_back('\0');
  }
  to.kind = 'S';
  to.text = all;
}

CustomAttribute take(const std::string& name, const SourceAttribute& from, Lists& lists) {
  CustomAttribute made;
  made.name = name;
  switch (from.kind) {
    case AttrKind::kInt: made.kind = 'i', made.integers = lists.integers.emplace_back(1, from.i); break;
    case AttrKind::kInts: made.kind = 'i', made.integers = lists.integers.emplace_back(from.ints); break;
    case AttrKind::kFloat: made.kind = 'f', made.floats = lists.floats.emplace_back(1, from.f); break;
    case AttrKind::kFloats: made.kind = 'f', made.floats = lists.floats.emplace_back(from.floats); break;
    case AttrKind::kText: made.kind = 's', made.text = from.text; break;
    case AttrKind::kTexts: take_texts(from.texts, made, lists); break;
    case AttrKind::kTensor:
      if (from.tensors[0]->view.dtype != DType::kString) {
        take_tensor(from.tensors[0]->view, made, lists);
        break;
      }
      [[fallthrough]];
    default:
      fail(Code::kUnsupportedOperator, "attribute `{}` is of a kind that an operator of an application cannot have",
           name);
  }
  return made;
}

}  // namespace

const CustomOperator* find_custom(std::span<const CustomOperator* const> operators, std::string_view domain,
                                  std::string_view op) {
  for (const CustomOperator* custom : operators)
    if (custom->domain == domain && custom->name == op) return custom;
  return nullptr;
}

Values import_custom(const SourceNode& node, Builder& build, const CustomOperator& custom) {
  Lists lists;
  std::vector<CustomAttribute> list;
  for (const auto& [name, attribute] : node.attributes) {
    node.ignore(name);
    list.push_back(take(name, attribute, lists));
  }
  const CustomAttributes attributes = value_or_throw(write_custom(list));
  const auto inputs = static_cast<int>(node.inputs.size());
  if (inputs < custom.def.inputs.min || (custom.def.inputs.max != kAnyNumber && inputs > custom.def.inputs.max) ||
      node.outputs() > custom.def.outputs.max)
    fail(Code::kBadModel, "`{}` takes {} to {} inputs and has {} outputs; the node has {} and {}", custom.def.name,
         custom.def.inputs.min, custom.def.inputs.max, custom.def.outputs.max, inputs, node.outputs());
  return build.add(custom.def, attributes, node.inputs, custom.def.outputs.max);
}

}  // namespace mica
