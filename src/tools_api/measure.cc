// Measuring and comparing through the tools library's door.
#include "api/session_handle.h"
#include "base/os.h"
#include "device/cpu/isa_support.h"
#include "measure/bench.h"
#include "measure/compare.h"
#include "measure/cost.h"
#include "measure/explain.h"
#include "measure/peak.h"
#include "measure/roofline.h"
#include "measure/trace_json.h"
#include "mica/tools.hpp"
#include "tools_api/options.h"

namespace mica::tools {
namespace {

LayerTime public_layer(const mica::LayerTime& layer) {
  return {layer.name,  layer.op,    layer.kernel, layer.begin_ns,       layer.ms,           layer.min_ms,
          layer.share, layer.flops, layer.bytes,  layer.constant_bytes, layer.bytes_product};
}

int64_t weight_bytes(const std::vector<LayerTime>& layers) {
  int64_t bytes = 0;
  for (const LayerTime& layer : layers) bytes += layer.constant_bytes;
  return bytes;
}

Status run_bench(mica_session* session, const BenchOptions& options, BenchReport& report) {
  MICA_CHECK(session && !session->stage, kUsage, "measuring needs a session without a stage callback");
  MICA_TRY_STATUS(check_seconds(options.seconds));
  mica::BenchOptions inner;
  inner.seconds = options.seconds;
  inner.warm_runs = options.warm_runs;
  inner.layers = options.layers;
  inner.progress = options.progress;
  MICA_TRY(const mica::BenchResult found, mica::bench(*session->core, inner));
  report = {found.median_ms, found.min_ms,       found.p90_ms,
            found.mean_ms,   found.deviation_ms, found.first_ms,
            found.runs,      found.flops,        {}};
  for (const mica::LayerTime& layer : found.layers) report.layers.push_back(public_layer(layer));
  return {};
}

Status run_profile(mica_session* session, std::vector<LayerTime>& layers) {
  MICA_CHECK(session && !session->stage, kUsage, "measuring needs a session without a stage callback");
  MICA_TRY(const auto found, mica::profile(*session->core));
  layers.clear();
  for (const mica::LayerTime& layer : found) layers.push_back(public_layer(layer));
  return {};
}

Status run_explain(mica_session* session, std::vector<StageChoice>& choices) {
  MICA_CHECK(session, kUsage, "the session is null");
  MICA_TRY(const auto found, mica::explain(*session->core));
  choices.clear();
  for (const mica::StageChoice& c : found)
    choices.push_back({c.name, c.op, c.kernel, c.choice, c.can_force, c.is_forced, c.is_tuned});
  return {};
}

ValueError public_error(const mica::ValueError& e) {
  return {e.name,  e.reason, e.max_abs, e.max_ref,   e.rms,      e.elements,
          e.wrong, e.finite, e.nan,     e.same_best, e.different};
}

Status run_compare(mica_session* a, mica_session* b, const CompareOptions& options, CompareReport& report) {
  MICA_CHECK(a && b && a != b && !a->stage && !b->stage, kUsage,
             "comparing needs two sessions without stage callbacks");
  MICA_TRY_STATUS(check_seconds(options.seconds));
  const mica::CompareOptions inner{options.relative, options.absolute, options.stages, options.seconds};
  MICA_TRY(const CompareResult found, mica::compare(*a->core, *b->core, inner));
  report = {};
  for (const mica::ValueError& output : found.outputs) report.outputs.push_back(public_error(output));
  report.different = found.different;
  report.shows_nothing = found.shows_nothing();
  report.compared = found.compared;
  report.cut = found.cut;
  report.ran = found.ran;
  report.stages = found.stages;
  report.first_stage = found.first_stage;
  report.first_op = found.first_op;
  report.first_kernel = found.first_kernel;
  report.first = public_error(found.first);
  return {};
}

Status add_flops(mica_session* session, int64_t& flops) {
  MICA_CHECK(session, kUsage, "the session is null");
  MICA_TRY_STATUS(session->core->prepare());
  MICA_TRY(const std::vector<StageCost> costs, stage_costs(*session->core));
  flops = 0;
  for (const StageCost& cost : costs) flops += cost.flops;
  return {};
}

}  // namespace

mica_error* bench(mica_session* session, const BenchOptions& options, BenchReport& report) {
  return give(run_bench(session, options, report));
}
mica_error* profile(mica_session* session, std::vector<LayerTime>& layers) {
  return give(run_profile(session, layers));
}
mica_error* explain(mica_session* session, std::vector<StageChoice>& choices) {
  return give(run_explain(session, choices));
}

std::string trace_json(const std::vector<LayerTime>& layers, const std::string& title) {
  std::vector<mica::LayerTime> inner;
  for (const LayerTime& l : layers)
    inner.push_back({l.name, l.op, l.kernel, l.begin_ns, l.ms, l.min_ms, l.share, l.flops, l.bytes, l.constant_bytes,
                     l.bytes_product});
  return mica::trace_json(inner, title);
}

mica_error* count_flops(mica_session* session, int64_t& flops) { return give(add_flops(session, flops)); }
int64_t peak_rss_bytes() { return static_cast<int64_t>(mica::peak_rss_bytes()); }

mica_error* measure_peak(mica_context* context, MachinePeak& peak, const std::vector<LayerTime>& layers) {
  if (!context) return give(error(Code::kUsage, "the context is null"));
  auto found = mica::measure_peak(context->core, static_cast<size_t>(weight_bytes(layers)));
  if (!found.ok()) return give(found.take_error());
  peak = {found->flops_one, found->flops_all, found->bytes_one, found->bytes_all, found->dot_one, found->dot_all, {}};
  peak.handover_ns = found->handover_ns;
  for (size_t i = 0; i < std::size(peak.levels); ++i)
    peak.levels[i] = {found->levels[i].bytes, found->levels[i].one, found->levels[i].all};
  return nullptr;
}

std::vector<double> roofline_ms(const std::vector<LayerTime>& layers, const MachinePeak& peak) {
  mica::MachinePeak inner{
      peak.flops_one, peak.flops_all, peak.dot_one, peak.dot_all, peak.bytes_one, peak.bytes_all, {}};
  for (size_t i = 0; i < std::size(peak.levels); ++i)
    inner.levels[i] = {peak.levels[i].bytes, peak.levels[i].one, peak.levels[i].all};
  const auto weights = static_cast<double>(weight_bytes(layers));
  std::vector<double> made;
  for (const LayerTime& layer : layers) {
    const StageWork work{static_cast<double>(layer.flops), static_cast<double>(layer.bytes - layer.constant_bytes),
                         static_cast<double>(layer.constant_bytes), layer.bytes_product};
    made.push_back(roofline_seconds(work, inner, weights) * 1e3);
  }
  return made;
}

Machine describe_machine(const mica_context* context) {
  Machine made;
  if (!context) return made;
  const mica::Machine& machine = context->core.machine;
  made.processor = machine.model.view();
  made.isa = name_of(machine.isa);
  for (Isa isa : {Isa::kPortable, Isa::kSse2, Isa::kAvx2, Isa::kAvx512, Isa::kNeon})
    if (supports(isa)) made.isas.emplace_back(name_of(isa));
  made.threads = context->threads.concurrency();
  made.usable_processors = usable_cpus();
  made.cpu_quota = cpu_quota();
  made.l1d = static_cast<int64_t>(machine.l1d);
  made.l2 = static_cast<int64_t>(machine.l2);
  made.l3 = static_cast<int64_t>(machine.l3);
  made.page = static_cast<int64_t>(page_size());
  return made;
}

mica_error* compare(mica_session* a, mica_session* b, const CompareOptions& options, CompareReport& report) {
  return give(run_compare(a, b, options, report));
}

}  // namespace mica::tools
