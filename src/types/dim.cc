#include "types/dim.h"

#include <algorithm>

#include "base/hash.h"

namespace mica {
namespace {

constexpr size_t kMaxTerms = 24;  // longer sums stay opaque: correct, only less simplified
constexpr size_t kMaxFactors = 8;

// Numbers stay in the range of fixed dimensions, of which every one can be negated.
bool mul_overflow(int64_t a, int64_t b, int64_t& out) {
  return __builtin_mul_overflow(a, b, &out) || !Dim::from_raw(out).is_fixed();
}
bool add_overflow(int64_t a, int64_t b, int64_t& out) {
  return __builtin_add_overflow(a, b, &out) || !Dim::from_raw(out).is_fixed();
}

int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

}  // namespace

// constant + Σ coefficient × product(factors); factors are raw atom Dims in ascending order.
struct DimTable::Terms {
  struct Term {
    int64_t coefficient = 0;
    uint32_t count = 0;
    int64_t factors[kMaxFactors];
    bool same_factors(const Term& o) const {
      return count == o.count && std::equal(factors, factors + count, o.factors);
    }
    bool before(const Term& o) const {
      return std::lexicographical_compare(factors, factors + count, o.factors, o.factors + o.count);
    }
  };
  int64_t constant = 0;
  size_t count = 0;
  Term terms[kMaxTerms];
  bool overflow = false;  // a number does not fit
  bool full = false;      // there are too many terms or factors

  bool good() const { return !overflow && !full; }
  bool add(const Term& term) {
    for (size_t i = 0; i < count; ++i)
      if (terms[i].same_factors(term)) {
        overflow = overflow || add_overflow(terms[i].coefficient, term.coefficient, terms[i].coefficient);
        if (!overflow && terms[i].coefficient == 0) terms[i] = terms[--count];
        return good();
      }
    full = full || count == kMaxTerms;
    if (good()) terms[count++] = term;
    return good();
  }
  bool add_constant(int64_t value) {
    overflow = overflow || add_overflow(constant, value, constant);
    return good();
  }
  bool add_product(const Term& p, const Term& q) {
    Term term;
    full = full || p.count + q.count > kMaxFactors;
    overflow = overflow || mul_overflow(p.coefficient, q.coefficient, term.coefficient);
    if (!good() || term.coefficient == 0) return good();
    std::merge(p.factors, p.factors + p.count, q.factors, q.factors + q.count, term.factors);
    term.count = p.count + q.count;
    return add(term);
  }
};

Dim DimTable::fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
  return 0;
}

Dim DimTable::intern(Op op, std::span<const int64_t> list) {
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].op == op && op != Op::kSymbol && std::ranges::equal(args(nodes_[i]), list))
      return Dim::expression(static_cast<uint32_t>(i));
  const Node node{op, static_cast<uint32_t>(pool_.size()), static_cast<uint32_t>(list.size())};
  if (Status s = pool_.append(list); !s.ok()) return fail(std::move(s));
  if (Status s = nodes_.push_back(node); !s.ok()) return fail(std::move(s));
  return Dim::expression(static_cast<uint32_t>(nodes_.size() - 1));
}

// Symbols' names: what a table can hold of any text. Text beyond the length is replaced by a hash of the whole, so
// that long names stay different.
Text<64> DimTable::symbol_name(std::string_view text) {
  Text<64> name;
  text = slice(text, 0, text.find('\0'));
  if (text.empty()) text = "_";
  if (name.assign(text)) return name;
  format_to(name.chars, sizeof name.chars, "{}~{}", slice(text, 0, 40), hash_text(text));
  return name;
}

int DimTable::find_symbol(std::string_view text) const {
  const Text<64> name = symbol_name(text);
  for (size_t i = 0; i < symbols_.size(); ++i)
    if (symbols_[i].name == name) return static_cast<int>(i);
  return -1;
}

Dim DimTable::symbol(std::string_view name, SymbolKind kind) {
  if (const int known = find_symbol(name); known >= 0) return symbol_dims_[static_cast<size_t>(known)];
  SymbolInfo info;
  info.kind = kind;
  info.name = symbol_name(name);
  const int64_t index = static_cast<int64_t>(symbols_.size());
  const Dim d = intern(Op::kSymbol, std::span(&index, 1));
  if (Status s = symbols_.push_back(info); !s.ok()) return fail(std::move(s));
  if (Status s = symbol_dims_.push_back(d); !s.ok()) {
    symbols_.pop_back();  // both lists or none
    return fail(std::move(s));
  }
  return d;
}

Dim DimTable::fresh(std::string_view stem) {
  char name[64];
  for (size_t n = symbols_.size();; ++n) {
    format_to(name, sizeof name, "{}_{}", slice(stem, 0, 40), n);
    if (find_symbol(name) < 0) return symbol(name, SymbolKind::kData);
  }
}

bool DimTable::is_symbol(Dim d) const { return !d.is_fixed() && nodes_[d.id()].op == Op::kSymbol; }

bool DimTable::terms_of(Dim d, Terms& out) const {
  out = {};
  if (d.is_fixed()) {
    out.constant = d.value();
    return true;
  }
  const Node& node = nodes_[d.id()];
  const auto factors_of = [&](int64_t raw, Terms::Term& term) {
    const Dim factor = Dim::from_raw(raw);
    if (nodes_[factor.id()].op == Op::kProduct) {
      for (int64_t f : args(nodes_[factor.id()])) term.factors[term.count++] = f;
    } else {
      term.factors[term.count++] = raw;
    }
  };
  if (node.op == Op::kSum) {
    const auto list = args(node);
    out.constant = list[0];
    for (size_t i = 1; i + 1 < list.size(); i += 2) {
      Terms::Term& term = out.terms[out.count++];
      term = {};
      term.coefficient = list[i];
      factors_of(list[i + 1], term);
    }
    return true;
  }
  Terms::Term& term = out.terms[out.count++];
  term = {};
  term.coefficient = 1;
  factors_of(d.raw(), term);
  return true;
}

Dim DimTable::from_terms(Terms& t) {
  if (t.count == 0) return t.constant;
  std::sort(t.terms, t.terms + t.count, [](const auto& a, const auto& b) { return a.before(b); });
  int64_t list[1 + 2 * kMaxTerms];
  list[0] = t.constant;
  size_t n = 1;
  for (size_t i = 0; i < t.count; ++i) {
    const Terms::Term& term = t.terms[i];
    const Dim factor =
        term.count == 1 ? Dim::from_raw(term.factors[0]) : intern(Op::kProduct, std::span(term.factors, term.count));
    list[n++] = term.coefficient;
    list[n++] = factor.raw();
  }
  if (t.count == 1 && t.constant == 0 && list[1] == 1) return Dim::from_raw(list[2]);
  return intern(Op::kSum, std::span(list, n));
}

Dim DimTable::add(Dim a, Dim b) {
  if (a.is_fixed() && b.is_fixed()) {
    int64_t sum;
    if (add_overflow(a.value(), b.value(), sum)) return fail(error(Code::kBadShape, "a dimension overflows 64 bits"));
    return sum;
  }
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  Terms x, y;
  terms_of(a, x);
  terms_of(b, y);
  x.add_constant(y.constant);
  for (size_t i = 0; i < y.count; ++i) x.add(y.terms[i]);
  if (x.overflow) return fail(error(Code::kBadShape, "a dimension overflows 64 bits"));
  if (!x.full) return from_terms(x);
  const int64_t list[] = {0, 1, std::min(a.raw(), b.raw()), 1, std::max(a.raw(), b.raw())};
  if (!a.is_fixed() && !b.is_fixed()) return intern(Op::kSum, list);
  return fail(error(Code::kLimit, "a dimension's expression is too long"));
}

Dim DimTable::mul(Dim a, Dim b) {
  if (a.is_fixed() && b.is_fixed()) {
    int64_t out;
    if (mul_overflow(a.value(), b.value(), out)) return fail(error(Code::kBadShape, "a dimension overflows 64 bits"));
    return out;
  }
  if (a.is(0) || b.is(0)) return 0;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  Terms x, y, out;
  terms_of(a, x);
  terms_of(b, y);
  out.overflow = mul_overflow(x.constant, y.constant, out.constant);
  Terms::Term one_x, one_y;
  one_x.coefficient = x.constant;
  one_y.coefficient = y.constant;
  for (size_t i = 0; i < x.count; ++i) out.add_product(x.terms[i], one_y);
  for (size_t j = 0; j < y.count; ++j) out.add_product(one_x, y.terms[j]);
  for (size_t i = 0; i < x.count; ++i)
    for (size_t j = 0; j < y.count; ++j) out.add_product(x.terms[i], y.terms[j]);
  if (out.overflow) return fail(error(Code::kBadShape, "a dimension overflows 64 bits"));
  if (!out.full) return from_terms(out);
  const int64_t list[] = {std::min(a.raw(), b.raw()), std::max(a.raw(), b.raw())};
  if (!a.is_fixed() && !b.is_fixed()) return intern(Op::kProduct, list);
  return fail(error(Code::kLimit, "a dimension's expression is too long"));
}

// Splits a = quotient·b + rest where every term that b divides goes to the quotient.
bool DimTable::divide_terms(const Terms& a, Dim b, Terms& quotient, Terms& rest) const {
  Terms divisor;
  terms_of(b, divisor);
  if (divisor.count + (divisor.constant != 0) != 1) return false;
  const Terms::Term unit{.coefficient = divisor.constant, .count = 0, .factors = {}};
  const Terms::Term& by = divisor.count ? divisor.terms[0] : unit;
  quotient = {};
  rest = {};
  if (by.count == 0) {
    quotient.constant = floor_divide(a.constant, by.coefficient);
    rest.constant = a.constant - quotient.constant * by.coefficient;
  } else {
    rest.constant = a.constant;
  }
  for (size_t i = 0; i < a.count; ++i) {
    Terms::Term left;
    const Terms::Term& term = a.terms[i];
    const bool contains = std::includes(term.factors, term.factors + term.count, by.factors, by.factors + by.count);
    if (contains && term.coefficient % by.coefficient == 0) {
      left.coefficient = term.coefficient / by.coefficient;
      left.count = static_cast<uint32_t>(std::set_difference(term.factors, term.factors + term.count, by.factors,
                                                             by.factors + by.count, left.factors) -
                                         left.factors);
      if (!(left.count == 0 ? quotient.add_constant(left.coefficient) : quotient.add(left))) return false;
    } else if (!rest.add(term)) {
      return false;
    }
  }
  return true;
}

Dim DimTable::floor_div(Dim a, Dim b) {
  if (b.is(0)) return fail(error(Code::kBadShape, "a dimension is divided by zero"));
  if (b.is(1)) return a;
  if (a.is_fixed() && b.is_fixed()) return floor_divide(a.value(), b.value());
  if (a == b) return 1;
  Terms whole, quotient, rest;
  terms_of(a, whole);
  if (divide_terms(whole, b, quotient, rest)) {
    const Dim left = from_terms(rest), q = from_terms(quotient);
    if (left.is(0)) return q;
    if (b.is_fixed() && left.is_fixed()) return add(q, floor_divide(left.value(), b.value()));
    if (quotient.count || quotient.constant) return add(q, floor_div(left, b));
  }
  if (b.is_fixed() && b.value() > 0 && !a.is_fixed() && nodes_[a.id()].op == Op::kFloorDiv) {
    // floor(floor(x / m) / n) = floor(x / (m·n)) for positive m and n.
    const auto inner = args(nodes_[a.id()]);
    const Dim x = Dim::from_raw(inner[0]), m = Dim::from_raw(inner[1]);
    int64_t by;
    if (m.is_fixed() && m.value() > 0 && !mul_overflow(m.value(), b.value(), by)) return floor_div(x, by);
  }
  const int64_t list[] = {a.raw(), b.raw()};
  return intern(Op::kFloorDiv, list);
}

namespace {

// Whether x <= y follows from how they are made: min(a, b) <= a <= max(a, b).
struct Order {
  const DimTable& table;
  uint8_t least, most;  // the two operators

  bool at_most(Dim x, Dim y, int depth = 4) const {
    if (x == y) return true;
    if (depth == 0) return false;
    if (!x.is_fixed())
      if (const DimTable::Entry e = table.entry(x.id()); e.op == least)
        for (int64_t part : e.args)
          if (at_most(Dim::from_raw(part), y, depth - 1)) return true;
    if (!y.is_fixed())
      if (const DimTable::Entry e = table.entry(y.id()); e.op == most)
        for (int64_t part : e.args)
          if (at_most(x, Dim::from_raw(part), depth - 1)) return true;
    return false;
  }
};

}  // namespace

Dim DimTable::extreme(Op op, Dim a, Dim b) {
  if (a == b) return a;
  const bool want_max = op == Op::kMax;
  if (a.is_fixed() && b.is_fixed()) return want_max ? std::max(a.value(), b.value()) : std::min(a.value(), b.value());
  const Interval of_a = interval(a), of_b = interval(b);
  Interval gap{of_a.low >= of_b.high ? 0 : -1, of_a.high <= of_b.low ? 0 : 1};
  if (gap.low < 0 && gap.high > 0 && status_.ok()) {
    const Dim difference = sub(a, b);  // what cancels out is no uncertainty
    if (status_.ok()) gap = interval(difference);
    status_ = {};
  }
  const Order order{*this, static_cast<uint8_t>(Op::kMin), static_cast<uint8_t>(Op::kMax)};
  if (gap.low >= 0 || order.at_most(b, a)) return want_max ? a : b;
  if (gap.high <= 0 || order.at_most(a, b)) return want_max ? b : a;
  const int64_t list[] = {std::min(a.raw(), b.raw()), std::max(a.raw(), b.raw())};
  return intern(op, list);
}
Dim DimTable::max(Dim a, Dim b) { return extreme(Op::kMax, a, b); }
Dim DimTable::min(Dim a, Dim b) { return extreme(Op::kMin, a, b); }

Dim DimTable::product(std::span<const Dim> dims) {
  Dim total = 1;
  for (Dim d : dims) total = mul(total, d);
  return total;
}

bool DimTable::depends_on(Dim d, SymbolKind kind) const {
  if (d.is_fixed()) return false;
  const Node& node = nodes_[d.id()];
  const auto list = args(node);
  if (node.op == Op::kSymbol) return symbols_[static_cast<size_t>(list[0])].kind == kind;
  if (node.op != Op::kSum)
    return std::ranges::any_of(list, [&](int64_t raw) { return depends_on(Dim::from_raw(raw), kind); });
  for (size_t i = 2; i < list.size(); i += 2)
    if (depends_on(Dim::from_raw(list[i]), kind)) return true;
  return false;
}

}  // namespace mica
