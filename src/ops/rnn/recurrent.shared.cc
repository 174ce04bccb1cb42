#include "ops/rnn/recurrent.h"

namespace mica::rnn {

Result<Activations> activations_of(const Recurrent& a, std::span<const Function> defaults) {
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

Status check_activations(const Recurrent& a, std::span<const Function> defaults) {
  auto found = activations_of(a, defaults);
  return found.ok() ? Status() : Status(found.take_error());
}

namespace {

Status expect_dim(Dim dim, Dim expected, int input, int axis) {
  if (!dim.is_fixed() || !expected.is_fixed() || dim == expected) return {};
  return error(Code::kBadShape, "input {} has {} along axis {}, expected {}", input, dim.value(), axis,
               expected.value());
}

Status check_dims(InferScope& scope, int input, std::initializer_list<Dim> expected) {
  const auto rank = static_cast<int>(expected.size());
  MICA_TRY_STATUS(require_rank(scope, input, rank, rank));
  const Shape& shape = scope.shape(input);
  int axis = 0;
  for (Dim dim : expected) {
    if (shape.known()) MICA_TRY_STATUS(expect_dim(shape[axis], dim, input, axis));
    ++axis;
  }
  return {};
}

// An operand of x's type, where it is not left out. The kernels take its numbers from x and R, so that its shape has to
// be the one that follows from these.
Status check_operand(InferScope& scope, int input, std::initializer_list<Dim> expected) {
  if (!scope.has(input)) return {};
  MICA_TRY_STATUS(require_same_dtype(scope, kX, input));
  return check_dims(scope, input, expected);
}

}  // namespace

Status infer(InferScope& scope, const Recurrent& a, int gates, bool cell) {
  MICA_TRY_STATUS(require_float(scope, kX));
  for (int i : {kX, kR}) MICA_TRY_STATUS(require_rank(scope, i, 3, 3));
  const Shape &x = scope.shape(kX), &r = scope.shape(kR);
  const int batch_axis = a.batch_first ? 0 : 1;
  const Dim time = x.known() ? x[1 - batch_axis] : scope.dims().fresh("time");
  const Dim batch = x.known() ? x[batch_axis] : scope.dims().fresh("batch");
  const Dim input = x.known() ? x[2] : scope.dims().fresh("input");
  const Dim hidden = r.known() ? r[2] : scope.dims().fresh("hidden");
  const Dim rows = scope.dims().mul(hidden, gates), directions = a.directions();
  MICA_TRY_STATUS(check_operand(scope, kW, {directions, rows, input}));
  MICA_TRY_STATUS(check_operand(scope, kR, {directions, rows, hidden}));
  MICA_TRY_STATUS(check_operand(scope, kB, {directions, scope.dims().mul(rows, 2)}));
  for (int i : {kH0, kC0})
    MICA_TRY_STATUS(a.batch_first ? check_operand(scope, i, {batch, directions, hidden})
                                  : check_operand(scope, i, {directions, batch, hidden}));
  MICA_TRY_STATUS(check_operand(scope, kP, {directions, scope.dims().mul(hidden, 3)}));
  if (scope.has(kLengths)) {
    MICA_CHECK(is_integer(scope.dtype(kLengths)), kBadType, "sequence lengths must be integers, not {}",
               name_of(scope.dtype(kLengths)));
    MICA_TRY_STATUS(check_dims(scope, kLengths, {batch}));
  }
  const DType dtype = scope.dtype(kX);
  scope.out(0, dtype, a.batch_first ? Shape{batch, time, directions, hidden} : Shape{time, directions, batch, hidden});
  for (int i = 1; i <= (cell ? 2 : 1); ++i)
    scope.out(i, dtype, a.batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden});
  return {};
}

Result<double*> load_state(RunScope& scope, const Problem& q, int input) {
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

Status store_state(RunScope& scope, const Problem& q, int output, const double* state) {
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

Result<Problem> problem_of(RunScope& scope, const Recurrent& a, int64_t gates, bool cell) {
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

double recurrent_sum(const Problem& q, const Step& s, const double* h, int64_t row) {
  double sum = s.r_bias[row];
  for (int64_t i = 0; i < q.hidden; ++i) sum += s.r[row * q.hidden + i] * h[i];
  return sum;
}

int64_t flops(const CostScope& scope) {
  const auto w = element_count(scope.inputs[kW].shape), r = element_count(scope.inputs[kR].shape);
  const Shape& x = scope.inputs[kX].shape;
  if (!w.ok() || !r.ok() || x.rank != 3 || !x[0].is_fixed() || !x[1].is_fixed()) return 0;
  return 2 * (*w + *r) * x[0].value() * x[1].value();
}

}  // namespace mica::rnn
