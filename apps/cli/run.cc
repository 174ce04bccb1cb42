// mica run: one run of a model, and what came out.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "inputs.h"
#include "mica/tools.hpp"
#include "table.h"
#include "verbs.h"

namespace mica::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RunFlags {
  ModelFlags model;
  InputFlags input;
  std::string save, format;
  int top = 5, steps = 1;
  double timeout_ms = 0;
};

struct Output {
  std::string name, type;
  std::vector<Array> items;  // one for a tensor
  bool is_list = false;
};

// Smallest, largest and mean of the finite elements.
struct Summary {
  double least = INFINITY, most = -INFINITY, mean = 0;
  int64_t nan = 0, infinite = 0, count = 0;
};
Summary summary_of(const Tensor& tensor) {
  Summary made;
  made.count = tensor.count();
  int64_t finite = 0;
  for (int64_t i = 0; i < made.count; ++i) {
    const double value = number_at(tensor, i);
    made.nan += std::isnan(value);
    made.infinite += std::isinf(value);
    if (!std::isfinite(value)) continue;
    made.least = std::min(made.least, value);
    made.most = std::max(made.most, value);
    made.mean += (value - made.mean) / static_cast<double>(++finite);
  }
  return made;
}

std::vector<Output> read_outputs(const Model& model, const Session& session) {
  std::vector<Output> outputs;
  for (size_t i = 0; i < model.outputs(); ++i) {
    const mica_port_info port = model.output(i);
    Output output{port.name, port.type, {}, !port.is_tensor};
    if (port.is_tensor) {
      output.items.push_back(Array::copy_of(take(session.output(i))));
    } else {
      for (const Tensor& item : take(session.output_list(i))) output.items.push_back(Array::copy_of(item));
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// The output that holds one score for each class: the only one, of a floating type and one row.
const Array* scores_of(const std::vector<Output>& outputs, size_t labels) {
  const Output* found = nullptr;
  for (const Output& output : outputs) {
    if (output.is_list || output.items[0].dims.empty()) continue;
    const Array& array = output.items[0];
    const bool floating =
        array.dtype == MICA_F32 || array.dtype == MICA_F16 || array.dtype == MICA_F64 || array.dtype == MICA_BF16;
    const int64_t n = array.count();
    const bool row = n > 1 && *std::max_element(array.dims.begin(), array.dims.end()) == n;
    if (!floating || !row || (labels && n != static_cast<int64_t>(labels))) continue;
    if (found) return nullptr;
    found = &output;
  }
  if (!found || (!labels && outputs.size() != 1)) return nullptr;
  return &found->items[0];
}

struct Ranked {
  int64_t index;
  double score;
};
std::vector<Ranked> best_of(const Array& scores, int top) {
  std::vector<Ranked> all;
  for (int64_t i = 0; i < scores.count(); ++i) all.push_back({i, number_at(scores.tensor(), i)});
  // NaN comes last: it wins nothing.
  std::stable_sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) {
    return std::isnan(b.score) ? !std::isnan(a.score) : a.score > b.score;
  });
  all.resize(std::min(all.size(), static_cast<size_t>(std::max(top, 0))));
  return all;
}

Json json_of(const Array& array) {
  Json made = {{"type", mica_dtype_name(array.dtype)}, {"shape", array.dims}};
  constexpr int64_t kShown = 32;
  const Tensor tensor = array.tensor();
  if (array.dtype == MICA_STRING) {
    if (array.count() <= kShown) made["values"] = *array.strings;
    return made;
  }
  const Summary s = summary_of(tensor);
  const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  made["min"] = number(s.least), made["max"] = number(s.most),
  made["mean"] = s.count > s.nan + s.infinite ? Json(s.mean) : Json(nullptr);
  made["nan"] = s.nan, made["infinite"] = s.infinite;
  if (s.count > kShown) return made;
  made["values"] = Json::array();
  for (int64_t i = 0; i < s.count; ++i) made["values"].push_back(number(number_at(tensor, i)));
  return made;
}

std::string line_of(const std::string& name, const Array& array) {
  std::string line = fmt::format("{}  {}[{}]", name, mica_dtype_name(array.dtype), fmt::join(array.dims, ","));
  if (array.dtype == MICA_STRING) {
    for (size_t i = 0; i < array.strings->size() && i < 8; ++i) line += fmt::format(" \"{}\"", (*array.strings)[i]);
    return line;
  }
  const Summary s = summary_of(array.tensor());
  if (s.count <= 8) {
    for (int64_t i = 0; i < s.count; ++i) line += fmt::format(" {:.6g}", number_at(array.tensor(), i));
    return line;
  }
  line += fmt::format("  min {:.6g}  max {:.6g}  mean {:.6g}", s.least, s.most, s.mean);
  if (s.nan) line += fmt::format("  NaN {}", s.nan);
  if (s.infinite) line += fmt::format("  infinite {}", s.infinite);
  return line;
}

void save(const std::string& path, const std::vector<Output>& outputs) {
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (const Output& output : outputs)
    for (size_t k = 0; k < output.items.size(); ++k)
      arrays.emplace_back(output.is_list ? output.name + "." + std::to_string(k) : output.name,
                          output.items[k].tensor());
  if (ends_with(path, ".npy") && arrays.size() == 1) return write_file(path, write_npy(arrays[0].second));
  write_file(path, write_npz(arrays));
}

// Says on stderr what was done to the picture, or that nobody knows what should be.
void say_recipe(const Feed& feed) {
  if (!feed.picture) return;
  say("pre-processing: " + described(feed.recipe));
  if (!feed.recipe.known)
    say("warning: neither the model nor the command line says how pictures become inputs; these are defaults");
}

// What one run gave.
struct Answer {
  std::vector<Output> outputs;
  std::vector<Ranked> best;
  std::vector<std::string> labels;
  double load_ms = 0, run_ms = 0;  // of all steps together
  mica_memory memory = MICA_INIT(mica_memory);
};

void print_json(const RunFlags& flags, const Feed& feed, const Answer& answer) {
  const auto& [outputs, best, labels, load_ms, run_ms, memory] = answer;
  Json made = {{"model", flags.model.path},
               {"load_ms", load_ms},
               {"run_ms", run_ms},
               {"steps", flags.steps},
               {"binds", memory.binds},
               {"refreshes", memory.refreshes},
               {"memory_bytes", memory.total},
               {"peak_rss_mb", static_cast<double>(tools::peak_rss_bytes()) / (1 << 20)}};
  for (const Feed::Item& item : feed.items)
    made["inputs"].push_back({{"name", item.name},
                              {"source", item.source},
                              {"type", mica_dtype_name(item.array.dtype)},
                              {"shape", item.array.dims}});
  if (feed.picture) made["preprocess"] = feed.recipe.json();
  for (const Ranked& r : best) {
    Json row = {{"index", r.index}, {"score", std::isfinite(r.score) ? Json(r.score) : Json(nullptr)}};
    if (static_cast<size_t>(r.index) < labels.size()) row["label"] = labels[static_cast<size_t>(r.index)];
    made["top"].push_back(row);
  }
  made["outputs"] = Json::array();
  for (const Output& output : outputs) {
    Json row = {{"name", output.name}};
    if (output.is_list) {
      row["items"] = Json::array();
      for (const Array& item : output.items) row["items"].push_back(json_of(item));
    } else {
      row.update(json_of(output.items[0]));
    }
    made["outputs"].push_back(row);
  }
  fmt::print("{}\n", made.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_text(const Answer& answer) {
  const auto& [outputs, best, labels, load_ms, run_ms, memory] = answer;
  for (const Ranked& r : best) {
    const auto index = static_cast<size_t>(r.index);
    fmt::print("{}  {:.3f}\n", index < labels.size() ? printable(labels[index]) : std::to_string(index), r.score);
  }
  if (!best.empty()) return;
  for (const Output& output : outputs)
    for (size_t k = 0; k < output.items.size() || (output.is_list && k == 0); ++k) {
      if (output.items.empty())
        fmt::print("{}  {} empty\n", printable(output.name), output.type);
      else
        fmt::print("{}\n", printable(line_of(output.is_list ? fmt::format("{}[{}]", output.name, k) : output.name,
                                             output.items[k])));
    }
}

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// `text` with the step's number for {step}.
std::string at_step(std::string text, int step) {
  constexpr std::string_view kMark = "{step}";
  for (size_t at; (at = text.find(kMark)) != std::string::npos;) text.replace(at, kMark.size(), std::to_string(step));
  return text;
}

Feed feed_of(const Model& model, const RunFlags& flags, int step) {
  InputFlags input = flags.input;
  input.says_conversions = step == 0;
  for (std::string& text : input.inputs) text = at_step(text, step);
  input.data = at_step(input.data, step);
  return make_feed(model, input);
}

// All steps; what is saved and left is the outputs of the last, or of each where the file's name says {step}.
void run_steps(const RunFlags& flags, const Model& model, Feed& feed, Answer& answer) {
  Session session = take(model.session(flags.model.session_options()));
  mica_run_options options = MICA_INIT(mica_run_options);
  options.timeout_ns = static_cast<int64_t>(flags.timeout_ms * 1e6);
  const bool save_each = flags.save.find("{step}") != std::string::npos;
  for (int step = 0; step < flags.steps; ++step) {
    if (step == 0) {
      feed.set(session);
      say_recipe(feed);
    } else {
      Feed next = feed_of(model, flags, step);
      next.set(session, &feed);
      feed = std::move(next);
    }
    const auto begin = Clock::now();
    check(session.run(options));
    answer.run_ms += milliseconds_since(begin);
    const bool last = step + 1 == flags.steps;
    if (!last && !save_each) continue;
    answer.outputs = read_outputs(model, session);
    if (!flags.save.empty()) save(at_step(flags.save, step), answer.outputs);
  }
  answer.memory = take(session.memory());
}

int run(const RunFlags& flags) {
  const Context context = flags.model.context();
  const auto loading = Clock::now();
  const Model model = flags.model.load(context);
  Answer answer;
  answer.load_ms = milliseconds_since(loading);
  Feed feed = feed_of(model, flags, 0);
  answer.labels = make_labels(model.metadata("mica.labels"), flags.input.recipe);
  run_steps(flags, model, feed, answer);
  const Array* scores = flags.top > 0 ? scores_of(answer.outputs, answer.labels.size()) : nullptr;
  if (scores) answer.best = best_of(*scores, flags.top);
  if (flags.format == "json")
    print_json(flags, feed, answer);
  else
    print_text(answer);
  return kOk;
}

}  // namespace

std::function<int()> add_run(Words& words) {
  auto flags = std::make_shared<RunFlags>();
  flags->model.add(words);
  flags->input.add(words, true);
  words.option("--save", flags->save, "OUT.npz: every output under its own name (OUT.npy for a single one)");
  words.option("--top", flags->top, "classes to print when the output holds scores; 0: none").shows_default();
  words
      .option("--steps", flags->steps,
              "runs behind each other, states going on; {step} in a file's name is the number of the step, from 0")
      .positive();
  words.option("--timeout-ms", flags->timeout_ms, "end the run with an error when it takes longer").not_negative();
  words.format(flags->format, {"table", "json"});
  return [flags] { return run(*flags); };
}

}  // namespace mica::cli
