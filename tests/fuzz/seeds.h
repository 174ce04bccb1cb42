// Small ONNX models of many kinds, the stock that files are mutated from.
#pragma once
#include <string>
#include <vector>

#include "import/source.h"

namespace mica::fuzz {

struct Seed {
  std::string name, bytes;
};
// What a model's own metadata asks of the importer: `fuzz.state.OUTPUT` = input, `fuzz.bound.DIMENSION` = number. So a
// file says all that its attempt needs.
ImportOptions import_options(const std::string& onnx);
std::vector<Seed> made_models();
// States, bounded dimensions, external data and operators that few models have. `folder` is where external data is put.
std::vector<Seed> rare_models(const std::string& folder);

}  // namespace mica::fuzz
