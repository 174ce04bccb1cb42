// Looking inside through the tools library's door.
#include <algorithm>
#include <map>

#include "api/session_handle.h"
#include "base/nearest.h"
#include "convert/convert.h"
#include "export/diagram.h"
#include "ir/text.h"
#include "mica/tools.hpp"
#include "tools_api/options.h"

namespace mica::tools {
namespace {

Status check_word(const std::string& word, std::initializer_list<std::string_view> allowed, std::string_view what) {
  Nearest nearest(word);
  for (std::string_view name : allowed) {
    if (name == word) return {};
    nearest.offer(name);
  }
  return error(Code::kUsage, "`{}` is no {}", word, what).hinting(nearest.best());
}

std::string shown(const Diagram& diagram, const std::string& format) {
  return format == "json" ? to_json(diagram) : format == "dot" ? to_dot(diagram) : to_html(diagram);
}

// Exceptions of exporters become errors here.
template <class Make>
mica_error* guarded(std::string& text, const Make& make) {
  try {
    std::string made;
    if (Status status = make(made); !status.ok()) return give(status.take_error());
    text = std::move(made);
    return nullptr;
  } catch (const Failure& failure) {
    return give(failure.error->copy());
  } catch (const std::bad_alloc&) {
    return give(out_of_memory());
  } catch (const std::exception& other) {
    return give(error(Code::kInternal, "printing failed: {}", other.what()));
  }
}

Status print_source(mica_context* context, const std::string& path, const ConvertOptions& convert_options,
                    const InspectOptions& options, std::string& text) {
  MICA_TRY_STATUS(check_word(options.stage, {"import", "graph"}, "stage of a source model"));
  MICA_TRY_STATUS(check_word(options.format, {"text", "json", "dot", "html"}, "format"));
  mica::ConvertOptions full = internal_options(convert_options);
  if (context)
    for (const CustomOperator* custom : context->core.operators) full.import.operators.push_back(custom);
  mica::ConvertReport report;
  report.watch = [&](std::string_view stage, const Graph& graph) {
    if (stage != options.stage) return;
    if (options.format == "text") {
      text = to_text(graph, {.contents = options.constants});
      return;
    }
    Diagram diagram = diagram_of(graph, options.constants);
    diagram.title = path + ", " + options.stage;
    text = shown(diagram, options.format);
  };
  auto lowered = convert(Source{.path = path, .bytes = {}, .folder = {}}, full, report);
  // The stage that was asked for may be there although a later one failed.
  if (!lowered.ok() && text.empty()) return lowered.take_error();
  return {};
}

Status print_plan(const Plan& plan, const BoundSegment* segment, const InspectOptions& options, std::string& text) {
  MICA_TRY_STATUS(check_word(options.format, {"text", "json", "dot", "html"}, "format"));
  if (options.format == "text")
    text = plan_text(plan, segment);
  else
    text = shown(segment ? diagram_of(plan, *segment) : diagram_of(plan), options.format);
  return {};
}

}  // namespace

mica_error* inspect_source(mica_context* context, const std::string& path, const ConvertOptions& convert,
                           const InspectOptions& options, std::string& text) {
  return guarded(text, [&](std::string& made) { return print_source(context, path, convert, options, made); });
}

mica_error* inspect_plan(mica_model* model, const InspectOptions& options, std::string& text) {
  if (!model) return give(error(Code::kUsage, "the model is null"));
  return guarded(text, [&](std::string& made) { return print_plan(model->core->plan(), nullptr, options, made); });
}

mica_error* inspect_bound(mica_session* session, const InspectOptions& options, std::string& text) {
  if (!session) return give(error(Code::kUsage, "the session is null"));
  return guarded(text, [&](std::string& made) -> Status {
    MICA_TRY_STATUS(session->core->prepare());
    const BoundSegment* segment = session->core->runner().last_segment();
    MICA_CHECK(segment, kState, "nothing is bound");
    return print_plan(session->model->core->plan(), segment, options, made);
  });
}

ModelSummary summarize(const mica_model* model) {
  ModelSummary made;
  if (!model) return made;
  const Plan& plan = model->core->plan();
  for (const PlanConstant& constant : plan.constants) {
    const auto count = element_count(constant.shape);
    if (count.ok()) made.parameters += *count;
    made.constant_bytes += static_cast<int64_t>(constant.bytes);
  }
  made.functions = plan.functions.size();
  std::map<std::string, size_t> counts;
  for (const PlanFunction& function : plan.functions)
    for (const Stage& stage : function.stages) ++made.stages, ++counts[std::string(stage.op->name)];
  made.operators.assign(counts.begin(), counts.end());
  std::ranges::stable_sort(made.operators, std::greater<>(), [](const auto& row) { return row.second; });
  return made;
}

}  // namespace mica::tools
