// mica compare: two forms of a model on the same inputs.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "inputs.h"
#include "table.h"
#include "verbs.h"

namespace mica::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CompareFlags {
  ModelFlags a, b;
  InputFlags input;
  tools::CompareOptions options;
  std::string format;
  bool outputs_only = false;
};

const std::vector<std::string> kWords = {"avx512", "avx2", "sse2", "neon", "portable", "reference", "exact", "unfused"};

// "MODEL@avx2,reference": what stands behind the last @ names the form, unless the whole is a file.
void apply_suffix(ModelFlags& flags) {
  struct stat info;
  const size_t at = flags.path.rfind('@');
  if (at == std::string::npos || stat(flags.path.c_str(), &info) == 0) return;
  std::string words = flags.path.substr(at + 1) + ",";
  flags.path.resize(at);
  for (size_t begin = 0, end; (end = words.find(',', begin)) != std::string::npos; begin = end + 1) {
    const std::string word = words.substr(begin, end - begin);
    if (word == "reference")
      flags.reference = true;
    else if (word == "exact")
      flags.exact = true;
    else if (word == "unfused")
      flags.unfused = true;
    else if (word.size() > 1 && word.back() == 't' && word.find_first_not_of("0123456789") == word.size() - 1)
      flags.threads = std::stoi(word);
    else if (std::find(kWords.begin(), kWords.end(), word) != kWords.end())
      flags.isa = word;
    else
      fail_usage("`" + word + "` behind @ is no form of a model", nearest_hint(word, kWords));
  }
}

struct Side {
  Context context;
  Model model;
  Session session;
};
Side open(const ModelFlags& flags) {
  Context context = flags.context();
  Model model = flags.load(context);
  Session session = take(model.session(flags.session_options()));
  return {std::move(context), std::move(model), std::move(session)};
}

// Arrays go to inputs of the same name.
void set_by_name(const Feed& feed, Side& side) {
  for (const Feed::Item& item : feed.items) {
    const size_t index = take(side.model.find(MICA_INPUT, item.name.c_str()));
    check(item.list ? side.session.set_input_list(index, {}) : side.session.set_input(index, item.array.tensor()));
  }
}

Json json_of(const tools::ValueError& e) {
  const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  Json made = {{"name", e.name},
               {"different", e.different},
               {"max_abs", number(e.max_abs)},
               {"max_ref", number(e.max_ref)},
               {"max_rel", e.max_ref > 0 ? number(e.max_abs / e.max_ref) : Json(nullptr)},
               {"rms", number(e.rms)},
               {"elements", e.elements},
               {"wrong", e.wrong},
               {"finite", e.finite},
               {"nan", e.nan},
               {"same_best", e.same_best}};
  if (!e.reason.empty()) made["reason"] = e.reason;
  return made;
}

std::string words_of(const tools::ValueError& e) {
  if (!e.reason.empty()) return e.reason;
  return fmt::format("max |a-b| {:.3g} with max |a| {:.3g}, {} of {} elements beyond the tolerance{}", e.max_abs,
                     e.max_ref, e.wrong, e.elements, e.nan ? ", NaN in one only" : "");
}

std::string verdict_of(const tools::ValueError& e) {
  if (e.different) return e.reason.empty() ? "different" : e.reason;
  return e.elements > 0 && e.finite == 0 ? "nothing finite" : "equal within the tolerance";
}

void print_json(const tools::CompareReport& report) {
  Json made = {{"different", report.different},
               {"shows_nothing", report.shows_nothing},
               {"stages_compared", report.compared},
               {"outputs", Json::array()}};
  for (const tools::ValueError& output : report.outputs) made["outputs"].push_back(json_of(output));
  if (!report.first_op.empty())
    made["first"] = {{"value", json_of(report.first)},
                     {"stage", report.first_stage},
                     {"op", report.first_op},
                     {"kernel", report.first_kernel}};
  put("{}\n", made.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_table(const tools::CompareReport& report, const std::string& format) {
  Table table;
  using A = Table::Align;
  table.column("output");
  for (const char* title : {"max abs", "max rel", "rms", "beyond", "elements"}) table.column(title, A::kRight);
  table.column("best"), table.column("verdict");
  for (const tools::ValueError& e : report.outputs)
    table.row({e.name, fmt::format("{:.3g}", e.max_abs),
               e.max_ref > 0 ? fmt::format("{:.3g}", e.max_abs / e.max_ref) : "-", fmt::format("{:.3g}", e.rms),
               std::to_string(e.wrong), std::to_string(e.elements), e.same_best ? "same" : "another", verdict_of(e)});
  put("{}", table.text(format));
  if (!report.first_op.empty())
    put("\nfirst stage that differs: `{}` ({}{}{}), value `{}`: {}\n", report.first_stage, report.first_op,
        report.first_kernel.empty() ? "" : ", ", report.first_kernel, report.first.name, words_of(report.first));
}

[[noreturn]] void fail_shows_nothing() {
  throw Failed(kCheckFailed,
               "error[MICA4010]: nothing finite was compared, but NaN and infinities alone: this shows nothing\n"
               "hint: give --input with numbers that the model is made for\n");
}

int run(CompareFlags& flags) {
  apply_suffix(flags.a);
  apply_suffix(flags.b);
  if (flags.a.path == flags.b.path && flags.a.isa == flags.b.isa && flags.a.threads == flags.b.threads &&
      !flags.a.reference && !flags.b.reference && flags.a.exact == flags.b.exact &&
      flags.a.unfused == flags.b.unfused) {
    flags.a.reference = true;  // a model against itself would say nothing
    say("comparing with the reference");
  }
  Side a = open(flags.a), b = open(flags.b);
  const Feed feed = make_feed(a.model, flags.input);
  set_by_name(feed, a);
  set_by_name(feed, b);
  flags.options.stages = !flags.outputs_only;
  tools::CompareReport report;
  check(tools::compare(a.session.get(), b.session.get(), flags.options, report));
  if (flags.format == "json")
    print_json(report);
  else
    print_table(report, flags.format);
  if (flags.options.stages) say(fmt::format("{} values inside were compared", report.compared));
  if (report.shows_nothing) fail_shows_nothing();
  return report.different ? kCheckFailed : kOk;
}

}  // namespace

std::function<int()> add_compare(Words& words) {
  auto flags = std::make_shared<CompareFlags>();
  words.option("A", flags->a.path, "what is right: a model, perhaps with a form behind @: net.onnx@reference")
      .required();
  words.option("B", flags->b.path, "what is held against it: net.mica, net.onnx@avx2, net.onnx@3t, net.onnx@exact")
      .required();
  words.option("--isa-a", flags->a.isa, "instruction set of A");
  words.option("--isa-b", flags->b.isa, "instruction set of B");
  flags->input.add(words, true);
  words.option("--relative", flags->options.relative, "tolerance, of the largest |a| of a value").shows_default();
  words.option("--absolute", flags->options.absolute, "tolerance at least").shows_default();
  words.flag("--outputs-only", flags->outputs_only, "leave out the values inside");
  words.format(flags->format, {"table", "json", "csv", "md"});
  return [flags] { return run(*flags); };
}

}  // namespace mica::cli
