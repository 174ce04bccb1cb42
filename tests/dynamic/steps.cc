// steps MODEL SEQUENCE ANSWERS [--bound DIM=N]... [--state OUTPUT=INPUT]... [--threads N]: one session runs once for
// each step of SEQUENCE. Writes every output of every step to ANSWERS, and a line of JSON for each step: how often
// parts of the model were bound, bytes held, how often memory was asked for during the step, resident bytes, and its
// time.
//
// SEQUENCE holds 64-bit numbers: for each step the number of its inputs, and for each of these its position, rank,
// dimensions and size in bytes, followed by the bytes. ANSWERS holds, for each output in order: rank, dimensions, size
// in bytes; then the bytes.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "mica/mica.hpp"
#include "mica/tools.hpp"
#include "support/heap.h"

namespace {

struct Input {
  size_t position;
  std::vector<int64_t> dims;
  std::vector<char> bytes;
};
using Step = std::vector<Input>;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "steps: %s\n", text.c_str());
  std::exit(1);
}
void check(mica_error* error) {
  if (!error) return;
  const std::string text = mica_error_text(error);
  mica_error_free(error);
  fail(text);
}
void check(const mica::Status& status) {
  if (!status.ok()) fail(status.error().text());
}
template <class T>
T take(mica::Result<T> result) {
  if (!result.ok()) fail(result.error().text());
  return std::move(*result);
}

std::vector<Step> read_sequence(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const auto number = [&] {
    int64_t n = 0;
    if (!file.read(reinterpret_cast<char*>(&n), 8)) fail("the sequence ends early");
    return n;
  };
  std::vector<Step> steps(static_cast<size_t>(number()));
  for (Step& step : steps) {
    step.resize(static_cast<size_t>(number()));
    for (Input& input : step) {
      input.position = static_cast<size_t>(number());
      input.dims.resize(static_cast<size_t>(number()));
      for (int64_t& d : input.dims) d = number();
      input.bytes.resize(static_cast<size_t>(number()));
      if (!file.read(input.bytes.data(), static_cast<std::streamsize>(input.bytes.size())))
        fail("the sequence ends early");
    }
  }
  return steps;
}

void write(std::ofstream& file, const mica::Tensor& tensor) {
  const auto number = [&](int64_t n) { file.write(reinterpret_cast<const char*>(&n), 8); };
  number(tensor.rank());
  for (int64_t d : tensor.shape()) number(d);
  number(tensor.bytes());
  if (tensor.bytes()) file.write(static_cast<const char*>(tensor.data()), tensor.bytes());
}

int64_t resident_bytes() {
  long pages = 0, all = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return pages * 4096;
}

struct Flags {
  std::string model, sequence, answers;
  int threads = 1;
  mica::tools::ConvertOptions convert;
};

Flags parse(int count, char** words) {
  Flags flags;
  if (count < 4) fail("MODEL SEQUENCE ANSWERS [--bound DIM=N]... [--state OUTPUT=INPUT]... [--threads N]");
  flags.model = words[1], flags.sequence = words[2], flags.answers = words[3];
  for (int i = 4; i + 1 < count; i += 2) {
    const std::string word = words[i], value = words[i + 1];
    const size_t equals = value.rfind('=');
    if (word == "--threads")
      flags.threads = std::stoi(value);
    else if (word == "--bound" && equals != std::string::npos)
      flags.convert.bounds[value.substr(0, equals)] = std::stoll(value.substr(equals + 1));
    else if (word == "--state" && equals != std::string::npos)
      flags.convert.states[value.substr(0, equals)] = value.substr(equals + 1);
    else
      fail("what is `" + word + " " + value + "`?");
  }
  return flags;
}

void run_step(mica::Session& session, const mica::Model& model, const Step& step) {
  for (const Input& input : step) {
    const mica::Tensor tensor(model.input(input.position).dtype, input.bytes.data(), input.dims);
    size_t k = 0;
    while (k < model.states() && model.state(k).state_input != input.position) ++k;
    check(k < model.states() ? session.set_state(k, tensor) : session.set_input(input.position, tensor));
  }
  const auto begin = std::chrono::steady_clock::now();
  mica::heap::count_requests();
  check(session.run());
  const long asked = mica::heap::stop_counting();
  const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  const mica_memory memory = take(session.memory());
  std::printf(R"({"binds":%llu,"refreshes":%llu,"held":%zu,"allocations":%ld,"blocks":%ld,"resident":%lld,"us":%.1f})"
              "\n",
              static_cast<unsigned long long>(memory.binds), static_cast<unsigned long long>(memory.refreshes),
              memory.total, asked, mica::heap::held_blocks(), static_cast<long long>(resident_bytes()), us);
}

}  // namespace

int main(int count, char** words) {
  const Flags flags = parse(count, words);
  const std::vector<Step> steps = read_sequence(flags.sequence.c_str());
  mica_context_options machine = MICA_INIT(mica_context_options);
  machine.threads = flags.threads;
  const mica::Context context = take(mica::Context::create(machine));
  mica_model* loaded = nullptr;
  check(mica::tools::load(context.get(), flags.model, flags.convert, &loaded));
  const mica::Model model(loaded);
  mica::Session session = take(model.session());
  std::ofstream answers(flags.answers, std::ios::binary);
  for (const Step& step : steps) {
    run_step(session, model, step);
    for (size_t i = 0; i < model.outputs(); ++i) write(answers, take(session.output(i)));
  }
  return answers.flush() ? 0 : 1;
}
