// Elements of several rows in turn: out[i·parts + j] = part j[i]. A row is the innermost axis; rows of each part and of
// the result have a pitch of their own. Elements of 1, 2, 4 or 8 bytes.
#pragma once
#include <stdint.h>

namespace mica {

enum class Isa : uint8_t;

inline constexpr int kMostInterleaved = 8;

struct InterleaveArgs {
  int parts = 2;
  int64_t element = 4, row = 0;  // bytes; elements of a part's row
  int64_t rows = 0;
  int64_t row_block = 1, tasks = 0;               // rows of a task
  int64_t pitch[kMostInterleaved] = {}, out = 0;  // bytes from row to row
  const char* from[kMostInterleaved] = {};
  char* to = nullptr;
};
// Cuts the rows into tasks of about 32 KiB. Results never depend on the cut.
void prepare_interleave(InterleaveArgs& args);

struct InterleaveKernels {
  void (*run)(const InterleaveArgs& args, int64_t task_begin, int64_t task_end);
};
const InterleaveKernels& interleave_kernels(Isa isa);

}  // namespace mica
