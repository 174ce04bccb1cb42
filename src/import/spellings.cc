// The search in the table of spellings.
#include <algorithm>
#include <tuple>

#include "base/nearest.h"
#include "ir/spelling.h"

namespace mica {
namespace {

auto key_of(const Spelling& s) { return std::tuple(s.format, s.domain, s.op); }

const std::vector<const Spelling*>& sorted_spellings() {
  static const std::vector<const Spelling*> kSorted = [] {
    std::vector<const Spelling*> rows;
    for (const auto& table : all_spellings())
      for (const Spelling& row : table.definition->rows) rows.push_back(&row);
    std::ranges::stable_sort(rows, [](const Spelling* a, const Spelling* b) { return key_of(*a) < key_of(*b); });
    return rows;
  }();
  return kSorted;
}

}  // namespace

const Spelling* find_spelling(Format format, std::string_view domain, std::string_view op, int version,
                              std::string* nearest) {
  const auto& rows = sorted_spellings();
  const std::tuple wanted(format, domain, op);
  const auto key = [](const Spelling* s) { return key_of(*s); };
  const auto first = std::ranges::lower_bound(rows, wanted, {}, key),
             last = std::ranges::upper_bound(rows, wanted, {}, key);
  for (auto row = first; row != last; ++row)
    if ((*row)->since <= version && version <= (*row)->until) return *row;
  if (!nearest) return nullptr;
  nearest->clear();
  if (first != last) {
    int since = (*first)->since, until = (*first)->until;
    for (auto row = first; row != last; ++row)
      since = std::min(since, (*row)->since), until = std::max(until, (*row)->until);
    *nearest =
        std::string(op) + (until >= kLatest ? " since version " + std::to_string(since)
                                            : " of versions " + std::to_string(since) + " to " + std::to_string(until));
    return nullptr;
  }
  Nearest near(op);
  for (const Spelling* row : rows)
    if (row->format == format && row->domain == domain) near.offer(row->op);
  *nearest = near.best();
  return nullptr;
}

}  // namespace mica
