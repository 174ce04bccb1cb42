#include "kernels/quant/quant.h"

#include "base/isa.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                  \
  namespace set {                          \
  extern const QuantKernels quant_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const QuantKernels& quant_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::quant_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::quant_kernels;
}

}  // namespace mica
