#include "kernels/move/grid.h"

#include "base/isa.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                \
  namespace set {                        \
  extern const GridKernels grid_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const GridKernels& grid_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::grid_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::grid_kernels;
}

}  // namespace mica
