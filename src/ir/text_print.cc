#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/text_contents.h"

namespace mica {
namespace {

constexpr std::string_view kSchemes[] = {"none", "affine", "block", "superblock", "codebook"};

// Symbols that stand in types and attributes, found in what was printed of them.
class UsedSymbols {
 public:
  explicit UsedSymbols(const DimTable& dims) : used_(dims.symbols()) {
    for (size_t i = 0; i < dims.symbols(); ++i) index_.emplace(dims.symbol_info(i).name.view(), i);
  }
  void note(std::string_view text) {
    while (!text.empty()) {
      std::string name;
      if (text[0] == '`') {
        text.remove_prefix(1);
        for (; !text.empty() && (text[0] != '`' || text.starts_with("``")); text.remove_prefix(1)) {
          name += text[0];
          if (text[0] == '`') text.remove_prefix(1);
        }
        if (!text.empty()) text.remove_prefix(1);
      } else {
        while (!text.empty() && is_name_char(text[0])) name += text[0], text.remove_prefix(1);
        if (name.empty()) text.remove_prefix(1);
      }
      if (const auto found = index_.find(name); found != index_.end()) used_[found->second] = true;
    }
  }
  bool operator[](size_t i) const { return used_[i]; }

 private:
  static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  }
  std::map<std::string, size_t, std::less<>> index_;
  std::vector<bool> used_;
};

class Printer {
 public:
  Printer(const Graph& graph, const TextOptions& options, UsedSymbols& used, int depth)
      : graph_(graph), options_(options), used_(used), indent_(static_cast<size_t>(2 * depth), ' ') {}

  std::string body() {
    for (const auto& [key, value] : graph_.metadata) line("metadata " + quoted(key) + " " + quoted(value));
    for (const std::string& name : graph_.keep) line("keep " + quoted(name));
    for (size_t i = 0; i < graph_.inputs.size(); ++i)
      line("input " + typed(graph_.inputs[i]) + " " + quoted(graph_.input_names[i]));
    constants();
    for (const auto& node : graph_.nodes) print(*node);
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
      line("output " + name_of(graph_.outputs[i]) + " " + quoted(graph_.output_names[i]));
    for (const Graph::State& state : graph_.states)
      line("state " + quoted(graph_.output_names[static_cast<size_t>(state.output)]) + " " +
           quoted(graph_.input_names[static_cast<size_t>(state.input)]));
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { ((text_ += indent_) += text) += '\n'; }

  // The first value of a name has it plainly.
  std::string name_of(const Value* value) {
    if (!value) return "_";
    std::string& known = names_[value];
    if (!known.empty()) return known;
    const int n = ++counts_[value->name];
    const auto plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
             c == '/' || c == '-';
    };
    known = "%";
    if (!value->name.empty()) known += std::ranges::all_of(value->name, plain) ? value->name : quoted(value->name);
    if (n > 1 || value->name.empty()) known += "@" + std::to_string(n);
    return known;
  }

  std::string type_of(const Type& type) {
    String text;
    ok_or_throw(mica::print(type, *graph_.dims, text));
    used_.note(text);
    return std::string(text.view());
  }

  std::string typed(const Value* value) {
    if (!value) return "_";
    std::string text = name_of(value) + ": " + type_of(value->type);
    return value->quant ? text + quantization(*value->quant) : text;
  }

  std::string quantization(const Quantization& quant) {
    std::string text = " quant(" + std::string(kSchemes[static_cast<size_t>(quant.scheme)]);
    if (quant.axis >= 0) text += ", axis " + std::to_string(quant.axis);
    for (int64_t size : quant.block) text += ", block " + std::to_string(size);
    const auto part = [&](const char* name, const ConstantPtr& constant) {
      if (constant) (((text += ", ") += name) += ' ') += literal(*constant);
    };
    part("scales", quant.scales);
    part("zero_points", quant.zero_points);
    part("minima", quant.minima);
    part("super_scales", quant.super_scales);
    part("codebook", quant.codebook);
    return text + ")";
  }

  std::string literal(const Constant& constant) {
    return type_of(Type::tensor(constant.view.dtype, constant.view.to_shape())) + " = " +
           print_contents(constant.view, options_);
  }

  // Those that something uses, in the order in which they were made.
  void constants() {
    std::unordered_set<const Value*> used(graph_.outputs.begin(), graph_.outputs.end());
    for (const auto& node : graph_.nodes) used.insert(node->inputs.begin(), node->inputs.end());
    for (const Value& value : graph_.value_pool)
      if (value.constant && used.contains(&value)) {
        line("constant " + typed(&value) + " = " + print_contents(value.constant->view, options_));
      }
  }

  void print(const Node& node) {
    std::string text;
    for (const Value* value : node.outputs) text += (text.empty() ? "" : ", ") + typed(value);
    text += " = " + std::string(node.op->name) + "(";
    for (size_t i = 0; i < node.inputs.size(); ++i) text += (i ? ", " : "") + name_of(node.inputs[i]);
    text += ")";
    String attributes;
    if (node.op->attributes.visit)
      ok_or_throw(print_attributes(node.op->attributes, node.attributes_blob.data(), *graph_.dims, attributes));
    used_.note(attributes);
    if (!attributes.empty()) (text += " ") += attributes.view();
    if (!node.name.empty()) text += "  # " + escaped(node.name, false);
    line(text);
    for (const auto& region : node.regions) {
      line("  region " + quoted(region->name));
      text_ += Printer(*region, options_, used_, static_cast<int>(indent_.size() / 2) + 2).body();
      line("  end");
    }
  }

  const Graph& graph_;
  const TextOptions& options_;
  UsedSymbols& used_;
  std::string indent_, text_;
  std::unordered_map<const Value*, std::string> names_;
  std::unordered_map<std::string, int> counts_;
};

std::string symbol_line(const DimTable& dims, size_t index) {
  const SymbolInfo& info = dims.symbol_info(index);
  String name;
  ok_or_throw(dims.print(dims.symbol_dim(index), name));
  std::string text = "  symbol " + std::string(name.view());
  switch (info.kind) {
    case SymbolKind::kInput: return text + " input\n";
    case SymbolKind::kBounded: return text + " bounded " + std::to_string(info.bound) + "\n";
    case SymbolKind::kData: break;
  }
  return text + " data\n";
}

}  // namespace

std::string to_text(const Graph& graph, const TextOptions& options) {
  UsedSymbols used(*graph.dims);
  const std::string body = Printer(graph, options, used, 1).body();
  std::string text = "graph " + quoted(graph.name) + "\n";
  for (size_t i = 0; i < graph.dims->symbols(); ++i)
    if (used[i]) text += symbol_line(*graph.dims, i);
  return text + body + "end\n";
}

}  // namespace mica
