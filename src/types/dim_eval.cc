// Numbers for expressions: evaluation, intervals, solving, substitution.
#include <algorithm>

#include "types/dim.h"

namespace mica {
namespace {

constexpr int64_t kInfinity = std::numeric_limits<int64_t>::max();

int64_t saturating_mul(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_mul_overflow(a, b, &out) ? ((a < 0) == (b < 0) ? kInfinity : -kInfinity) : out;
}
// Infinity stays what it is, so that a bound which is none is not taken for one later.
int64_t saturating_add(int64_t a, int64_t b) {
  int64_t out;
  if (a == kInfinity || a == -kInfinity) return a;
  if (b == kInfinity || b == -kInfinity) return b;
  return __builtin_add_overflow(a, b, &out) ? (a > 0 ? kInfinity : -kInfinity) : out;
}
int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

DimTable::Interval times(DimTable::Interval a, DimTable::Interval b) {
  const int64_t corners[] = {saturating_mul(a.low, b.low), saturating_mul(a.low, b.high), saturating_mul(a.high, b.low),
                             saturating_mul(a.high, b.high)};
  return {*std::ranges::min_element(corners), *std::ranges::max_element(corners)};
}

}  // namespace

int64_t DimTable::evaluate(Dim d, std::span<const int64_t> values) const {
  if (d.is_fixed()) return d.value();
  const Node& node = nodes_[d.id()];
  const auto list = args(node);
  const auto value = [&](int64_t raw) { return evaluate(Dim::from_raw(raw), values); };
  switch (node.op) {
    case Op::kSymbol: {
      const auto index = static_cast<size_t>(list[0]);
      return index < values.size() && values[index] >= 0 ? values[index] : kUnknown;
    }
    case Op::kSum: {
      int64_t sum = list[0];
      for (size_t i = 1; i + 1 < list.size(); i += 2) {
        const int64_t term = value(list[i + 1]);
        if (term == kUnknown) return kUnknown;
        sum = saturating_add(sum, saturating_mul(list[i], term));
      }
      return sum;
    }
    case Op::kProduct: {
      int64_t product = 1;
      for (int64_t raw : list) {
        const int64_t factor = value(raw);
        if (factor == kUnknown) return kUnknown;
        product = saturating_mul(product, factor);
      }
      return product;
    }
    default: break;
  }
  const int64_t a = value(list[0]), b = value(list[1]);
  if (a == kUnknown || b == kUnknown) return kUnknown;
  if (node.op == Op::kFloorDiv) return b == 0 ? kUnknown : floor_divide(a, b);
  return node.op == Op::kMax ? std::max(a, b) : std::min(a, b);
}

DimTable::Interval DimTable::interval(Dim d) const {
  if (d.is_fixed()) return {d.value(), d.value()};
  const Node& node = nodes_[d.id()];
  const auto list = args(node);
  const auto of = [&](size_t i) { return interval(Dim::from_raw(list[i])); };
  switch (node.op) {
    case Op::kSymbol: return {0, symbols_[static_cast<size_t>(list[0])].bound};
    case Op::kSum: {
      Interval sum{list[0], list[0]};
      for (size_t i = 1; i + 1 < list.size(); i += 2) {
        const Interval term = times({list[i], list[i]}, of(i + 1));
        sum = {saturating_add(sum.low, term.low), saturating_add(sum.high, term.high)};
      }
      return sum;
    }
    case Op::kProduct: {
      Interval product{1, 1};
      for (size_t i = 0; i < list.size(); ++i) product = times(product, of(i));
      return product;
    }
    case Op::kFloorDiv: {
      const Interval a = of(0), b = of(1);
      if (b.low <= 0) return {-kInfinity, kInfinity};
      const auto low_by = a.low < 0 ? b.low : b.high;
      const auto high_by = a.high < 0 ? b.high : b.low;
      return {a.low == -kInfinity ? a.low : floor_divide(a.low, low_by),
              a.high == kInfinity ? kInfinity : floor_divide(a.high, high_by)};
    }
    case Op::kMax: {
      const Interval a = of(0), b = of(1);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case Op::kMin: {
      const Interval a = of(0), b = of(1);
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    }
  }
  return {-kInfinity, kInfinity};
}

bool DimTable::solve(Dim d, int64_t value, std::span<int64_t> values) const {
  if (d.is_fixed()) return d.value() == value;
  const Node& node = nodes_[d.id()];
  const auto list = args(node);
  if (node.op == Op::kSymbol) {
    int64_t& slot = values[static_cast<size_t>(list[0])];
    if (slot < 0 && value >= 0) slot = value;
    return slot == value && value >= 0;
  }
  if (const int64_t known = evaluate(d, values); known != kUnknown) return known == value;
  // All but one part known: what is left for that part follows, if it is a whole number.
  const bool sum = node.op == Op::kSum;
  if (!sum && node.op != Op::kProduct) return true;
  size_t open = list.size();
  int64_t rest = value, factor = 1;
  if (sum && __builtin_sub_overflow(value, list[0], &rest)) return false;
  for (size_t i = sum ? 2 : 0; i < list.size(); i += sum ? 2 : 1) {
    const int64_t known = evaluate(Dim::from_raw(list[i]), values);
    if (known == kUnknown && open < list.size()) return true;
    if (known == kUnknown)
      open = i;
    else if (!sum)
      factor = saturating_mul(factor, known);
    else if (__builtin_sub_overflow(rest, saturating_mul(list[i - 1], known), &rest))
      return false;
  }
  if (open == list.size()) return true;
  if (sum) factor = list[open - 1];
  if (factor == 0) return rest == 0;
  if (factor == -1 && rest == kUnknown) return false;  // the one quotient that does not fit
  return rest % factor == 0 && solve(Dim::from_raw(list[open]), rest / factor, values);
}

Dim DimTable::substitute(Dim d, std::span<const Dim> to) {
  if (d.is_fixed()) return d;
  const Node node = nodes_[d.id()];
  const auto part = [&](size_t i) { return pool_[node.first + i]; };
  const auto put = [&](size_t i) { return substitute(Dim::from_raw(part(i)), to); };
  switch (node.op) {
    case Op::kSymbol: return static_cast<size_t>(part(0)) < to.size() ? to[static_cast<size_t>(part(0))] : d;
    case Op::kSum: {
      Dim sum = part(0);
      for (size_t i = 1; i + 1 < node.count; i += 2) sum = add(sum, mul(part(i), put(i + 1)));
      return sum;
    }
    case Op::kProduct: {
      Dim product = 1;
      for (size_t i = 0; i < node.count; ++i) product = mul(product, put(i));
      return product;
    }
    case Op::kFloorDiv: return floor_div(put(0), put(1));
    case Op::kMax: return max(put(0), put(1));
    case Op::kMin: return min(put(0), put(1));
  }
  return d;
}

}  // namespace mica
