// Dimensions: a fixed number, or an expression over named symbols kept in a DimTable.
//
// A Dim is eight bytes and trivially copyable, so that shapes are values and a tensor of dimensions (what ONNX's Shape
// makes) has the memory form of an i64 tensor: data movement works on it unchanged. Equal expressions have equal Dims,
// because the table keeps expressions in a canonical form (sums of products, hash-consed). Symbols stand for
// non-negative numbers.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/string.h"

namespace mica {

class Dim {
 public:
  constexpr Dim() = default;
  // Values below the range that marks expressions (only INT64_MIN and its neighbours) are clamped to it.
  constexpr Dim(int64_t value) : raw_(value < kFirstFixed ? kFirstFixed : value) {}
  static constexpr Dim expression(uint32_t id) {
    Dim d;
    d.raw_ = kMin + id;
    return d;
  }
  static constexpr Dim from_raw(int64_t raw) {
    Dim d;
    d.raw_ = raw;
    return d;
  }
  constexpr bool is_fixed() const { return raw_ >= kFirstFixed; }
  constexpr int64_t value() const { return raw_; }                              // when is_fixed()
  constexpr uint32_t id() const { return static_cast<uint32_t>(raw_ - kMin); }  // when not
  constexpr int64_t raw() const { return raw_; }
  constexpr bool operator==(const Dim&) const = default;
  constexpr bool is(int64_t value) const { return raw_ == value; }

 private:
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kFirstFixed = kMin + (int64_t{1} << 32);
  int64_t raw_ = 0;
};

// What kind a symbol is: a parameter of binding (fixed by the input's shape), bounded (a parameter of the run, memory
// is planned at the bound), or known only after an operator ran.
enum class SymbolKind : uint8_t { kInput, kBounded, kData };

struct SymbolInfo {
  Text<64> name;
  SymbolKind kind = SymbolKind::kInput;
  int64_t bound = std::numeric_limits<int64_t>::max();
};

// Owns expressions. Arithmetic on fixed Dims needs no table entry and cannot fail; overflow, division by zero and
// memory shortage on the rest are kept in `status()` (the first one stays) and yield the Dim 0.
class DimTable {
 public:
  DimTable() = default;
  DimTable(DimTable&&) = default;
  DimTable& operator=(DimTable&&) = default;

  // The same name gives the same Dim, of the kind it was first asked for with. Empty names become "_"; names of more
  // than 63 bytes are kept as their beginning and a hash.
  Dim symbol(std::string_view name, SymbolKind kind = SymbolKind::kInput);
  Dim fresh(std::string_view stem);  // a new data-dependent symbol
  Dim add(Dim a, Dim b);
  Dim sub(Dim a, Dim b) { return add(a, mul(b, -1)); }
  Dim mul(Dim a, Dim b);
  Dim floor_div(Dim a, Dim b);
  Dim ceil_div(Dim a, Dim b) { return mul(floor_div(mul(a, -1), b), -1); }
  Dim mod(Dim a, Dim b) { return sub(a, mul(floor_div(a, b), b)); }
  Dim max(Dim a, Dim b);
  Dim min(Dim a, Dim b);
  Dim product(std::span<const Dim> dims);

  bool is_symbol(Dim d) const;
  size_t expressions() const { return nodes_.size(); }  // ids of expressions are smaller
  size_t symbols() const { return symbols_.size(); }
  const SymbolInfo& symbol_info(size_t index) const { return symbols_[index]; }
  SymbolInfo& symbol_info(size_t index) { return symbols_[index]; }
  int find_symbol(std::string_view name) const;  // -1 when there is none
  Dim symbol_dim(size_t index) const { return symbol_dims_[index]; }
  bool depends_on(Dim d, SymbolKind kind) const;

  // The number an expression has when symbol i has values[i]; symbols beyond `values` and
  // those with a negative one are unknown, and so is what depends on them: kUnknown.
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();
  int64_t evaluate(Dim d, std::span<const int64_t> values) const;
  // A safe interval for `d` over all values of its symbols (0 … bound).
  struct Interval {
    int64_t low, high;
  };
  Interval interval(Dim d) const;
  // Makes `d == value` hold: sets the only unknown symbol when d is linear in it. False when there is no solution. True
  // with nothing set when d has several unknown symbols or is not linear in its own: `evaluate` checks it once they are
  // known. `values` has an entry for each symbol; negative means unknown.
  bool solve(Dim d, int64_t value, std::span<int64_t> values) const;
  // Puts `to[i]` for symbol i.
  Dim substitute(Dim d, std::span<const Dim> to);

  Status print(Dim d, String& out) const;    // 49*N + floor_div(H + 1, 2)
  Result<Dim> parse(std::string_view text);  // the inverse; new names become input symbols

  // The table as a list, for a file: expression `id` is entry `id`. A symbol has no args; a sum has its constant, then
  // pairs of a coefficient and an expression; the others have their operands. Numbers are raw Dims, of earlier entries
  // when not fixed.
  struct Entry {
    uint8_t op = 0;
    const SymbolInfo* symbol = nullptr;
    std::span<const int64_t> args;
  };
  size_t entries() const { return nodes_.size(); }
  Entry entry(size_t id) const;
  // Appends an entry as it was listed. Errors: kBadFile for what no table holds, kOutOfMemory.
  Status restore(const Entry& entry);
  // Errors: kLimit for more entries, or an expression nested deeper or of more parts (each counted as often as it is
  // reached).
  struct Limits {
    uint64_t entries, depth, parts;
  };
  Status check(const Limits& limits) const;

  const Status& status() const { return status_; }
  // Takes the status out: for arithmetic that may fail without consequence.
  Status take_status() { return std::exchange(status_, Status()); }

 private:
  enum class Op : uint8_t { kSymbol, kSum, kProduct, kFloorDiv, kMax, kMin };
  struct Node {
    Op op;
    uint32_t first, count;
  };
  struct Terms;  // a polynomial under construction
  friend class DimParser;

  static Text<64> symbol_name(std::string_view text);
  Status print_part(Dim d, bool factor, String& out) const;
  Dim intern(Op op, std::span<const int64_t> args);
  bool terms_of(Dim d, Terms& out) const;
  Dim from_terms(Terms& terms);
  Dim extreme(Op op, Dim a, Dim b);
  std::span<const int64_t> args(const Node& node) const { return {pool_.data() + node.first, node.count}; }
  bool divide_terms(const Terms& a, Dim b, Terms& quotient, Terms& rest) const;
  Dim fail(Status status);

  Vector<Node> nodes_;
  Vector<int64_t> pool_;
  Vector<SymbolInfo> symbols_;
  Vector<Dim> symbol_dims_;
  Status status_;
};

}  // namespace mica
