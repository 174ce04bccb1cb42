#include "ops/rnn/recurrent_step.h"

#include "base/threads.h"
#include "kernels/gemm/gemm.h"
#include "kernels/recurrent/recurrent.h"
#include "ops/rnn/cells.h"
#include "step/gemm_epilogue.h"

namespace mica::rnn {
namespace {

constexpr int gates_of(Cell cell) { return cell == Cell::kLstm ? 4 : cell == Cell::kTanh ? 1 : 3; }

// Rows of `hidden` adjacent floats of an operand: bytes from one index to the next.
struct Rows {
  int operand = -1;
  int64_t time = 0, direction = 0, batch = 0;
};

// What a cell has that the kernels have not.
struct GeneralCell {
  Activations functions;
  int each;  // functions of a direction
  float clip;
  bool input_forget;
  const float* peepholes;  // [direction][3 · hidden], or null
  const EltwiseKernels* kernels;
  CellRules rules(int64_t d, int64_t hidden) const {
    return {functions.of(static_cast<int>(d), each), hidden, static_cast<double>(clip), input_forget, kernels};
  }
};
constexpr Pointwise pointwise_of(Function f) {
  switch (f) {
    case Function::kSigmoid: return Pointwise::kSigmoid;
    case Function::kTanh: return Pointwise::kTanh;
    case Function::kRelu: return Pointwise::kRelu;
    case Function::kAffine: return Pointwise::kAffine;
    case Function::kLeakyRelu: return Pointwise::kLeakyRelu;
    case Function::kHardSigmoid: return Pointwise::kHardSigmoid;
    case Function::kElu: return Pointwise::kElu;
    case Function::kSoftsign: return Pointwise::kSoftsign;
    case Function::kSoftplus: return Pointwise::kSoftplus;
    // Element-wise operators have another function at the threshold, or none.
    case Function::kThresholdedRelu:
    case Function::kScaledTanh: return Pointwise::kNone;
  }
  return Pointwise::kNone;
}
constexpr std::span<const Function> functions_of(Cell cell) {
  switch (cell) {
    case Cell::kLstm: return kLstmFunctions;
    case Cell::kTanh: return kRnnFunctions;
    default: return kGruFunctions;
  }
}

struct RecurrentStep {
  Cell cell;
  const GeneralCell* general;  // null: the kernels serve
  GemmArgs product;            // state times R: without pointers to the state and the results
  const float* r[2];           // packed, of each direction
  const float* r_bias[2];      // GRU: of the state's sums
  int64_t time, batch, hidden, gates;
  bool reverse[2];
  int sums;  // operand: [direction][two outer axes of x][gates · hidden]
  int64_t sums_direction, sums_time, sums_batch;
  Rows y, last_h, last_c, first_h, first_c;
  const GemmKernels* gemm;
  const RecurrentKernels* kernels;
  // Parts of the units whose sums and states threads make by themselves in each time step. A task of `product` is a
  // part of a gate then.
  int64_t parts = 1;
  // kGruResetFirst: the reset state times the hidden gate's part of R, from the panel on in which that part begins.
  GemmArgs candidate;
  int64_t candidate_from;  // the panel's first column
  int lengths = -1;        // operand: of each sequence
  bool wide_lengths = false;
};

int64_t length_of(const RecurrentStep& s, void* const* operands, int64_t n) {
  if (s.lengths < 0) return s.time;
  const void* list = operands[s.lengths];
  return s.wide_lengths ? static_cast<const int64_t*>(list)[n] : static_cast<const int32_t*>(list)[n];
}
int64_t longest(const RecurrentStep& s, void* const* operands) {
  int64_t most = 0;
  for (int64_t n = 0; n < s.batch; ++n) most = std::max(most, length_of(s, operands, n));
  return most;
}
Status check_sequence_lengths(const void* arguments, void* const* operands) {
  const RecurrentStep& s = *static_cast<const RecurrentStep*>(arguments);
  for (int64_t n = 0; n < s.batch; ++n) {
    const int64_t length = length_of(s, operands, n);
    MICA_CHECK(length >= 0 && length <= s.time, kBadValue, "a sequence length of {} in {} time steps", length, s.time);
  }
  return {};
}

float* row(void* const* operands, const Rows& rows, int64_t time, int64_t direction, int64_t batch) {
  if (rows.operand < 0 || !operands[rows.operand]) return nullptr;
  return reinterpret_cast<float*>(static_cast<char*>(operands[rows.operand]) + time * rows.time +
                                  direction * rows.direction + batch * rows.batch);
}

void load_states(const RecurrentStep& s, void* const* operands, int64_t d, const Rows& from, float* state) {
  for (int64_t n = 0; n < s.batch; ++n) {
    const float* given = row(operands, from, 0, d, n);
    for (int64_t i = 0; i < s.hidden; ++i) state[n * s.hidden + i] = given ? given[i] : 0.0f;
  }
}
void copy_row(const float* from, float* to, int64_t count) {
  for (int64_t i = 0; to && i < count; ++i) to[i] = from[i];
}

// A direction's states and the sums of one time step, in scratch memory.
int64_t product_floats(const RecurrentStep& s) {
  return std::max(s.product.choice.scratch_floats, s.candidate.choice.scratch_floats);
}
int64_t scratch_floats(const RecurrentStep& s) {
  const int64_t each = (s.gates + 3) * s.hidden,
                reset = s.cell == Cell::kGruResetFirst ? s.hidden + s.candidate.c_stride : 0;
  return product_floats(s) + s.batch * (each + reset) + 48;
}
struct Walk {
  float *product, *gates, *h, *c, *next_h, *reset_h, *candidates;
  Walk(const RecurrentStep& s, float* scratch) {
    const int64_t states = s.batch * s.hidden;
    product = scratch;
    gates = product + product_floats(s);
    h = gates + s.gates * states;
    c = h + states;
    // Threads read the state while others write the next one.
    next_h = s.parts > 1 ? c + states : h;
    reset_h = c + 2 * states;
    candidates = s.cell == Cell::kGruResetFirst ? reset_h + states : reset_h;
  }
};

void reset_states(const RecurrentStep& s, const Walk& w, int64_t d, const float* sums) {
  for (int64_t n = 0; n < s.batch; ++n) {
    float *gates = w.gates + n * s.gates * s.hidden, *h = w.h + n * s.hidden, *reset_h = w.reset_h + n * s.hidden;
    if (!s.general) {
      s.kernels->gru_reset(gates, h, reset_h, s.hidden);
      continue;
    }
    gru_gates(s.general->rules(d, s.hidden), gates);
    for (int64_t i = 0; i < s.hidden; ++i) reset_h[i] = gates[s.hidden + i] * h[i];
  }
  GemmArgs product = s.candidate;
  product.a = w.reset_h;
  product.b = s.r[d] + s.candidate_from * s.hidden;
  product.c = w.candidates;
  product.epilogue.residual = sums + s.candidate_from;
  s.gemm->run(product, 0, product.choice.tasks, w.product);
}

// The hidden gate's sums of sequence n where the reset came before the product.
float* candidates_of(const RecurrentStep& s, const Walk& w, int64_t n) {
  return w.candidates + n * s.candidate.c_stride + 2 * s.hidden - s.candidate_from;
}

void next_state_general(const RecurrentStep& s, const Walk& w, int64_t d, const float* sums, int64_t n) {
  const int64_t hidden = s.hidden;
  const CellRules rules = s.general->rules(d, s.hidden);
  float *gates = w.gates + n * s.gates * hidden, *state = w.h + n * hidden;
  switch (s.cell) {
    case Cell::kLstm: {
      const float* p = s.general->peepholes ? s.general->peepholes + d * 3 * hidden : nullptr;
      return lstm_cell(rules, gates, p, w.c + n * hidden, state);
    }
    case Cell::kGru: {
      const float* x = sums + n * s.sums_batch;
      for (int64_t i = 0; i < 2 * hidden; ++i) gates[i] += x[i];
      gru_gates(rules, gates);
      float* candidates = gates + 2 * hidden;
      for (int64_t i = 0; i < hidden; ++i) candidates[i] = x[2 * hidden + i] + gates[hidden + i] * candidates[i];
      return gru_blend(rules, static_cast<const float*>(gates), candidates, state);
    }
    case Cell::kGruResetFirst: return gru_blend(rules, static_cast<const float*>(gates), candidates_of(s, w, n), state);
    case Cell::kTanh: return simple_cell(rules, static_cast<const float*>(gates), state);
  }
}

// A time step of direction d.
struct Turn {
  void* const* operands;
  int64_t d, time;
  const float* sums;  // of the inputs
};
struct Units {
  int64_t first, count;
};

// From the sums of a time step to the next state of sequence n.
void next_state(const RecurrentStep& s, const Walk& w, const Turn& turn, int64_t n, Units units) {
  if (s.general) return next_state_general(s, w, turn.d, turn.sums, n);
  const int64_t count = units.count, at = n * s.hidden + units.first;
  float* gates = w.gates + n * s.gates * s.hidden + units.first;
  switch (s.cell) {
    case Cell::kLstm: return s.kernels->lstm(gates, s.hidden, w.c + at, w.next_h + at, count);
    case Cell::kGru:
      return s.kernels->gru(turn.sums + n * s.sums_batch + units.first, gates, s.hidden, w.h + at, w.next_h + at,
                            count);
    case Cell::kGruResetFirst: return s.kernels->gru_blend(gates, candidates_of(s, w, n), w.h + at, count);
    case Cell::kTanh: return s.kernels->tanh(gates, w.next_h + at, count);
  }
}

// The parts first to last - 1 of a time step.
void run_parts(const RecurrentStep& s, const Walk& w, const Turn& turn, int64_t first, int64_t last) {
  GemmArgs product = s.product;
  product.a = w.h;
  product.b = s.r[turn.d];
  product.c = w.gates;
  if (s.cell == Cell::kGru)
    product.epilogue.bias = s.r_bias[turn.d];
  else
    product.epilogue.residual = turn.sums;
  // There and back: the weights that the last step read last are still near.
  const int64_t runs = s.parts == 1 ? product.choice.tasks : s.gates;
  for (int64_t i = 0; i < runs; ++i) {
    const int64_t run = (turn.time % 2 ? runs - 1 - i : i) * s.parts;
    s.gemm->run(product, run + first, run + last, w.product);
  }
  if (s.cell == Cell::kGruResetFirst) reset_states(s, w, turn.d, turn.sums);
  const int64_t each = s.hidden / s.parts;
  const Units units{first * each, (last - first) * each};
  for (int64_t n = 0; n < s.batch; ++n) {
    float* y = row(turn.operands, s.y, turn.time, turn.d, n);
    const int64_t at = n * s.hidden + units.first;
    if (turn.time < length_of(s, turn.operands, n)) {
      next_state(s, w, turn, n, units);
      copy_row(w.next_h + at, y ? y + units.first : nullptr, units.count);
    } else {
      if (w.next_h != w.h) copy_row(w.h + at, w.next_h + at, units.count);
      if (y) std::fill_n(y + units.first, units.count, 0.0f);
    }
  }
}

// A time step behind all sequences' ends.
void pass_over(const RecurrentStep& s, void* const* operands, int64_t d, int64_t time) {
  for (int64_t n = 0; n < s.batch; ++n)
    if (float* y = row(operands, s.y, time, d, n)) std::fill_n(y, s.hidden, 0.0f);
}

// One direction for each task. A backward direction passes over the steps behind a sequence's end, too, and begins
// with the first state before it.
void run_recurrent(const void* arguments, void* const* operands, const TaskRange& range) {
  const RecurrentStep& s = *static_cast<const RecurrentStep*>(arguments);
  Walk w(s, static_cast<float*>(range.scratch));
  for (int64_t d = range.begin; d < range.end; ++d) {
    load_states(s, operands, d, s.first_h, w.h);
    load_states(s, operands, d, s.first_c, w.c);
    const int64_t end = longest(s, operands);
    for (int64_t k = 0; k < s.time; ++k) {
      const int64_t t = s.reverse[d] ? s.time - 1 - k : k;
      if (t >= end) {
        pass_over(s, operands, d, t);
        continue;
      }
      const Turn turn{operands, d, t,
                      static_cast<const float*>(operands[s.sums]) + d * s.sums_direction + t * s.sums_time};
      if (s.parts > 1 && range.threads)
        range.threads->run(s.parts, [&](int64_t first, int64_t last, int) { run_parts(s, w, turn, first, last); });
      else
        run_parts(s, w, turn, 0, s.parts);
      std::swap(w.h, w.next_h);
    }
    for (int64_t n = 0; n < s.batch; ++n) {
      copy_row(w.h + n * s.hidden, row(operands, s.last_h, 0, d, n), s.hidden);
      copy_row(w.c + n * s.hidden, row(operands, s.last_c, 0, d, n), s.hidden);
    }
  }
}

// W and R [directions, gates · hidden, depth] in panels of their transposes.
struct WeightPacking {
  int64_t directions, width, depth;
};
void pack_weights(const TensorView& plain, void* to, const void* context) {
  const auto& p = *static_cast<const WeightPacking*>(context);
  for (int64_t d = 0; d < p.directions; ++d) {
    PanelSource source{.data = plain.as<const float>() + d * p.width * p.depth, .n = p.width, .n_stride = p.depth};
    source.k[3] = p.depth;
    source.k_stride[3] = 1;
    pack_panels(source, static_cast<float*>(to) + d * panels_size(p.depth, p.width));
  }
}

Result<const float*> packed_weights(BindScope& scope, int input, const WeightPacking& sizes) {
  MICA_TRY(WeightPacking * context, scope.arguments<WeightPacking>());
  *context = sizes;
  const auto bytes = static_cast<size_t>(sizes.directions * panels_size(sizes.depth, sizes.width)) * sizeof(float);
  MICA_TRY(const void* packed, scope.packed(input, {weights_key(), bytes, pack_weights, context}));
  return static_cast<const float*>(packed);
}

// The product of the inputs.
struct InputStep {
  GemmArgs product;
  int x = 0, sums = 0;
  int64_t offset = 0;  // floats, of a direction's sums
  const GemmKernels* gemm;
};
void run_input(const void* arguments, void* const* operands, const TaskRange& range) {
  const InputStep& s = *static_cast<const InputStep*>(arguments);
  GemmArgs product = s.product;
  product.a = static_cast<const float*>(operands[s.x]);
  product.c = static_cast<float*>(operands[s.sums]) + s.offset;
  s.gemm->run(product, range.begin, range.end, static_cast<float*>(range.scratch));
}

// Biases of each direction: of W and R together, or (GRU) apart.
Result<const float*> biases(BindScope& scope, int64_t directions, int64_t width, bool of_w, bool of_r) {
  MICA_TRY(void* memory, scope.memory(static_cast<size_t>(directions * width) * sizeof(float)));
  float* list = static_cast<float*>(memory);
  if (!scope.has(kB)) return list;
  const Elements given(scope.input(kB).view);
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t i = 0; i < width; ++i) {
      const double w = of_w ? given.number(d * 2 * width + i) : 0,
                   r = of_r ? given.number(d * 2 * width + width + i) : 0;
      list[d * width + i] = static_cast<float>(w + r);
    }
  return list;
}

// How a state [directions, batch, hidden] or the results lie; false when rows are not adjacent.
bool rows_of(const BoundOperand& operand, int index, bool batch_first, Rows& rows) {
  if (!operand.present) return true;
  const TensorView& v = operand.view;
  if (v.dtype != DType::kF32 || (v.dim(v.rank - 1) > 1 && v.stride(v.rank - 1) != static_cast<int64_t>(sizeof(float))))
    return false;
  rows.operand = index;
  if (v.rank == 3) {
    rows.direction = v.stride(batch_first ? 1 : 0);
    rows.batch = v.stride(batch_first ? 0 : 1);
    return true;
  }
  rows.time = v.stride(batch_first ? 1 : 0);
  rows.direction = v.stride(batch_first ? 2 : 1);
  rows.batch = v.stride(batch_first ? 0 : 2);
  return true;
}

bool suits(const BindScope& scope, const Recurrent& a) {
  const TensorView &x = scope.input(kX).view, &w = scope.input(kW).view, &r = scope.input(kR).view;
  if (x.dtype != DType::kF32 || x.rank != 3 || x.empty() || w.empty() || r.empty()) return false;
  if (!scope.input(kW).constant || !scope.input(kR).constant || !w.contiguous() || !r.contiguous()) return false;
  for (const int i : {static_cast<int>(kB), static_cast<int>(kP)})
    if (scope.has(i) && !scope.input(i).constant) return false;
  if (scope.has(kLengths)) {
    const TensorView& lengths = scope.input(kLengths).view;
    const bool listed = lengths.dtype == DType::kI32 || lengths.dtype == DType::kI64;
    if (!listed || lengths.count() != x.dim(a.batch_first ? 0 : 1) || !lengths.contiguous()) return false;
  }
  return x.dim(2) == 1 || x.stride(2) == static_cast<int64_t>(sizeof(float));
}

// One step for each direction: sums[direction] = x · Wᵀ + bias for all time steps.
Status add_inputs(BindScope& scope, const RecurrentStep& s, const float* w, const float* bias) {
  const TensorView& x = scope.input(kX).view;
  const int64_t width = s.gates * s.hidden, depth = x.dim(2), outer = x.dim(0), inner = x.dim(1);
  constexpr int64_t kBytes = sizeof(float);
  const bool one_line = outer == 1 || inner == 1 || x.stride(0) == inner * x.stride(1);
  for (int d = 0; d < (s.r[1] ? 2 : 1); ++d) {
    MICA_TRY(InputStep * step, scope.arguments<InputStep>());
    GemmArgs& g = step->product;
    g.problem = {.m = one_line ? outer * inner : inner, .n = width, .k = depth};
    if (!one_line) g.problem.batch[1] = outer;
    g.a_stride = (inner == 1 && one_line ? x.stride(0) : x.stride(1)) / kBytes;
    g.a_batch[1] = x.stride(0) / kBytes;
    g.c_stride = width;
    g.c_batch[1] = inner * width;
    g.b = w + d * panels_size(depth, width);
    g.epilogue.bias = bias + d * width;
    g.choice = choose_gemm(g.problem, scope.machine->isa, limits_of(*scope.machine));
    step->sums = s.sums;
    step->offset = d * s.sums_direction;
    step->gemm = s.gemm;
    MICA_TRY_STATUS(scope.add({.kernel = run_input,
                               .arguments = step,
                               .tasks = g.choice.tasks,
                               .work = static_cast<double>(outer * inner * width) * static_cast<double>(depth),
                               .scratch_bytes = static_cast<size_t>(g.choice.scratch_floats) * sizeof(float),
                               .name = "recurrent_input_f32"}));
  }
  return {};
}

bool set_rows(const BindScope& scope, bool batch_first, RecurrentStep& s) {
  const int first = static_cast<int>(scope.inputs.size());
  Rows* const outputs[] = {&s.y, &s.last_h, &s.last_c};
  for (int i = 0; i < static_cast<int>(scope.outputs.size()) && i < 3; ++i)
    if (!rows_of(scope.output(i), first + i, batch_first, *outputs[i])) return false;
  return rows_of(scope.input(kH0), kH0, batch_first, s.first_h) &&
         (s.cell != Cell::kLstm || rows_of(scope.input(kC0), kC0, batch_first, s.first_c));
}

// Tasks of so many panels each, of a product whose rows are one task's.
void cut_panels(GemmArgs& product, int64_t n_block) {
  const int64_t panels = panel_count(product.problem.n);
  GemmChoice& c = product.choice;
  c.n_block = std::min(panels, n_block);
  c.n_group = std::min(c.n_group, c.n_block);
  c.n_tasks = c.tasks = (panels + c.n_block - 1) / c.n_block;
}

// As many parts of whole panels as there are threads, none of less work than a hundred thousand multiply-adds: 2 µs of
// reading weights from the second-level cache. Two directions are tasks already.
void split_units(RecurrentStep& s, int threads) {
  constexpr int64_t kLeastWork = 100000;
  if (s.general || s.r[1] || s.hidden % kPanel != 0 || s.product.choice.m_tasks != 1) return;
  const int64_t panels = s.hidden / kPanel, work = s.batch * s.gates * s.hidden * s.hidden;
  s.parts = std::max<int64_t>(std::min<int64_t>(threads, work / kLeastWork), 1);
  while (panels % s.parts != 0) --s.parts;
  if (s.parts == 1) return;
  cut_panels(s.product, panels / s.parts);
}

// Weights that one thread reads in the other order with every other time step, so many at a time that calls cost
// little.
void split_weights(RecurrentStep& s) {
  constexpr int64_t kPanelsAtATime = 16;
  const GemmChoice& c = s.product.choice;
  if (c.m_tasks == 1 && c.n_tasks == 1) cut_panels(s.product, kPanelsAtATime);
}

// The products of one time step.
void set_products(const BindScope& scope, RecurrentStep& s) {
  GemmLimits limits = limits_of(*scope.machine);
  limits.threads = 1;
  const int64_t width = s.gates * s.hidden;
  const bool twice = s.cell == Cell::kGruResetFirst;
  GemmArgs& g = s.product;
  g.problem = {.m = s.batch, .n = twice ? 2 * s.hidden : width, .k = s.hidden};
  g.a_stride = s.hidden;
  g.c_stride = width;
  g.epilogue.residual_stride = s.sums_batch;
  g.choice = choose_gemm(g.problem, scope.machine->isa, limits);
  if (!twice) {
    split_units(s, scope.machine->threads);
    if (s.parts == 1) split_weights(s);
    return;
  }
  s.candidate_from = 2 * s.hidden / kPanel * kPanel;
  GemmArgs& second = s.candidate;
  second = g;
  second.problem.n = second.c_stride = width - s.candidate_from;
  second.choice = choose_gemm(second.problem, scope.machine->isa, limits);
}

// Null where the kernels' cell is what the attributes ask for. input_forget: of an LSTM.
Result<const GeneralCell*> general_cell(BindScope& scope, const Recurrent& a, Cell cell, bool input_forget) {
  const std::span<const Function> defaults = functions_of(cell);
  MICA_TRY(const Activations functions, activations_of(a, defaults));
  bool plain = a.clip == 0 && !input_forget && !scope.has(kP);
  for (size_t i = 0; i < defaults.size() * static_cast<size_t>(a.directions()); ++i)
    plain = plain && functions.list[i].function == defaults[i % defaults.size()];
  if (plain) return static_cast<const GeneralCell*>(nullptr);
  MICA_TRY(GeneralCell * general, scope.arguments<GeneralCell>());
  *general = {functions, static_cast<int>(defaults.size()),   a.clip, input_forget,
              nullptr,   &eltwise_kernels(scope.machine->isa)};
  if (!scope.has(kP)) return general;
  const Elements given(scope.input(kP).view);
  const int64_t count = scope.input(kP).view.count();
  MICA_CHECK(count == a.directions() * 3 * scope.input(kR).view.dim(2), kBadShape, "{} peephole weights, expected {}",
             count, a.directions() * 3 * scope.input(kR).view.dim(2));
  MICA_TRY(void* memory, scope.memory(static_cast<size_t>(count) * sizeof(float)));
  float* list = static_cast<float*>(memory);
  for (int64_t i = 0; i < count; ++i) list[i] = static_cast<float>(given.number(i));
  general->peepholes = list;
  return general;
}

}  // namespace

bool apply_on_kernels(const EltwiseKernels& kernels, const Activation& activation, float* values, int64_t count) {
  const Pointwise f = pointwise_of(activation.function);
  if (f == Pointwise::kNone || !in_build(f)) return false;
  kernels.apply(f, values, nullptr, values, count, activation.alpha, activation.beta);
  return true;
}

Result<bool> bind_recurrent(BindScope& scope, const Recurrent& a, Cell cell, std::string_view name, bool input_forget) {
  if (!suits(scope, a)) return false;
  MICA_TRY(RecurrentStep * s, scope.arguments<RecurrentStep>());
  const TensorView &x = scope.input(kX).view, &r = scope.input(kR).view;
  const int64_t directions = a.directions(), width = r.dim(1);
  s->cell = cell;
  MICA_TRY(s->general, general_cell(scope, a, cell, input_forget));
  s->hidden = r.dim(2);
  s->gates = gates_of(cell);
  s->time = x.dim(a.batch_first ? 1 : 0);
  s->batch = x.dim(a.batch_first ? 0 : 1);
  s->reverse[0] = a.direction == Direction::kReverse;
  s->reverse[1] = true;
  if (width != s->gates * s->hidden || !set_rows(scope, a.batch_first, *s)) return false;
  s->gemm = &gemm_kernels(scope.machine->isa);
  s->kernels = &recurrent_kernels(scope.machine->isa);
  s->sums_direction = s->time * s->batch * width;
  s->sums_time = a.batch_first ? width : s->batch * width;
  s->sums_batch = a.batch_first ? s->time * width : width;
  MICA_TRY(s->sums, scope.temporary(static_cast<size_t>(directions * s->sums_direction) * sizeof(float)));
  MICA_TRY(const float* w, packed_weights(scope, kW, {directions, width, x.dim(2)}));
  MICA_TRY(const float* packed, packed_weights(scope, kR, {directions, width, s->hidden}));
  s->r[0] = packed;
  s->r[1] = directions == 2 ? packed + panels_size(s->hidden, width) : nullptr;
  const bool apart = cell == Cell::kGru;
  MICA_TRY(const float* bias, biases(scope, directions, width, true, !apart));
  MICA_TRY(const float* r_bias, biases(scope, directions, width, false, apart));
  for (int64_t d = 0; d < directions; ++d) s->r_bias[d] = r_bias + d * width;
  set_products(scope, *s);
  if (scope.has(kLengths)) {
    s->lengths = kLengths;
    s->wide_lengths = scope.input(kLengths).view.dtype == DType::kI64;
  }
  MICA_TRY_STATUS(add_inputs(scope, *s, w, bias));
  MICA_TRY_STATUS(
      scope.add({.kernel = run_recurrent,
                 .arguments = s,
                 .tasks = directions,
                 .work = static_cast<double>(directions * s->time * s->batch * width) * static_cast<double>(s->hidden),
                 .scratch_bytes = static_cast<size_t>(scratch_floats(*s)) * sizeof(float),
                 .check = scope.has(kLengths) ? check_sequence_lengths : nullptr,
                 .name = name}));
  return true;
}

}  // namespace mica::rnn
