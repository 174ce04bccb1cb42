// faults [--points N] [--long N] [--only NAME] [MODEL.onnx...]: what a program meets when the system fails it.
//
// Memory: every model is loaded and run once for each request for memory on the way, which fails (alone, and with all
// behind it): each time the answer is right or the error is MICA5001, and nothing stays held. At most N requests a
// model. One long path: a model is made whose loading, binding and first run ask for memory at least N times (10,000),
// and each of the first N requests fails by itself. Files: cut off, unreadable, read-only, locked, gone, a full disk:
// an error that names the file, and the old file intact. Each check prints a line; the last is `N passed, N failed, N
// skipped`.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "base/hash.h"
#include "convert/convert.h"
#include "convert/write.h"
#include "faults.h"
#include "fuzz/seeds.h"
#include "mica/mica.h"
#include "support/heap.h"
#include "support/temp_folder.h"

namespace mica::faults {
namespace {

struct Counts {
  long passed = 0, failed = 0, skipped = 0;
} counts;

// What one use of a model gave: an error's number or, behind 0, the bytes of the outputs.
struct Answer {
  int code = 0;
  uint64_t digest = 0;
};

int code_of(mica_error* error) {
  const int code = mica_error_code(error);
  if (error) {
    (void)mica_error_text(error);
    mica_error_free(error);
  }
  return code;
}

// Without containers: what is held afterwards is the library's.
struct Use {
  mica_context* context = nullptr;
  mica_model* model = nullptr;
  mica_session* session = nullptr;
  char memory[1 << 16] = {};  // of inputs
  size_t used = 0;

  ~Use() {
    mica_session_free(session);
    mica_model_free(model);
    mica_context_free(context);
  }
  int open(const std::string& path) {
    mica_context_options options{};
    options.size = sizeof options;
    options.threads = 2;
    mica_error* error = mica_context_create(&options, &context);
    if (!error) error = mica_model_load_file(context, path.c_str(), nullptr, &model);
    if (!error) error = mica_session_create(model, nullptr, &session);
    return code_of(error);
  }
  // Zeros; 2 where a dimension is open.
  int feed() {
    for (size_t i = 0, n = mica_model_count(model, MICA_INPUT); i < n; ++i) {
      mica_port_info info{};
      info.size = sizeof info;
      if (const int code = code_of(mica_model_info(model, MICA_INPUT, i, &info))) return code;
      mica_tensor tensor{memory + used, info.dtype, info.rank, {}};
      for (int k = 0; k < info.rank; ++k) tensor.dims[k] = info.dims[k] < 0 ? 2 : info.dims[k];
      used += static_cast<size_t>(mica_tensor_bytes(&tensor) + 63) / 64 * 64;
      if (used > sizeof memory) return -1;
      if (const int code = code_of(mica_session_set_input(session, i, &tensor))) return code;
    }
    return 0;
  }
  Answer run() {
    if (const int code = code_of(mica_session_run(session, nullptr))) return {code};
    uint64_t digest = 0;
    for (size_t i = 0, n = mica_model_count(model, MICA_OUTPUT); i < n; ++i) {
      mica_tensor tensor{};
      const int code = code_of(mica_session_output(session, i, &tensor));
      if (code == 3002) continue;  // no tensor
      if (code) return {code};
      if (tensor.dtype == MICA_STRING) continue;
      const auto* bytes = static_cast<const unsigned char*>(tensor.data);
      for (int64_t k = 0; k < mica_tensor_bytes(&tensor); ++k) digest = digest * 1099511628211u + bytes[k];
    }
    return {0, digest};
  }
};

Answer use_model(const std::string& path) {
  static Use* const place = static_cast<Use*>(std::malloc(sizeof(Use)));
  Use& use = *new (place) Use;
  Answer answer{use.open(path)};
  if (!answer.code) answer.code = use.feed();
  if (!answer.code) answer = use.run();
  use.~Use();
  return answer;
}

// Without what the result holds: an error's number, or the digest of the file.
Answer convert_model(const fuzz::Seed& seed, const std::string& folder, const ImportOptions& import) {
  const auto code_of_error = [](Error error) { return Answer{static_cast<int>(error.code())}; };
  try {
    ConvertReport report;
    Source source;
    source.bytes = std::as_bytes(std::span(seed.bytes.data(), seed.bytes.size()));
    source.folder = folder;
    ConvertOptions options;
    options.import = import;
    Result<Lowered> lowered = convert(source, options, report);
    if (!lowered.ok()) return code_of_error(lowered.take_error());
    Result<std::vector<std::byte>> written = mica_bytes(lowered->plan);
    if (!written.ok()) return code_of_error(written.take_error());
    return {0, crc32c(*written)};
  } catch (const std::bad_alloc&) {  // of this function's own texts
    return {static_cast<int>(Code::kOutOfMemory)};
  }
}

bool write_model(const fuzz::Seed& seed, const std::string& folder, const std::string& path) {
  ConvertReport report;
  Source source;
  source.bytes = std::as_bytes(std::span(seed.bytes.data(), seed.bytes.size()));
  source.folder = folder;
  ConvertOptions options;
  options.import = fuzz::import_options(seed.bytes);
  Result<Lowered> lowered = convert(source, options, report);
  return lowered.ok() && write_mica(lowered->plan, path).ok();
}

struct Points {
  long most;
  bool and_after = false;
};

struct Tally {
  long tried = 0, refused = 0;
} all;

// Whether requests `n` can fail without harm; ends when a use gets by without the n-th one.
bool survives(const std::function<Answer()>& use, const Answer& right, Points points, Tally& tally) {
  for (long n = 1; n <= points.most; ++n) {
    const long held = heap::held_blocks();
    heap::fail_at(n, points.and_after);
    const Answer got = use();
    const long requests = heap::stop_counting();
    const long kept = heap::held_blocks() - held;
    const bool good = got.code ? got.code == 5001 : got.digest == right.digest;
    if (!good || kept != 0) {
      std::printf("request %ld%s: error %d, %s answer, %ld blocks kept\n", n,
                  points.and_after ? " and all behind it" : "", got.code,
                  got.digest == right.digest ? "the right" : "another", kept);
      return false;
    }
    if (requests < n) return true;
    ++tally.tried;
    tally.refused += got.code != 0;
  }
  return true;
}

void check_memory(const fuzz::Seed& seed, const std::string& folder, long points) {
  const auto* const name = seed.name.c_str();
  const std::string path = folder + "/model.mica";
  if (!write_model(seed, folder, path)) return verdict(false, std::string("memory: converting ") + name);
  (void)use_model(path);  // what the C library keeps for good
  const Answer right = use_model(path);
  if (right.code) {
    std::printf("left out: %s, error %d\n", name, right.code);
    ++counts.skipped;
    return;
  }
  Tally tally;
  const auto use = [&] { return use_model(path); };
  const bool good = survives(use, right, {points}, tally) && survives(use, right, {points, true}, tally);
  verdict(good, std::string("memory: ") + name + ", " + std::to_string(tally.tried) + " failing requests, " +
                    std::to_string(tally.refused) + " of them refused the model");
  all.tried += tally.tried;
  all.refused += tally.refused;
}

// Of one model, whose loading, binding and first run have as many requests.
void check_long_path(const std::string& folder, long points) {
  const std::string path = folder + "/long.mica";
  long requests = 0;
  Answer right;
  for (int blocks = 64; requests < points && blocks <= 4096; blocks *= 2) {
    if (!write_model(long_model(blocks), folder, path)) return verdict(false, "long path: converting");
    (void)use_model(path);
    heap::count_requests();
    right = use_model(path);
    requests = heap::stop_counting();
  }
  Tally tally;
  const auto use = [&] { return use_model(path); };
  const bool good = !right.code && requests >= points && survives(use, right, {points}, tally);
  verdict(good && tally.tried == points, "long path: " + std::to_string(requests) +
                                             " requests of one load, bind and run; " + std::to_string(tally.tried) +
                                             " failed one by one, " + std::to_string(tally.refused) +
                                             " of them refused the model");
  std::printf("figure long_path_requests %ld\nfigure long_path_failed %ld\n", requests, tally.tried);
}

void check_convert(const fuzz::Seed& seed, const std::string& folder, long points) {
  const ImportOptions import = fuzz::import_options(seed.bytes);
  const auto use = [&] { return convert_model(seed, folder, import); };
  (void)use();
  const Answer right = use();
  Tally tally;
  const bool good = !right.code && survives(use, right, {points}, tally) && survives(use, right, {points, true}, tally);
  verdict(good, "converting: " + seed.name + ", " + std::to_string(tally.tried) + " failing requests, " +
                    std::to_string(tally.refused) + " of them refused the model");
  all.tried += tally.tried;
  all.refused += tally.refused;
}

}  // namespace

void verdict(bool good, const std::string& what) {
  std::printf("%-6s %s\n", good ? "ok" : "FAILED", what.c_str());
  std::fflush(stdout);
  ++(good ? counts.passed : counts.failed);
}

int main_of(int argc, char** argv) {
  long points = 5000, long_points = 10000;
  std::string only;
  std::vector<fuzz::Seed> seeds;
  const TempFolder own("mica-faults");
  const std::string& folder = own.path();
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--points") && i + 1 < argc)
      points = std::atol(argv[++i]);
    else if (!std::strcmp(argv[i], "--long") && i + 1 < argc)
      long_points = std::atol(argv[++i]);
    else if (!std::strcmp(argv[i], "--only") && i + 1 < argc)
      only = argv[++i];
    else
      seeds.push_back({argv[i], read_text(argv[i])});
  for (fuzz::Seed& seed : fuzz::made_models()) seeds.push_back(std::move(seed));
  for (fuzz::Seed& seed : fuzz::rare_models(folder)) seeds.push_back(std::move(seed));
  if (only.empty() || only == "long path") check_long_path(folder, long_points);
  check_files(folder, seeds[0].bytes);
  for (const fuzz::Seed& seed : seeds) {
    if (!only.empty() && seed.name != only) continue;
    check_memory(seed, folder, points);
    check_convert(seed, folder, points);
  }
  std::printf("figure failing_requests %ld\nfigure refused %ld\n", all.tried, all.refused);
  std::printf("%ld passed, %ld failed, %ld skipped\n", counts.passed, counts.failed, counts.skipped);
  return counts.failed ? 1 : 0;
}

}  // namespace mica::faults

int main(int argc, char** argv) { return mica::faults::main_of(argc, argv); }
