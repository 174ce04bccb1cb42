#include "kernels/eltwise/eltwise.h"

#include "kernels/split.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                      \
  namespace set {                              \
  extern const EltwiseKernels eltwise_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const EltwiseKernels& eltwise_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::eltwise_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::eltwise_kernels;
}

namespace {

// Elements that make a task: about 10 µs of memory traffic.
constexpr int64_t kTaskElements = 32768;
constexpr int64_t kChunkUnit = 64;  // of one long row: whole lines

template <class F>
void for_each_operand(ChainArgs& args, F&& f) {
  f(args.in);
  f(args.out);
  for (int i = 0; i < args.count; ++i)
    if (info_of(args.steps[i].function).inputs == 2) f(args.steps[i].operand);
}

void swap_loops(ChainArgs& args, int i, int j) {
  const auto exchange = [](int64_t& a, int64_t& b) {
    const int64_t t = a;
    a = b;
    b = t;
  };
  exchange(args.dims[i], args.dims[j]);
  for_each_operand(args, [&](ChainOperand& o) { exchange(o.strides[i], o.strides[j]); });
}

void move_loop(ChainArgs& args, int from, int to) {
  args.dims[to] = args.dims[from];
  for_each_operand(args, [&](ChainOperand& o) { o.strides[to] = o.strides[from]; });
}

constexpr int64_t kShortRow = 16;
// Longer rows hide what is done around each, unless rows are used where they lie; operands of another layout are turned
// by squares.
constexpr int64_t kNearRow = 64, kSquare = 32;
static_assert(kSquare * kSquare <= kChainTile);

// Loop i + 1 continues loop i for every operand.
bool continues(ChainArgs& args, int outer, int inner) {
  bool all = true;
  for_each_operand(args,
                   [&](ChainOperand& o) { all = all && o.strides[outer] == o.strides[inner] * args.dims[inner]; });
  return all;
}

// A short row of adjacent elements that others repeat (a number for each channel) makes one long row with its outer
// loop: such an operand gets a period. Returns the period, or 1.
int64_t repeat_rows(ChainArgs& args) {
  if (args.loops < 2) return 1;
  const int outer = args.loops - 2, inner = args.loops - 1;
  const int64_t row = args.dims[inner];
  if (row > kChainTile / 4) return 1;
  int periods = 0;
  const auto is_row = [&](const ChainOperand& o) { return o.strides[outer] == o.strides[inner] * row; };
  for (int s = 0; s < args.count; ++s) {
    const ChainOperand& o = args.steps[s].operand;
    if (is_row(o)) continue;
    if (o.strides[outer] != 0 || o.strides[inner] != 1) return 1;
    ++periods;
  }
  if (!is_row(args.in) || !is_row(args.out) || periods == 0 || periods > kMaxChainPeriods) return 1;
  if (args.loops > 2 && args.dims[outer] * row < kShortRow) return 1;  // still short, and there may be a longer loop
  for (int s = 0; s < args.count; ++s)
    if (!is_row(args.steps[s].operand)) args.steps[s].operand.period = row;
  args.dims[outer] *= row;
  for_each_operand(args, [&](ChainOperand& o) { o.strides[outer] = o.strides[inner]; });
  --args.loops;
  return row;
}

// An input of another layout is turned by squares, for which the loop along its neighbours has to be the last but one.
void meet_neighbours(ChainArgs& args) {
  const int inner = args.loops - 1;
  if (inner < 2 || args.in.strides[inner] <= 1) return;
  for (int i = 0; i < inner - 1; ++i)
    if (args.in.strides[i] == 1 && args.dims[i] >= kSquare) return swap_loops(args, i, inner - 1);
}

// How many rows of the last loop but one go together, and how much of each.
void join_rows(ChainArgs& args) {
  const int outer = args.loops - 2, inner = args.loops - 1;
  args.rows = 1;
  args.columns = kChainTile;
  if (args.loops < 2) return;
  bool turned = false, in_place = true;
  for_each_operand(args, [&](ChainOperand& o) {
    turned = turned || (o.strides[outer] == 1 && o.strides[inner] > 1);
    in_place = in_place && (o.strides[inner] == 0 || (o.strides[inner] == 1 && o.strides[outer] == args.dims[inner]));
  });
  if (!turned && args.dims[inner] > (in_place ? kChainTile / 2 : kNearRow)) return;
  args.columns = turned && args.dims[inner] > kSquare ? kSquare : args.dims[inner];
  args.rows = kChainTile / args.columns;
}

}  // namespace

void prepare_chain(ChainArgs& args) {
  int kept = 0;
  bool empty = false;
  for (int i = 0; i < args.loops; ++i) {
    empty = empty || args.dims[i] == 0;
    if (args.dims[i] == 1) continue;
    if (kept != i) move_loop(args, i, kept);
    ++kept;
  }
  args.loops = kept;
  const auto size = [](int64_t s) { return s < 0 ? -s : s; };
  for (int i = 1; i < args.loops; ++i)
    for (int j = i; j > 0 && size(args.out.strides[j - 1]) < size(args.out.strides[j]); --j) swap_loops(args, j - 1, j);
  int last = 0;
  for (int i = 1; i < args.loops; ++i) {
    if (continues(args, last, i)) {
      const int64_t merged = args.dims[last] * args.dims[i];
      move_loop(args, i, last);
      args.dims[last] = merged;
    } else {
      move_loop(args, i, ++last);
    }
  }
  if (args.loops) args.loops = last + 1;
  if (args.loops == 0) {
    args.loops = 1;
    args.dims[0] = 1;
    for_each_operand(args, [](ChainOperand& o) { o.strides[0] = 1; });
  }
  meet_neighbours(args);
  const int64_t period = repeat_rows(args);
  args.all_rows = 1;
  for (int i = 0; i + 1 < args.loops; ++i) args.all_rows *= args.dims[i];
  const int64_t inner = args.dims[args.loops - 1];
  if (empty || args.all_rows == 0 || inner == 0) return;
  if (period == 1) join_rows(args);
  const int64_t unit = period > 1 ? period : kChunkUnit;
  args.chunk = inner < kTaskElements ? inner : rows_of_task((inner + unit - 1) / unit, kTaskElements / unit) * unit;
  args.chunks = (inner + args.chunk - 1) / args.chunk;
  args.row_block = args.chunks > 1 ? 1 : rows_of_task(args.all_rows, kTaskElements / inner);
  args.tasks = (args.all_rows + args.row_block - 1) / args.row_block * args.chunks;
}

}  // namespace mica
