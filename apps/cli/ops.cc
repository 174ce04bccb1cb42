// mica ops: the operators, and how source formats spell them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "inputs.h"
#include "table.h"
#include "verbs.h"

namespace mica::cli {
namespace {

using Json = nlohmann::ordered_json;

struct OpsFlags {
  std::string name, format;
  bool spellings = false, rules = false;
};

std::string range_text(int least, int most) {
  if (most < 0) return fmt::format("{} or more", least);
  return least == most ? std::to_string(least) : fmt::format("{} to {}", least, most);
}

// Names of types, those that often come together as one word.
std::string types_text(const std::vector<std::string>& types) {
  constexpr std::pair<const char*, const char*> kGroups[] = {
      {"any",
       "f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool i4 u4 i2 u2 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz "
       "f8e8m0 f4e2m1 string c64 c128"},
      {"float", "f32 f64 f16 bf16"},
      {"float8", "f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0"},
      {"int", "i8 i16 i32 i64"},
      {"uint", "u8 u16 u32 u64"},
      {"int2/4", "i4 u4 i2 u2"},
      {"complex", "c64 c128"}};
  std::vector<std::string> left = types, words;
  for (const auto& [word, group] : kGroups) {
    std::istringstream members(group);
    const std::vector<std::string> list{std::istream_iterator<std::string>(members), {}};
    const auto is_left = [&](const std::string& name) { return std::ranges::find(left, name) != left.end(); };
    if (!std::ranges::all_of(list, is_left)) continue;
    std::erase_if(left, [&](const std::string& name) { return std::ranges::find(list, name) != list.end(); });
    words.emplace_back(word);
  }
  words.insert(words.end(), left.begin(), left.end());
  return fmt::format("{}", fmt::join(words, " "));
}

// Of the inputs one after the other; once where all take the same.
std::string types_text(const tools::OperatorInfo& op) {
  std::vector<std::string> inputs;
  for (const auto& types : op.types) inputs.push_back(types.empty() ? "as attributes say" : types_text(types));
  const bool same = std::ranges::adjacent_find(inputs, std::not_equal_to<>()) == inputs.end();
  if (same && inputs.size() > 1) inputs.resize(1);
  return fmt::format("{}", fmt::join(inputs, "; "));
}

std::string versions_text(const tools::OperatorInfo::Spelling& s) {
  return s.until < 0 ? fmt::format("since {}", s.since) : fmt::format("{} to {}", s.since, s.until);
}

Json json_of(const tools::OperatorInfo& op) {
  Json attributes = Json::object();
  for (const auto& [name, doc] : op.attributes) attributes[name] = doc;
  return {{"name", op.name},
          {"doc", op.doc},
          {"inputs", {op.input_least, op.input_most}},
          {"outputs", {op.output_least, op.output_most}},
          {"kernel", op.kernel},
          {"types", op.types},
          {"attributes", attributes}};
}

Json json_of(const tools::OperatorInfo::Spelling& s) {
  return {{"format", s.format},
          {"domain", s.domain},
          {"name", s.name},
          {"since", s.since},
          {"until", s.until < 0 ? Json(nullptr) : Json(s.until)}};
}

// Types are asked of every operator's inference, which takes seconds: a look at the list goes without.
bool has_types(const std::string& format) { return format != "table"; }

Table operators_table(const std::vector<tools::OperatorInfo>& ops, const std::string& format) {
  Table table;
  table.column("operator"), table.column("inputs"), table.column("outputs");
  if (has_types(format)) table.column("element types");
  table.column("kernels"), table.column("attributes"), table.column("what it does");
  for (const tools::OperatorInfo& op : ops) {
    std::string attributes;
    for (const auto& [name, doc] : op.attributes) attributes += (attributes.empty() ? "" : ", ") + name;
    std::vector<std::string> row = {op.name, range_text(op.input_least, op.input_most),
                                    range_text(op.output_least, op.output_most)};
    if (has_types(format)) row.push_back(types_text(op));
    row.insert(row.end(), {op.kernel ? "yes" : "", attributes, op.doc});
    table.row(std::move(row));
  }
  return table;
}

Table spellings_table(const std::vector<tools::OperatorInfo::Spelling>& spellings) {
  Table table;
  table.column("format"), table.column("domain"), table.column("name"), table.column("versions");
  for (const auto& s : spellings) table.row({s.format, s.domain, s.name, versions_text(s)});
  return table;
}

int show_one(const std::string& wanted, const std::string& format) {
  const auto found = tools::all_operators(true, wanted);
  if (found.empty()) {
    std::vector<std::string> names;
    for (const tools::OperatorInfo& op : tools::all_operators()) names.push_back(op.name);
    fail_usage("there is no operator `" + wanted + "`", nearest_hint(wanted, names));
  }
  const tools::OperatorInfo& op = found[0];
  if (format == "json") {
    put("{}\n", json_of(op).dump(2));
    return kOk;
  }
  put("{}: {}\ninputs: {}\noutputs: {}\nelement types: {}\nkernels: {}\n", op.name, op.doc,
      range_text(op.input_least, op.input_most), range_text(op.output_least, op.output_most), types_text(op),
      op.kernel ? "yes" : "no");
  for (const auto& [name, doc] : op.attributes) put("  {}: {}\n", name, doc);
  return kOk;
}

int show_rules(const std::string& format) {
  Table table;
  table.column("rule"), table.column("table"), table.column("what it does");
  Json json = Json::array();
  for (const tools::RuleInfo& rule : tools::all_rules()) {
    table.row({rule.name, rule.table, rule.doc});
    json.push_back({{"name", rule.name}, {"table", rule.table}, {"doc", rule.doc}});
  }
  put("{}", format == "json" ? json.dump(2) + "\n" : table.text(format));
  return kOk;
}

int run(const OpsFlags& flags) {
  if (!flags.name.empty()) return show_one(flags.name, flags.format);
  if (flags.rules) return show_rules(flags.format);
  const auto ops = tools::all_operators(has_types(flags.format) && !(flags.spellings && flags.format == "csv"));
  const auto spellings = tools::all_spellings();
  if (flags.format == "json") {
    Json made = {{"operators", Json::array()}, {"spellings", Json::array()}};
    for (const auto& op : ops) made["operators"].push_back(json_of(op));
    for (const auto& s : spellings) made["spellings"].push_back(json_of(s));
    put("{}\n", made.dump(2));
  } else if (flags.format == "md") {
    put("# Operators\n\n{} operators, and {} spellings of them. Element types are those that an operator's inference "
        "accepts, of its inputs one after\nthe other, once where all take the same: `float` is f32 f64 f16 bf16, `int` "
        "i8 to i64, `uint` u8 to u64. What the ONNX standard\nallows beyond them stands, with its reason, in "
        "tests/standard_types/left_out.txt.\n\nWhere a release of ONNX corrected a definition without a new opset, the "
        "newest is meant, and `--onnx-release` names another: up to 1.21,\n`Attention` added the mask before the soft "
        "cap and numbered the stages of `qk_matmul_output` in that order.\n\n{}\n## Spellings\n\n{}",
        ops.size(), spellings.size(), operators_table(ops, "md").text("md"), spellings_table(spellings).text("md"));
  } else {
    put("{}", flags.spellings ? spellings_table(spellings).text(flags.format)
                              : operators_table(ops, flags.format).text(flags.format));
  }
  return kOk;
}

}  // namespace

std::function<int()> add_ops(Words& words) {
  auto flags = std::make_shared<OpsFlags>();
  const Word name = words.option("NAME", flags->name, "one operator, with its element types and attributes");
  Word spellings = words.flag("--spellings", flags->spellings, "how source formats spell operators, with versions");
  Word rules = words.flag("--rules", flags->rules, "the rewriting rules");
  spellings.excludes(name);
  rules.excludes(name).excludes(spellings);
  words.format(flags->format, {"table", "json", "csv", "md"});
  return [flags] { return run(*flags); };
}

}  // namespace mica::cli
