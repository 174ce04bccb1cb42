// mica convert: a source model becomes a `.mica` file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "inputs.h"
#include "table.h"
#include "verbs.h"

namespace mica::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ConvertFlags {
  ModelFlags model;
  InputFlags input;
  std::string out, format;
  bool check = true;
};

struct Checked {
  bool done = false, different = false;
  double worst = 0;  // the largest |a - b| / max |a| of an output
  std::string why;   // it could not be done
};

// The file that was written against the source on the reference, on random inputs (or those given).
Checked check_file(const ConvertFlags& flags) {
  ModelFlags written, source = flags.model;
  written.path = flags.out;
  written.exact = flags.model.exact;
  source.reference = true;
  Checked made;
  try {
    const Context context = source.context();
    const Model a = source.load(context), b = written.load(context);
    Session left = take(a.session(source.session_options())), right = take(b.session(written.session_options()));
    const Feed feed = make_feed(b, flags.input);
    feed.set(left);
    feed.set(right);
    tools::CompareOptions options;
    options.stages = false;
    tools::CompareReport report;
    check(tools::compare(left.get(), right.get(), options, report));
    made.done = true;
    made.different = report.different;
    for (const tools::ValueError& e : report.outputs)
      if (e.max_ref > 0) made.worst = std::max(made.worst, e.max_abs / e.max_ref);
  } catch (const Failed& failed) {
    made.why = failed.what();
  }
  return made;
}

struct Facts {
  tools::ConvertReport report;
  int64_t flops = 0;
  mica_memory memory = MICA_INIT(mica_memory);
  bool bound = false;
  Checked checked;
};

// Arithmetic and memory of a run with the inputs given, axes that are open being 1.
void measure(const ConvertFlags& flags, Facts& facts) {
  try {
    ModelFlags written;
    written.path = flags.out;
    written.operators = flags.model.operators;
    const Context context = written.context();
    const Model model = written.load(context);
    Session session = take(model.session(flags.model.session_options()));
    const Feed feed = make_feed(model, flags.input);
    feed.set(session);
    facts.memory = take(session.prepare());
    check(tools::count_flops(session.get(), facts.flops));
    facts.bound = true;
  } catch (const Failed& failed) {
    say(std::string("note: the model could not be bound for the summary: ") + failed.what());
  }
}

void print_json(const ConvertFlags& flags, const Facts& f) {
  Json rules = Json::object();
  for (const auto& [name, count] : f.report.rules_fired)
    if (count) rules[name] = count;
  Json made = {{"model", flags.model.path},
               {"out", flags.out},
               {"nodes_imported", f.report.nodes_imported},
               {"nodes", f.report.nodes_decluttered},
               {"stages", f.report.stages},
               {"rules", rules},
               {"parameters", f.report.parameters},
               {"constant_bytes", f.report.constant_bytes},
               {"file_bytes", f.report.file_bytes},
               {"weight_bytes", f.report.weight_bytes}};
  if (f.bound) made.update({{"macs", f.flops / 2}, {"arena_bytes", f.memory.arena}, {"memory_bytes", f.memory.total}});
  if (f.checked.done)
    made["check"] = {{"different", f.checked.different}, {"max_rel", f.checked.worst}};
  else if (flags.check)
    made["check"] = {{"failed", f.checked.why}};
  fmt::print("{}\n", made.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_table(const ConvertFlags& flags, const Facts& f) {
  Table table;
  table.column("what"), table.column(flags.out);
  table.row({"nodes", fmt::format("{} imported, {} after declutter, {} stages", f.report.nodes_imported,
                                  f.report.nodes_decluttered, f.report.stages)});
  std::string rules;
  for (const auto& [name, count] : f.report.rules_fired)
    if (count) rules += fmt::format("{}{} x{}", rules.empty() ? "" : ", ", name, count);
  table.row({"rules", rules.empty() ? "none" : rules});
  table.row({"parameters", count_text(static_cast<double>(f.report.parameters))});
  if (f.bound) table.row({"multiply-adds", count_text(static_cast<double>(f.flops) / 2)});
  table.row({"size", fmt::format("{}, weights {}", bytes_text(static_cast<double>(f.report.file_bytes)),
                                 bytes_text(static_cast<double>(f.report.weight_bytes)))});
  if (f.bound)
    table.row({"memory of a run", fmt::format("{}, arena {}", bytes_text(static_cast<double>(f.memory.total)),
                                              bytes_text(static_cast<double>(f.memory.arena)))});
  if (f.checked.done)
    table.row({"check", fmt::format("{}: largest error {:.2g} of the largest value",
                                    f.checked.different ? "DIFFERS from the reference" : "agrees with the reference",
                                    f.checked.worst)});
  fmt::print("{}", table.text(flags.format));
}

int run(const ConvertFlags& flags) {
  tools::ConvertOptions options = flags.model.convert_options();
  if (flags.input.recipe.any()) options.preprocess = make_recipe("", flags.input.recipe).json().dump();
  options.labels = make_labels("", flags.input.recipe);
  Facts facts;
  const Context context = flags.model.context();
  check(tools::convert_file(context.get(), flags.model.path, flags.out, options, &facts.report));
  measure(flags, facts);
  if (flags.check) {
    facts.checked = check_file(flags);
    if (!facts.checked.done) say("note: the check against the reference could not be done: " + facts.checked.why);
  }
  if (flags.format == "json")
    print_json(flags, facts);
  else
    print_table(flags, facts);
  return facts.checked.different ? kCheckFailed : kOk;
}

}  // namespace

std::function<int()> add_convert(CLI::App& app) {
  auto flags = std::make_shared<ConvertFlags>();
  flags->model.add(app, false);
  app.add_flag("--exact", flags->model.exact, "check with the algorithms that give the same bits everywhere");
  app.add_option("-o,--out", flags->out, "the file to write")->required();
  app.add_flag("--check,!--no-check", flags->check, "run the file and the source on the reference, and compare");
  flags->input.add(app, false);
  add_format(app, flags->format, {"table", "json", "md"});
  return [flags] { return run(*flags); };
}

}  // namespace mica::cli
