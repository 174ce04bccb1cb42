// What the recurrent operators share: attributes, shapes, and the walk over directions, sequences and time.
//
// Operands: x [time, batch, input], W [directions, gates·hidden, input], R [directions, gates·hidden, hidden], B
// [directions, 2·gates·hidden] (of W, then of R), lengths [batch], initial h [directions, batch, hidden]; results Y
// [time, directions, batch, hidden] and the last h. With `batch_first` x and Y begin with the batch, the states too.
#pragma once
#include <algorithm>
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
Result<Activations> activations_of(const Recurrent& a, std::span<const Function> defaults);

Status check_activations(const Recurrent& a, std::span<const Function> defaults);

// Outputs 0 and 1 (and 2, the cell, when there is one). `gates`: of the cell.
Status infer(InferScope& scope, const Recurrent& a, int gates, bool cell);

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
Result<double*> load_state(RunScope& scope, const Problem& q, int input);

Status store_state(RunScope& scope, const Problem& q, int output, const double* state);

Result<Problem> problem_of(RunScope& scope, const Recurrent& a, int64_t gates, bool cell);

// One time step of one sequence in one direction.
struct Step {
  int direction;
  const double* x_sums;  // gates x hidden: W·x + W's bias
  const double *r, *r_bias, *p;
  double* h;
  int64_t cell;  // where the cell state begins in Problem::c
};

// Row `row` of R times the state, with R's bias.
double recurrent_sum(const Problem& q, const Step& s, const double* h, int64_t row);

// Calls cell(step) in order of time; cell replaces step.h (and the cell state). Fills the outputs.
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
      Step step{static_cast<int>(d),       sums,
                q.r + d * rows * q.hidden, bias + rows,
                q.p + d * 3 * q.hidden,    q.h + place * q.hidden,
                place * q.hidden};
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
int64_t flops(const CostScope& scope);

}  // namespace rnn
}  // namespace mica
