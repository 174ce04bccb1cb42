#include "step/run.h"

namespace mica {

const RunDef* find_run(const OpDef& op) {
  if (const RunDef* own = find_row(all_run(), op.name)) return own;
  return op.pointwise == Pointwise::kNone ? nullptr : find_row(all_run(), "pointwise");
}

}  // namespace mica
