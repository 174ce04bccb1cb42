#include "kernels/gemm/gemm.h"

#include "base/isa.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                \
  namespace set {                        \
  extern const GemmKernels gemm_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const GemmKernels& gemm_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::gemm_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::gemm_kernels;
}

}  // namespace mica
