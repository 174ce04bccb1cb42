// mica inspect: what a model is, at any stage.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "inputs.h"
#include "table.h"
#include "verbs.h"

namespace mica::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InspectFlags {
  ModelFlags model;
  InputFlags input;
  tools::InspectOptions options;
  std::string out;
};

struct Summary {
  tools::ModelSummary model;
  int64_t flops = 0;
  mica_memory memory = MICA_INIT(mica_memory);
  bool bound = false;
};

// Arithmetic and memory with open axes being 1, as far as the model can be bound so.
Summary summary_of(const InspectFlags& flags, const Model& model) {
  Summary made;
  made.model = tools::summarize(model.get());
  try {
    Session session = take(model.session(flags.model.session_options()));
    const Feed feed = make_feed(model, flags.input);
    feed.set(session);
    made.memory = take(session.prepare());
    check(tools::count_flops(session.get(), made.flops));
    made.bound = true;
  } catch (const Failed& failed) {
    say(std::string("note: the model cannot be bound to these shapes: ") + failed.what());
  }
  return made;
}

Json port_json(const mica_port_info& port) {
  Json made = {
      {"name", port.name}, {"type", port.type}, {"dtype", mica_dtype_name(port.dtype)}, {"shape", Json::array()}};
  for (int i = 0; i < port.rank; ++i)
    made["shape"].push_back(port.dims[i] < 0 && port.dim_names[i] ? Json(port.dim_names[i]) : Json(port.dims[i]));
  return made;
}

std::string summary_json(const InspectFlags& flags, const Model& model, const Summary& s) {
  Json made = {
      {"model", flags.model.path}, {"inputs", Json::array()}, {"outputs", Json::array()}, {"states", Json::array()}};
  for (size_t i = 0; i < model.inputs(); ++i) made["inputs"].push_back(port_json(model.input(i)));
  for (size_t i = 0; i < model.outputs(); ++i) made["outputs"].push_back(port_json(model.output(i)));
  for (size_t i = 0; i < model.states(); ++i) {
    const mica_port_info state = model.state(i);
    made["states"].push_back(
        {{"input", state.name}, {"output", model.output(state.state_output).name}, {"type", state.type}});
  }
  made.update(
      {{"parameters", s.model.parameters}, {"constant_bytes", s.model.constant_bytes}, {"stages", s.model.stages}});
  if (s.bound)
    made.update({{"macs", s.flops / 2},
                 {"arena_bytes", s.memory.arena},
                 {"memory_bytes", s.memory.total},
                 {"weight_bytes", s.memory.weights}});
  made["operators"] = Json::object();
  for (const auto& [name, count] : s.model.operators) made["operators"][name] = count;
  made["metadata"] = Json::object();
  for (size_t i = 0; i < mica_model_metadata_count(model.get()); ++i) {
    const char* key = mica_model_metadata_key(model.get(), i);
    made["metadata"][key] = model.metadata(key);
  }
  return made.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_text(const Model& model, const Summary& s) {
  Table table;
  table.column(""), table.column("name"), table.column("type");
  for (size_t i = 0; i < model.inputs(); ++i) table.row({"input", model.input(i).name, model.input(i).type});
  for (size_t i = 0; i < model.outputs(); ++i) table.row({"output", model.output(i).name, model.output(i).type});
  for (size_t i = 0; i < model.states(); ++i) {
    const mica_port_info state = model.state(i);
    table.row({"state", fmt::format("{} -> {}", model.output(state.state_output).name, state.name), state.type});
  }
  std::string text = table.text("table") + "\n";
  text += fmt::format("parameters  {} ({})\n", count_text(static_cast<double>(s.model.parameters)),
                      bytes_text(static_cast<double>(s.model.constant_bytes)));
  if (s.bound) {
    text += fmt::format("multiply-adds  {}\n", count_text(static_cast<double>(s.flops) / 2));
    text +=
        fmt::format("memory of a run  {} (arena {}), weights {}\n", bytes_text(static_cast<double>(s.memory.total)),
                    bytes_text(static_cast<double>(s.memory.arena)), bytes_text(static_cast<double>(s.memory.weights)));
  }
  text += fmt::format("{} stages:", s.model.stages);
  for (const auto& [name, count] : s.model.operators) text += fmt::format(" {} x{}", name, count);
  text += "\n";
  for (size_t i = 0; i < mica_model_metadata_count(model.get()); ++i) {
    const char* key = mica_model_metadata_key(model.get(), i);
    text += fmt::format("{}: {}\n", key, model.metadata(key));
  }
  return text;
}

std::string stage_text(const InspectFlags& flags, const Context& context) {
  std::string text;
  if (flags.options.stage == "import" || flags.options.stage == "graph") {
    check(tools::inspect_source(context.get(), flags.model.path, flags.model.convert_options(), flags.options, text));
    return text;
  }
  const Model model = flags.model.load(context);
  if (flags.options.stage == "plan") {
    check(tools::inspect_plan(model.get(), flags.options, text));
    return text;
  }
  Session session = take(model.session(flags.model.session_options()));
  const Feed feed = make_feed(model, flags.input);
  feed.set(session);
  check(tools::inspect_bound(session.get(), flags.options, text));
  return text;
}

int run(InspectFlags& flags) {
  const bool drawn = flags.options.format == "dot" || flags.options.format == "html";
  if (flags.options.constants && flags.options.stage.empty() && !drawn)
    fail_usage("--constants is for a stage, and the summary is none", "add --stage graph, or another");
  if (!flags.out.empty()) set_written({flags.out});
  const Context context = flags.model.context();
  std::string text;
  if (flags.options.stage.empty() && !drawn) {
    const Model model = flags.model.load(context);
    const Summary summary = summary_of(flags, model);
    text = flags.options.format == "json" ? summary_json(flags, model, summary) : summary_text(model, summary);
  } else {
    if (flags.options.stage.empty()) flags.options.stage = "plan";
    text = stage_text(flags, context);
  }
  if (flags.out.empty())
    put("{}", text);
  else
    write_file(flags.out, text);
  return kOk;
}

}  // namespace

std::function<int()> add_inspect(Words& words) {
  auto flags = std::make_shared<InspectFlags>();
  flags->model.add(words);
  words.option("--stage", flags->options.stage, "import, graph, plan or bound; a summary without it")
      .one_of({"import", "graph", "plan", "bound"});
  words.flag("--constants", flags->options.constants, "constants in full (text), or as boxes of their own");
  words.option("-o,--out", flags->out, "a file instead of stdout").not_empty();
  flags->input.add(words, false);
  words.format(flags->options.format, {"text", "json", "dot", "html"});
  return [flags] { return run(*flags); };
}

}  // namespace mica::cli
