// What the recurrent operators share: attributes, shapes, and the walk over directions, sequences and time.
//
// Operands: x [time, batch, input], W [directions, gates·hidden, input], R [directions, gates·hidden, hidden], B
// [directions, 2·gates·hidden] (of W, then of R), lengths [batch], initial h [directions, batch, hidden]; results Y
// [time, directions, batch, hidden] and the last h. With `batch_first` x and Y begin with the batch, the states too.
#pragma once
#include <cmath>

#include "types/dense.h"
#include "types/infer.h"

namespace mica {

enum class Direction : uint8_t { kForward, kReverse, kBidirectional };
inline constexpr std::string_view kDirectionNames[] = {"forward", "reverse", "bidirectional"};
constexpr std::span<const std::string_view> names_of(Direction) { return kDirectionNames; }

struct Recurrent {
  Direction direction = Direction::kForward;
  bool batch_first = false;
  float clip = 0;
  Name activations;
  Floats alpha, beta;
  template <class V>
  void visit(V&& v) {
    v("direction", direction, "order of the time steps; bidirectional: two independent layers");
    v("batch_first", batch_first, "operands begin with the batch, not with time");
    v("clip", clip, "inputs of activations are kept within -clip and clip; 0: not");
    v("activations", activations,
      "functions of the gates, comma-separated, for each direction; empty: sigmoid and tanh");
    v("alpha", alpha, "first parameter of each activation; empty: its default");
    v("beta", beta, "second parameter of each activation; empty: its default");
  }
  int directions() const { return direction == Direction::kBidirectional ? 2 : 1; }
};

struct Lstm : Recurrent {
  bool input_forget = false;
  template <class V>
  void visit(V&& v) {
    Recurrent::visit(v);
    v("input_forget", input_forget, "the forget gate is one minus the input gate");
  }
};

struct Gru : Recurrent {
  bool linear_before_reset = false;
  template <class V>
  void visit(V&& v) {
    Recurrent::visit(v);
    v("linear_before_reset", linear_before_reset,
      "the reset gate multiplies the hidden gate's product, not the state before it");
  }
};

namespace rnn {

enum Input { kX, kW, kR, kB, kLengths, kH0, kC0, kP };

enum class Function : uint8_t {
  kSigmoid,
  kTanh,
  kRelu,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus,
};
// Of one direction, where `activations` is empty.
inline constexpr Function kLstmFunctions[] = {Function::kSigmoid, Function::kTanh, Function::kTanh},
                          kGruFunctions[] = {Function::kSigmoid, Function::kTanh}, kRnnFunctions[] = {Function::kTanh};

struct FunctionInfo {
  std::string_view name;
  int parameters;
  float alpha, beta;
};
inline constexpr FunctionInfo kFunctions[] = {{"sigmoid", 0, 0, 0},       {"tanh", 0, 0, 0},
                                              {"relu", 0, 0, 0},          {"affine", 2, 1, 0},
                                              {"leakyrelu", 1, 0.01f, 0}, {"thresholdedrelu", 1, 1, 0},
                                              {"scaledtanh", 2, 1, 1},    {"hardsigmoid", 2, 0.2f, 0.5f},
                                              {"elu", 1, 1, 0},           {"softsign", 0, 0, 0},
                                              {"softplus", 0, 0, 0}};

struct Activation {
  Function function = Function::kSigmoid;
  float alpha = 0, beta = 0;
  double operator()(double x) const {
    const auto a = static_cast<double>(alpha), b = static_cast<double>(beta);
    switch (function) {
      case Function::kSigmoid: return 1 / (1 + std::exp(-x));
      case Function::kTanh: return std::tanh(x);
      case Function::kRelu: return x < 0 ? 0 : x;
      case Function::kAffine: return a * x + b;
      case Function::kLeakyRelu: return x < 0 ? a * x : x;
      case Function::kThresholdedRelu: return x < a ? 0 : x;
      case Function::kScaledTanh: return a * std::tanh(b * x);
      case Function::kHardSigmoid: return std::isnan(x) ? x : std::min(std::max(a * x + b, 0.0), 1.0);
      case Function::kElu: return x < 0 ? a * std::expm1(x) : x;
      case Function::kSoftsign: return x / (1 + std::fabs(x));
      case Function::kSoftplus: return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    }
    return x;
  }
};

inline constexpr int kMostActivations = 6;
struct Activations {
  std::array<Activation, kMostActivations> list;
  const Activation* of(int direction, int per_direction) const { return list.data() + direction * per_direction; }
};

// `defaults`: the functions of one direction when the attribute is empty. Errors: kBadAttribute.
inline Result<Activations> activations_of(const Recurrent& a, std::span<const Function> defaults) {
  Activations found;
  const size_t wanted = defaults.size() * static_cast<size_t>(a.directions());
  std::string_view rest = a.activations;
  for (size_t i = 0; i < wanted; ++i) {
    Activation& activation = found.list[i];
    activation.function = defaults[i % defaults.size()];
    if (!a.activations.empty()) {
      const size_t comma = rest.find(',');
      const std::string_view name = slice(rest, 0, comma);
      rest = comma == std::string_view::npos ? std::string_view() : slice(rest, comma + 1);
      size_t f = 0;
      while (f < std::size(kFunctions) && kFunctions[f].name != name) ++f;
      MICA_CHECK(f < std::size(kFunctions), kBadAttribute,
                 "`activations` is `{}`, expected {} known names: `{}` is none", a.activations.view(), wanted, name);
      activation.function = static_cast<Function>(f);
    }
    const FunctionInfo& info = kFunctions[static_cast<size_t>(activation.function)];
    activation.alpha = a.alpha.get(i, info.alpha);
    activation.beta = a.beta.get(i, info.beta);
  }
  MICA_CHECK(rest.empty(), kBadAttribute, "`activations` is `{}`, expected {} names", a.activations.view(), wanted);
  return found;
}

inline Status check_activations(const Recurrent& a, std::span<const Function> defaults) {
  auto found = activations_of(a, defaults);
  return found.ok() ? Status() : Status(found.take_error());
}

inline Status expect_dim(Dim dim, Dim expected, int input, int axis) {
  if (!dim.is_fixed() || !expected.is_fixed() || dim == expected) return {};
  return error(Code::kBadShape, "input {} has {} along axis {}, expected {}", input, dim.value(), axis,
               expected.value());
}

// Outputs 0 and 1 (and 2, the cell, when there is one). `gates`: of the cell.
inline Status infer(InferScope& scope, const Recurrent& a, int gates, bool cell) {
  MICA_TRY_STATUS(require_float(scope, kX));
  for (int i : {kX, kW, kR}) {
    MICA_TRY_STATUS(require_rank(scope, i, 3, 3));
    MICA_TRY_STATUS(require_same_dtype(scope, kX, i));
  }
  const Shape &x = scope.shape(kX), &w = scope.shape(kW), &r = scope.shape(kR);
  const int batch_axis = a.batch_first ? 0 : 1;
  const Dim time = x.known() ? x[1 - batch_axis] : scope.dims().fresh("time");
  const Dim batch = x.known() ? x[batch_axis] : scope.dims().fresh("batch");
  const Dim hidden = r.known() ? r[2] : scope.dims().fresh("hidden");
  const Dim rows = scope.dims().mul(hidden, gates), directions = a.directions();
  if (w.known()) {
    MICA_TRY_STATUS(expect_dim(w[0], directions, kW, 0));
    MICA_TRY_STATUS(expect_dim(w[1], rows, kW, 1));
    if (x.known()) MICA_TRY_STATUS(expect_dim(w[2], x[2], kW, 2));
  }
  if (r.known()) {
    MICA_TRY_STATUS(expect_dim(r[0], directions, kR, 0));
    MICA_TRY_STATUS(expect_dim(r[1], rows, kR, 1));
  }
  for (int i : {static_cast<int>(kB), static_cast<int>(kH0), static_cast<int>(kC0), static_cast<int>(kP)})
    if (scope.has(i)) MICA_TRY_STATUS(require_same_dtype(scope, kX, i));
  if (scope.has(kB)) {
    MICA_TRY_STATUS(require_rank(scope, kB, 2, 2));
    if (scope.shape(kB).known()) MICA_TRY_STATUS(expect_dim(scope.shape(kB)[1], scope.dims().mul(rows, 2), kB, 1));
  }
  if (scope.has(kLengths))
    MICA_CHECK(is_integer(scope.dtype(kLengths)), kBadType, "sequence lengths must be integers, not {}",
               name_of(scope.dtype(kLengths)));
  const DType dtype = scope.dtype(kX);
  scope.out(0, dtype, a.batch_first ? Shape{batch, time, directions, hidden} : Shape{time, directions, batch, hidden});
  for (int i = 1; i <= (cell ? 2 : 1); ++i)
    scope.out(i, dtype, a.batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden});
  return {};
}

// Numbers and dense operands of a whole application.
struct Problem {
  int64_t time = 0, batch = 0, input = 0, hidden = 0, gates = 0, directions = 1;
  bool batch_first = false;
  double clip = 0;
  const double *x = nullptr, *w = nullptr, *r = nullptr, *b = nullptr, *p = nullptr;
  double *h = nullptr, *c = nullptr,
         *y = nullptr;  // states [directions, batch, hidden]; y [time, directions, batch, hidden]
  const int64_t* lengths = nullptr;
};

// A state [directions, batch, hidden], whatever order the operand has; zeros when it is left out.
inline Result<double*> load_state(RunScope& scope, const Problem& q, int input) {
  MICA_TRY(double* state, zero_numbers(scope, q.directions * q.batch * q.hidden));
  if (!scope.has(input)) return state;
  MICA_CHECK(scope.in(input).count() == q.directions * q.batch * q.hidden, kBadShape,
             "input {} has {} elements, expected {} x {} x {}", input, scope.in(input).count(), q.directions, q.batch,
             q.hidden);
  const Elements elements(scope.in(input));
  for (int64_t d = 0; d < q.directions; ++d)
    for (int64_t n = 0; n < q.batch; ++n)
      for (int64_t i = 0; i < q.hidden; ++i)
        state[(d * q.batch + n) * q.hidden + i] =
            elements.number((q.batch_first ? n * q.directions + d : d * q.batch + n) * q.hidden + i);
  return state;
}

inline Status store_state(RunScope& scope, const Problem& q, int output, const double* state) {
  if (!scope.wants(output)) return {};
  MICA_TRY_STATUS(q.batch_first ? allocate_output(scope, output, {q.batch, q.directions, q.hidden})
                                : allocate_output(scope, output, {q.directions, q.batch, q.hidden}));
  const Elements elements(scope.out(output));
  for (int64_t d = 0; d < q.directions; ++d)
    for (int64_t n = 0; n < q.batch; ++n)
      for (int64_t i = 0; i < q.hidden; ++i)
        elements.set_number((q.batch_first ? n * q.directions + d : d * q.batch + n) * q.hidden + i,
                            state[(d * q.batch + n) * q.hidden + i]);
  return {};
}

inline Result<Problem> problem_of(RunScope& scope, const Recurrent& a, int64_t gates, bool cell) {
  const TensorView &x = scope.in(kX), &w = scope.in(kW), &r = scope.in(kR);
  MICA_CHECK(x.rank == 3 && w.rank == 3 && r.rank == 3, kBadRank, "operands of {}, {} and {} dimensions", x.rank,
             w.rank, r.rank);
  Problem q{.time = x.dim(a.batch_first ? 1 : 0),
            .batch = x.dim(a.batch_first ? 0 : 1),
            .input = x.dim(2),
            .hidden = r.dim(2)};
  q.gates = gates;
  q.directions = a.directions();
  q.batch_first = a.batch_first;
  q.clip = static_cast<double>(a.clip);
  const int64_t rows = q.gates * q.hidden;
  MICA_CHECK(w.dim(0) == q.directions && w.dim(1) == rows && w.dim(2) == q.input && r.dim(0) == q.directions &&
                 r.dim(1) == rows,
             kBadShape, "weights of {} x {} x {} and {} x {}", w.dim(0), w.dim(1), w.dim(2), r.dim(0), r.dim(1));
  MICA_TRY(q.x, dense_numbers(scope, x));
  MICA_TRY(q.w, dense_numbers(scope, w));
  MICA_TRY(q.r, dense_numbers(scope, r));
  MICA_TRY(double* zeros, zero_numbers(scope, q.directions * 2 * rows));
  q.b = q.p = zeros;
  if (scope.has(kB)) {
    MICA_CHECK(scope.in(kB).count() == q.directions * 2 * rows, kBadShape, "{} biases, expected {}",
               scope.in(kB).count(), q.directions * 2 * rows);
    MICA_TRY(q.b, dense_numbers(scope, scope.in(kB)));
  }
  if (cell && scope.has(kP)) {
    MICA_CHECK(scope.in(kP).count() == q.directions * 3 * q.hidden, kBadShape, "{} peephole weights, expected {}",
               scope.in(kP).count(), q.directions * 3 * q.hidden);
    MICA_TRY(q.p, dense_numbers(scope, scope.in(kP)));
  }
  MICA_TRY(int64_t * lengths, zero_integers(scope, q.batch));
  for (int64_t n = 0; n < q.batch; ++n) {
    lengths[n] = q.time;
    if (!scope.has(kLengths)) continue;
    MICA_CHECK(scope.in(kLengths).count() == q.batch, kBadShape, "{} lengths for {} sequences",
               scope.in(kLengths).count(), q.batch);
    lengths[n] = Elements(scope.in(kLengths)).integer(n);
    MICA_CHECK(lengths[n] >= 0 && lengths[n] <= q.time, kBadValue, "a sequence length of {} in {} time steps",
               lengths[n], q.time);
  }
  q.lengths = lengths;
  MICA_TRY(q.h, load_state(scope, q, kH0));
  if (cell) {
    MICA_TRY(q.c, load_state(scope, q, kC0));
  }
  MICA_TRY(q.y, zero_numbers(scope, q.time * q.directions * q.batch * q.hidden));
  return q;
}

// One time step of one sequence in one direction.
struct Step {
  int direction;
  const double* x_sums;  // gates x hidden: W·x + W's bias
  const double *r, *r_bias, *p;
  double *h, *c;
};

// Row `row` of R times the state, with R's bias.
inline double recurrent_sum(const Problem& q, const Step& s, const double* h, int64_t row) {
  double sum = s.r_bias[row];
  for (int64_t i = 0; i < q.hidden; ++i) sum += s.r[row * q.hidden + i] * h[i];
  return sum;
}

// Calls cell(step) in order of time; cell replaces step.h (and step.c). Fills the outputs.
template <class Cell>
Status run(RunScope& scope, Problem& q, Cell cell) {
  const int64_t rows = q.gates * q.hidden;
  MICA_TRY(double* sums, zero_numbers(scope, rows));
  for (int64_t d = 0; d < q.directions; ++d)
    for (int64_t n = 0; n < q.batch; ++n) {
      MICA_TRY_STATUS(scope.check_stop());
      const int64_t place = d * q.batch + n;
      const double *w = q.w + d * rows * q.input, *bias = q.b + d * 2 * rows;
      const bool backwards = d == 1 || scope.attributes<Recurrent>().direction == Direction::kReverse;
      Step step{static_cast<int>(d),
                sums,
                q.r + d * rows * q.hidden,
                bias + rows,
                q.p + d * 3 * q.hidden,
                q.h + place * q.hidden,
                q.c ? q.c + place * q.hidden : nullptr};
      for (int64_t k = 0; k < q.lengths[n]; ++k) {
        const int64_t t = backwards ? q.lengths[n] - 1 - k : k;
        const double* x = q.x + (q.batch_first ? n * q.time + t : t * q.batch + n) * q.input;
        for (int64_t row = 0; row < rows; ++row) {
          double sum = bias[row];
          for (int64_t i = 0; i < q.input; ++i) sum += w[row * q.input + i] * x[i];
          sums[row] = sum;
        }
        cell(step);
        const int64_t at = q.batch_first ? (n * q.time + t) * q.directions + d : (t * q.directions + d) * q.batch + n;
        std::copy_n(step.h, q.hidden, q.y + at * q.hidden);
      }
    }
  if (scope.wants(0)) {
    MICA_TRY_STATUS(q.batch_first ? allocate_output(scope, 0, {q.batch, q.time, q.directions, q.hidden})
                                  : allocate_output(scope, 0, {q.time, q.directions, q.batch, q.hidden}));
    store_dense(q.y, scope.out(0));
  }
  MICA_TRY_STATUS(store_state(scope, q, 1, q.h));
  return q.c ? store_state(scope, q, 2, q.c) : Status();
}

// Two operations for each weight and time step of each sequence.
inline int64_t flops(const CostScope& scope) {
  const auto w = element_count(scope.inputs[kW].shape), r = element_count(scope.inputs[kR].shape);
  const Shape& x = scope.inputs[kX].shape;
  if (!w.ok() || !r.ok() || x.rank != 3 || !x[0].is_fixed() || !x[1].is_fixed()) return 0;
  return 2 * (*w + *r) * x[0].value() * x[1].value();
}

}  // namespace rnn
}  // namespace mica
