// What stands against an import: collected, and told once.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace mica::onnx {

// Nodes that cannot be imported for the same reason are one problem.
class Problems {
 public:
  struct Kind {
    std::string op, domain;
    int version = 0;
    std::string reason, hint;
    bool of_sizes = false;  // the operator is known, but does not fit its operands' shapes
    bool operator<(const Kind& o) const;
  };
  void add(Kind kind, const std::string& node);
  // Something that concerns no node.
  void add(const std::string& what);
  size_t count() const { return count_; }
  // Whether all that came since `before` is of sizes. `reason`: the first.
  bool only_sizes_since(const Problems& before, std::string* reason) const;
  // All of them, as kUnsupportedModel. `where`: the model.
  Error error(std::string_view where) const;

 private:
  std::map<Kind, std::vector<std::string>> nodes_;
  std::vector<std::string> others_;
  size_t count_ = 0;
};

}  // namespace mica::onnx
