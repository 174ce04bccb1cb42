// Small ONNX models of many kinds, the stock that files are mutated from.
#pragma once
#include <string>
#include <vector>

namespace mica::mutate {

struct Seed {
  std::string name, bytes;
};
std::vector<Seed> made_models();

}  // namespace mica::mutate
