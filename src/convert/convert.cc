#include "convert/convert.h"

#include <nlohmann/json.hpp>

#include "convert/pixels.h"
#include "import/import.h"
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

void add_metadata(Graph& graph, const ConvertOptions& options) {
  if (!options.preprocess.empty()) graph.metadata["mica.preprocess"] = options.preprocess;
  if (!options.labels.empty()) graph.metadata["mica.labels"] = nlohmann::json(options.labels).dump();
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
