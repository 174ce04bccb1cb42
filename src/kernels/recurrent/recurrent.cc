#include "kernels/recurrent/recurrent.h"

#include "base/isa.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                          \
  namespace set {                                  \
  extern const RecurrentKernels recurrent_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const RecurrentKernels& recurrent_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::recurrent_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::recurrent_kernels;
}

}  // namespace mica
