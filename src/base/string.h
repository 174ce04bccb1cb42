// Two strings for code without exceptions: String grows and reports failure; Text<N> is a value that never allocates.
#pragma once
#include <cstring>
#include <string_view>

#include "base/vector.h"

namespace mica {

// The part of `text` from `from`, at most `count` long; empty past the end. std::string_view::substr throws there.
constexpr std::string_view slice(std::string_view text, size_t from, size_t count = std::string_view::npos) {
  text.remove_prefix(from < text.size() ? from : text.size());
  return {text.data(), count < text.size() ? count : text.size()};
}

class String {
 public:
  std::string_view view() const { return {chars_.data() ? chars_.data() : "", chars_.size()}; }
  operator std::string_view() const { return view(); }
  bool empty() const { return chars_.empty(); }
  size_t size() const { return chars_.size(); }
  Status assign(std::string_view text) { return chars_.assign(std::span(text.data(), text.size())); }
  Status append(std::string_view text) { return chars_.append(std::span(text.data(), text.size())); }
  template <class... Args>
  Status print(std::string_view pattern, const Args&... args) {
    const size_t old = chars_.size(), need = format_to(nullptr, 0, pattern, args...);
    MICA_TRY_STATUS(chars_.resize(old + need + 1));
    format_to(chars_.data() + old, need + 1, pattern, args...);
    chars_.pop_back();
    return {};
  }

 private:
  Vector<char> chars_;
};

// At most N-1 bytes, held in place; trivially copyable. Longer text is refused by `assign`.
template <size_t N>
struct Text {
  char chars[N] = {};
  std::string_view view() const { return chars; }
  operator std::string_view() const { return view(); }
  bool empty() const { return chars[0] == 0; }
  bool assign(std::string_view text) {
    if (text.size() >= N) return false;
    if (!text.empty()) std::memmove(chars, text.data(), text.size());  // the text may be a part of this one
    std::memset(chars + text.size(), 0, N - text.size());
    return true;
  }
  bool operator==(const Text& other) const { return view() == other.view(); }
};

}  // namespace mica
