#include "near_miss.h"

#include <algorithm>
#include <array>
#include <vector>

#include "types/attr_fields.h"
#include "types/op.h"

namespace mica::support {
namespace {

using Words = std::vector<std::string>;

// Between commas that stand in no brackets.
Words split(const std::string& list) {
  Words words;
  int depth = 0;
  for (size_t at = 0, i = 0; i <= list.size() && !list.empty(); ++i) {
    if (i < list.size()) depth += list[i] == '[' ? 1 : list[i] == ']' ? -1 : 0;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    const size_t from = std::min(list.find_first_not_of(" \n", at), i);
    words.push_back(list.substr(from, i - from));
    at = i + 1;
  }
  return words;
}
std::string joined(const Words& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ",") + word;
  return list;
}
constexpr size_t kMostElements = 50000;  // of an input or a constant; references take their time

bool is_open(const std::string& size) { return size.find_first_not_of("0123456789") != std::string::npos; }

// The elements of a tensor of these sizes, open ones as 1; more than kMostElements where it is far more.
size_t count_of(const Words& sizes) {
  size_t count = 1;
  for (const std::string& size : sizes)
    if (!is_open(size) && count <= kMostElements) count *= std::min(std::stoul(size), kMostElements + 1);
  return count;
}

template <class T>
T& any_of(std::vector<T>& list, Random& random) {
  return list[below(list.size(), random)];
}

// One line. Of inputs and constants `name: type[sizes]` and what follows: the interface's name, or numbers. Of nodes
// `results = op(operands) attributes`.
struct Statement {
  enum Kind { kOther, kInput, kConstant, kNode } kind = kOther;
  std::string text;  // kOther
  std::string name, type, follows;
  Words sizes, numbers;
  std::string op, attributes;
  Words results, operands;

  explicit Statement(const std::string& line) : text(line) {
    if (line.starts_with("input ") || line.starts_with("constant ")) read_tensor();
    if (line.starts_with("%") || line.starts_with("_")) read_node();
  }
  std::string str() const {
    if (kind == kInput) return "input " + name + ": " + type + "[" + joined(sizes) + "]" + follows;
    if (kind == kConstant)
      return "constant " + name + ": " + type + "[" + joined(sizes) + "] = {" + joined(numbers) + "}";
    if (kind == kNode) return joined(results) + " = " + op + "(" + joined(operands) + ") " + attributes;
    return text;
  }

 private:
  void read_tensor() {
    const size_t from = text.find('%'), colon = text.find(": ", from), open = text.find('[', colon),
                 close = text.find(']', open);
    if (close == std::string::npos) return;
    name = text.substr(from, colon - from);
    type = text.substr(colon + 2, open - colon - 2);
    sizes = split(text.substr(open + 1, close - open - 1));
    follows = text.substr(close + 1);
    kind = kInput;
    if (!text.starts_with("constant ")) return;
    const size_t first = follows.find('{'), last = follows.find('}');
    kind = last == std::string::npos ? kOther : kConstant;
    if (kind == kConstant) numbers = split(follows.substr(first + 1, last - first - 1));
  }
  void read_node() {
    const size_t equals = text.find(" = "), open = text.find('(', equals), close = text.find(')', open);
    if (close == std::string::npos) return;
    kind = kNode;
    results = split(text.substr(0, equals));
    for (std::string& result : results) result = result.substr(0, result.find(": "));  // types are inferred anew
    op = text.substr(equals + 3, open - equals - 3);
    operands = split(text.substr(open + 1, close - open - 1));
    attributes = text.substr(std::min(close + 2, text.size()));
    attributes = attributes.substr(0, attributes.find("# "));  // the node's name
  }
};

// As many numbers as the sizes ask for: those that stand there, again and again.
void fill(Statement& constant) {
  const Words before = constant.numbers;
  const size_t count = before.empty() ? 0 : std::min(count_of(constant.sizes), kMostElements);
  constant.numbers.clear();
  for (size_t i = 0; i < count; ++i) constant.numbers.push_back(before[i % before.size()]);
}

// Counts an operator's fields, or changes the one whose turn it is.
class FieldChange final : public EachField<FieldChange> {
 public:
  FieldChange(int turn, Random& random) : turn_(turn), random_(random) {}
  int count() const { return index_; }
  void each(std::string_view, bool& v, std::string_view) {
    if (mine()) v = !v;
  }
  void each(std::string_view, int64_t& v, std::string_view) {
    if (mine()) v = other(v);
  }
  void each(std::string_view, float& v, std::string_view) {
    constexpr std::array<float, 4> kFactors = {-1, 0, 0.5f, 3};
    if (mine()) v = v == 0 ? 1 : v * kFactors[below(kFactors.size(), random_)];
  }
  void each(std::string_view, Ints& v, std::string_view) {
    if (!mine() || v.empty()) return;
    const size_t i = below(v.size(), random_), k = below(v.size(), random_);
    i != k&& random_() % 2 ? std::swap(v[i], v[k]) : void(v[i] = other(v[i]));
  }
  void each(std::string_view, Floats& v, std::string_view) {
    if (mine() && !v.empty()) v[below(v.size(), random_)] += 1;
  }
  template <class T>
  void each(std::string_view, T&, std::string_view) {
    mine();
  }
  void choice(std::string_view, int64_t& v, std::span<const std::string_view> names, std::string_view) override {
    if (mine()) v = static_cast<int64_t>(below(names.size(), random_));
  }

 private:
  bool mine() { return index_++ == turn_; }
  int64_t other(int64_t v) {
    const auto bits = static_cast<uint64_t>(v);  // wraps around
    return static_cast<int64_t>(random_() % 4 ? bits + (random_() % 2 ? 1 : ~uint64_t{0}) : bits * 2);
  }
  int turn_, index_ = 0;
  Random& random_;
};

class Mutant {
 public:
  Mutant(const std::string& text, Random& random) : random_(random) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      at = std::min(text.find_first_not_of(' ', at), end);
      lines_.emplace_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  void change();
  std::string str() const {
    std::string text;
    for (const Statement& line : lines_) text += line.str() + "\n";
    return text;
  }

 private:
  // One of the lines of that kind; null when there is none.
  Statement* any(Statement::Kind kind) {
    std::vector<Statement*> some;
    for (Statement& line : lines_)
      if (line.kind == kind) some.push_back(&line);
    return some.empty() ? nullptr : any_of(some, random_);
  }
  size_t place_of(const Statement* line) const { return static_cast<size_t>(line - lines_.data()); }
  void insert(size_t place, const std::string& text) {
    lines_.emplace(lines_.begin() + static_cast<std::ptrdiff_t>(place), text);
  }
  // Mostly small; others are as long as vectors, tiles and what is left of them.
  std::string other_size() {
    constexpr std::array<int, 10> kLong = {11, 16, 17, 24, 31, 32, 48, 49, 64, 66};
    return std::to_string(random_() % 3 ? 1 + static_cast<int>(below(9, random_))
                                        : kLong[below(kLong.size(), random_)]);
  }
  std::string fresh() { return "%new" + std::to_string(made_++); }

  void attribute();
  void number();
  void constant_shape();
  void input_shape();
  void size_everywhere();
  void output();
  void operand();
  void function_between();
  void function_behind();
  void input_is_constant();
  void second_node();
  void other_operator();
  void type_everywhere();
  void open_dimension();

  Random& random_;
  std::vector<Statement> lines_;
  int made_ = 0;
};

void Mutant::attribute() {
  Statement* node = any(Statement::kNode);
  const OpDef* op = node ? find_op(node->op) : nullptr;
  if (!op || !op->attributes.init) return;
  DimTable dims;
  alignas(16) std::array<std::byte, kMaxAttrBytes> blob;
  op->attributes.init(blob.data());
  if (!parse_attributes(op->attributes, blob.data(), node->attributes, dims).ok()) return;
  FieldChange counted(-1, random_);
  op->attributes.visit(blob.data(), counted);
  FieldChange changed(static_cast<int>(below(static_cast<size_t>(counted.count()), random_)), random_);
  op->attributes.visit(blob.data(), changed);
  String text;
  if (print_attributes(op->attributes, blob.data(), dims, text).ok()) node->attributes = std::string(text.view());
}

void Mutant::number() {
  constexpr std::array<const char*, 8> kNumbers = {"0", "1", "-1", "2", "0.5", "3", "4", "-2"};
  Statement* constant = any(Statement::kConstant);
  if (!constant || constant->numbers.empty()) return;
  std::string& one = any_of(constant->numbers, random_);
  if (random_() % 4)
    one = kNumbers[below(kNumbers.size(), random_)];
  else if (random_() % 2)
    std::swap(one, any_of(constant->numbers, random_));
  else
    std::ranges::fill(constant->numbers, std::string(one));
}

void Mutant::constant_shape() {
  Statement* constant = any(Statement::kConstant);
  if (!constant || constant->numbers.empty()) return;
  Words& sizes = constant->sizes;
  const auto place = [&] { return sizes.begin() + static_cast<std::ptrdiff_t>(below(sizes.size() + 1, random_)); };
  switch (random_() % 5) {
    case 0: sizes.insert(place(), "1"); break;
    case 1: sizes.insert(place(), random_() % 2 ? "2" : "3"); break;
    case 2:
      if (!sizes.empty()) std::swap(any_of(sizes, random_), any_of(sizes, random_));
      break;
    case 3:
      if (!sizes.empty()) any_of(sizes, random_) = random_() % 2 ? "1" : "2";
      break;
    default:
      if (auto one = std::ranges::find(sizes, "1"); one != sizes.end()) sizes.erase(one);
  }
  fill(*constant);
}

void Mutant::input_shape() {
  Statement* input = any(Statement::kInput);
  if (!input) return;
  Words& sizes = input->sizes;
  const std::string one = std::to_string(1 + below(4, random_));
  switch (random_() % 4) {
    case 0:
      if (!sizes.empty()) any_of(sizes, random_) = one;
      break;
    case 1: sizes.insert(sizes.begin(), one); break;
    case 2:
      if (!sizes.empty()) std::swap(any_of(sizes, random_), any_of(sizes, random_));
      break;
    default:
      if (!sizes.empty()) sizes.erase(sizes.begin());
  }
}

// A size that occurs becomes another one, in shapes, lists of integers and attributes.
void Mutant::size_everywhere() {
  Statement* from = any(random_() % 2 ? Statement::kInput : Statement::kConstant);
  if (!from || from->sizes.empty()) return;
  const std::string old = any_of(from->sizes, random_), made = other_size();
  for (Statement& line : lines_) {
    std::ranges::replace(line.sizes, old, made);
    if (line.type == "i64") std::ranges::replace(line.numbers, old, made);
    for (size_t at = 0; (at = line.attributes.find(old, at)) != std::string::npos; at += made.size()) {
      const auto digit = [&](size_t i) { return i < line.attributes.size() && std::isdigit(line.attributes[i]) != 0; };
      if (at > 0 && !digit(at - 1) && !digit(at + old.size()) && line.attributes[at - 1] != '.')
        line.attributes.replace(at, old.size(), made);
    }
    if (line.kind == Statement::kConstant) fill(line);
  }
}

void Mutant::output() {
  const Statement* node = any(Statement::kNode);
  if (!node || node->results.empty()) return;
  const std::string value = node->results[below(node->results.size(), random_)];
  if (value != "_") insert(lines_.size() - 1, "output " + value + " \"more" + std::to_string(made_++) + "\"");
}

void Mutant::operand() {
  Statement* node = any(Statement::kNode);
  if (!node || node->operands.empty()) return;
  if (node->operands.size() > 1 && random_() % 2) {
    std::swap(any_of(node->operands, random_), any_of(node->operands, random_));
    return;
  }
  Words before;
  for (const Statement* line = lines_.data(); line != node; ++line) {
    if (!line->name.empty()) before.push_back(line->name);
    before.insert(before.end(), line->results.begin(), line->results.end());
  }
  if (!before.empty()) any_of(node->operands, random_) = any_of(before, random_);
}

void Mutant::function_between() {
  constexpr std::array<const char*, 5> kFunctions = {"relu", "neg", "tanh", "identity", "sigmoid"};
  Statement* node = any(Statement::kNode);
  if (!node || node->operands.empty()) return;
  std::string& operand = any_of(node->operands, random_);
  const std::string name = fresh(),
                    made = name + " = " + kFunctions[below(kFunctions.size(), random_)] + "(" + operand + ")";
  operand = name;
  insert(place_of(node), made);
}

// A function of a node's result, or its sum with another value, takes that result's place.
void Mutant::function_behind() {
  Statement* node = any(Statement::kNode);
  if (!node || node->results.size() != 1) return;
  const size_t place = place_of(node);
  const std::string old = node->results[0], name = fresh();
  node->results[0] = name;
  Statement& from = lines_[below(place + 1, random_)];
  const std::string other = !from.name.empty() ? from.name : from.results.empty() ? name : from.results[0];
  constexpr std::array<const char*, 6> kFunctions = {"relu", "sigmoid", "tanh", "neg", "square", "silu"};
  insert(place + 1, random_() % 2 ? old + " = " + kFunctions[below(kFunctions.size(), random_)] + "(" + name + ")"
                                  : old + (random_() % 2 ? " = add(" : " = mul(") + name + ", " + other + ")");
}

// What is constant is packed, folded and looked into.
void Mutant::input_is_constant() {
  Statement* input = any(Statement::kInput);
  if (!input || (input->type != "f32" && input->type != "i64")) return;
  if (std::ranges::any_of(input->sizes, is_open)) return;
  for (size_t i = 0; i < count_of(input->sizes); ++i)
    input->numbers.push_back(std::to_string(static_cast<int>(below(17, random_)) - 8) +
                             (input->type == "f32" ? "e-1" : ""));
  input->kind = Statement::kConstant;
}

// The same node again, which one reader of its result reads instead.
void Mutant::second_node() {
  Statement* node = any(Statement::kNode);
  if (!node || node->results.size() != 1) return;
  const std::string old = node->results[0], name = fresh();
  Statement again = *node;
  again.results = {name};
  const size_t place = place_of(node) + 1;
  lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(place), again);
  for (size_t i = place + 1; i < lines_.size(); ++i)
    for (std::string& operand : lines_[i].operands)
      if (operand == old && random_() % 2) operand = name;
}

void Mutant::other_operator() {
  static const std::vector<Words> kAlike = {{"add", "sub", "mul", "div", "max", "min", "pow"},
                                            {"relu", "neg", "tanh", "sigmoid", "exp", "abs", "square", "erf"},
                                            {"average_pool", "max_pool"},
                                            {"global_average_pool", "global_max_pool"}};
  Statement* node = any(Statement::kNode);
  if (!node) return;
  for (const Words& alike : kAlike)
    if (std::ranges::find(alike, node->op) != alike.end()) node->op = alike[below(alike.size(), random_)];
}

void Mutant::type_everywhere() {
  const std::string type = random_() % 2 ? "f64" : "i32";
  for (Statement& line : lines_)
    if (line.type == "f32") line.type = type;
}

void Mutant::open_dimension() {
  Statement* input = any(Statement::kInput);
  if (!input || input->sizes.empty()) return;
  const size_t axis = below(input->sizes.size(), random_);
  const std::string old = input->sizes[axis], name = "S" + std::to_string(made_++);
  const bool all = random_() % 2;
  for (Statement& line : lines_)
    if (line.kind == Statement::kInput && axis < line.sizes.size() && line.sizes[axis] == old &&
        (all || &line == input))
      line.sizes[axis] = name;
  insert(1, "symbol " + name + " input");
}

void Mutant::change() {
  constexpr std::array kChanges = {&Mutant::attribute,       &Mutant::attribute,         &Mutant::number,
                                   &Mutant::constant_shape,  &Mutant::input_shape,       &Mutant::output,
                                   &Mutant::size_everywhere, &Mutant::size_everywhere,   &Mutant::operand,
                                   &Mutant::operand,         &Mutant::function_between,  &Mutant::second_node,
                                   &Mutant::function_behind, &Mutant::input_is_constant, &Mutant::input_is_constant,
                                   &Mutant::other_operator,  &Mutant::type_everywhere,   &Mutant::open_dimension};
  for (size_t i = 0, count = 1 + below(3, random_); i < count; ++i) {
    const std::vector<Statement> before = lines_;
    (this->*kChanges[below(kChanges.size(), random_)])();
    if (std::ranges::any_of(lines_, [](const Statement& line) { return count_of(line.sizes) > kMostElements; }))
      lines_ = before;
  }
}

}  // namespace

std::string near_miss(const std::string& text, Random& random) {
  Mutant mutant(text, random);
  mutant.change();
  return mutant.str();
}

}  // namespace mica::support
