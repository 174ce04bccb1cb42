// Which stages are run depth-first by rows, and in which order their rows are made.
//
// A chain is a row of stages whose intermediate results are read by stages of the chain only. It is run band by band:
// some rows of the last result, before them the rows of each intermediate that they need and that are not there yet. An
// intermediate stands in a window of rows that slides down; rows that are needed again stay, so nothing is computed
// twice. Threads take strips of the last result's rows; at the seam of two strips both compute the rows that both need.
// Where whole rows are too long for the cache, a strip is made in parts side by side, which likewise compute the
// columns at their seams twice.
//
// Goal: intermediates that would leave the second-level cache stay in it. Non-goal: the order of stages. All functions
// are pure. Cost: about 1000 operations for each stage and length of chain.
#pragma once
#include "base/vector.h"
#include "step/run.h"

namespace mica {

inline constexpr size_t kMostChainStages = 12;
inline constexpr int kMostRowOperands = 8;

// An operand of a stage that has rows.
struct RowOperandSpec {
  int32_t maker = -1;  // the stage that makes it, an index into the same list; -1: none of them
  bool windowed = false;
};

struct RowStage {
  bool capable = false;  // its rows can be made by themselves
  bool escapes = false;  // its result is read by others than the stages of this list, or must exist
  int32_t last_reader = -1;
  RowWindow window;
  int64_t images = 1, in_rows = 0, out_rows = 0;
  int64_t in_columns = 0, out_columns = 0;  // 0: its rows cannot be parted
  int64_t row_bytes = 0, column_bytes = 0;  // of its result: from row to row, and from column to column of one
  int64_t weight_bytes = 0;                 // constants that every band reads
  double row_work = 0;                      // multiply-adds for a row of its result
  int operand_count = 0;
  RowOperandSpec operands[kMostRowOperands];
};

enum class RowChainMode : uint8_t { kChoose, kNever, kAlways };

struct RowLimits {
  int64_t l2_bytes = 1 << 20;
  int threads = 1;
  RowChainMode mode = RowChainMode::kChoose;
};

struct RowChain {
  uint32_t first = 0, last = 0;       // stages
  int64_t band_rows = 1, strips = 1;  // rows of the last result: of a band; strips of an image
  int64_t parts = 1;                  // of a strip, side by side
  double gain_ns = 0;                 // estimated, against stage by stage
};

// Chains that do not overlap, in order.
Status choose_row_chains(std::span<const RowStage> stages, const RowLimits& limits, Vector<RowChain>& chains);

// "stages 3..5: 56 rows, 4 at a time, 1 strips of 2 parts, gain 210 us"; returns the length, writes at most size.
size_t print(std::span<const RowStage> stages, const RowChain& chain, char* out, size_t size);

struct RowRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};
// The rows or columns of an operand that those of `out` of a stage's result read; never empty.
RowRange rows_read(const RowStage& stage, bool windowed, RowRange out);
RowRange columns_read(const RowStage& stage, bool windowed, RowRange out);

// The columns of each stage's result that a part of a chain needs; at least chain.last - chain.first + 1 in `made`.
void columns_of_part(std::span<const RowStage> stages, const RowChain& chain, int64_t part, std::span<RowRange> made);

// One step of a strip: either rows of a stage's result, or, with `slide`, its window begins with row rows.begin from
// now on, and the rows before rows.end move to its front. At first a window begins with the first row that is made.
struct RowAction {
  uint32_t stage = 0;  // relative to the chain's first
  bool slide = false;
  RowRange rows;
};
struct RowSchedule {
  Vector<RowAction> actions;     // strip after strip
  Vector<uint32_t> strip_begin;  // strips + 1 positions in `actions`
  Vector<int64_t> window_rows;   // for each stage but the last, how many rows of its result stand at a time
};
Status schedule_rows(std::span<const RowStage> stages, const RowChain& chain, RowSchedule& schedule);

}  // namespace mica
