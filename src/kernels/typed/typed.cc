#include "kernels/typed/typed.h"

#include "kernels/split.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                  \
  namespace set {                          \
  extern const TypedKernels typed_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const TypedKernels& typed_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::typed_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::typed_kernels;
}

namespace {

constexpr int64_t kTaskElements = 16384;
constexpr int64_t kShortRow = 8, kLongRow = 16;

void move_loop(TypedArgs& args, int from, int to) {
  args.dims[to] = args.dims[from];
  args.out[to] = args.out[from];
  for (int k = 0; k < args.inputs; ++k) args.in[k][to] = args.in[k][from];
}
void swap_loops(TypedArgs& args, int i, int j) {
  const auto exchange = [](int64_t& a, int64_t& b) {
    const int64_t t = a;
    a = b;
    b = t;
  };
  exchange(args.dims[i], args.dims[j]);
  exchange(args.out[i], args.out[j]);
  for (int k = 0; k < args.inputs; ++k) exchange(args.in[k][i], args.in[k][j]);
}
bool continues(const TypedArgs& args, int outer, int inner) {
  bool all = args.out[outer] == args.out[inner] * args.dims[inner];
  for (int k = 0; k < args.inputs; ++k) all = all && args.in[k][outer] == args.in[k][inner] * args.dims[inner];
  return all;
}
int64_t rows_of(const TypedArgs& args) {
  int64_t rows = 1;
  for (int i = 0; i + 1 < args.loops; ++i) rows *= args.dims[i];
  return rows;
}

}  // namespace

void prepare_typed(TypedArgs& args, bool dense_rows) {
  int kept = 0;
  for (int i = 0; i < args.loops; ++i)
    if (args.dims[i] != 1) move_loop(args, i, kept++);
  args.loops = kept;
  for (int i = 1; i < args.loops; ++i)
    for (int j = i; j > 0 && args.out[j - 1] < args.out[j]; --j) swap_loops(args, j - 1, j);
  int last = 0;
  for (int i = 1; i < args.loops; ++i) {
    const bool merges = continues(args, last, i);
    const int64_t size = merges ? args.dims[last] * args.dims[i] : args.dims[i];
    move_loop(args, i, merges ? last : ++last);
    args.dims[last] = size;
  }
  args.loops = args.loops ? last + 1 : 1;
  if (kept == 0) args.dims[0] = 1;
  if (!dense_rows) swap_loops(args, inner_loop(args.dims, args.loops, kShortRow, kLongRow), args.loops - 1);
  // A long row is cut into a loop of pieces and, when it does not divide, left whole.
  int64_t& inner = args.dims[args.loops - 1];
  if (inner > kTaskElements && inner % kTaskElements == 0 && args.loops < kMaxTypedLoops) {
    move_loop(args, args.loops - 1, args.loops);
    args.dims[args.loops - 1] = inner / kTaskElements;
    args.dims[args.loops] = kTaskElements;
    args.out[args.loops - 1] *= kTaskElements;
    for (int k = 0; k < args.inputs; ++k) args.in[k][args.loops - 1] *= kTaskElements;
    ++args.loops;
  }
  const int64_t n = args.dims[args.loops - 1], rows = rows_of(args);
  args.row_block = n > 0 ? rows_of_task(rows, kTaskElements / n) : 1;
  args.tasks = n > 0 ? (rows + args.row_block - 1) / args.row_block : 0;
}

void run_typed(const TypedArgs& args, void* const* operands, int64_t begin, int64_t end) {
  const int last = args.loops - 1;
  const int64_t rows = rows_of(args);
  for (int64_t task = begin; task < end; ++task)
    for (int64_t r = task * args.row_block; r < rows && r < (task + 1) * args.row_block; ++r) {
      TypedRow row{};
      row.out = static_cast<char*>(operands[args.out_slot]);
      row.out_stride = args.out[last];
      for (int k = 0; k < args.inputs; ++k) {
        row.in[k] = static_cast<const char*>(operands[args.slot[k]]);
        row.in_stride[k] = args.in[k][last];
      }
      int64_t rest = r;
      for (int i = last; i-- > 0;) {
        const int64_t at = rest % args.dims[i];
        rest /= args.dims[i];
        row.out += at * args.out[i];
        for (int k = 0; k < args.inputs; ++k) row.in[k] += at * args.in[k][i];
      }
      args.row(row, args.dims[last]);
    }
}

}  // namespace mica
