// Tables on stdout: aligned columns, CSV, Markdown.
#pragma once
#include <string>
#include <vector>

namespace mica::cli {

// Cells are printable.
class Table {
 public:
  enum class Align { kLeft, kRight };
  void column(std::string title, Align align = Align::kLeft) {
    titles_.push_back(std::move(title));
    aligns_.push_back(align);
  }
  void row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // "table", "csv" (RFC 4180) or "md".
  std::string text(const std::string& format) const;

 private:
  std::string aligned() const;
  std::vector<std::string> titles_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string bytes_text(double bytes);  // "1.5 MiB"
std::string count_text(double count);  // "4.2 M"

}  // namespace mica::cli
