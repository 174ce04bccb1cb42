// Which element types an operator takes: what its inference accepts, asked one type at a time.
#pragma once
#include <string>
#include <vector>

#include "types/op.h"

namespace mica::tools {

// For each input, up to eight, the types that inference accepts there beside some types of the others, of tensors (or,
// where it takes no tensors, of sequences and optionals) of unknown shape. Empty for an operator with regions, which
// hands on what its regions take.
std::vector<std::vector<DType>> element_types(const OpDef& op);

}  // namespace mica::tools
