#include "step/run.h"

#include "types/window.h"

namespace mica {

RowWindow row_window(const Window& window) {
  const auto reach = [&](size_t axis) {
    return Reach{(window.kernel[axis] - 1) * window.dilation[axis] + 1, window.stride[axis], window.pad_begin[axis]};
  };
  return {.rows = reach(0), .columns = window.spatial > 1 ? reach(1) : Reach{}};
}

const RunDef* find_run(const OpDef& op) {
  if (const RunDef* own = find_row(all_run(), op.name)) return own;
  return op.pointwise == Pointwise::kNone ? nullptr : find_row(all_run(), "pointwise");
}

}  // namespace mica
