#include "table.h"

#include <fmt/format.h>

#include <algorithm>

#include "common.h"

namespace mica::cli {
namespace {

// Letters, not bytes: continuation bytes of UTF-8 take no place.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string md_cell(const std::string& cell) {
  std::string made;
  for (char c : cell) made += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
  return made;
}

template <class Cell>
std::string joined(const std::vector<std::string>& cells, const char* between, const Cell& cell) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) line += (i ? between : "") + cell(cells[i]);
  return line;
}

}  // namespace

void Table::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text(const std::string& format) const {
  std::string made;
  if (format == "csv") {
    made = joined(titles_, ",", csv_cell) + "\n";
    for (const auto& row : rows_) made += joined(row, ",", csv_cell) + "\n";
    return made;
  }
  if (format != "md") return aligned();
  made = "| " + joined(titles_, " | ", md_cell) + " |\n|";
  for (Align align : aligns_) made += align == Align::kRight ? "---:|" : "---|";
  made += "\n";
  for (const auto& row : rows_) made += "| " + joined(row, " | ", md_cell) + " |\n";
  return made;
}

std::string Table::aligned() const {
  std::vector<size_t> widths;
  for (const std::string& title : titles_) widths.push_back(width_of(title));
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::string made;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      const std::string blanks(widths[i] - width_of(row[i]), ' ');
      line += (i ? "  " : "") + (aligns_[i] == Align::kRight ? blanks + row[i] : row[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    made += line + "\n";
  };
  add(titles_);
  for (const auto& row : rows_) add(row);
  return made;
}

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit < 3) bytes /= 1024, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string count_text(double count) {
  const char* units[] = {"", " k", " M", " G"};
  size_t unit = 0;
  while (count >= 1000 && unit < 3) count /= 1000, ++unit;
  return unit == 0 ? fmt::format("{:.0f}", count) : fmt::format("{:.2f}{}", count, units[unit]);
}

}  // namespace mica::cli
