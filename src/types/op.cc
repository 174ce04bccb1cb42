#include "types/op.h"

namespace mica {

const OpDef* find_op(std::string_view name) {
  const auto table = all_op();
  const auto found = std::lower_bound(table.begin(), table.end(), name, [](const OpDef* op, std::string_view n) { return op->name < n; });
  return found != table.end() && (*found)->name == name ? *found : nullptr;
}

}  // namespace mica
