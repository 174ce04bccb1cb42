// A chain of stages as one step: the kernels' calls in the order of its schedule, with windows of rows for
// intermediates.
#pragma once
#include "step/run.h"

namespace mica {

inline constexpr size_t kMostCallOperands = 32;
inline constexpr uint32_t kRowWindows = 0;  // the step's operand 0: memory of the windows, for one worker after another
inline constexpr uint32_t kNoOperand = 0xffffffffu;

struct RowCallOperand {
  uint32_t operand = kNoOperand;  // of the step
  int64_t offset = 0;             // bytes, for the first image
  int64_t image = 0;              // bytes from image to image
};

struct RowCall {
  KernelFn kernel = nullptr;
  const void* arguments = nullptr;
  int64_t tasks = 1;
  const RowCallOperand* operands = nullptr;
  uint32_t operand_count = 0;
  uint32_t stage = 0;  // of the chain
};

struct RowProgram {
  const RowCall* calls = nullptr;
  const uint32_t* strip_begin = nullptr;  // strips + 1
  int64_t strips = 1;                     // a task is a strip of an image
  int64_t worker_bytes = 0;
};
// A KernelFn.
void run_rows(const void* arguments, void* const* operands, const TaskRange& range);

// A KernelFn: operand 1's first bytes move to operand 0, which may overlap. `arguments`: how many, an int64_t.
void slide_rows(const void* arguments, void* const* operands, const TaskRange& range);

}  // namespace mica
