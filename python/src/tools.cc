// The tools library: converting, inspecting, measuring, comparing.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "objects.h"

namespace mica::python {
namespace {

// Runs without holding the interpreter.
template <class Work>
void released(const Work& work) {
  mica_error* error = nullptr;
  {
    nb::gil_scoped_release release;
    error = work();
  }
  check(error);
}

nb::dict convert(const PyContext& context, const std::string& path, const std::string& out,
                 const tools::ConvertOptions& options) {
  tools::ConvertReport report;
  released([&] { return tools::convert_file(context.handle.get(), path, out, options, &report); });
  nb::dict made, rules;
  for (const auto& [name, count] : report.rules_fired) rules[name.c_str()] = count;
  made["nodes_imported"] = report.nodes_imported;
  made["nodes_decluttered"] = report.nodes_decluttered;
  made["stages"] = report.stages;
  made["rules_fired"] = rules;
  made["parameters"] = report.parameters;
  made["constant_bytes"] = report.constant_bytes;
  made["file_bytes"] = report.file_bytes;
  made["weight_bytes"] = report.weight_bytes;
  return made;
}

tools::InspectOptions inspect_options(const std::string& stage, const std::string& format, bool constants) {
  tools::InspectOptions options;
  options.stage = stage;
  options.format = format;
  options.constants = constants;
  return options;
}

nb::str inspect_source(const PyContext& context, const std::string& path, const tools::ConvertOptions& convert,
                       const tools::InspectOptions& options) {
  std::string made;
  released([&] { return tools::inspect_source(context.handle.get(), path, convert, options, made); });
  return text(made);
}

nb::str inspect_plan(const PyModel& model, const tools::InspectOptions& options) {
  std::string made;
  released([&] { return tools::inspect_plan(model.handle.get(), options, made); });
  return text(made);
}

nb::str inspect_bound(PySession& session, const nb::list& values, const tools::InspectOptions& options) {
  std::vector<Input> inputs = to_inputs(session, values);
  const auto lock = locked(session);
  session.set(inputs);
  std::string made;
  released([&] { return tools::inspect_bound(session.get(), options, made); });
  return text(made);
}

nb::dict summary(const PyModel& model) {
  const tools::ModelSummary found = tools::summarize(model.handle.get());
  nb::dict made, operators;
  for (const auto& [name, count] : found.operators) operators[name.c_str()] = count;
  made["parameters"] = found.parameters;
  made["constant_bytes"] = found.constant_bytes;
  made["functions"] = found.functions;
  made["stages"] = found.stages;
  made["operators"] = operators;
  return made;
}

nb::list layers_list(const std::vector<tools::LayerTime>& layers) {
  nb::list made;
  for (const tools::LayerTime& layer : layers)
    made.append(nb::make_tuple(text(layer.name), layer.op, layer.kernel, layer.begin_ns, layer.ms, layer.share,
                               layer.flops, layer.bytes));
  return made;
}

nb::list profile(PySession& session, const nb::list& values) {
  std::vector<Input> inputs = to_inputs(session, values);
  const auto lock = locked(session);
  session.set(inputs);
  std::vector<tools::LayerTime> layers;
  released([&] { return tools::profile(session.get(), layers); });
  return layers_list(layers);
}

constexpr int64_t kReportInterval = 100'000'000;  // nanoseconds

struct Measuring {
  double seconds = 0;
  bool layers = false;
  nb::object progress;
};

struct Stopped {};  // Python's own exception is set

// What a measurement reports its share to: handles signals, and calls `progress` unless it is None, both ten times a
// second at most. Throws Stopped behind what they raise.
std::function<void(double)> reporter(const nb::object& progress, Signals& signals) {
  return [&progress, &signals, next = int64_t{0}](double share) mutable {
    if (signals.are_mine() && signals.raised()) throw Stopped();
    if (progress.is_none() || (now_ns() < next && share < 1)) return;
    next = now_ns() + kReportInterval;
    const nb::gil_scoped_acquire acquire;
    PyObject* answer = PyObject_CallFunction(progress.ptr(), "d", share);
    if (!answer) signals.set_raised();
    Py_XDECREF(answer);
    if (!answer) throw Stopped();
  };
}

nb::dict bench(PySession& session, const nb::list& values, const Measuring& asked) {
  std::vector<Input> inputs = to_inputs(session, values);
  const auto lock = locked(session);
  session.set(inputs);
  tools::BenchOptions options;
  options.seconds = asked.seconds;
  options.layers = asked.layers;
  Signals signals;
  options.progress = reporter(asked.progress, signals);
  tools::BenchReport report;
  try {
    released([&] { return tools::bench(session.get(), options, report); });
  } catch (const Stopped&) {
    signals.rethrow(nullptr);
  }
  nb::dict made;
  made["median_ms"] = report.median_ms;
  made["min_ms"] = report.min_ms;
  made["p90_ms"] = report.p90_ms;
  made["mean_ms"] = report.mean_ms;
  made["deviation_ms"] = report.deviation_ms;
  made["first_ms"] = report.first_ms;
  made["runs"] = report.runs;
  if (asked.layers) {
    made["flops"] = report.flops;
    made["layers"] = layers_list(report.layers);
  }
  return made;
}

nb::tuple error_tuple(const tools::ValueError& e) {
  return nb::make_tuple(text(e.name), e.reason, e.max_abs, e.max_ref, e.rms, e.elements, e.wrong, e.nan, e.same_best,
                        e.different);
}

nb::dict compare_report(const tools::CompareReport& report) {
  nb::list outputs;
  for (const tools::ValueError& output : report.outputs) outputs.append(error_tuple(output));
  nb::dict made;
  made["outputs"] = outputs;
  made["different"] = report.different;
  made["shows_nothing"] = report.shows_nothing;
  made["compared"] = report.compared;
  made["first_stage"] = report.first_stage;
  made["first_op"] = report.first_op;
  made["first_kernel"] = report.first_kernel;
  made["first"] = report.first_op.empty() ? nb::object(nb::none()) : nb::object(error_tuple(report.first));
  return made;
}

nb::dict compare(PySession& a, PySession& b, const nb::tuple& values, const tools::CompareOptions& options) {
  if (&a == &b) fail(6001, "comparing needs two sessions");
  std::vector<Input> of_a = to_inputs(a, nb::cast<nb::list>(values[0]));
  std::vector<Input> of_b = to_inputs(b, nb::cast<nb::list>(values[1]));
  const auto lock = locked(a, b);
  a.set(of_a);
  b.set(of_b);
  tools::CompareReport report;
  released([&] { return tools::compare(a.get(), b.get(), options, report); });
  return compare_report(report);
}

}  // namespace

void add_tools(nb::module_& module) {
  nb::class_<tools::InspectOptions>(module, "InspectOptions")
      .def(
          "__init__",
          [](tools::InspectOptions* place, const std::string& stage, const std::string& format, bool constants) {
            new (place) tools::InspectOptions(inspect_options(stage, format, constants));
          },
          nb::arg("stage"), nb::arg("format"), nb::arg("constants"));
  nb::class_<tools::CompareOptions>(module, "CompareOptions")
      .def(
          "__init__",
          [](tools::CompareOptions* place, double relative, double absolute, bool stages) {
            new (place) tools::CompareOptions{.relative = relative, .absolute = absolute, .stages = stages};
          },
          nb::arg("relative"), nb::arg("absolute"), nb::arg("stages"));
  module.def("convert", &convert, nb::arg("context"), nb::arg("path"), nb::arg("out"), nb::arg("options"));
  module.def("inspect_source", &inspect_source, nb::arg("context"), nb::arg("path"), nb::arg("convert"),
             nb::arg("options"));
  module.def("inspect_plan", &inspect_plan, nb::arg("model"), nb::arg("options"));
  module.def("inspect_bound", &inspect_bound, nb::arg("session"), nb::arg("values"), nb::arg("options"));
  module.def("summary", &summary, nb::arg("model"));
  module.def("profile", &profile, nb::arg("session"), nb::arg("values"));
  module.def(
      "bench",
      [](PySession& session, const nb::list& values, double seconds, bool layers, const nb::object& progress) {
        return bench(session, values, {seconds, layers, progress});
      },
      nb::arg("session"), nb::arg("values"), nb::arg("seconds"), nb::arg("layers"), nb::arg("progress").none());
  module.def("compare", &compare, nb::arg("a"), nb::arg("b"), nb::arg("values"), nb::arg("options"));
}

}  // namespace mica::python
