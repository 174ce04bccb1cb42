// mica convert: a source model becomes a `.mica` file.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>

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
  std::string weights = "f32";
  bool check = true, trim = false;
  double check_seconds = 5;
  bool half() const { return weights == "f16"; }
};

struct Checked {
  bool done = false, different = false;
  double worst = 0;  // the largest |a - b| / max |a| of an output
  double unsteady =
      -1;           // as `worst`, of the reference's outputs when its inputs change a little; less than 0: not tried
  std::string why;  // it could not be done
  tools::CompareReport report;

  // A choice in the network (the largest of values, a threshold) falls otherwise as soon as rounding differs: what is
  // behind it says nothing.
  bool undecided() const { return different && unsteady > 1e-3 && unsteady * 100 >= std::min(worst, 1.0); }
};

// Weights rounded to 11 bits change a network's outputs by 2^-11 for each layer that a change passes, where changes add
// up at random: as many as a hundred layers, with the room of four.
constexpr double kMostOfHalf = 4.0 * 10 / 2048;

double worst_of(const tools::CompareReport& report) {
  double worst = 0;
  for (const tools::ValueError& e : report.outputs)
    if (!e.reason.empty() || e.nan || (e.different && e.max_ref == 0))
      worst = std::numeric_limits<double>::infinity();
    else if (e.max_ref > 0)
      worst = std::max(worst, e.max_abs / e.max_ref);
  return worst;
}

// The same numbers, each changed by up to a millionth of itself.
Feed nudged(Feed feed) {
  for (Feed::Item& item : feed.items) {
    if (item.list || item.array.dtype != MICA_F32) continue;
    for (int64_t i = 0, n = item.array.count(); i < n; ++i)
      set_number(item.array, i,
                 number_at(item.array.tensor(), i) * (1 + 1e-6 * static_cast<double>(i * 7919 % 201 - 100) / 100));
  }
  return feed;
}

mica_session_options options_of_reference(const ConvertFlags& flags) {
  ModelFlags model = flags.model;
  model.reference = true;
  return model.session_options();
}

// How far the outputs of the reference, which `left` holds a run of, move with small changes of its inputs.
double unsteadiness(const Model& model, Session& left, const Feed& feed, const ConvertFlags& flags) {
  Session moved = take(model.session(options_of_reference(flags)));
  nudged(feed).set(moved);
  tools::CompareOptions options;
  options.stages = false;
  options.seconds = flags.check_seconds;
  tools::CompareReport report;
  check(tools::compare(left.get(), moved.get(), options, report));
  return report.cut ? -1 : worst_of(report);
}

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
    options.seconds = flags.check_seconds;
    if (flags.half()) options.relative = kMostOfHalf;
    check(tools::compare(left.get(), right.get(), options, made.report));
    made.done = true;
    made.different = made.report.different;
    made.worst = worst_of(made.report);
    if (made.different && !made.report.cut) made.unsteady = unsteadiness(a, left, feed, flags);
  } catch (const Failed& failed) {
    if (flags.input.given()) throw;
    made.why = failed.what();
  }
  return made;
}

// What a runtime for this model alone needs (cmake/MicaTrim.cmake), into `<out>.trim`. Kernels are those of one run;
// with callbacks that see all values, every stage tells its own.
void write_trim(const ConvertFlags& flags) {
  ModelFlags written;
  written.path = flags.out;
  written.operators = flags.model.operators;
  const Context context = written.context();
  const Model model = written.load(context);
  std::set<std::string> lines;
  for (std::string& part : tools::parts_of(model.get())) lines.insert(std::move(part));
  mica_session_options options = written.session_options();
  options.stage = [](void* user, const mica_stage_event* event) {
    if (*event->kernel) static_cast<std::set<std::string>*>(user)->insert(std::string("kernel ") + event->kernel);
    return 0;
  };
  options.stage_user = &lines;
  options.stage_outputs = 1;
  Session session = take(model.session(options));
  const Feed feed = make_feed(model, flags.input);
  feed.set(session);
  check(session.run());
  std::string text = fmt::format("# What {} needs of a runtime: -DMICA_TRIM=<this file>.\n", flags.out);
  for (const std::string& line : lines) text += line + "\n";
  write_file(flags.out + ".trim", text);
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
    if (flags.input.given()) throw;
    say(std::string("note: the model could not be bound for the summary: ") + failed.what());
  }
}

Json check_json(const Checked& checked) {
  const tools::CompareReport& report = checked.report;
  Json made = {{"different", checked.different}, {"shows_nothing", report.shows_nothing}, {"cut", report.cut}};
  if (report.cut)
    made.update({{"stages_run", report.ran}, {"stages", report.stages}, {"values_compared", report.compared}});
  else
    made["max_rel"] = checked.worst;
  if (checked.unsteady >= 0) made.update({{"reference_moves", checked.unsteady}, {"undecided", checked.undecided()}});
  if (!report.first_op.empty()) made["first"] = {{"stage", report.first_stage}, {"op", report.first_op}};
  return made;
}

std::string check_text(const ConvertFlags& flags, const Checked& checked) {
  const tools::CompareReport& report = checked.report;
  const std::string first =
      report.first_op.empty() ? "" : fmt::format("; first at `{}` ({})", report.first_stage, report.first_op);
  if (report.cut)
    return fmt::format("cut after {} s, {} of {} stages: {}{}; --check-seconds 0 runs the whole", flags.check_seconds,
                       report.ran, report.stages,
                       checked.different      ? "DIFFERS from the reference"
                       : report.shows_nothing ? "NaN and infinities alone were compared, which shows nothing"
                       : report.compared      ? fmt::format("the last {} values agree", report.compared)
                                              : "no value could be compared",
                       first);
  if (checked.undecided())
    return fmt::format(
        "undecided: outputs are {:.2g} apart{}, but the reference's own move by {:.2g} when the inputs do "
        "by a millionth; try --input with real data",
        checked.worst, first, checked.unsteady);
  if (report.shows_nothing)
    return "shows nothing: NaN and infinities alone were compared; try --input with real data, or --no-check";
  if (checked.different)
    return fmt::format("DIFFERS from the reference: largest error {:.2g} of the largest value{}", checked.worst, first);
  return fmt::format("agrees with the reference: largest error {:.2g} of the largest value", checked.worst);
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
    made["check"] = check_json(f.checked);
  else if (flags.check)
    made["check"] = {{"failed", f.checked.why}};
  put("{}\n", made.dump(2, ' ', false, Json::error_handler_t::replace));
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
  if (f.checked.done) table.row({"check", check_text(flags, f.checked)});
  put("{}", table.text(flags.format));
}

// Whether the conversion and its check went well. Random inputs may be no numbers that the model is made for: then a
// check that shows nothing is not its fault.
int code_of(const ConvertFlags& flags, const Checked& checked) {
  if (checked.report.shows_nothing) return flags.input.given() ? kCheckFailed : kOk;
  return checked.different && !checked.undecided() ? kCheckFailed : kOk;
}

int run(ConvertFlags flags) {
  set_written(flags.trim ? std::vector{flags.out, flags.out + ".trim"} : std::vector{flags.out});
  for (const std::string& input : flags.input.inputs) check_not_written(split_pair(input, "NAME=FILE.npy").second);
  if (flags.input.recipe.any()) flags.model.preprocess = make_recipe("", flags.input.recipe).json().dump();
  tools::ConvertOptions options = flags.model.convert_options();
  options.labels = make_labels("", flags.input.recipe);
  flags.input.recipe = {};  // the file's own from now on
  options.half_weights = flags.half();
  Facts facts;
  const Context context = flags.model.context();
  if (flags.input.given()) make_feed(flags.model.load(context), flags.input);  // its errors come before a file does
  check(tools::convert_file(context.get(), flags.model.path, flags.out, options, &facts.report));
  set_written({});  // what is written now is read
  measure(flags, facts);
  if (flags.trim) write_trim(flags);
  if (flags.check) {
    facts.checked = check_file(flags);
    if (!facts.checked.done) say("note: the check against the reference could not be done: " + facts.checked.why);
  }
  if (flags.format == "json")
    print_json(flags, facts);
  else
    print_table(flags, facts);
  return code_of(flags, facts.checked);
}

}  // namespace

std::function<int()> add_convert(Words& words) {
  auto flags = std::make_shared<ConvertFlags>();
  flags->model.add(words, false);
  words.flag("--exact", flags->model.exact, "check with the algorithms that give the same bits everywhere");
  words.option("-o,--out", flags->out, "the file to write").required().not_empty();
  words
      .option("--weights", flags->weights,
              "f32, or f16: weights rounded to half precision and a file of half the size; computing stays in single")
      .one_of({"f32", "f16"});
  words.flag("--pixels", flags->model.pixels,
             "the picture's input takes bytes, channels last; mean, scale and layout of its recipe become the model's");
  words.flag("--check,!--no-check", flags->check, "run the file and the source on the reference, and compare");
  words.flag("--trim", flags->trim, "write OUT.trim too: what a runtime for this model alone needs (MICA_TRIM)");
  words
      .option("--check-seconds", flags->check_seconds,
              "time of that run of the reference; what it has made by then is compared; 0: no limit")
      .between(0, 1e9);
  flags->input.add(words, false);
  words.format(flags->format, {"table", "json", "md"});
  return [flags] { return run(*flags); };
}

}  // namespace mica::cli
