#include "runtime/row_program.h"

#include <cstring>

namespace mica {

void run_rows(const void* arguments, void* const* operands, const TaskRange& range) {
  const RowProgram& program = *static_cast<const RowProgram*>(arguments);
  char* const windows = static_cast<char*>(operands[kRowWindows]) + range.worker * program.worker_bytes;
  for (int64_t task = range.begin; task < range.end; ++task) {
    const int64_t image = task / program.strips, strip = task % program.strips;
    for (uint32_t c = program.strip_begin[strip]; c < program.strip_begin[strip + 1]; ++c) {
      const RowCall& call = program.calls[c];
      void* at[kMostCallOperands];
      for (uint32_t k = 0; k < call.operand_count; ++k) {
        const RowCallOperand& o = call.operands[k];
        char* const base = o.operand == kNoOperand    ? nullptr
                           : o.operand == kRowWindows ? windows
                                                      : static_cast<char*>(operands[o.operand]);
        at[k] = base ? base + o.offset + image * o.image : nullptr;
      }
      call.kernel(call.arguments, at, {0, call.tasks, range.worker, range.scratch});
    }
  }
}

void slide_rows(const void* arguments, void* const* operands, const TaskRange&) {
  std::memmove(operands[0], operands[1], static_cast<size_t>(*static_cast<const int64_t*>(arguments)));
}

}  // namespace mica
