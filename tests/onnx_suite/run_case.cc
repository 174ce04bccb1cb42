#include "run_case.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "api/handles.h"
#include "base/threads.h"
#include "convert/convert.h"
#include "measure/explain.h"
#include "modules/modules.h"
#include "runtime/session.h"

namespace mica::suite {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Error& error) {
  char text[2048];
  error.print(text, sizeof text);
  return text;
}

struct Loaded {
  mica_context* modules = nullptr;  // holds the operators of the modules
  Context context;
  Threads threads;
  std::shared_ptr<const void> keep;
  Model* model = nullptr;
  Session* session = nullptr;
  explicit Loaded(Threads t) : threads(std::move(t)) {}
  void add_modules() {
    mica_context_options options = MICA_INIT(mica_context_options);
    options.threads = 1;
    if (mica_context_create(&options, &modules) || mica_add_modules(modules)) fail(Code::kInternal, "no modules");
    for (const auto& custom : modules->core.operators) ok_or_throw(context.operators.push_back(custom));
  }
  ~Loaded() {
    Session::destroy(session);
    if (model) model->drop();
    mica_context_free(modules);
  }
};

// Values stand in the files of a case by their position.
std::vector<fs::path> files_of(const fs::path& folder, const char* what, size_t count) {
  std::vector<fs::path> files;
  for (size_t j = 0; j < count; ++j) files.push_back(folder / (std::string(what) + "_" + std::to_string(j) + ".pb"));
  return files;
}

Object make_object(const CaseValue& value, const Type& type) {
  Object object;
  object.kind = type.kind;
  object.dtype = type.dtype;
  const bool nested = type.kind == Kind::kOptional && type.of == Kind::kSequence;
  Object inner;
  inner.dtype = type.dtype;
  for (const ConstantPtr& item : value.items)
    ok_or_throw((nested ? inner : object).tensors.push_back(value_or_throw(OwnedTensor::copy_of(item->view))));
  if (nested && !value.items.empty()) ok_or_throw(object.objects.push_back(std::move(inner)));
  return object;
}

std::string compare_object(const Object& got, const CaseValue& expected, const Tolerance& tolerance) {
  const Object& holder = got.objects.empty() ? got : got.objects[0];
  if (holder.tensors.size() != expected.items.size())
    return "got " + std::to_string(holder.tensors.size()) + " items, expected " + std::to_string(expected.items.size());
  for (size_t i = 0; i < expected.items.size(); ++i)
    if (std::string d = difference(holder.tensors[i].view(), expected.items[i]->view, tolerance); !d.empty())
      return "item " + std::to_string(i) + ": " + d;
  return {};
}

void spoil(CaseValue& value) {
  const ConstantPtr& old = value.is_object ? value.items.at(0) : value.tensor;
  OwnedTensor copy = value_or_throw(OwnedTensor::copy_of(old->view));
  if (copy.view().count() == 0 || copy.view().dtype == DType::kString)
    fail(Code::kUsage, "this case has nothing to spoil");
  const Elements elements(copy.view());
  elements.set_number(0, elements.number(0) == 0 ? 1 : -elements.number(0) * 2);
  (value.is_object ? value.items[0] : value.tensor) = Constant::own(std::move(copy));
}

// Of the stages of the session's last run, whose inputs are still there: binding may look into them.
void count_forced(Session& session, CaseResult& result) {
  result.can_force = result.forced = 0;
  for (const StageChoice& choice : value_or_throw(explain(session)))
    result.can_force += choice.can_force, result.forced += choice.is_forced;
}

std::string run_set(Loaded& loaded, const fs::path& set, const Tolerance& tolerance, const CaseOptions& options,
                    CaseResult& result) {
  Session& session = *loaded.session;
  std::vector<CaseValue> inputs;
  std::deque<Object> objects;
  const auto in_files = files_of(set, "input", session.input_count());
  for (size_t i = 0; i < in_files.size(); ++i) {
    if (!fs::exists(in_files[i])) {
      if (session.input_type(i).is_tensor()) return "input " + std::to_string(i) + " has no file";
      inputs.emplace_back().is_object = true;
    } else {
      inputs.push_back(read_value(in_files[i], session.input_type(i)));
    }
    if (inputs[i].is_object)
      ok_or_throw(session.set_input_object(i, &objects.emplace_back(make_object(inputs[i], session.input_type(i)))));
    else
      ok_or_throw(session.set_input(i, inputs[i].tensor->view));
  }
  ok_or_throw(session.run());
  const auto out_files = files_of(set, "output", session.output_count());
  for (size_t i = 0; i < out_files.size(); ++i) {
    const Type& type = session.output_type(i);
    CaseValue expected;
    expected.is_object = !type.is_tensor();
    if (fs::exists(out_files[i]))
      expected = read_value(out_files[i], type);
    else if (type.is_tensor())
      continue;
    if (options.flip) spoil(expected);
    const std::string problem = type.is_tensor() && options.random
                                    ? difference_of_statistics(value_or_throw(session.output(i)), expected.tensor->view)
                                : type.is_tensor()
                                    ? difference(value_or_throw(session.output(i)), expected.tensor->view, tolerance)
                                    : compare_object(*value_or_throw(session.output_object(i)), expected, tolerance);
    if (!problem.empty()) return "output " + std::to_string(i) + ": " + problem;
  }
  if (!loaded.context.machine.force.empty()) count_forced(session, result);
  return {};
}

Tolerance tolerance_of(const fs::path& folder) {
  Tolerance tolerance;
  std::ifstream in(folder / "data.json");
  if (!in) return tolerance;
  const auto json = nlohmann::json::parse(in);
  tolerance.relative = json.value("rtol", tolerance.relative);
  tolerance.absolute = json.value("atol", tolerance.absolute);
  return tolerance;
}

std::string first_op(const Graph& graph) {
  for (const auto& node : graph.nodes) return std::string(node->op->name);
  return "none";
}

}  // namespace

CaseResult run_case(const fs::path& folder, const CaseOptions& options) {
  CaseResult result{.op = "?", .problem = ""};
  try {
    Loaded loaded(value_or_throw(Threads::create({.threads = options.threads})));
    loaded.context.machine = value_or_throw(describe_machine({.isa = options.isa, .threads = options.threads}));
    loaded.context.threads = &loaded.threads;
    loaded.add_modules();
    ConvertOptions convert_options;
    for (const CustomOperator* custom : loaded.context.operators) convert_options.import.operators.push_back(custom);
    convert_options.import.onnx_release = options.onnx_release;
    convert_options.lower.fuse = convert_options.lower.chains = !options.unfused;
    ConvertReport report;
    report.watch = [&](std::string_view stage, const Graph& graph) {
      if (stage == "import") result.op = first_op(graph);
    };
    Lowered lowered =
        value_or_throw(convert(Source{(folder / "model.onnx").string(), {}, {}}, convert_options, report));
    loaded.keep = lowered.keep;
    loaded.model = value_or_throw(Model::create(loaded.context, std::move(lowered.plan), {}));
    RunnerOptions runner;
    runner.reference_only = options.reference;
    runner.row_chains = options.row_chains;
    loaded.session = value_or_throw(Session::create(*loaded.model, runner));
    const Tolerance tolerance = tolerance_of(folder);
    int sets = 0;
    for (; fs::exists(folder / ("test_data_set_" + std::to_string(sets))) && result.problem.empty(); ++sets)
      result.problem = run_set(loaded, folder / ("test_data_set_" + std::to_string(sets)), tolerance, options, result);
    if (sets == 0) result.problem = "the case has no data";
    if (result.forced < result.can_force) result.problem = "a stage could take the forced algorithm, and does not";
  } catch (const Failure& failure) {
    result.problem = text_of(*failure.error);
  } catch (const std::exception& other) {
    result.problem = other.what();
  }
  return result;
}

}  // namespace mica::suite
