#include "rule_cases.h"

#include <algorithm>

namespace mica::support {

std::vector<RuleCase> all_cases() {
  std::vector<RuleCase> all;
  for (auto list : {cleanup_cases(), region_cases(), arithmetic_cases(), composite_cases(), norm_cases(), block_cases(),
                    attention_cases(), weight_cases(), pixel_cases(), primitive_cases(), product_cases()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::string graph_of(const std::string& given, const std::string& statements) {
  std::string constants, rest;
  for (size_t at = 0; at < statements.size();) {
    const size_t end = std::min(statements.find('\n', at), statements.size() - 1) + 1;
    const std::string line = statements.substr(at, end - at);
    line.starts_with("# with ") ? constants += line.substr(7) : rest += line;
    at = end;
  }
  return "graph \"rule\"\n" + given + constants + rest + "output %y \"y\"\nend\n";
}

DeclutterOptions only(const std::string& rule) {
  DeclutterOptions options;
  for (const RuleInfo& info : all_rules())
    if (info.name != rule) options.off.emplace(info.name);
  options.without_kernels = true;
  return options;
}

}  // namespace mica::support
