// The hint behind a name that was not found.
#pragma once
#include <string>

#include "base/nearest.h"

namespace mica {

// "did you mean `x`?" of the closest name; empty when none is close.
inline std::string did_you_mean(const Nearest& nearest) {
  return nearest.best().empty() ? std::string() : "did you mean `" + std::string(nearest.best()) + "`?";
}

}  // namespace mica
