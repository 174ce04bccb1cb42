// For parameterised tests: every instruction set that this build has and this machine runs.
#pragma once
#include <string>
#include <vector>

#include "device/cpu/isa_support.h"

namespace mica {

inline std::vector<Isa> every_isa() {
  std::vector<Isa> found;
  for (Isa isa : {Isa::kPortable, Isa::kSse2, Isa::kAvx2, Isa::kAvx512, Isa::kNeon})
    if (supports(isa)) found.push_back(isa);
  return found;
}

struct IsaName {
  template <class Info>
  std::string operator()(const Info& row) const {
    return std::string(name_of(row.param));
  }
};

}  // namespace mica
