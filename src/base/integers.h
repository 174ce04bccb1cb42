// Arithmetic on counts that are known to be small: what comes from files is checked (base/checked.h). Not for sources
// that are compiled for each instruction set, of which the linker would keep one copy.
#pragma once
#include <stdint.h>

namespace mica {

// n / d rounded up; n >= 0, d > 0.
constexpr int64_t ceil_div(int64_t n, int64_t d) { return (n + d - 1) / d; }
constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

}  // namespace mica
