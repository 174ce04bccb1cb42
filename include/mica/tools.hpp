// The tools library: converting, measuring, comparing and looking inside, as functions. For programs on a workstation;
// a device needs mica.h only. Functions follow mica.h: null when all went well, else an error that the caller frees.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mica/mica.h"

namespace mica::tools {

struct ConvertOptions {
  std::map<std::string, std::vector<int64_t>> shapes;  // input → sizes; -1 keeps an axis
  std::map<std::string, int64_t> bounds;               // named dimension → largest value
  std::map<std::string, std::string> states;           // output → input of the next run
  std::vector<std::string> outputs;                    // values to return instead of the model's outputs
  std::vector<std::string> keep;                       // values that must exist at run time; 6002 for one that does not
  std::vector<std::string> rules_off;  // rewriting rules that must not fire; 6002 for one that there is not
  std::string preprocess;              // JSON (docs/preprocessing.md), 6001 where it cannot be; empty: the model's own
  bool pixels = false;  // the picture's input takes bytes (u8, channels last); mean, scale and layout are the model's
  std::vector<std::string> labels;   // names of classes; empty: the model's own
  bool fuse = true;                  // activations and residuals into the stages before them
  bool pack = true;                  // weights in the form that kernels read
  bool half_weights = false;         // of a file that is written: half the size, rounded
  bool strict = false;               // declarations that contradict what was inferred are errors
  std::string onnx_release;          // as "1.21": its definitions, where a later release corrected them
  std::vector<std::string> written;  // files that the caller is going to write: 6001 where the model is in one of them
};

struct ConvertReport {
  size_t nodes_imported = 0, nodes_decluttered = 0, stages = 0;
  std::vector<std::pair<std::string, int64_t>> rules_fired;
  int64_t parameters = 0;  // elements of constants
  int64_t constant_bytes = 0;
  int64_t file_bytes = 0, weight_bytes = 0;  // of a file that was written
};

struct LoadOptions : ConvertOptions {
  LoadOptions() = default;
  LoadOptions(const ConvertOptions& convert) : ConvertOptions(convert) {}
  std::optional<std::string> tuning;  // as mica_load_options::tuning, also for a source model
};

// How a picture becomes a network's input (docs/preprocessing.md). What is not set goes by the defaults.
struct Recipe {
  std::string input, layout, channels, fit;
  std::vector<int64_t> size;        // height, width
  int64_t short_side = 0;           // 0: not set
  std::vector<double> mean, scale;  // one number, or one per channel
};
// From JSON, as it is stored with a model. Errors: 6001 for an unknown key and for what a value cannot be.
mica_error* parse_recipe(const std::string& json, Recipe& recipe);

// A source model or a `.mica` file, told apart by its bytes, ready for sessions. `report` may be null. Errors: 6001 for
// options given with a `.mica` file, which is compiled already.
mica_error* load(mica_context* context, const std::string& path, const LoadOptions& options, mica_model** model,
                 ConvertReport* report = nullptr);

struct ModelBytes {
  const void* data = nullptr;  // not needed after the call
  size_t size = 0;
  std::string name;    // what messages call the model
  std::string folder;  // where external data lies; empty: external data is refused
};
// The same for a model in memory.
mica_error* load_memory(mica_context* context, const ModelBytes& bytes, const LoadOptions& options, mica_model** model,
                        ConvertReport* report = nullptr);

// Compiles a source model into a `.mica` file, which is written under a temporary name first. Operators of `context`,
// which may be null, come before Mica's own; a program that loads the file needs them too. Errors: 6001 where `out` is
// the model or holds its weights, whatever links lead to it, and for a source that is a `.mica` file.
mica_error* convert_file(mica_context* context, const std::string& path, const std::string& out,
                         const ConvertOptions& options, ConvertReport* report = nullptr);

// ---- Files, as Mica's own are read and written ----

// Errors: 7001 with the system's reason.
mica_error* read_file(const std::string& path, std::string& bytes);
// Another program sees the old file or the whole new one: links are followed, permissions kept, and what is there but
// no regular file is refused. Errors: 7001 with the system's reason.
mica_error* write_file(const std::string& path, const std::string& bytes);
// 6001 when a file that is read is one of those that are going to be written, by whatever name or link.
mica_error* check_not_written(const std::string& path, const std::vector<std::string>& written);

// ---- Measuring: on a session whose inputs are set, and without a stage callback of the caller's. Every run that is
// measured begins from the states that the session came with, which it has again afterwards: all runs do the same work,
// and a state that grows stays within its bound. ----

struct BenchOptions {
  double seconds = 2;                          // of timed runs, after a warm-up of a tenth of it
  int64_t warm_runs = 0;                       // and of at least so many runs
  bool layers = false;                         // also time the stages, in runs of their own
  std::function<void(double share)> progress;  // now and then, 0 … 1; what it throws ends the measurement and comes out
};
struct LayerTime {
  std::string name, op, kernel;  // of the source model; of Mica; "" for the reference
  int64_t begin_ns = 0;          // since the run began
  double ms = 0, min_ms = 0;     // median and fastest of the runs
  double share = 0;              // of the sum of all medians
  int64_t flops = 0, bytes = 0;
  int64_t constant_bytes = 0;  // of the bytes, weights
  bool bytes_product = false;  // products of 8-bit integers
};
struct BenchReport {
  double median_ms = 0, min_ms = 0, p90_ms = 0, mean_ms = 0, deviation_ms = 0, first_ms = 0;
  int64_t runs = 0, flops = 0;  // flops: of a run, with `layers`
  std::vector<LayerTime> layers;
};
// Errors: those of a run; 6001 for seconds that are no number from 0 to 10^6, here as in the others.
mica_error* bench(mica_session* session, const BenchOptions& options, BenchReport& report);
// The stages of one run.
mica_error* profile(mica_session* session, std::vector<LayerTime>& layers);
// Which algorithm each convolution and product of matrices has, what the others were predicted to cost, and whether the
// one that the environment variable MICA_FORCE names could be taken and is. Binds, but does not run.
struct StageChoice {
  std::string name, op, kernel, choice;
  bool can_force = false, is_forced = false;
  bool is_tuned = false;  // measured, not predicted
};
mica_error* explain(mica_session* session, std::vector<StageChoice>& choices);

struct TuneOptions {
  double seconds = 1;                          // of measured runs; each choice is measured five times at least
  std::string path;                            // of the file of choices; "": none is written
  std::function<void(mica_session*)> feed;     // sets a session's inputs; what it throws comes out
  std::function<void(double share)> progress;  // as of BenchOptions
};
struct TunedProblem {
  struct Candidate {
    std::string algorithm;
    double predicted_kcycles = 0;
    double ms = 0;  // median of a stage; 0: not measured, because nothing else could be better
  };
  std::string problem;                // sizes: in:out:kernel:stride:dilation:padding:groups
  int64_t stages = 0;                 // that have it
  std::vector<Candidate> candidates;  // the first is the predicted best
  size_t best = 0;                    // the first, unless another one is clearly faster
};
struct TuneReport {
  std::vector<TunedProblem> problems;
  int64_t turns = 0;
  double before_ms = 0, after_ms = 0;  // of a run, predicted and with the choices; 0 when no choice differs
  bool kept = false;  // there are such, the run as a whole is not slower with them, and they are in the file
};
// Measures the algorithms of convolutions that are predicted to take at most twice the time of the best, in processor
// time, on a context of one thread, and writes where another one than the predicted is faster by 5 % and more. Choices
// for other problems that the file has already stay in it. Errors: 6001 for more threads, while MICA_FORCE is set, and
// for a file that holds something else than choices.
mica_error* tune(mica_model* model, const TuneOptions& options, TuneReport& report);
// Stages as JSON that Perfetto and chrome://tracing open.
std::string trace_json(const std::vector<LayerTime>& layers, const std::string& title);
// Floating-point operations of the run that would come next; stages whose shapes depend on data are left out. Prepares
// the session. Errors: those of mica_session_prepare.
mica_error* count_flops(mica_session* session, int64_t& flops);
// Memory that this process has had in RAM at most.
int64_t peak_rss_bytes();

struct MemoryLevel {
  double bytes = 0;         // that the level holds
  double one = 0, all = 0;  // bytes a second, read or copied within it, by one thread and by all
};
struct MachinePeak {
  double flops_one = 0, flops_all = 0;  // single-precision operations a second, of one thread and of all
  double bytes_one = 0, bytes_all = 0;  // bytes a second read and written by a copy beyond the caches
  double dot_one = 0, dot_all = 0;      // operations a second of products of bytes
  MemoryLevel levels[4];                // L1, L2, L3, memory
  // Nanoseconds that a line of memory takes to another thread and back; 0: one thread, or no other one came. 50 to 100
  // where they share a cache. Where they do not (300 and more), several threads gain less.
  double handover_ns = 0;
};
// Takes about a second. The shared cache is measured over as many bytes as the layers have weights.
mica_error* measure_peak(mica_context* context, MachinePeak& peak, const std::vector<LayerTime>& layers = {});
// The least milliseconds that the ceilings of all threads allow each of a run's stages.
std::vector<double> roofline_ms(const std::vector<LayerTime>& layers, const MachinePeak& peak);

struct Machine {
  std::string processor, isa;
  std::vector<std::string> isas;  // that this build has and this processor runs
  int threads = 0, usable_processors = 0;
  double cpu_quota = 0;                       // processors' worth that control groups grant; 0: no limit
  int64_t l1d = 0, l2 = 0, l3 = 0, page = 0;  // bytes
};
Machine describe_machine(const mica_context* context);

// ---- Comparing ----

struct CompareOptions {
  // Differs: |a - b| > max(absolute, relative · max|a|); NaN against a number.
  double relative = 1e-4, absolute = 1e-6;
  bool stages = true;
  // Of the run of `a`; 0: no limit. Behind them the last values that it had made are compared, and no outputs.
  double seconds = 0;
};
struct ValueError {
  std::string name, reason;  // reason: another type or shape, else empty
  double max_abs = 0, max_ref = 0, rms = 0;
  int64_t elements = 0, wrong = 0;
  int64_t finite = 0;  // elements that are finite in both
  bool nan = false, same_best = true, different = false;
};
struct CompareReport {
  std::vector<ValueError> outputs;
  bool different = false;
  bool shows_nothing = false;                       // there were elements and none differs, but none was finite in both
  size_t compared = 0;                              // values inside that both forms have, as far as they were kept
  bool cut = false;                                 // `a` took longer than it might
  size_t ran = 0, stages = 0;                       // how many stages of `a` had run, where they were watched
  std::string first_stage, first_op, first_kernel;  // the first stage of `b` whose result differs
  ValueError first;
};
mica_error* compare(mica_session* a, mica_session* b, const CompareOptions& options, CompareReport& report);

// ---- Looking ----

struct OperatorInfo {
  struct Spelling {
    std::string format, domain, name;
    int since = 1, until = -1;  // versions; until -1: the latest
  };
  std::string name, doc;
  int input_least = 0, input_most = 0, output_least = 0, output_most = 0;  // most -1: any number
  bool kernel = false;                                          // has kernels, or is a view; else the reference runs
  std::vector<std::pair<std::string, std::string>> attributes;  // name and meaning
  std::vector<std::vector<std::string>> types;                  // of elements, that each input may have; asked for
};
// Every operator by its name, and every spelling that the importers know, in the order of format, domain and name.
// `only`: one operator alone. `types` of an operator is what its inference accepts, each input's beside some types of
// the others.
std::vector<OperatorInfo> all_operators(bool with_types = false, const std::string& only = {});
std::vector<OperatorInfo::Spelling> all_spellings();

struct RuleInfo {
  std::string name, table, doc;
};
std::vector<RuleInfo> all_rules();

// A form of a model as "text", "json", "dot" or "html". `stage` of a source model: "import" or "graph" (after
// declutter).
struct InspectOptions {
  std::string stage, format = "text";
  bool constants = false;  // text: constants in full, so that it can be read back
};
mica_error* inspect_source(mica_context* context, const std::string& path, const ConvertOptions& convert,
                           const InspectOptions& options, std::string& text);
// The plan of a model; with a session whose inputs are set, bound to their shapes.
mica_error* inspect_plan(mica_model* model, const InspectOptions& options, std::string& text);
mica_error* inspect_bound(mica_session* session, const InspectOptions& options, std::string& text);

struct ModelSummary {
  int64_t parameters = 0, constant_bytes = 0;
  size_t functions = 0, stages = 0;
  std::vector<std::pair<std::string, size_t>> operators;  // with how often, the most frequent first
};
ModelSummary summarize(const mica_model* model);

// What a runtime for this model alone needs, beside the algorithms that a machine chooses: lines of a list for the
// build option MICA_TRIM, such as "operator conv", in order.
std::vector<std::string> parts_of(const mica_model* model);

}  // namespace mica::tools
