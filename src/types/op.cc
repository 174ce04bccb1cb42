#include "types/op.h"

namespace mica {

const OpDef* find_op(std::string_view name) { return find_row(all_op(), name); }

}  // namespace mica
