// The processor's name as a person knows it.
#pragma once
#include <string_view>

#include "base/string.h"

namespace mica {

using CpuModel = Text<64>;

// From the text of Linux's /proc/cpuinfo: the model's name on x86 and some others; on Arm, which names only numbers,
// these. Blanks in a row become one, long names are cut. "unknown processor" when there is nothing to tell.
CpuModel cpu_model(std::string_view cpuinfo);

}  // namespace mica
