// com.microsoft's Tokenizer: [C] or [N, C] texts to [C, D] or [N, C, D] tokens, D the most that a text has; shorter
// rows are filled with `pad_value`. A token is a character (`separators` is one empty text), what stands between
// matches of `separators` (expressions, one after the other), or a match of `tokenexp`. With `mark` the tokens of a
// text stand between the characters 2 and 3. Expressions are RE2's, of matches at one place the longest.
#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "modules/texts/texts.h"

namespace mica_texts {
namespace {

using Text = std::string_view;
using Tokens = std::vector<Text>;

constexpr Text kBegin = "\2", kEnd = "\3";

// Bytes of the character that begins here: 0 for what is not UTF-8 (RFC 3629: no overlong forms, no surrogates).
size_t character(Text text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 ? 4 : 0;
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (size == 0 || first > 0xf4 || second < least || second > most) return 0;
  for (size_t i = 2; i < size; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return size;
}

// False for what is not UTF-8.
bool valid(Text text) {
  while (!text.empty()) {
    const size_t size = character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

size_t characters(Text text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

// Calls `take(where, size)` for each match from the left. Behind an empty match the search goes on one byte further.
template <class Take>
void each_match(const RE2& expression, Text text, Take take) {
  const re2::StringPiece whole(text.data(), text.size());
  re2::StringPiece match;
  for (size_t at = 0; at <= text.size() && expression.Match(whole, at, text.size(), RE2::UNANCHORED, &match, 1);) {
    const auto where = static_cast<size_t>(match.data() - text.data());
    take(where, match.size());
    at = where + (match.empty() ? 1 : match.size());
  }
}

// How a node's attributes cut texts.
class Cutter {
 public:
  // What is wrong, or null.
  const char* read(const mica_op_call& call) {
    const mica_attribute* least = mica_op_attribute(&call, "mincharnum");
    if (!least || least->kind != 'i' || least->count != 1 || least->integers[0] < 1)
      return "the attribute `mincharnum` must be a positive number";
    least_ = static_cast<size_t>(least->integers[0]);
    if (const mica_attribute* list = mica_op_attribute(&call, "separators"); list && list->kind == 'S' && list->count) {
      by_characters_ = list->count == 1 && *list->text == 0;
      if (by_characters_) return least_ > 1 ? "single characters have no `mincharnum` above 1" : nullptr;
      const char* text = list->text;
      for (size_t i = 0; i < list->count; ++i, text += Text(text).size() + 1)
        if (!add(text)) return separators_.back()->error().c_str();
      return nullptr;
    }
    const mica_attribute* token = mica_op_attribute(&call, "tokenexp");
    if (!token || token->kind != 's' || token->count == 0) return "either `separators` or `tokenexp` is needed";
    by_matches_ = true;
    return add({token->text, token->count}) ? nullptr : separators_.back()->error().c_str();
  }

  Tokens tokens_of(Text text) const {
    Tokens tokens;
    if (by_characters_) {
      for (; !text.empty(); text.remove_prefix(character(text))) tokens.push_back(text.substr(0, character(text)));
      return tokens;
    }
    if (by_matches_) {
      each_match(*separators_[0], text, [&](size_t at, size_t size) { keep(text.substr(at, size), tokens); });
      return tokens;
    }
    tokens.push_back(text);
    for (const auto& separator : separators_) {
      Tokens parts;
      for (const Text whole : tokens) {
        size_t begin = 0;
        each_match(*separator, whole, [&](size_t at, size_t size) {
          if (at >= begin) keep(whole.substr(begin, at - begin), parts);
          begin = at + (size ? size : 1);
        });
        if (begin < whole.size()) keep(whole.substr(begin), parts);
      }
      tokens = std::move(parts);
    }
    return tokens;
  }

 private:
  bool add(Text pattern) {
    RE2::Options options(RE2::Quiet);
    options.set_longest_match(true);
    separators_.push_back(std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()), options));
    return separators_.back()->ok();
  }
  void keep(Text token, Tokens& tokens) const {
    if (!token.empty() && characters(token) >= least_) tokens.push_back(token);
  }

  std::vector<std::unique_ptr<RE2>> separators_;  // or the one expression of tokens
  size_t least_ = 1;
  bool by_characters_ = false, by_matches_ = false;
};

int infer(void*, mica_op_call* call, char* message, size_t message_size) {
  const mica_tensor& x = call->inputs[0];
  if (x.dtype != MICA_STRING || x.rank == 0 || x.rank > 2)
    return refuse(message, message_size, "the input must be a tensor of strings, [C] or [N, C]");
  mica_tensor& y = call->outputs[0];
  y.dtype = MICA_STRING;
  y.rank = x.rank < 0 ? -1 : x.rank + 1;
  for (int i = 0; i < x.rank; ++i) y.dims[i] = x.dims[i];
  if (x.rank > 0) y.dims[x.rank] = -1;
  return 0;
}

// One row of `size` tokens; what is left of it is filled up.
void write_row(const Tokens& tokens, bool mark, Text pad, mica_string* row, size_t size) {
  size_t at = 0;
  const auto put = [&](Text text) { row[at++] = {text.data(), static_cast<int64_t>(text.size())}; };
  if (mark) put(kBegin);
  for (const Text token : tokens) put(token);
  if (mark) put(kEnd);
  while (at < size) put(pad);
}

int cut(mica_op_call* call, char* message, size_t message_size) {
  Cutter cutter;
  if (const char* wrong = cutter.read(*call)) return refuse(message, message_size, wrong);
  const mica_attribute *pad = mica_op_attribute(call, "pad_value"), *mark = mica_op_attribute(call, "mark");
  if (!pad || pad->kind != 's' || !mark || mark->kind != 'i' || mark->count != 1)
    return refuse(message, message_size, "the attributes `pad_value` (a text) and `mark` (0 or 1) are needed");
  const mica_tensor& x = call->inputs[0];
  const auto* texts = static_cast<const mica_string*>(x.data);
  const auto count = static_cast<size_t>(element_count(x));
  std::vector<Tokens> rows(count);
  size_t most = 0;
  for (size_t i = 0; i < count; ++i) {
    const Text text(texts[i].data, static_cast<size_t>(texts[i].size));
    if (!valid(text)) return refuse(message, message_size, "a text is not UTF-8");
    rows[i] = cutter.tokens_of(text);
    most = std::max(most, rows[i].size());
  }
  const bool marks = mark->integers[0] != 0;
  if (most && marks) most += 2;  // where no text has a token, there are no marks either
  int64_t dims[3] = {x.dims[0], x.dims[1], 0};
  dims[x.rank] = static_cast<int64_t>(most);
  auto* y = static_cast<mica_string*>(mica_op_allocate(call, 0, x.rank + 1, dims));
  if (!y) return refuse(message, message_size, "no memory for the tokens");
  for (size_t i = 0; i < count && most; ++i) write_row(rows[i], marks, {pad->text, pad->count}, y + i * most, most);
  return 0;
}

int compute(void*, mica_op_call* call, char* message, size_t message_size) {
  try {
    return cut(call, message, message_size);
  } catch (const std::bad_alloc&) {
    return refuse(message, message_size, "out of memory");
  }
}

}  // namespace

const mica_operator tokenizer = operator_of("com.microsoft", "Tokenizer", infer, compute);

}  // namespace mica_texts
