#include "import/onnx/problems.h"

#include <tuple>

#include "import/onnx/limits.h"

namespace mica::onnx {
namespace {

std::string counted(size_t n, const char* word) { return std::to_string(n) + " " + word + (n == 1 ? "" : "s"); }

}  // namespace

bool Problems::Kind::operator<(const Kind& o) const {
  return std::tie(domain, op, version, reason, hint, of_sizes) <
         std::tie(o.domain, o.op, o.version, o.reason, o.hint, o.of_sizes);
}

void Problems::add(Kind kind, const std::string& node) {
  nodes_[std::move(kind)].push_back(node);
  ++count_;
}

void Problems::add(const std::string& what) {
  others_.push_back(what);
  ++count_;
}

bool Problems::only_sizes_since(const Problems& before, std::string* reason) const {
  if (others_.size() != before.others_.size()) return false;
  reason->clear();
  for (const auto& [kind, names] : nodes_) {
    const auto known = before.nodes_.find(kind);
    if (known != before.nodes_.end() && known->second.size() == names.size()) continue;
    if (!kind.of_sizes) return false;
    if (reason->empty()) *reason = "`" + kind.op + "`: " + kind.reason;
  }
  return true;
}

Error Problems::error(std::string_view where) const {
  size_t nodes = 0;
  for (const auto& [kind, names] : nodes_) nodes += names.size();
  std::string text = nodes ? counted(nodes, "node") + " cannot be imported" : "the model cannot be imported";
  for (const auto& [kind, names] : nodes_) {
    text += "\n  `" + kind.op + "` (" + (kind.domain.empty() ? "ai.onnx" : kind.domain) + " version " +
            std::to_string(kind.version) + "), " + counted(names.size(), "node") + ": " + kind.reason;
    if (!kind.hint.empty()) text += "\n    hint: " + kind.hint;
    for (size_t i = 0; i < names.size() && i < kMaxListedNames; ++i)
      text += (i ? ", `" : "\n    nodes: `") + names[i] + "`";
    if (names.size() > kMaxListedNames) text += " and " + std::to_string(names.size() - kMaxListedNames) + " more";
  }
  for (const std::string& other : others_) text += "\n  " + other;
  return Error(Code::kUnsupportedModel, text, where);
}

}  // namespace mica::onnx
