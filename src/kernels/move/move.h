// Data movement at memory speed: a copy between two strided layouts of the same elements (transposition, concatenation,
// slices, tiles, broadcasts, layout changes), and rows gathered by index.
//
// Goals: every element size of 1, 2, 4, 8 and 16 bytes; any strides, zero and negative ones included, on the reading
// side. Non-goals: conversion of elements; overlapping source and destination.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace mica {

enum class Isa : uint8_t;

inline constexpr int kMaxCopyAxes = 24;

// Elements along one axis and the bytes from one to the next on both sides.
struct CopyAxis {
  int64_t size = 1, from = 0, to = 0;
};

enum class CopyKind : uint8_t {
  kRows,       // the inner axis is dense on both sides
  kFill,       // one element repeated into a dense row
  kTranspose,  // dense along `inner` in the destination, along `cross` in the source
  kStrided,    // element by element
};

// What `plan_copy` makes of a copy: outer axes to walk, and one inner piece of work cut into tasks.
struct CopyPlan {
  CopyKind kind = CopyKind::kRows;
  int32_t element = 1;  // bytes; kRows counts single bytes
  int32_t outer = 0;
  CopyAxis axes[kMaxCopyAxes];
  CopyAxis inner, cross;
  int64_t inner_block = 1, cross_block = 1;    // elements of a task
  int64_t inner_blocks = 1, cross_blocks = 1;  // tasks of one inner piece
  int64_t tasks = 0;
  int64_t bytes = 0;  // written in all
};

// Drops axes of one element, joins those that act as one on both sides and widens elements that stay together, so that
// few outer axes are left and the inner piece is as long as it can be. `rank` <= kMaxCopyAxes; `element_bytes` is 1, 2,
// 4, 8 or 16. Pure.
CopyPlan plan_copy(const CopyAxis* axes, int rank, int64_t element_bytes);
// "transpose 4 [2] 64x3136 tasks=13"; returns the length, writes at most size.
size_t print(const CopyPlan& plan, char* out, size_t size);

// Row `index[i]` of each outer slice of a table goes to place i: out[o][i] = table[o][index[i]].
struct GatherPlan {
  int64_t outer = 1, count = 1, row_bytes = 1;
  int64_t table_outer = 0, table_row = 0, out_outer = 0, out_row = 0;  // bytes
  int64_t size = 1;        // rows of the table: negative indices count from its end
  int64_t index_step = 1;  // elements
  bool wide = true;        // i64 indices, else i32
};

struct MoveKernels {
  void (*copy)(const CopyPlan& plan, const char* from, char* to, int64_t task_begin, int64_t task_end);
};
const MoveKernels& move_kernels(Isa isa);

// Tasks are places (outer · count). Indices must be in range: see `gather_out_of_range`.
void gather_rows(const GatherPlan& plan, const char* table, const void* indices, char* out, int64_t task_begin,
                 int64_t task_end);
// The first index outside of [-size, size), or -1.
int64_t gather_out_of_range(const GatherPlan& plan, const void* indices);

}  // namespace mica
