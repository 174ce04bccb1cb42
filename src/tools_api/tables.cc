// Tables of operators, spellings and rules.
#include <algorithm>

#include "ir/spelling.h"
#include "mica/tools.hpp"
#include "passes/declutter/declutter.h"
#include "step/run.h"
#include "tools_api/element_types.h"
#include "types/attr_fields.h"

namespace mica::tools {
namespace {

// Names and meanings of an attribute struct's fields.
class FieldList final : public EachField<FieldList> {
 public:
  explicit FieldList(std::vector<std::pair<std::string, std::string>>& list) : list_(list) {}
  template <class T>
  void each(std::string_view name, const T&, std::string_view doc) {
    list_.emplace_back(name, doc);
  }
  void choice(std::string_view name, int64_t&, std::span<const std::string_view> names, std::string_view doc) override {
    std::string all(doc);
    for (size_t i = 0; i < names.size(); ++i) all += (i ? ", " : all.empty() ? "" : ": ") + std::string(names[i]);
    list_.emplace_back(name, all);
  }

 private:
  std::vector<std::pair<std::string, std::string>>& list_;
};

OperatorInfo describe(const OpDef& op) {
  OperatorInfo info;
  info.name = op.name;
  info.doc = op.doc;
  info.input_least = op.inputs.min;
  info.input_most = op.inputs.max;
  info.output_least = op.outputs.min;
  info.output_most = op.outputs.max;
  info.kernel = find_run(op) != nullptr || op.view;
  if (op.attributes.visit) {
    alignas(16) std::byte blob[kMaxAttrBytes];
    op.attributes.init(blob);
    FieldList fields(info.attributes);
    op.attributes.visit(blob, fields);
  }
  return info;
}

const char* name_of(Format format) {
  constexpr const char* kNames[] = {"onnx", "tflite", "tensorflow", "caffe"};
  return kNames[static_cast<int>(format)];
}

}  // namespace

std::vector<OperatorInfo> all_operators(bool with_types, const std::string& only) {
  std::vector<OperatorInfo> list;
  for (const auto& row : all_op()) {
    if (!only.empty() && row.definition->name != only) continue;
    OperatorInfo& info = list.emplace_back(describe(*row.definition));
    if (!with_types) continue;
    for (const auto& accepted : element_types(*row.definition)) {
      auto& names = info.types.emplace_back();
      for (const DType dtype : accepted) names.emplace_back(mica::name_of(dtype));
    }
  }
  return list;
}

std::vector<OperatorInfo::Spelling> all_spellings() {
  std::vector<OperatorInfo::Spelling> list;
  for (const auto& table : mica::all_spellings())
    for (const Spelling& row : table.definition->rows)
      list.push_back({name_of(row.format), std::string(row.domain), std::string(row.op), row.since,
                      row.until >= kLatest ? -1 : row.until});
  std::ranges::sort(list, {},
                    [](const OperatorInfo::Spelling& s) { return std::tuple(s.format, s.domain, s.name, s.since); });
  return list;
}

std::vector<RuleInfo> all_rules() {
  std::vector<RuleInfo> list;
  for (const mica::RuleInfo& rule : mica::all_rules())
    list.push_back({std::string(rule.name), std::string(rule.table), std::string(rule.doc)});
  return list;
}

}  // namespace mica::tools
