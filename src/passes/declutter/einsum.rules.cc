// Einstein sums, spelled as the transpositions and products that they are.
#include <algorithm>

#include "ops/matmul/einsum.h"
#include "ops/move/reshape.h"
#include "ops/move/transpose.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(einsum);
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(transpose);

namespace {

using Labels = std::vector<int>;

// One operand of the sum: its axes' labels and dimensions.
struct Operand {
  Value* value;
  Labels labels;
  size_t place(int label) const { return static_cast<size_t>(std::ranges::find(labels, label) - labels.begin()); }
  bool has(int label) const { return place(label) < labels.size(); }
  Dim dim(int label) const { return value->type.shape[static_cast<int>(place(label))]; }
};

// Which axes are what: in both and kept, kept of the left, kept of the right, summed over.
struct Product {
  Operand left, right;
  Labels out, batch, rows, columns, summed;
};

bool distinct(Labels labels) {
  std::ranges::sort(labels);
  return std::ranges::adjacent_find(labels) == labels.end();
}

// False for sums that are no product: a diagonal, an axis of one operand that is summed, dimensions that broadcast.
bool sort_axes(Product& p) {
  if (!distinct(p.left.labels) || !distinct(p.right.labels)) return false;
  const auto is_out = [&](int label) { return std::ranges::find(p.out, label) != p.out.end(); };
  for (int label : p.left.labels) {
    if (p.right.has(label) && !(p.left.dim(label) == p.right.dim(label))) return false;
    if (!p.right.has(label) && !is_out(label)) return false;
    (!p.right.has(label) ? p.rows : is_out(label) ? p.batch : p.summed).push_back(label);
  }
  for (int label : p.right.labels) {
    if (p.left.has(label)) continue;
    if (!is_out(label)) return false;
    p.columns.push_back(label);
  }
  return true;
}

Value* transposed(Builder& build, Value* x, const Labels& from, const Labels& to) {
  if (from == to) return x;
  Transpose order;
  for (int label : to) order.perm.push(std::ranges::find(from, label) - from.begin());
  return build.one(op_transpose, order, {x});
}

// A reshape to `dims`, of which one may be a symbol; null when more are.
Value* reshaped(Builder& build, Value* x, const std::vector<Dim>& dims) {
  std::vector<int64_t> target;
  int open = 0;
  for (Dim d : dims) {
    target.push_back(d.is_fixed() ? d.value() : -1);
    open += !d.is_fixed();
    if (d.is(0)) return nullptr;
  }
  if (open > 1) return nullptr;
  return build.one(op_reshape, Reshape{}, {x, build.ints(target)});
}

std::vector<Dim> dims_of(const Operand& x, const Labels& labels) {
  std::vector<Dim> dims;
  for (int label : labels) dims.push_back(x.dim(label));
  return dims;
}

Labels joined(const Labels& a, const Labels& b, const Labels& c) {
  Labels all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

// An operand as [batch..., first group, second group]; null when its dimensions do not say enough.
Value* as_matrices(Builder& build, const Operand& x, const Labels& batch, const Labels& first, const Labels& second) {
  Value* y = transposed(build, x.value, x.labels, joined(batch, first, second));
  if (first.size() == 1 && second.size() == 1) return y;
  std::vector<Dim> dims = dims_of(x, batch);
  for (const Labels* group : {&first, &second}) {
    int64_t count = 1;
    bool fixed = true;
    for (Dim d : dims_of(x, *group)) {
      fixed = fixed && d.is_fixed();
      if (fixed && __builtin_mul_overflow(count, d.value(), &count)) return nullptr;
    }
    if (group->size() == 1)
      dims.push_back(x.dim(group->front()));
    else if (fixed)
      dims.push_back(Dim(count));
    else
      return nullptr;
  }
  return reshaped(build, y, dims);
}

Value* product(const Match& m, Builder& build) {
  Value *a = m["a"], *b = m["b"];
  const Shape &s = a->type.shape, &r = b->type.shape;
  if (!contents::is_float(a) || !s.known() || !r.known()) return nullptr;
  const int ranks[] = {s.rank, r.rank};
  const auto parsed = einsum::parse(m.root->attributes<Einsum>().equation, ranks);
  if (!parsed.ok()) return nullptr;
  const auto labels = [](const einsum::Axes& axes) { return Labels(axes.span().begin(), axes.span().end()); };
  Product p{.left = {a, labels(parsed->in[0])}, .right = {b, labels(parsed->in[1])}, .out = labels(parsed->out)};
  // The operand whose axes come first in the result gives the rows.
  const auto own = std::ranges::find_if(p.out, [&](int l) { return p.left.has(l) != p.right.has(l); });
  if (own != p.out.end() && p.right.has(*own)) std::swap(p.left, p.right);
  if (!sort_axes(p)) return nullptr;
  Value* left = as_matrices(build, p.left, p.batch, p.rows, p.summed);
  Value* right = left ? as_matrices(build, p.right, p.batch, p.summed, p.columns) : nullptr;
  if (!right) return nullptr;
  Value* y = build.one(op_matmul, {left, right});
  if (p.rows.size() != 1 || p.columns.size() != 1) {
    std::vector<Dim> dims = dims_of(p.left, p.batch);
    for (Dim d : dims_of(p.left, p.rows)) dims.push_back(d);
    for (Dim d : dims_of(p.right, p.columns)) dims.push_back(d);
    y = reshaped(build, y, dims);
    if (!y) return nullptr;
  }
  return transposed(build, y, joined(p.batch, p.rows, p.columns), p.out);
}

// A sum of nothing: the axes in another order.
Value* turned(const Match& m, Builder& build) {
  const Shape& shape = m["a"]->type.shape;
  const int rank[] = {shape.rank};
  if (!shape.known()) return nullptr;
  const auto parsed = einsum::parse(m.root->attributes<Einsum>().equation, rank);
  if (!parsed.ok()) return nullptr;
  const auto in = parsed->in[0].span(), out = parsed->out.span();
  const Labels from(in.begin(), in.end()), to(out.begin(), out.end());
  return distinct(from) && from.size() == to.size() ? transposed(build, m["a"], from, to) : nullptr;
}

std::vector<Rule> make() {
  return {{"einsum-is-a-transpose", "einsum(a) that neither sums nor takes a diagonal → transpose(a)",
           is(op_einsum, {any("a")}), turned},
          {"einsum-is-a-product", "einsum(a, b) → matmul(a, b), with its axes in order",
           is(op_einsum, {any("a"), any("b")}), product}};
}

}  // namespace

MICA_RULES(einsum) = {.rank = 1, .make = make};

}  // namespace mica
