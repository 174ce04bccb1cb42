// Tables that the build makes from file names.
#pragma once
#include <algorithm>
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
  const auto row = std::ranges::lower_bound(rows, name, {}, &TableRow<T>::name);
  return row != rows.end() && row->name == name ? row->definition : nullptr;
}

}  // namespace mica
