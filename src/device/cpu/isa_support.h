// Which instruction set the running processor should use.
#pragma once
#include <string_view>

#include "base/isa.h"
#include "base/result.h"

namespace mica {

// Whether kernels of this set exist in this build and the processor and the operating system can run them.
bool supports(Isa isa);

// Whether additions of the set's vectors have units beside those of multiply-adds, as AMD's have since Zen.
bool has_adds_apart(Isa isa);

// Whether the set's vectors are worked on in two halves, as 512-bit vectors are by AMD's Zen 4. What the processor says
// of its units does not tell: hypervisors hide the newest width.
bool has_half_units(Isa isa);

// The set named `forced` (as name_of spells it); the best supported one when it is empty. kUsage when the name is
// unknown, kNoDevice when the processor, or this build, lacks the set.
Result<Isa> choose_isa(std::string_view forced);

// choose_isa of the environment variable MICA_ISA.
Result<Isa> best_isa();

}  // namespace mica
