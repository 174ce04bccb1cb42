// The text form of dimension expressions: sums of products with floor_div, max and min; names may be quoted.
#include <algorithm>
#include <charconv>

#include "types/dim.h"

namespace mica {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// Names of other characters, and those of the functions, are written in backquotes; a backquote in them twice.
bool is_plain(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (char c : name)
    if (!is_name_char(c)) return false;
  return name != "floor_div" && name != "max" && name != "min";
}

Status print_name(std::string_view name, String& out) {
  if (is_plain(name)) return out.append(name);
  MICA_TRY_STATUS(out.append("`"));
  for (char c : name) MICA_TRY_STATUS(out.append(c == '`' ? std::string_view("``") : std::string_view(&c, 1)));
  return out.append("`");
}

}  // namespace

// A term of a sum or (`factor`) a factor of a product: sums, and products in products, which were too long to be
// merged, stand in parentheses.
Status DimTable::print_part(Dim d, bool factor, String& out) const {
  const bool apart = nodes_[d.id()].op == Op::kSum || (factor && nodes_[d.id()].op == Op::kProduct);
  if (!apart) return print(d, out);
  MICA_TRY_STATUS(out.append("("));
  MICA_TRY_STATUS(print(d, out));
  return out.append(")");
}

namespace {

// Parts of an expression as text, in the order of the alphabet: the order in a table depends on what it met first, and
// the same expression of two tables shall read alike.
struct Parts {
  struct Part {
    int64_t coefficient;
    String text;
  };
  Vector<Part> list;
  Status add(int64_t coefficient, String text) { return list.push_back({coefficient, std::move(text)}); }
  void sort() {
    std::sort(list.begin(), list.end(), [](const Part& a, const Part& b) { return a.text.view() < b.text.view(); });
  }
};

}  // namespace

Status DimTable::print(Dim d, String& out) const {
  if (d.is_fixed()) return out.print("{}", d.value());
  const Node& node = nodes_[d.id()];
  const auto list = args(node);
  if (node.op == Op::kSymbol) return print_name(symbols_[static_cast<size_t>(list[0])].name, out);
  const bool sum = node.op == Op::kSum, product = node.op == Op::kProduct;
  Parts parts;
  for (size_t i = sum ? 2 : 0; i < list.size(); i += sum ? 2 : 1) {
    String text;
    MICA_TRY_STATUS(sum || product ? print_part(Dim::from_raw(list[i]), product, text)
                                   : print(Dim::from_raw(list[i]), text));
    MICA_TRY_STATUS(parts.add(sum ? list[i - 1] : 1, std::move(text)));
  }
  if (node.op != Op::kFloorDiv) parts.sort();
  if (!sum && !product)
    MICA_TRY_STATUS(out.append(node.op == Op::kFloorDiv ? "floor_div(" : node.op == Op::kMax ? "max(" : "min("));
  bool first = true;
  for (const auto& [c, text] : parts.list) {
    if (sum)
      MICA_TRY_STATUS(out.append(first ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + ")));
    else if (!first)
      MICA_TRY_STATUS(out.append(product ? "*" : ", "));
    if (c != 1 && c != -1) MICA_TRY_STATUS(out.print("{}*", c < 0 ? -c : c));
    MICA_TRY_STATUS(out.append(text));
    first = false;
  }
  if (!sum) return product ? Status() : out.append(")");
  return list[0] == 0 ? Status() : out.print(list[0] < 0 ? " - {}" : " + {}", list[0] < 0 ? -list[0] : list[0]);
}

// sum := ['-'] product (('+'|'-') product)* ; product := atom ('*' atom)* ; atom := number | name | `name` | f(sum,
// sum) | (sum)
class DimParser {
 public:
  DimParser(DimTable& table, std::string_view text) : table_(table), text_(text) {}
  Result<Dim> run() {
    MICA_TRY(Dim d, sum(0));
    skip();
    MICA_CHECK(text_.empty(), kBadText, "unexpected `{}` in a dimension", slice(text_, 0, 16));
    MICA_TRY_STATUS(table_.status().copy());
    return d;
  }

 private:
  static constexpr int kMaxDepth = 64;
  void skip() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  Result<Dim> sum(int depth) {
    MICA_CHECK(depth < kMaxDepth, kBadText, "a dimension is nested deeper than {}", kMaxDepth);
    const bool negative = take('-');
    MICA_TRY(Dim total, product(depth));
    if (negative) total = table_.mul(total, -1);
    for (;;) {
      const bool plus = take('+');
      if (!plus && !take('-')) return total;
      MICA_TRY(Dim next, product(depth));
      total = plus ? table_.add(total, next) : table_.sub(total, next);
    }
  }
  Result<Dim> product(int depth) {
    MICA_TRY(Dim total, atom(depth));
    while (take('*')) {
      MICA_TRY(Dim next, atom(depth));
      total = table_.mul(total, next);
    }
    return total;
  }
  Result<Dim> atom(int depth) {
    skip();
    MICA_CHECK(!text_.empty(), kBadText, "a dimension ends too early");
    if (take('(')) {
      MICA_TRY(Dim inner, sum(depth + 1));
      MICA_CHECK(take(')'), kBadText, "`)` is missing in a dimension");
      return inner;
    }
    if (text_[0] >= '0' && text_[0] <= '9') {
      int64_t value = 0;
      const auto [end, code] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
      MICA_CHECK(code == std::errc(), kBadText, "a number in a dimension does not fit 64 bits");
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      return Dim(value);
    }
    if (take('`')) {
      String name;
      for (;; text_.remove_prefix(1)) {
        if (text_.starts_with("``"))
          text_.remove_prefix(1);
        else if (text_.starts_with("`"))
          break;
        MICA_CHECK(!text_.empty(), kBadText, "a quoted name in a dimension has no end");
        MICA_TRY_STATUS(name.append(slice(text_, 0, 1)));
      }
      text_.remove_prefix(1);
      return table_.symbol(name);
    }
    size_t length = 0;
    while (length < text_.size() && is_name_char(text_[length])) ++length;
    const std::string_view name = slice(text_, 0, length);
    text_.remove_prefix(length);
    if (name == "floor_div" || name == "max" || name == "min") return call(name, depth);
    MICA_CHECK(is_plain(name), kBadText, "`{}` is no dimension", slice(text_, 0, 16));
    return table_.symbol(name);
  }
  Result<Dim> call(std::string_view name, int depth) {
    MICA_CHECK(take('('), kBadText, "`(` is missing after `{}`", name);
    MICA_TRY(Dim a, sum(depth + 1));
    MICA_CHECK(take(','), kBadText, "`{}` takes two operands", name);
    MICA_TRY(Dim b, sum(depth + 1));
    MICA_CHECK(take(')'), kBadText, "`)` is missing after `{}`", name);
    if (name == "floor_div") return table_.floor_div(a, b);
    return name == "max" ? table_.max(a, b) : table_.min(a, b);
  }
  DimTable& table_;
  std::string_view text_;
};

Result<Dim> DimTable::parse(std::string_view text) { return DimParser(*this, text).run(); }

}  // namespace mica
