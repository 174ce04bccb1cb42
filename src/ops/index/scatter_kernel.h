// The kernel of a scatter by what it does with elements and by their type.
#pragma once
#include "ops/index/elements_step.h"
#include "ops/index/scatter.h"

namespace mica {

template <Reduction reduction, class Of>
KernelFn reducing_kernel(DType dtype, const Of& of) {
  return dtype == DType::kF32   ? of.template operator()<float, reduction>()
         : dtype == DType::kI32 ? of.template operator()<int32_t, reduction>()
         : dtype == DType::kI64 ? of.template operator()<int64_t, reduction>()
                                : nullptr;
}

// of<T, reduction>(): T is an integer of an element's size where nothing is reduced. Null: the reference's.
template <class Of>
KernelFn scatter_kernel(Reduction reduction, DType dtype, const Of& of) {
  switch (reduction) {
    case Reduction::kAdd: return reducing_kernel<Reduction::kAdd>(dtype, of);
    case Reduction::kMul: return reducing_kernel<Reduction::kMul>(dtype, of);
    case Reduction::kMin: return reducing_kernel<Reduction::kMin>(dtype, of);
    case Reduction::kMax: return reducing_kernel<Reduction::kMax>(dtype, of);
    case Reduction::kNone: break;
  }
  return by_bytes(element_bytes(dtype),
                  [&]<class T>() -> KernelFn { return of.template operator()<T, Reduction::kNone>(); });
}

}  // namespace mica
