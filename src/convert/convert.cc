#include "convert/convert.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convert/pixels.h"
#include "convert/recipe.h"
#include "import/import.h"
#include "ir/did_you_mean.h"
#include "passes/widen.h"

namespace mica {
namespace {

void count_constants(const Graph& graph, ConvertReport& report) {
  for (const Value& value : graph.value_pool) {
    if (!value.constant) continue;
    report.parameters += value.constant->view.count();
    report.constant_bytes += dense_bytes(value.constant->view.dtype, value.constant->view.shape());
  }
  for (const auto& node : graph.nodes)
    for (const auto& region : node->regions) count_constants(*region, report);
}

size_t count_nodes(const Graph& graph) {
  size_t n = graph.nodes.size();
  for (const auto& node : graph.nodes)
    for (const auto& region : node->regions) n += count_nodes(*region);
  return n;
}

std::string labels_json(const std::vector<std::string>& labels) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& label : labels) {
    list.push_back(label);
    try {
      static_cast<void>(list.back().dump());
    } catch (const nlohmann::json::type_error&) {
      fail(Code::kUsage, "the name of class {} is no UTF-8 text", list.size() - 1);
    }
  }
  return list.dump();
}

[[noreturn]] void fail_unknown(const char* what, const std::string& name, const Nearest& nearest) {
  throw Failure(error(Code::kNotFound, "there is no {} `{}`", what, name).hinting(did_you_mean(nearest)));
}

void check_rules(const DeclutterOptions& options) {
  const std::vector<RuleInfo> rules = all_rules();
  for (const std::string& name : options.off) {
    Nearest nearest(name);
    for (const RuleInfo& rule : rules) nearest.offer(rule.name);
    if (std::ranges::find(rules, name, &RuleInfo::name) == rules.end()) fail_unknown("rewriting rule", name, nearest);
  }
}

void offer_values(const Graph& graph, Nearest& nearest, bool& found, const std::string& name) {
  for (const Value& value : graph.value_pool) {
    found = found || value.name == name;
    nearest.offer(value.name);
  }
  for (const auto& node : graph.nodes)
    for (const auto& region : node->regions) offer_values(*region, nearest, found, name);
}

void check_kept(const Graph& graph, const std::vector<std::string>& keep) {
  for (const std::string& name : keep) {
    Nearest nearest(name);
    bool found = false;
    offer_values(graph, nearest, found, name);
    if (!found) fail_unknown("value", name, nearest);
  }
}

void add_metadata(Graph& graph, const ConvertOptions& options) {
  if (!options.preprocess.empty()) {
    check_recipe(parse_recipe(options.preprocess), graph);
    graph.metadata[kRecipeKey] = options.preprocess;
  }
  if (!options.labels.empty()) graph.metadata["mica.labels"] = labels_json(options.labels);
  check_kept(graph, options.keep);
  graph.keep.insert(graph.keep.end(), options.keep.begin(), options.keep.end());
}

template <class Do>
Result<Lowered> without_exceptions(const Do& run) {
  try {
    return run();
  } catch (const Failure& failure) {
    return failure.error->copy();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& other) {
    return error(Code::kInternal, "the compiler failed: {}", other.what());
  }
}

Lowered compile_graph(Graph& graph, const ConvertOptions& options, ConvertReport& report) {
  check_rules(options.declutter);
  add_metadata(graph, options);
  if (options.pixels) take_pixels(graph);
  report.nodes_imported = count_nodes(graph);
  if (report.watch) report.watch("import", graph);
  if (options.widen_half) widen_half(graph);
  report.rules_fired = declutter(graph, options.declutter);
  report.nodes_decluttered = count_nodes(graph);
  count_constants(graph, report);
  if (report.watch) report.watch("graph", graph);
  Lowered lowered = lower(std::move(graph), options.lower);
  for (const PlanFunction& function : lowered.plan.functions) report.stages += function.stages.size();
  return lowered;
}

}  // namespace

Result<Lowered> compile(Graph graph, const ConvertOptions& options, ConvertReport& report) {
  return without_exceptions([&] { return compile_graph(graph, options, report); });
}

Result<Lowered> convert(const Source& source, const ConvertOptions& options, ConvertReport& report) {
  return without_exceptions([&]() -> Result<Lowered> {
    MICA_TRY(Graph graph, import_model(source, options.import));  // moving a graph takes memory
    return compile_graph(graph, options, report);
  });
}

}  // namespace mica
