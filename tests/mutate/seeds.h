// Small ONNX models of many kinds, the stock that files are mutated from.
#pragma once
#include <vector>

#include "attempt.h"

namespace mica::mutate {

struct Seed {
  std::string name;
  File file;
};
std::vector<Seed> made_models();
// States, bounded dimensions, external data and operators that few models have. `folder` is where external data is put.
std::vector<Seed> rare_models(const std::string& folder);

}  // namespace mica::mutate
