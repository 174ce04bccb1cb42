// Tables that the build makes from file names.
#pragma once
#include <span>
#include <string_view>

namespace mica {

// One file `<name><aspect>.cc` and the definition in it.
template <class T>
struct TableRow {
  std::string_view name;
  const T* definition;
};

// Rows are sorted by name; null when there is none.
template <class T>
const T* find_row(std::span<const TableRow<T>> rows, std::string_view name) {
  while (!rows.empty()) {
    const size_t half = rows.size() / 2;
    const TableRow<T>& middle = rows[half];
    if (middle.name == name) return middle.definition;
    rows = middle.name < name ? rows.subspan(half + 1) : rows.first(half);
  }
  return nullptr;
}

}  // namespace mica
