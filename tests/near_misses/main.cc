// near_misses [--seed N] [--count N] SEED...: graphs that are almost those of models, run by the references as they
// are written, and compiled with everything; the answers must be the same. SEED: an ONNX file, or a folder with some.
// Prints each graph that fails as text, and how many changes left no answer; the last line is `N passed, N failed, 0
// skipped`.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "device/cpu/every_isa.h"
#include "fuzz/stock.h"
#include "support/near_miss.h"
#include "support/same_answers.h"
#include "support/temp_folder.h"

namespace mica {
namespace {

constexpr double kUnits = 4096;        // 5e-4 of the largest value: what is wrong is mostly wrong by far
constexpr size_t kMostBytes = 200000;  // of a model
constexpr size_t kMostText = 200000;

struct Options {
  uint64_t seed = 1;
  long count = 10000;
  std::vector<std::string> seeds;
};

// One way of running: threads, and mostly something else that changes which kernels run and how. Of the instruction
// sets those that both this processor and the build have.
support::RunOptions some_way(support::Random& random) {
  support::RunOptions options;
  options.threads = 1 + static_cast<int>(random() % 3);
  static const std::vector<Isa> sets = every_isa();
  switch (random() % 8) {
    case 0:
    case 1:
    case 2: options.runner.isa = name_of(sets[support::below(sets.size(), random)]).data(); break;
    case 3: options.runner.exact = true; break;
    case 4: options.runner.row_chains = RowChainMode::kAlways; break;
    case 5: options.runner.low_memory = true; break;
    default: break;
  }
  return options;
}

int run(const Options& options) {
  const TempFolder own("mica-near-misses");
  fuzz::Stock stock(options.seeds, kMostBytes, own.path());
  std::vector<std::string> texts;
  for (const fuzz::Seed& seed : stock.seeds())
    if (const std::string& text = stock.form(seed, fuzz::Kind::kText); !text.empty() && text.size() < kMostText &&
                                                                       text.find("f16") == std::string::npos &&
                                                                       text.find("bit_cast") == std::string::npos)
      texts.push_back(text);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("%zu graphs\n", texts.size());
  long passed = 0, failed = 0, none = 0;
  for (long i = 0; i < options.count && !texts.empty(); ++i) {
    support::Random random(options.seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(i));
    const std::string text = support::near_miss(texts[support::below(texts.size(), random)], random);
    const support::Answers answers(text, random(), kUnits);
    if (!answers.comparable()) {
      ++none;
      continue;
    }
    const std::string wrong = answers.difference(some_way(random));
    wrong.empty() ? ++passed : ++failed;
    if (!wrong.empty()) std::printf("FAILED %ld: %s in\n%s\n", i, wrong.c_str(), text.c_str());
  }
  std::printf("%ld changed graphs had no answer to compare with\n", none);
  std::printf("%ld passed, %ld failed, 0 skipped\n", passed, failed);
  return failed || !passed;
}

}  // namespace
}  // namespace mica

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);  // what runs graphs reports to it
  mica::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seed" && i + 1 < argc)
      options.seed = static_cast<uint64_t>(std::atoll(argv[++i]));
    else if (word == "--count" && i + 1 < argc)
      options.count = std::atol(argv[++i]);
    else
      options.seeds.push_back(word);
  }
  return mica::run(options);
}
