// Steps that serve every operator: copies between layouts, and post-operations that a kernel did not do itself.
#pragma once
#include "step/run.h"

namespace mica {

struct CopyArguments { TensorView from, to; };   // data of a constant source; else operand 0
void run_copy(const void* arguments, void* const* operands, const TaskRange& range);   // operands: source, destination

struct PostOpArguments { PostOp op; TensorView result, second; };
void run_post_op(const void* arguments, void* const* operands, const TaskRange& range);  // operands: result, second (or null)

}  // namespace mica
