#include "base/nearest.h"

#include "base/string.h"

namespace mica {

size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr size_t kLongest = 63;
  a = slice(a, 0, kLongest);
  b = slice(b, 0, kLongest);
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  size_t row[kLongest + 1] = {};  // row[j]: from the part of a so far to the first j bytes of b
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (lower(a[i]) != lower(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min(replaced, std::min(row[j], diagonal) + 1);
    }
  }
  return row[b.size()];
}

}  // namespace mica
