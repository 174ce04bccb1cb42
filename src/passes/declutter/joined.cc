// Concatenations that begin with the same parts, as dense blocks of networks have them: the longer one takes the
// shorter one whole. All parts of a block then stand in one place, which bind gives to the longest, and none is copied.
#include <algorithm>
#include <map>

#include "ir/builder.h"
#include "ops/move/concat.h"
#include "passes/declutter/simplify.h"

namespace mica {
MICA_DECLARE_OP(concat);

int64_t share_joined(Graph& graph, const DeclutterOptions&) {
  constexpr size_t kMostParts = 64;  // the work grows with the square
  std::map<std::pair<int64_t, Values>, Value*> joined;
  int64_t shared = 0;
  for (const auto& node : graph.nodes) {
    if (node->op != &op_concat || node->inputs.size() > kMostParts) continue;
    const int rank = node->outputs[0]->type.shape.rank;
    int64_t axis = node->attributes<Concat>().axis;
    if (axis < 0 && rank >= 0) axis += rank;
    const Values parts = node->inputs;
    for (size_t count = parts.size() - 1; count >= 2 && count < parts.size(); --count) {
      const auto found = joined.find({axis, {parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count)}});
      if (found == joined.end()) continue;
      node->inputs.erase(node->inputs.begin(), node->inputs.begin() + static_cast<std::ptrdiff_t>(count));
      node->inputs.insert(node->inputs.begin(), found->second);
      ++shared;
      break;
    }
    joined.emplace(std::pair{axis, parts}, node->outputs[0]);
  }
  return shared;
}

}  // namespace mica
