#include "kernels/move/move.h"

#include <algorithm>

#include "base/format.h"
#include "base/integers.h"
#include "base/isa.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                \
  namespace set {                        \
  extern const MoveKernels move_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const MoveKernels& move_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::move_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::move_kernels;
}

namespace {

int64_t magnitude(int64_t n) { return n < 0 ? -n : n; }

// A task moves about this much: a few microseconds, so that threads share evenly and a small copy is one task.
constexpr int64_t kTaskBytes = 64 * 1024;

// Axes by falling destination stride, so that writes go forward; neighbours that act as one are joined. Returns how
// many are left.
int order_axes(CopyAxis* axes, int count) {
  for (int i = 1; i < count; ++i)  // by insertion: at most kMaxRank axes, and std::stable_sort allocates
    for (int k = i; k > 0 && magnitude(axes[k].to) > magnitude(axes[k - 1].to); --k) std::swap(axes[k], axes[k - 1]);
  int left = 0;
  for (int i = 0; i < count; ++i) {
    CopyAxis* outer = left ? &axes[left - 1] : nullptr;
    if (outer && outer->from == axes[i].from * axes[i].size && outer->to == axes[i].to * axes[i].size)
      *outer = {outer->size * axes[i].size, axes[i].from, axes[i].to};
    else
      axes[left++] = axes[i];
  }
  return left;
}

CopyAxis take_axis(CopyPlan& plan, int at) {
  const CopyAxis axis = plan.axes[at];
  std::copy(plan.axes + at + 1, plan.axes + plan.outer, plan.axes + at);
  --plan.outer;
  return axis;
}

// Chooses the inner piece among the axes that are left.
void choose_inner(CopyPlan& plan) {
  const int64_t e = plan.element;
  if (plan.outer == 0) {
    plan.inner = {e, 1, 1};
    plan.kind = CopyKind::kRows;
    return;
  }
  const CopyAxis last = plan.axes[plan.outer - 1];
  if (last.to == e && last.from == e) {
    plan.kind = CopyKind::kRows;
    plan.inner = {take_axis(plan, plan.outer - 1).size * e, 1, 1};
    return;
  }
  int dense = -1;  // the longest axis along which the source is dense
  for (int i = 0; i + 1 < plan.outer; ++i)
    if (plan.axes[i].from == e && (dense < 0 || plan.axes[i].size > plan.axes[dense].size)) dense = i;
  plan.inner = take_axis(plan, plan.outer - 1);
  plan.kind = last.to == e && last.from == 0 ? CopyKind::kFill : CopyKind::kStrided;
  if (last.to == e && last.from != 0 && dense >= 0) {
    plan.kind = CopyKind::kTranspose;
    plan.cross = take_axis(plan, dense);
  }
}

void cut_tasks(CopyPlan& plan) {
  int64_t outer = 1;
  for (int i = 0; i < plan.outer; ++i) outer *= plan.axes[i].size;
  const int64_t unit = plan.kind == CopyKind::kRows ? 1 : plan.element;
  plan.bytes = outer * plan.inner.size * plan.cross.size * unit;
  if (plan.kind == CopyKind::kTranspose) {
    // 64 elements of a destination row, and as many rows as fit: whole cache lines on both sides.
    plan.inner_block = std::min<int64_t>(plan.inner.size, 64);
    plan.cross_block =
        std::min(plan.cross.size, ceil_div(std::max<int64_t>(kTaskBytes / (plan.inner_block * unit), 64), 64) * 64);
  } else {
    plan.inner_block = std::min(plan.inner.size, std::max<int64_t>(kTaskBytes / unit, 1));
  }
  plan.inner_blocks = ceil_div(plan.inner.size, plan.inner_block);
  plan.cross_blocks = ceil_div(plan.cross.size, plan.cross_block);
  plan.tasks = outer * plan.inner_blocks * plan.cross_blocks;
}

}  // namespace

CopyPlan plan_copy(const CopyAxis* axes, int rank, int64_t element_bytes) {
  CopyPlan plan;
  plan.element = static_cast<int32_t>(element_bytes);
  int count = 0;
  for (int i = 0; i < rank; ++i) {
    if (axes[i].size == 0) return plan;
    if (axes[i].size != 1) plan.axes[count++] = axes[i];
  }
  plan.outer = order_axes(plan.axes, count);
  // Elements that stay together on both sides become one wider element.
  while (plan.outer > 1) {
    const CopyAxis& last = plan.axes[plan.outer - 1];
    const int64_t wide = last.size * plan.element;
    if (last.from != plan.element || last.to != plan.element || wide > 16 || (wide & (wide - 1)) != 0) break;
    plan.element = static_cast<int32_t>(wide);
    --plan.outer;
  }
  choose_inner(plan);
  cut_tasks(plan);
  return plan;
}

size_t print(const CopyPlan& plan, char* out, size_t size) {
  constexpr std::string_view kNames[] = {"rows", "fill", "transpose", "strided"};
  return format_to(out, size, "{} {} [{}] {}x{} tasks={}", kNames[static_cast<int>(plan.kind)], plan.element,
                   plan.outer, plan.inner.size, plan.cross.size, plan.tasks);
}

}  // namespace mica
