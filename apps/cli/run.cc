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

// Of the finite elements where the smallest and the largest stand, and the mean; nothing of complex ones.
struct Summary {
  int64_t least = -1, most = -1;
  double mean = 0;
  int64_t nan = 0, infinite = 0, count = 0;
};
Summary summary_of(const Tensor& tensor) {
  Summary made;
  made.count = tensor.count();
  int64_t finite = 0;
  for (int64_t i = 0; i < made.count; ++i) {
    const double value = number_at(tensor, i), imaginary = imaginary_at(tensor, i);
    const bool nan = std::isnan(value) || std::isnan(imaginary);
    made.nan += nan;
    made.infinite += !nan && (std::isinf(value) || std::isinf(imaginary));
    if (!std::isfinite(value) || is_complex(tensor.dtype())) continue;
    if (made.least < 0 || is_less(tensor, i, made.least)) made.least = i;
    if (made.most < 0 || is_less(tensor, made.most, i)) made.most = i;
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

Json element_json(const Tensor& tensor, int64_t index) {
  const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  if (index < 0) return nullptr;
  if (tensor.dtype() == MICA_U64) return static_cast<uint64_t>(whole_at(tensor, index));
  if (is_whole(tensor.dtype())) return whole_at(tensor, index);
  if (is_complex(tensor.dtype()))
    return Json::array({number(number_at(tensor, index)), number(imaginary_at(tensor, index))});
  return number(number_at(tensor, index));
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
  made["min"] = element_json(tensor, s.least), made["max"] = element_json(tensor, s.most);
  made["mean"] = s.least >= 0 ? Json(s.mean) : Json(nullptr);
  made["nan"] = s.nan, made["infinite"] = s.infinite;
  if (s.count > kShown) return made;
  made["values"] = Json::array();
  for (int64_t i = 0; i < s.count; ++i) made["values"].push_back(element_json(tensor, i));
  return made;
}

std::string line_of(const std::string& name, const Array& array) {
  std::string line = fmt::format("{}  {}[{}]", name, mica_dtype_name(array.dtype), fmt::join(array.dims, ","));
  if (array.dtype == MICA_STRING) {
    for (size_t i = 0; i < array.strings->size() && i < 8; ++i) line += fmt::format(" \"{}\"", (*array.strings)[i]);
    return line;
  }
  const Tensor tensor = array.tensor();
  const Summary s = summary_of(tensor);
  constexpr int64_t kShown = 8;
  const bool whole = s.count <= kShown;
  if (whole || is_complex(array.dtype))
    for (int64_t i = 0; i < s.count && i < kShown; ++i) line += " " + element_text(tensor, i);
  if (whole) return line;
  if (is_complex(array.dtype)) line += " …";
  if (s.least >= 0)
    line += fmt::format("  min {}  max {}  mean {:.6g}", element_text(tensor, s.least), element_text(tensor, s.most),
                        s.mean);
  if (s.nan) line += fmt::format("  NaN {}", s.nan);
  if (s.infinite) line += fmt::format("  infinite {}", s.infinite);
  return line;
}

void check_single(const std::string& path, size_t arrays) {
  if (ends_with(path, ".npy") && arrays != 1)
    fail_usage(fmt::format("`{}` holds one array, and the outputs are {}", path, arrays), "save them as .npz");
}

void save(const std::string& path, const std::vector<Output>& outputs) {
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (const Output& output : outputs)
    for (size_t k = 0; k < output.items.size(); ++k)
      arrays.emplace_back(output.is_list ? output.name + "." + std::to_string(k) : output.name,
                          output.items[k].tensor());
  if (ends_with(path, ".npy")) {
    check_single(path, arrays.size());
    return write_file(path, write_npy(arrays[0].second));
  }
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
  put("{}\n", made.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_text(const Answer& answer) {
  const auto& [outputs, best, labels, load_ms, run_ms, memory] = answer;
  for (const Ranked& r : best) {
    const auto index = static_cast<size_t>(r.index);
    put("{}  {:.3f}\n", index < labels.size() ? printable(labels[index]) : std::to_string(index), r.score);
  }
  if (!best.empty()) return;
  for (const Output& output : outputs)
    for (size_t k = 0; k < output.items.size() || (output.is_list && k == 0); ++k) {
      if (output.items.empty())
        put("{}  {} empty\n", printable(output.name), output.type);
      else
        put("{}\n",
            printable(line_of(output.is_list ? fmt::format("{}[{}]", output.name, k) : output.name, output.items[k])));
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
  options.timeout_ns = static_cast<int64_t>(std::ceil(flags.timeout_ms * 1e6));  // 0: no limit
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

// What --save is going to write, of all steps.
std::vector<std::string> saved_files(const RunFlags& flags) {
  if (flags.save.empty()) return {};
  std::vector<std::string> files;
  const int steps = flags.save == at_step(flags.save, 0) ? 1 : flags.steps;
  for (int step = 0; step < steps; ++step) files.push_back(at_step(flags.save, step));
  return files;
}

// Labels without scores of as many classes name nothing.
void say_labels(const Answer& answer) {
  if (answer.labels.empty() || scores_of(answer.outputs, answer.labels.size())) return;
  say(fmt::format("warning: there are names for {} classes, and no output is a row of as many scores",
                  answer.labels.size()));
}

int run(const RunFlags& flags) {
  set_written(saved_files(flags));
  const Context context = flags.model.context();
  const auto loading = Clock::now();
  const Model model = flags.model.load(context);
  if (model.outputs() != 1) check_single(flags.save, model.outputs());
  Answer answer;
  answer.load_ms = milliseconds_since(loading);
  Feed feed = feed_of(model, flags, 0);
  answer.labels = make_labels(model.metadata("mica.labels"), flags.input.recipe);
  run_steps(flags, model, feed, answer);
  if (flags.top > 0) say_labels(answer);
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
  words.option("--save", flags->save, "OUT.npz: every output under its own name (OUT.npy for a single one)")
      .not_empty();
  words.option("--top", flags->top, "classes to print when the output holds scores; 0: none").shows_default();
  words
      .option("--steps", flags->steps,
              "runs behind each other, states going on; {step} in a file's name is the number of the step, from 0")
      .positive();
  words.option("--timeout-ms", flags->timeout_ms, "end the run with an error when it takes longer").between(0, 1e9);
  words.format(flags->format, {"table", "json"});
  return [flags] { return run(*flags); };
}

}  // namespace mica::cli
