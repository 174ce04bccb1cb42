// Einstein sums, spelled as the transpositions and products that they are.
#include <algorithm>
#include <optional>

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

using Dims = std::vector<std::optional<Dim>>;  // none: a product of several, of which one is a symbol

// A reshape from `source` to `dims`: an open dimension stays where it stands, or else is the only one. Null for others,
// and for no elements, of which the rest says nothing.
Value* reshaped(Builder& build, Value* x, const Dims& source, const Dims& dims) {
  std::vector<int64_t> target;
  int open = 0, kept = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool fixed = dims[i] && dims[i]->is_fixed(), stays = i < source.size() && dims[i] && source[i] == dims[i];
    if (fixed && dims[i]->is(0)) return nullptr;
    target.push_back(fixed ? dims[i]->value() : stays ? 0 : -1);
    open += !fixed && !stays;
    kept += !fixed && stays;
  }
  if (open + (kept > 0) > 1) return nullptr;
  return build.one(op_reshape, Reshape{}, {x, build.ints(target)});
}

Dims dims_of(const Operand& x, const Labels& labels) {
  Dims dims;
  for (int label : labels) dims.push_back(x.dim(label));
  return dims;
}

void append(Dims& to, const Dims& more) { to.insert(to.end(), more.begin(), more.end()); }

// Their product; none when a dimension is open. False when it overflows.
bool multiplied(const Dims& dims, std::optional<Dim>& all) {
  int64_t count = 1;
  bool fixed = true;
  for (const auto& d : dims) {
    fixed = fixed && d->is_fixed();
    if (fixed && __builtin_mul_overflow(count, d->value(), &count)) return false;
  }
  all = dims.size() == 1 ? dims[0] : fixed ? std::optional(Dim(count)) : std::nullopt;
  return true;
}

Labels joined(const Labels& a, const Labels& b, const Labels& c) {
  Labels all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

// An operand as [kept..., first group, second group]; null when its dimensions do not say enough. `dims`: those that it
// has then.
Value* as_matrices(Builder& build, const Operand& x, const Labels& kept, const std::vector<Labels>& groups,
                   Dims& dims) {
  Labels order = kept;
  dims = dims_of(x, kept);
  bool single = true;
  for (const Labels& group : groups) {
    order.insert(order.end(), group.begin(), group.end());
    if (!multiplied(dims_of(x, group), dims.emplace_back())) return nullptr;
    single = single && group.size() == 1;
  }
  Value* y = transposed(build, x.value, x.labels, order);
  return single ? y : reshaped(build, y, dims_of(x, order), dims);
}

// The first row axes, in front of the batch, for which the right matrices repeat: all but one where there is no batch,
// as the product takes rows of several axes, or where their product is not known.
Labels stacked_rows(const Product& p) {
  const Dims dims = dims_of(p.left, p.rows);
  const bool open = std::ranges::any_of(dims, [](const auto& d) { return !d->is_fixed(); });
  if (p.rows.size() < 2 || (!p.batch.empty() && !open)) return {};
  return {p.rows.begin(), p.rows.end() - 1};
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
  const Labels stacks = stacked_rows(p), kept = joined(stacks, p.batch, {});
  const Labels rows(p.rows.begin() + static_cast<int64_t>(stacks.size()), p.rows.end());
  Dims dims, right_dims, whole;
  Value* left = as_matrices(build, p.left, kept, {rows, p.summed}, dims);
  Value* right = left ? as_matrices(build, p.right, p.batch, {p.summed, p.columns}, right_dims) : nullptr;
  if (!right) return nullptr;
  Value* y = build.one(op_matmul, {left, right});
  dims.back() = right_dims.back();
  append(whole, dims_of(p.left, joined(kept, rows, {})));
  append(whole, dims_of(p.right, p.columns));
  if (whole.size() != dims.size()) {
    y = reshaped(build, y, dims, whole);
    if (!y) return nullptr;
  }
  return transposed(build, y, joined(kept, rows, p.columns), p.out);
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
