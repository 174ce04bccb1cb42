// A table of dimensions as a list of entries, and back.
#include <algorithm>

#include "types/dim.h"

namespace mica {
namespace {

// What the arithmetic of a table relies on: see the limits of its sums and products in dim.cc.
constexpr size_t kMaxSumArgs = 1 + 2 * 24;
constexpr size_t kMaxProductArgs = 8;

}  // namespace

DimTable::Entry DimTable::entry(size_t id) const {
  const Node& node = nodes_[id];
  Entry made;
  made.op = static_cast<uint8_t>(node.op);
  if (node.op == Op::kSymbol)
    made.symbol = &symbols_[static_cast<size_t>(args(node)[0])];
  else
    made.args = args(node);
  return made;
}

Status DimTable::restore(const Entry& entry) {
  MICA_CHECK(entry.op <= static_cast<uint8_t>(Op::kMin), kBadFile, "an expression has the unknown kind {}", entry.op);
  const Op op = static_cast<Op>(entry.op);
  if (op == Op::kSymbol) {
    MICA_CHECK(entry.symbol && !entry.symbol->name.empty() && find_symbol(entry.symbol->name) < 0 &&
                   entry.symbol->kind <= SymbolKind::kData && entry.symbol->bound >= 0,
               kBadFile, "the symbol `{}` of a dimension is damaged or stands twice",
               entry.symbol ? entry.symbol->name.view() : std::string_view());
    const size_t before = nodes_.size();
    const SymbolInfo info = *entry.symbol;
    symbol(info.name, info.kind);
    MICA_TRY_STATUS(status_.copy());
    MICA_CHECK(nodes_.size() == before + 1, kBadFile, "the symbol `{}` of a dimension stands twice", info.name);
    symbols_.back().bound = info.bound;
    return {};
  }
  const bool sum = op == Op::kSum, product = op == Op::kProduct;
  const size_t count = entry.args.size();
  bool good = sum       ? count >= 3 && count <= kMaxSumArgs && count % 2 == 1
              : product ? count >= 2 && count <= kMaxProductArgs
                        : count == 2;
  for (size_t i = 0; good && i < count; ++i) {
    const Dim arg = Dim::from_raw(entry.args[i]);
    good = arg.is_fixed() || arg.id() < nodes_.size();
    if (product || (sum && i > 0 && i % 2 == 0)) good = good && !arg.is_fixed();
    if (sum && i % 2 == 1) good = good && arg.is_fixed() && !arg.is(0);
  }
  good = good && (!sum || Dim::from_raw(entry.args[0]).is_fixed()) && (op != Op::kFloorDiv || entry.args[1] != 0);
  MICA_CHECK(good, kBadFile, "an expression of a dimension is damaged");
  const Node node{op, static_cast<uint32_t>(pool_.size()), static_cast<uint32_t>(count)};
  MICA_TRY_STATUS(pool_.append(entry.args));
  return nodes_.push_back(node);
}

Status DimTable::check(const Limits& limits) const {
  struct Size {
    uint64_t depth, parts;
  };
  Vector<Size> sizes;
  MICA_CHECK(nodes_.size() <= limits.entries, kLimit, "there are {} expressions of dimensions, more than {}",
             nodes_.size(), limits.entries);
  MICA_TRY_STATUS(sizes.reserve(nodes_.size()));
  for (const Node& node : nodes_) {
    Size size{1, 1};
    const auto list = args(node);
    for (size_t i = 0; i < list.size() && node.op != Op::kSymbol; ++i) {
      if (node.op == Op::kSum && (i == 0 || i % 2 == 1)) continue;
      const Dim arg = Dim::from_raw(list[i]);
      if (arg.is_fixed()) continue;
      size.depth = std::max(size.depth, sizes[arg.id()].depth + 1);
      size.parts += sizes[arg.id()].parts;
    }
    MICA_CHECK(size.depth <= limits.depth && size.parts <= limits.parts, kLimit,
               "an expression of a dimension is nested {} deep and has {} parts", size.depth, size.parts);
    MICA_TRY_STATUS(sizes.push_back(size));
  }
  return {};
}

}  // namespace mica
