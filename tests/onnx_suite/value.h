// Inputs and expected outputs of a case: tensors, sequences and optionals, read from .pb files.
#pragma once
#include <filesystem>
#include <string>

#include "ir/graph.h"

namespace mica::suite {

struct CaseValue {
  ConstantPtr tensor;      // a tensor, or
  bool is_object = false;  // a sequence or an optional of `items`
  std::vector<ConstantPtr> items;
};

// Throws Failure.
CaseValue read_value(const std::filesystem::path& path, const Type& type);

struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};
// Empty when equal: same type, same shape, numbers within absolute + relative·|expected|, NaN where NaN is expected and
// nowhere else.
std::string difference(const TensorView& got, const TensorView& expected, const Tolerance& tolerance);
// For random numbers: same type, same shape, and means and deviations that differ by no more than five standard errors.
std::string difference_of_statistics(const TensorView& got, const TensorView& expected);

}  // namespace mica::suite
