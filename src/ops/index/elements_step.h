// What gathering and scattering element by element share: the places along one axis.
#pragma once
#include "ops/index/axis.h"
#include "step/run.h"
#include "types/operand.h"

namespace mica {

// Lines [before, places, behind] of indices, into lines [before, size, behind] along the middle axis; all dense.
struct ElementsStep {
  int64_t before, places, behind, size;
  bool narrow;  // i32 indices
  int out;
};

inline int64_t index_at(const ElementsStep& step, const void* indices, int64_t i) {
  return step.narrow ? static_cast<const int32_t*>(indices)[i] : static_cast<const int64_t*>(indices)[i];
}

// `narrow` indices or wide ones, of the lines from `first` on.
template <class Body>
void with_indices(const ElementsStep& step, const void* indices, int64_t first, const Body& body) {
  if (step.narrow)
    body(static_cast<const int32_t*>(indices) + first);
  else
    body(static_cast<const int64_t*>(indices) + first);
}

// Of operand 1.
inline Status check_indices(const void* arguments, void* const* operands) {
  const auto& step = *static_cast<const ElementsStep*>(arguments);
  const int64_t count = step.before * step.places * step.behind;
  const auto size = static_cast<uint64_t>(step.size);
  bool inside = true;
  with_indices(step, operands[1], 0, [&](const auto* indices) {
    for (int64_t i = 0; i < count; ++i) inside &= static_cast<uint64_t>(indices[i]) + size < 2 * size;
  });
  for (int64_t i = 0; !inside && i < count; ++i)
    MICA_TRY_STATUS(checked_index(index_at(step, operands[1], i), step.size, "index"));
  return {};
}

// Fills the step from the data, the indices and the axis. False when the kernels do not do it.
inline Result<bool> elements_step(const BindScope& scope, int64_t wanted_axis, ElementsStep& step) {
  const TensorView &data = scope.input(0).view, &indices = scope.input(1).view;
  if (is_sub_byte(data.dtype) || data.dtype == DType::kString || data.rank < 1) return false;
  if (element_bytes(data.dtype) > 8 || indices.rank != data.rank) return false;
  if (indices.dtype != DType::kI64 && indices.dtype != DType::kI32) return false;
  if (!data.contiguous() || !indices.contiguous() || data.empty() || indices.empty()) return false;
  MICA_TRY(const int axis, normalize_axis(wanted_axis, data.rank));
  step = {1, indices.dim(axis), 1, data.dim(axis), indices.dtype == DType::kI32, static_cast<int>(scope.inputs.size())};
  for (int i = 0; i < data.rank; ++i) {
    if (i == axis) continue;
    if (indices.dim(i) != data.dim(i)) return false;
    (i < axis ? step.before : step.behind) *= data.dim(i);
  }
  return true;
}

// of<T>() with an integer T of so many bytes; null for other sizes.
template <class Of>
auto by_bytes(int64_t bytes, const Of& of) -> decltype(of.template operator()<uint8_t>()) {
  switch (bytes) {
    case 1: return of.template operator()<uint8_t>();
    case 2: return of.template operator()<uint16_t>();
    case 4: return of.template operator()<uint32_t>();
    case 8: return of.template operator()<uint64_t>();
    default: return nullptr;
  }
}

}  // namespace mica
