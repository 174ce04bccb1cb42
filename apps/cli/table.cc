#include "table.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string printable(const std::string& text) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]), next = static_cast<unsigned char>(text.c_str()[i + 1]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
      made += fmt::format("\\x{:02x}", c);
    else if (c == 0xc2 && next >= 0x80 && next < 0xa0)  // U+0080 to U+009F
      made += fmt::format("\\x{:02x}", next), ++i;
    else
      made += text[i];
  }
  return made;
}

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
