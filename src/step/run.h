// What an operator's `.run.cc` sees: the machine, its operands with fixed shapes, and where to put the steps it makes.
//
//   static Result<bool> bind(BindScope& scope) {
//     if (scope.input(0).view.dtype != DType::kF32) return false;            // the reference will do
//     MICA_TRY(Args* args, scope.arguments<Args>());
//     ...fill numbers only...
//     MICA_TRY_STATUS(scope.add({.kernel = run, .arguments = args, .tasks = n, .name = "softmax_f32"}));
//     return true;
//   }
//   MICA_RUN(softmax) = {.bind = bind};
#pragma once
#include <string_view>

#include "step/tuning.h"
#include "types/epilogue.h"
#include "types/op.h"
#include "types/packing.h"

namespace mica {

class Threads;
struct Window;

// A part of a step: tasks begin … end-1, run by `worker`, which owns `scratch` meanwhile.
struct TaskRange {
  int64_t begin, end;
  int worker;
  void* scratch;  // scratch_bytes of the step, 64-byte aligned; not initialised
  // For a step of one task that splits its work by itself, again and again; null: there is but one thread.
  Threads* threads = nullptr;
};
// operands: base addresses in the order inputs, outputs, temporaries (absent ones null). Kernels must not allocate or
// fail.
using KernelFn = void (*)(const void* arguments, void* const* operands, const TaskRange& range);

struct StepSpec {
  KernelFn kernel = nullptr;
  const void* arguments = nullptr;
  int64_t tasks = 1;
  double work = 0;           // rough cost of all tasks in units of one multiply-add; small steps stay on one thread
  size_t scratch_bytes = 0;  // per worker
  // Looks at values that steer memory (indices) before the tasks run; kernels then trust them.
  Status (*check)(const void* arguments, void* const* operands) = nullptr;
  std::string_view name;  // kernel name: static text or from the scope's memory
};

struct BoundOperand {
  bool present = false;
  bool constant = false;  // contents known at bind: view.data is readable now
  TensorView view;        // dims and byte strides; data only when constant
};

// Place o of output 0 along an axis depends on the places o·stride - pad … o·stride - pad + extent - 1 of input 0, as
// far as there are such.
struct Reach {
  int64_t extent = 1, stride = 1, pad = 0;
};

// Rows are the places along a tensor's first spatial axis (axis 2), columns those along axis 3 of four axes.
struct RowWindow {
  Reach rows, columns;
  bool elementwise = false;  // every operand that has rows is read at the result's row and column
};
// Of a window that slides over input 0.
RowWindow row_window(const Window& window);

// What a hook has to know when it makes some rows only, and perhaps some of their columns. Views then have these of one
// image; attributes and every choice that changes rounding are the whole's.
struct RowBand {
  struct Axis {
    int64_t whole = 0;  // places of input 0 as a whole
    int64_t pad = 0;    // Reach::pad as seen from the band: may be negative
  };
  int64_t images = 1;  // of input 0 as a whole
  Axis rows, columns;
  // Where a problem of three spatial axes has them, whose tensors have `rank` axes.
  void set_pads(int rank, int64_t (&pad)[3]) const {
    pad[5 - rank] = rows.pad;
    if (rank == 4) pad[2] = columns.pad;
  }
};

// Packs `plain` (dense, source order) into `to`. `context` carries the packing's numbers.
using PackFn = void (*)(const TensorView& plain, void* to, const void* context);
// The parts first to last - 1 of a form that is made from another one, on any thread.
using PackPartsFn = void (*)(const void* from, void* to, const void* context, int64_t first, int64_t last);
struct PackRequest {
  PackKey key;
  size_t bytes = 0;
  PackFn pack = nullptr;
  const void* context = nullptr;
  // Instead of `pack`: from a form that a file may hold, in parts.
  PackKey from;
  PackPartsFn pack_parts = nullptr;
  int64_t parts = 0;
};

// The ways that a hook chooses from for constant weights: cycles of one core, as predicted, and the bytes of the form
// that the weights then have.
struct FormOption {
  double cycles = 0, bytes = 0;
};
struct FormOptions {
  FormOption list[12];
  int count = 0;
  void add(double cycles, double bytes) {
    if (count < static_cast<int>(std::size(list))) list[count++] = {cycles, bytes};
  }
};

class BindScope {
 public:
  std::span<const BoundOperand> inputs, outputs;
  const OpDef* op = nullptr;
  const void* attributes_blob = nullptr;
  Epilogue epilogue;      // what the stage wants done on output 0 ...
  int epilogue_done = 0;  // ... and how many of those the hook's steps do: the rest follows as separate steps
  const Machine* machine = nullptr;
  bool exact = false;              // choose algorithms by shape alone
  bool low_memory = false;         // no second, larger form of weights
  bool sizes_vary = false;         // bounded dimensions: what needs temporaries must not be chosen by sizes
  double byte_price = 0;           // cycles that each byte of a form has to save, only for hooks with RunDef::forms
  const Tuning* tuning = nullptr;  // measured choices, which come before predicted ones; not when `exact`
  bool stands_in_output = false;   // input 0 is where OpDef::compose wants it already
  const RowBand* band = nullptr;   // only for hooks with RunDef::rows
  // An operand in which the hook may put the mean of each line of output 0 along its last axis, the post-operations
  // included: one number for each channel, channels last, dense. -1: nobody asks. A hook that does says so.
  int row_means = -1;
  bool row_means_done = false;
  // A post-operation's operand that stands where output 0 will, only for hooks with RunDef::takes_residual, or -1. A
  // hook whose steps read each element of it before they write the result there says so.
  int shared_residual = -1;
  bool shared_residual_done = false;

  template <class A>
  const A& attributes() const {
    return *static_cast<const A*>(attributes_blob);
  }
  const BoundOperand& input(int i) const {
    static const BoundOperand kAbsent{};
    return i < static_cast<int>(inputs.size()) ? inputs[static_cast<size_t>(i)] : kAbsent;
  }
  const BoundOperand& output(int i) const { return outputs[static_cast<size_t>(i)]; }
  bool has(int i) const { return input(i).present; }
  // Input 0 with all its images, rows and columns.
  TensorView whole_input() const {
    TensorView view = input(0).view;
    if (!band) return view;
    view.dims[0] = band->images;
    view.dims[2] = band->rows.whole;
    if (view.rank == 4) view.dims[3] = band->columns.whole;
    return view;
  }

  // Zeroed memory that lives as long as the bound function.
  virtual Result<void*> memory(size_t bytes) = 0;
  template <class T>
  Result<T*> arguments() {
    static_assert(std::is_trivially_copyable_v<T>);
    MICA_TRY(void* place, memory(sizeof(T)));
    return new (place) T();
  }
  // A constant input in packed form: from the file when it holds that form, else made once and kept with the model.
  virtual Result<const void*> packed(int input, const PackRequest& request) = 0;
  // Memory shared by this stage's steps only; returns its index in a kernel's `operands`.
  virtual Result<int> temporary(size_t bytes) = 0;
  virtual Status add(const StepSpec& step) = 0;

 protected:
  ~BindScope() = default;
};

// Whether there is anything that RunDef::takes_permuted could be asked for.
inline constexpr bool kWithPermuted = has_part("operator", "transpose");

struct RunDef {
  // Makes the steps of one stage, or returns false to leave it to the reference. Pure: depends on the scope alone.
  Result<bool> (*bind)(BindScope&) = nullptr;
  // Whether `bind` can make any rows of output 0 by themselves (BindScope::band), to the same bits, and from which
  // rows. Null: it cannot. Views have their order; strides may yet change.
  bool (*rows)(const BindScope&, RowWindow&) = nullptr;
  // Whether `bind` may heed BindScope::row_means.
  bool makes_row_means = false;
  // Whether output 0 is a mean over input 0 to which each line along the last axis counts with its mean alone, so that
  // a tensor of these means may stand for input 0. Views have their order; strides may yet change.
  bool (*takes_row_means)(const BindScope&) = nullptr;
  // Whether a post-operation's operand may stand where output 0 does (BindScope::shared_residual) without another
  // choice of `bind`. Views have their order; strides may yet change.
  bool (*takes_residual)(const BindScope&) = nullptr;
  // Whether input `i` may be what inputs[i] shows, a view with its axes in another order than their names', of an
  // operand that nobody else reads. Strides of the other inputs may yet change.
  bool (*takes_permuted)(const void* attributes_blob, std::span<const TensorView> inputs, size_t i) = nullptr;
  // What `bind` chooses from by BindScope::byte_price; nothing where the weights have one form. Views have their order;
  // strides may yet change.
  void (*forms)(const BindScope&, FormOptions&) = nullptr;
};
std::span<const TableRow<RunDef>> all_run();
// The hook of an operator: `<op>.run.cc`, or, when there is none and OpDef::pointwise is set, the one that all
// element-wise operators share, `pointwise.run.cc`. Null: the reference runs.
const RunDef* find_run(const OpDef& op);
// Hooks run when shapes are new, and are most of the code in their files: small rather than fast.
#define MICA_AT_BIND [[gnu::cold]]
#define MICA_RUN(id)                    \
  extern const ::mica::RunDef run_##id; \
  constinit const ::mica::RunDef run_##id

}  // namespace mica
