// Operators that an application brings, as an importer meets them.
#pragma once
#include <span>

#include "ir/spelling.h"
#include "types/custom.h"

namespace mica {

// Null when the application has none of this name. They come before Mica's own spellings.
const CustomOperator* find_custom(std::span<const CustomOperator* const> operators, std::string_view domain,
                                  std::string_view op);

// Adds the node with all its attributes: numbers, lists of numbers and texts; a tensor of numbers goes as a list.
// Throws Failure: kUnsupportedOperator for attributes of other kinds, kBadModel for a wrong number of inputs or
// outputs, kLimit.
Values import_custom(const SourceNode& node, Builder& build, const CustomOperator& custom);

}  // namespace mica
