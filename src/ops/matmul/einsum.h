// Einstein summation: the equation and what it says.
#pragma once
#include "types/attr.h"

namespace mica {

struct Einsum {
  Name equation;
  template <class V>
  void visit(V&& v) {
    v("equation", equation, "the operands' axes as letters, such as ij,jk->ik; ... stands for any further axes");
  }
};

namespace einsum {

// Labels: letters A-Z, a-z are 0 to 51; the axes of an ellipsis follow, counted from the right.
inline constexpr int kLetters = 52, kLabels = kLetters + kMaxRank, kMaxOperands = 16;

struct Axes {
  int count = 0;
  std::array<int8_t, kMaxRank> label{};
  bool push(int l) { return count < kMaxRank && (label[static_cast<size_t>(count++)] = static_cast<int8_t>(l), true); }
  std::span<const int8_t> span() const { return {label.data(), static_cast<size_t>(count)}; }
};

struct Equation {
  int operands = 0;
  std::array<Axes, kMaxOperands> in;
  Axes out;
};

inline int letter(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1; }

// One operand's text. `ellipsis`: how many axes its ellipsis stands for; negative: none is allowed.
inline Status parse_axes(std::string_view text, int ellipsis, Axes& axes) {
  bool seen = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '.') {
      MICA_CHECK(!seen && slice(text, i, 3) == "...", kBadAttribute,
                 "`{}` in an Einsum equation: expected letters and at most one ...", text);
      MICA_CHECK(ellipsis >= 0, kBadShape, "`{}` names more axes than its operand has", text);
      for (int e = ellipsis; e-- > 0;)
        MICA_CHECK(axes.push(kLetters + e), kBadRank, "`{}` stands for more than {} axes", text, kMaxRank);
      seen = true;
      i += 2;
      continue;
    }
    const int l = letter(text[i]);
    MICA_CHECK(l >= 0, kBadAttribute, "`{}` in an Einsum equation: expected letters and at most one ...", text);
    MICA_CHECK(axes.push(l), kBadRank, "`{}` stands for more than {} axes", text, kMaxRank);
  }
  return {};
}

inline int letters_in(std::string_view text) {
  int count = 0;
  for (char c : text) count += letter(c) >= 0;
  return count;
}

// Without an arrow: the ellipsis, then the letters that occur once, sorted.
inline Status implied_output(const Equation& e, int widest, Axes& out) {
  std::array<int, kLabels> seen{};
  for (int i = 0; i < e.operands; ++i)
    for (int8_t l : e.in[static_cast<size_t>(i)].span()) ++seen[static_cast<size_t>(l)];
  for (int k = widest; k-- > 0;)
    MICA_CHECK(out.push(kLetters + k), kBadRank, "an Einsum result of more than {} axes", kMaxRank);
  for (int l = 0; l < kLetters; ++l)
    if (seen[static_cast<size_t>(l)] == 1)
      MICA_CHECK(out.push(l), kBadRank, "an Einsum result of more than {} axes", kMaxRank);
  return {};
}

// `ranks`: of each operand. Errors: kBadAttribute for what does not parse, kBadRank and kBadShape for what does not
// fit.
inline Result<Equation> parse(std::string_view text, std::span<const int> ranks) {
  Equation e;
  const size_t arrow = text.find("->");
  std::string_view left = slice(text, 0, arrow);
  int widest = 0;
  for (bool more = true; more;) {
    const size_t comma = left.find(',');
    more = comma != std::string_view::npos;
    const std::string_view part = slice(left, 0, comma);
    left = more ? slice(left, comma + 1) : std::string_view();
    const auto i = static_cast<size_t>(e.operands++);
    MICA_CHECK(i < ranks.size() && i < kMaxOperands, kBadAttribute, "`{}` has more operands than the {} given", text,
               ranks.size());
    const int letters = letters_in(part), rest = ranks[i] - letters;
    const bool dots = part.find('.') != std::string_view::npos;
    MICA_CHECK(dots ? rest >= 0 : rest == 0, kBadRank, "`{}` does not fit operand {} of {} dimensions", part, i,
               ranks[i]);
    MICA_TRY_STATUS(parse_axes(part, dots ? rest : -1, e.in[i]));
    if (dots) widest = std::max(widest, rest);
  }
  MICA_CHECK(static_cast<size_t>(e.operands) == ranks.size(), kBadAttribute, "`{}` has {} operands, given {}", text,
             e.operands, ranks.size());
  if (arrow == std::string_view::npos) {
    MICA_TRY_STATUS(implied_output(e, widest, e.out));
    return e;
  }
  MICA_TRY_STATUS(parse_axes(slice(text, arrow + 2), widest, e.out));
  std::array<int, kLabels> seen{};
  for (int i = 0; i < e.operands; ++i)
    for (int8_t l : e.in[static_cast<size_t>(i)].span()) seen[static_cast<size_t>(l)] = 1;
  for (int8_t l : e.out.span())
    MICA_CHECK(l >= kLetters || ++seen[static_cast<size_t>(l)] == 2, kBadAttribute,
               "`{}`: each letter of the result stands once on the left and once on the right", text);
  return e;
}

}  // namespace einsum
}  // namespace mica
