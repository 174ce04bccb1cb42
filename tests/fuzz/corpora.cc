// corpora OUT [--most-bytes B] SEED...: the seeds of the fuzzing targets, as files in OUT/onnx, OUT/text and OUT/mica.
// A SEED is an ONNX model, a found problem or a folder with such; the models made here come with them.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "stock.h"

namespace mica::fuzz {
namespace {

namespace fs = std::filesystem;

struct Folders {
  std::string out;
  long files[kKinds] = {};

  void add(Kind kind, const std::string& bytes, size_t most) {
    if (bytes.empty() || bytes.size() > most) return;
    const int k = static_cast<int>(kind);
    const std::string name = std::to_string(std::hash<std::string>()(bytes));
    std::ofstream(out + "/" + kKindNames[k] + "/" + name + "." + kKindNames[k], std::ios::binary) << bytes;
    ++files[k];
  }
};

int main_of(int argc, char** argv) {
  if (argc < 2) return std::fputs("usage: corpora OUT [--most-bytes B] SEED...\n", stderr), 2;
  Folders folders{argv[1]};
  size_t most = 40000;
  std::vector<std::string> paths;
  for (int i = 2; i < argc; ++i)
    if (!std::strcmp(argv[i], "--most-bytes") && i + 1 < argc)
      most = static_cast<size_t>(std::atoll(argv[++i]));
    else
      paths.push_back(argv[i]);
  for (const char* name : kKindNames) fs::create_directories(folders.out + "/" + name);
  Stock stock(paths, most, folders.out);
  for (const Seed& seed : stock.found()) folders.add(kind_of(seed.bytes), seed.bytes, most);
  for (const Seed& seed : stock.seeds()) {
    folders.add(kind_of(seed.bytes), seed.bytes, most);
    if (kind_of(seed.bytes) != Kind::kOnnx) continue;
    for (const Kind kind : {Kind::kText, Kind::kMica}) folders.add(kind, stock.form(seed, kind), most);
  }
  for (int k = 0; k < kKinds; ++k) std::printf("%s: %ld seeds\n", kKindNames[k], folders.files[k]);
  return 0;
}

}  // namespace
}  // namespace mica::fuzz

int main(int argc, char** argv) { return mica::fuzz::main_of(argc, argv); }
