#include "stock.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "convert/convert.h"
#include "convert/write.h"
#include "ir/text.h"

namespace mica::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLarge = 40000;  // bytes; such seeds are slow and taken less often

// Models and files of this test; what else lies in a corpus's folders is none.
bool is_model(const fs::path& path) {
  const std::string name = path.filename().string(), end = path.extension().string();
  return end == ".onnx" || end == ".mica" || name.starts_with("found-");
}

std::vector<fs::path> files_below(const std::string& path, size_t most_bytes) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file() && is_model(entry.path()) && entry.file_size() <= most_bytes)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Stock::Stock(const std::vector<std::string>& paths, size_t most_bytes, const std::string& folder) : folder_(folder) {
  seeds_ = made_models();
  for (Seed& seed : rare_models(folder)) seeds_.push_back(std::move(seed));
  made_ = seeds_.size();
  for (const std::string& path : paths)
    for (const fs::path& file : files_below(path, most_bytes)) add(file.string());
}

void Stock::add(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  Seed seed{path, std::string{std::istreambuf_iterator<char>(in), {}}};
  std::vector<Seed>& to = fs::path(path).filename().string().starts_with("found-") ? found_ : seeds_;
  to.push_back(std::move(seed));
}

// A third are of those made here, which have more in one file than a corpus of single operators.
const Seed& Stock::any(Random& random) const {
  const Seed* seed = nullptr;
  if (random() % 3 == 0) return seeds_[below(made_, random)];
  for (int k = 0; k < 16; ++k) {
    seed = &seeds_[below(seeds_.size(), random)];
    if (seed->bytes.size() < kLarge) break;
  }
  return *seed;
}

const std::string& Stock::form(const Seed& seed, Kind kind) {
  const auto [place, is_new] = forms_.try_emplace({&seed, kind});
  std::string& made = place->second;
  if (!is_new) return made;
  ConvertReport report;
  if (kind == Kind::kText)
    report.watch = [&](std::string_view stage, const Graph& graph) {
      if (stage == "import") made = to_text(graph, {.contents = true});
    };
  Source source;
  source.bytes = std::as_bytes(std::span(seed.bytes.data(), seed.bytes.size()));
  source.folder = folder_;
  ConvertOptions options;
  options.import = import_options(seed.bytes);
  Result<Lowered> lowered = convert(source, options, report);
  if (kind == Kind::kText || !lowered.ok()) return made;
  const Lowered compiled = lowered.take();
  Result<std::vector<std::byte>> written = mica_bytes(compiled.plan);
  if (written.ok()) made.assign(reinterpret_cast<const char*>(written->data()), written->size());
  return made;
}

const Seed* Stock::made(long i) const {
  const size_t k = static_cast<size_t>(i) - found_.size();  // wraps for what was found
  return k < made_ ? &seeds_[k] : nullptr;
}

std::string Stock::file(long i, Random& random) {
  if (i < static_cast<long>(found_.size())) return found_[static_cast<size_t>(i)].bytes;
  if (const Seed* seed = made(i)) return seed->bytes;
  const Seed& seed = any(random);
  const std::string* bytes = &seed.bytes;
  Kind kind = kind_of(*bytes);
  const size_t way = below(10, random);
  if (kind == Kind::kOnnx && way < 5) {
    const Kind wanted = way == 0 ? Kind::kText : Kind::kMica;
    const std::string& made = form(seed, wanted);
    if (!made.empty()) bytes = &made, kind = wanted;
  }
  return random() % 50 == 0 ? *bytes : changed(*bytes, kind, any(random).bytes, random);
}

std::string changed(const std::string& bytes, Kind kind, const std::string& other, Random& random) {
  switch (kind) {
    case Kind::kOnnx: return change_onnx(bytes, other, random);
    case Kind::kText: return change_text(bytes, random);
    case Kind::kMica: break;
  }
  return change_mica(bytes, random);
}

}  // namespace mica::fuzz
