#include <cstring>

#include "kernels/move/move.h"

namespace mica {

void gather_rows(const GatherPlan& plan, const char* table, const void* indices, char* out, int64_t task_begin,
                 int64_t task_end) {
  for (int64_t task = task_begin; task < task_end; ++task) {
    const int64_t o = task / plan.count, i = task % plan.count;
    int64_t index = plan.wide ? static_cast<const int64_t*>(indices)[i * plan.index_step]
                              : static_cast<const int32_t*>(indices)[i * plan.index_step];
    if (index < 0) index += plan.size;
    const char* from = table + o * plan.table_outer + index * plan.table_row;
    char* to = out + o * plan.out_outer + i * plan.out_row;
    if (plan.row_bytes == 4)
      std::memcpy(to, from, 4);
    else
      std::memcpy(to, from, static_cast<size_t>(plan.row_bytes));
  }
}

int64_t gather_out_of_range(const GatherPlan& plan, const void* indices) {
  for (int64_t i = 0; i < plan.count; ++i) {
    const int64_t index = plan.wide ? static_cast<const int64_t*>(indices)[i * plan.index_step]
                                    : static_cast<const int32_t*>(indices)[i * plan.index_step];
    if (index < -plan.size || index >= plan.size) return i;
  }
  return -1;
}

}  // namespace mica
