// Contents of constants, names and other quoted words in a graph's text.
#pragma once
#include "ir/text.h"

namespace mica {

// `"a\\b"`: quotes, backslashes and control characters are escaped.
std::string quoted(std::string_view text);
std::string escaped(std::string_view text, bool quotes);
std::string print_contents(const TensorView& view, const TextOptions& options);

// Takes words from the front of one line of text. Errors are kBadText.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : text_(line) { skip(); }
  bool at_end() const { return text_.empty(); }
  std::string_view rest() const { return text_; }
  bool take(std::string_view word);  // a word of letters ends where letters end
  void expect(std::string_view word);
  bool next_is(char c) const { return !text_.empty() && text_[0] == c; }
  std::string quoted_text();
  std::string name();  // letters, digits and _ . / -
  int64_t number();
  std::string_view type();        // up to the next comma, space or `=` outside brackets
  std::string_view until_note();  // up to `  # ` outside quotes
  ConstantPtr contents(const Type& type);

 private:
  void skip() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\t')) text_.remove_prefix(1);
  }
  ConstantPtr list(DType dtype, std::span<const int64_t> dims, int64_t count);
  ConstantPtr bytes(DType dtype, std::span<const int64_t> dims);

  std::string_view text_;
};

std::string unescaped(std::string_view text);

}  // namespace mica
