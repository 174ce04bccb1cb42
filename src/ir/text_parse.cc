#include <algorithm>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/did_you_mean.h"
#include "ir/text_contents.h"

namespace mica {
namespace {

constexpr int kMaxDepth = 16;                  // regions in regions
constexpr size_t kMaxNodes = size_t{1} << 18;  // of a graph with its regions
constexpr size_t kMaxOperands = 1 << 16;
constexpr std::string_view kSchemes[] = {"none", "affine", "block", "superblock", "codebook"};

// The lines that say something, one after another.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) { next(); }
  bool at_end() const { return at_end_; }
  int number() const { return number_; }
  LineReader current() const { return LineReader(line_); }
  void next() {
    for (;;) {
      if (rest_.empty()) {
        at_end_ = true;
        line_ = {};
        return;
      }
      const size_t end = rest_.find('\n');
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++number_;
      if (line_.ends_with('\r')) line_.remove_suffix(1);
      if (const LineReader reader(line_); !reader.at_end() && !reader.next_is('#')) return;
    }
  }

 private:
  std::string_view rest_, line_;
  int number_ = 0;
  bool at_end_ = false;
};

class Parser {
 public:
  Parser(Graph& graph, Lines& lines, size_t& nodes, int depth)
      : graph_(graph), lines_(lines), nodes_(nodes), depth_(depth) {}

  // Statements up to `end`, which stays the current line.
  void body() {
    for (;; lines_.next()) {
      if (lines_.at_end()) fail(Code::kBadText, "the graph has no `end`");
      LineReader line = lines_.current();
      if (line.take("end")) break;
      statement(line);
    }
    finish_states();
  }

 private:
  void statement(LineReader& line) {
    if (line.next_is('%') || line.next_is('_')) return node(line);
    if (line.take("input"))
      input(line);
    else if (line.take("constant"))
      constant(line);
    else if (line.take("output"))
      output(line);
    else if (line.take("symbol") && depth_ == 0)
      symbol(line);
    else if (line.take("metadata")) {
      std::string key = line.quoted_text();
      graph_.metadata[std::move(key)] = line.quoted_text();
    } else if (line.take("keep"))
      graph_.keep.push_back(line.quoted_text());
    else if (line.take("state")) {
      std::string from = line.quoted_text();
      states_.emplace_back(std::move(from), line.quoted_text());
    } else
      fail(Code::kBadText, "`{}` begins no statement", line.rest().substr(0, 24));
    if (!line.at_end()) fail(Code::kBadText, "unexpected `{}` at the end of a line", line.rest().substr(0, 24));
  }

  // The key tells values of one name apart; the name is the source's.
  struct Named {
    std::string key, name;
  };
  static Named value_name(LineReader& line) {
    line.expect("%");
    Named named;
    if (line.next_is('"'))
      named.name = line.quoted_text();
    else if (!line.next_is('@'))
      named.name = line.name();
    named.key = named.name;
    if (line.take("@")) (named.key += '\0') += std::to_string(line.number());
    return named;
  }
  Value* use(LineReader& line) {
    if (line.take("_")) return nullptr;
    const Named named = value_name(line);
    const auto found = values_.find(named.key);
    if (found != values_.end()) return found->second;
    Nearest nearest(named.name);
    for (const auto& [key, value] : values_) nearest.offer(value->name);
    throw Failure(
        error(Code::kBadText, "no value `{}` stands before its use", named.name).hinting(did_you_mean(nearest)));
  }
  void define(const Named& named, Value* value) {
    if (!values_.emplace(named.key, value).second) fail(Code::kBadText, "the value `{}` is defined twice", named.name);
  }
  Type type(LineReader& line) { return value_or_throw(parse_type(line.type(), *graph_.dims)); }

  // A name, its type and its quantization.
  Value* typed_value(LineReader& line, const Named& named, bool* has_type) {
    Value* value = graph_.make_value({}, named.name);
    *has_type = line.take(":");
    if (*has_type) value->type = type(line);
    if (line.take("quant")) value->quant = quantization(line);
    return value;
  }

  std::shared_ptr<const Quantization> quantization(LineReader& line) {
    auto quant = std::make_shared<Quantization>();
    line.expect("(");
    const std::string scheme = line.name();
    const auto found = std::ranges::find(kSchemes, scheme);
    if (found == std::end(kSchemes)) fail(Code::kBadText, "`{}` is no quantization", scheme);
    quant->scheme = static_cast<QuantScheme>(found - std::begin(kSchemes));
    while (line.take(",")) {
      if (line.take("axis"))
        quant->axis = static_cast<int>(std::clamp<int64_t>(line.number(), -1, kMaxRank));
      else if (line.take("block"))
        quant->block.push_back(line.number());
      else
        component(line, *quant);
    }
    line.expect(")");
    return quant;
  }
  void component(LineReader& line, Quantization& quant) {
    const std::string name = line.name();
    ConstantPtr* place = name == "scales"         ? &quant.scales
                         : name == "zero_points"  ? &quant.zero_points
                         : name == "minima"       ? &quant.minima
                         : name == "super_scales" ? &quant.super_scales
                         : name == "codebook"     ? &quant.codebook
                                                  : nullptr;
    if (!place) fail(Code::kBadText, "`{}` is no part of a quantization", name);
    const Type written = type(line);
    line.expect("=");
    *place = line.contents(written);
  }

  void symbol(LineReader& line) {
    const std::string_view name = line.type();
    const Dim d = value_or_throw(graph_.dims->parse(name));
    if (!graph_.dims->is_symbol(d)) fail(Code::kBadText, "`{}` is no name of a dimension", name);
    size_t index = 0;
    while (graph_.dims->symbol_dim(index) != d) ++index;
    SymbolInfo& info = graph_.dims->symbol_info(index);
    if (line.take("data"))
      info.kind = SymbolKind::kData;
    else if (line.take("bounded")) {
      info.kind = SymbolKind::kBounded;
      info.bound = line.number();
    } else
      line.expect("input");
  }

  void input(LineReader& line) {
    const Named named = value_name(line);
    bool has_type = false;
    Value* value = typed_value(line, named, &has_type);
    if (!has_type) fail(Code::kBadText, "the input `{}` has no type", named.name);
    define(named, value);
    graph_.inputs.push_back(value);
    graph_.input_names.push_back(line.quoted_text());
  }

  void constant(LineReader& line) {
    const Named named = value_name(line);
    bool has_type = false;
    Value* value = typed_value(line, named, &has_type);
    line.expect("=");
    value->constant = line.contents(value->type);
    define(named, value);
  }

  void output(LineReader& line) {
    Value* value = use(line);
    if (!value) fail(Code::kBadText, "an output is left out");
    graph_.add_output(value, line.quoted_text());
  }

  struct Written {
    Value* value;
    Type type;
    bool has_type;
  };

  void node(LineReader& line) {
    if (++nodes_ > kMaxNodes) fail(Code::kLimit, "the text has more than {} nodes", kMaxNodes);
    auto node = std::make_unique<Node>();
    std::vector<Written> written;
    std::vector<Named> names;
    do {
      if (written.size() >= kMaxOperands) fail(Code::kLimit, "a node has more than {} results", kMaxOperands);
      Named named;
      Value* value = nullptr;
      bool has_type = false;
      if (!line.take("_")) {
        named = value_name(line);
        value = typed_value(line, named, &has_type);
        value->producer = node.get();
        value->output = static_cast<int>(written.size());
      }
      written.push_back({value, value ? value->type : Type(), has_type});
      names.push_back(std::move(named));
      node->outputs.push_back(value);
    } while (line.take(","));
    line.expect("=");
    operation(line, *node);
    for (int i = 0; i < node->op->regions; ++i) region(*node);
    infer(*node, written);
    for (size_t i = 0; i < written.size(); ++i)
      if (written[i].value) define(names[i], written[i].value);
    graph_.nodes.push_back(std::move(node));
  }

  // The operator, its operands, attributes and the source's name.
  void operation(LineReader& line, Node& node) {
    const std::string name = line.name();
    node.op = find_op(name);
    if (!node.op) {
      Nearest nearest(name);
      for (const auto& row : all_op()) nearest.offer(row.name);
      throw Failure(error(Code::kBadText, "there is no operator `{}`", name).hinting(did_you_mean(nearest)));
    }
    line.expect("(");
    if (!line.take(")")) {
      do {
        if (node.inputs.size() >= kMaxOperands) fail(Code::kLimit, "a node has more than {} operands", kMaxOperands);
        node.inputs.push_back(use(line));
      } while (line.take(","));
      line.expect(")");
    }
    check_arity(node);
    const AttrClass& attributes = node.op->attributes;
    node.attributes_blob.resize(attributes.bytes);
    const std::string_view text = line.until_note();
    if (attributes.init) attributes.init(node.attributes_blob.data());
    if (attributes.visit)
      ok_or_throw(parse_attributes(attributes, node.attributes_blob.data(), text, *graph_.dims));
    else if (!text.empty())
      fail(Code::kBadText, "`{}` has no attributes", name);
    if (line.take("#")) node.name = unescaped(line.rest());
  }

  static void check_arity(const Node& node) {
    const OpDef& op = *node.op;
    const auto fits = [](size_t n, Count count) {
      return static_cast<int>(n) >= count.min && (count.max == kAnyNumber || static_cast<int>(n) <= count.max);
    };
    if (!fits(node.inputs.size(), op.inputs))
      fail(Code::kBadText, "`{}` does not take {} operands", op.name, node.inputs.size());
    if (!fits(node.outputs.size(), op.outputs))
      fail(Code::kBadText, "`{}` does not have {} results", op.name, node.outputs.size());
    for (int i = 0; i < op.inputs.min; ++i)
      if (!node.inputs[static_cast<size_t>(i)]) fail(Code::kBadText, "`{}` needs its operand {}", op.name, i);
  }

  // From the next line to the region's `end`, which stays the current line.
  void region(Node& node) {
    if (depth_ + 1 > kMaxDepth) fail(Code::kLimit, "regions are nested deeper than {}", kMaxDepth);
    lines_.next();
    LineReader line = lines_.current();
    if (!line.take("region"))
      fail(Code::kBadText, "`{}` has {} regions, which stand behind it", node.op->name, node.op->regions);
    auto inner = std::make_unique<Graph>();
    inner->name = line.quoted_text();
    inner->dims = graph_.dims;
    lines_.next();
    Parser(*inner, lines_, nodes_, depth_ + 1).body();
    node.regions.push_back(std::move(inner));
  }

  // What the text says of types stands.
  void infer(Node& node, const std::vector<Written>& written) {
    infer_node(graph_, node);
    for (const Written& w : written)
      if (w.has_type) w.value->type = w.type;
  }

  void finish_states() {
    const auto index = [](const std::string& name, const std::vector<std::string>& names) {
      const auto found = std::ranges::find(names, name);
      if (found == names.end()) fail(Code::kBadText, "a state names `{}`, which is no input or output", name);
      return static_cast<int>(found - names.begin());
    };
    for (const auto& [from, to] : states_)
      graph_.states.push_back({index(to, graph_.input_names), index(from, graph_.output_names)});
  }

  Graph& graph_;
  Lines& lines_;
  size_t& nodes_;
  int depth_;
  std::unordered_map<std::string, Value*> values_;
  std::vector<std::pair<std::string, std::string>> states_;
};

}  // namespace

Graph graph_from_text(std::string_view text) {
  Graph graph;
  Lines lines(text);
  try {
    LineReader head = lines.current();
    head.expect("graph");
    graph.name = head.quoted_text();
    lines.next();
    size_t nodes = 0;
    Parser(graph, lines, nodes, 0).body();
    ok_or_throw(graph.dims->status().copy());
    lines.next();
    if (!lines.at_end()) fail(Code::kBadText, "something stands behind the graph's `end`");
  } catch (const Failure& failure) {
    throw Failure(failure.error->copy().at("line " + std::to_string(lines.number())));
  }
  return graph;
}

}  // namespace mica
