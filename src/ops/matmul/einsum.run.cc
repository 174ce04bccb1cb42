// Sums of two operands as a batch of products, and of one as a copy, once all sizes are known: what no rule spells
// (passes/declutter/einsum.rules.cc), since dimensions are open, repeat, or run along a diagonal. Operands that do not
// lie in the order of a product are copied into it.
#include "ops/matmul/einsum.h"

#include "ops/matmul/product_step.h"
#include "step/copy_step.h"

namespace mica {
namespace {

constexpr int kOut = 2;

// A letter: its size, and the bytes from one index to the next in both operands and the result; 0 where these repeat.
struct Letter {
  int64_t size = 1;
  std::array<int64_t, 3> step{};
  std::array<bool, 3> stands{};
};

// Letters in the order of some matrices.
struct Letters {
  int count = 0;
  std::array<Letter, kMaxRank> list;
  bool push(const Letter& l) {
    if (l.size == 1) return true;
    return count < kMaxRank && (list[static_cast<size_t>(count++)] = l, true);
  }
  bool push(const Letters& more) {
    bool all = true;
    for (int i = 0; i < more.count; ++i) all = push(more.list[static_cast<size_t>(i)]) && all;
    return all;
  }
  int64_t size() const {
    int64_t all = 1;
    for (int i = 0; i < count; ++i) all *= list[static_cast<size_t>(i)].size;
    return all;
  }
};

// What the letters do: of both and kept, kept of the left, kept of the right, summed over.
struct Roles {
  Letters batch, rows, columns, summed;
};

void take_axes(const einsum::Axes& axes, const TensorView& view, size_t which,
               std::array<Letter, einsum::kLabels>& letters) {
  for (int k = 0; k < axes.count; ++k) {
    Letter& l = letters[static_cast<size_t>(axes.label[static_cast<size_t>(k)])];
    l.stands[which] = true;
    if (view.dim(k) == 1) continue;
    l.size = view.dim(k);
    l.step[which] += view.stride(k);
  }
}

// False for an axis of one operand that is summed, and for more axes than a tensor has.
bool sort_letters(const std::array<Letter, einsum::kLabels>& letters, const einsum::Axes& out, Roles& roles) {
  bool fits = true;
  const auto sort = [&](const Letter& l) {
    const bool left = l.stands[0] && l.step[0] != 0, right = l.stands[1] && l.step[1] != 0;
    if (!l.stands[kOut] && !(l.stands[0] && l.stands[1])) fits = fits && l.size == 1;
    Letters& role = !l.stands[kOut] ? roles.summed : left && right ? roles.batch : left ? roles.rows : roles.columns;
    fits = role.push(l) && fits;
  };
  for (int8_t label : out.span()) sort(letters[static_cast<size_t>(label)]);
  for (const Letter& l : letters)
    if (!l.stands[kOut]) sort(l);
  return fits;
}

// A tensor of these letters, as operand `which` lies.
TensorView view_of(const Letters& letters, size_t which) {
  TensorView view;
  view.dtype = DType::kF32;
  view.rank = letters.count;
  for (size_t i = 0; i < static_cast<size_t>(letters.count); ++i) {
    view.dims[i] = letters.list[i].size;
    view.strides[i] = letters.list[i].step[which];
  }
  return view;
}

TensorView dense_of(const Letters& letters) {
  TensorView view = view_of(letters, 0);
  set_dense_strides(view);
  return view;
}

// An operand that lies in this order: the given one, or a temporary that is still to be filled.
Result<int> place_of(BindScope& scope, const Letters& order, size_t which, int operand) {
  if (view_of(order, which).contiguous()) return operand;
  return scope.temporary(static_cast<size_t>(order.size()) * sizeof(float));
}

Result<int> lay(BindScope& scope, const Letters& order, int operand) {
  const auto which = static_cast<size_t>(operand);
  MICA_TRY(const int to, place_of(scope, order, which, operand));
  if (to != operand)
    MICA_TRY_STATUS(move::add_copy_step(scope, {operand, view_of(order, which), 0}, {to, dense_of(order), 0}));
  return to;
}

Status add_product(BindScope& scope, const Roles& r, const Letters& left, const Letters& right, const Letters& out) {
  const int y = static_cast<int>(scope.inputs.size());
  MICA_TRY(matmul::ProductStep * step, scope.arguments<matmul::ProductStep>());
  MICA_TRY(step->a, lay(scope, left, 0));
  MICA_TRY(step->b, lay(scope, right, 1));
  MICA_TRY(step->c, place_of(scope, out, kOut, y));
  GemmArgs& g = step->args;
  g.problem = {.m = r.rows.size(), .n = r.columns.size(), .k = r.summed.size()};
  g.problem.b_form = MatrixForm::kRows;
  g.problem.batch[1] = r.batch.size();
  g.a_stride = g.problem.k;
  g.b_stride = g.c_stride = g.problem.n;
  g.a_batch[1] = g.problem.m * g.problem.k;
  g.b_batch[1] = g.problem.k * g.problem.n;
  g.c_batch[1] = g.problem.m * g.problem.n;
  MICA_TRY_STATUS(matmul::take_algorithm(scope, 0, {}, *step));
  MICA_TRY_STATUS(matmul::add_product(scope, *step));
  if (step->c == y) return {};
  return move::add_copy_step(scope, {step->c, dense_of(out), 0}, {y, view_of(out, kOut), 0});
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto count = static_cast<size_t>(own_inputs(scope));
  const TensorView& y = scope.output(0).view;
  if (count > 2 || y.dtype != DType::kF32 || y.empty()) return false;
  int ranks[2] = {};
  for (size_t i = 0; i < count; ++i) {
    const BoundOperand& input = scope.input(static_cast<int>(i));
    if (input.view.empty() || (input.constant && !input.view.data)) return false;
    ranks[i] = input.view.rank;
  }
  MICA_TRY(const einsum::Equation e, einsum::parse(scope.attributes<Einsum>().equation, {ranks, count}));
  std::array<Letter, einsum::kLabels> letters;
  for (size_t i = 0; i < count; ++i) take_axes(e.in[i], scope.input(static_cast<int>(i)).view, i, letters);
  take_axes(e.out, y, kOut, letters);
  Roles r;
  if (!sort_letters(letters, e.out, r)) return false;
  if (count == 1) {
    const int to = static_cast<int>(scope.inputs.size());
    MICA_TRY_STATUS(move::add_copy_step(scope, {0, view_of(r.rows, 0), 0}, {to, view_of(r.rows, kOut), 0}));
    return true;
  }
  Letters left = r.batch, right = r.batch, out = r.batch;
  if (!left.push(r.rows) || !left.push(r.summed) || !right.push(r.summed) || !right.push(r.columns) ||
      !out.push(r.rows) || !out.push(r.columns))
    return false;
  MICA_TRY_STATUS(add_product(scope, r, left, right, out));
  return true;
}

}  // namespace

MICA_RUN(einsum) = {.bind = bind};

}  // namespace mica
