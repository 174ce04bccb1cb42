#include "measure/ceiling_loops.h"

#include "base/isa.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                  \
  namespace set {                          \
  extern const CeilingLoops ceiling_loops; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const CeilingLoops& ceiling_loops(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::ceiling_loops;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::ceiling_loops;
}

}  // namespace mica
