// The least time that a machine's ceilings allow a stage: the roofline of Williams, Waterman and Patterson (2009), with
// a roof for each level of the memory.
//
// A bound, not a model: no schedule can be faster, so that a share of it never exceeds 1 but for an algorithm that
// needs fewer multiplications than the stage counts (Winograd), and for noise in the ceilings.
#pragma once
#include "measure/peak.h"

namespace mica {

struct StageWork {
  double flops = 0;
  double operand_bytes = 0;    // read and written, without constants
  double constant_bytes = 0;   // weights
  bool bytes_product = false;  // products of 8-bit integers: the dot product is the ceiling
};

// Seconds, on all threads of the peak. `model_constants`: bytes of all constants that a run reads. The next run finds
// of them in a level at most what the level holds, the rest farther out. Operands were just written: they come from
// the innermost levels that hold them.
double roofline_seconds(const StageWork& work, const MachinePeak& peak, double model_constants);

}  // namespace mica
