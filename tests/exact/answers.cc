// answers MODEL.mica INPUTS [--isa NAME] [--threads 1,2,3,4] [--exact]: one line for each number of threads, with a
// hash over all outputs' shapes and bits. It links the runtime alone, so that it runs on an emulated processor too.
//
// INPUTS holds for each input of the model, in any order, 64-bit numbers: its position, rank, dimensions and size in
// bytes; then the bytes.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "mica/mica.hpp"

namespace {

struct Input {
  std::vector<int64_t> dims;
  std::vector<char> bytes;
};

bool read_inputs(const char* path, std::map<size_t, Input>& inputs) {
  std::ifstream file(path, std::ios::binary);
  int64_t position = 0, rank = 0, size = 0;
  const auto read = [&](void* to, int64_t count) {
    return static_cast<bool>(file.read(static_cast<char*>(to), static_cast<std::streamsize>(count)));
  };
  while (read(&position, 8)) {
    if (!read(&rank, 8) || rank < 0 || rank > MICA_MAX_RANK) return false;
    Input& input = inputs[static_cast<size_t>(position)];
    input.dims.resize(static_cast<size_t>(rank));
    if (!read(input.dims.data(), 8 * rank) || !read(&size, 8) || size < 0) return false;
    input.bytes.resize(static_cast<size_t>(size));
    if (!read(input.bytes.data(), size)) return false;
  }
  return !inputs.empty();
}

// FNV-1a (Fowler, Noll, Vo), eight bytes at a time.
struct Hash {
  uint64_t value = 0xcbf29ce484222325u;
  void add(uint64_t word) { value = (value ^ word) * 0x100000001b3u; }
};

// NaN counts as one value: processors differ in the sign and payload that they make.
void add(Hash& hash, const mica::Tensor& tensor) {
  for (int64_t d : tensor.shape()) hash.add(static_cast<uint64_t>(d));
  if (tensor.dtype() == MICA_F32) {
    for (float x : tensor.span<float>()) {
      uint32_t bits = 0x7fc00000;
      if (x == x) std::memcpy(&bits, &x, sizeof bits);
      hash.add(bits);
    }
    return;
  }
  const auto* bytes = static_cast<const unsigned char*>(tensor.data());
  for (int64_t i = 0; i < tensor.bytes(); ++i) hash.add(bytes[i]);
}

struct Flags {
  std::string model, inputs, isa;
  std::vector<int> threads = {1};
  bool exact = false;
};

template <class T>
bool fine(const T& result, const char* what) {
  if (result.ok()) return true;
  std::fprintf(stderr, "%s: %s\n", what, result.error().what());
  return false;
}

bool answer(const Flags& flags, const std::map<size_t, Input>& inputs, int threads) {
  mica_context_options machine = MICA_INIT(mica_context_options);
  machine.threads = threads;
  if (!flags.isa.empty()) machine.isa = flags.isa.c_str();
  auto context = mica::Context::create(machine);
  if (!fine(context, "context")) return false;
  auto model = context->load(flags.model);
  if (!fine(model, "load")) return false;
  mica_session_options options = MICA_INIT(mica_session_options);
  options.exact = flags.exact;
  auto session = model->session(options);
  if (!fine(session, "session")) return false;
  for (const auto& [position, input] : inputs)
    if (!fine(session->set_input(position, mica::Tensor(model->input(position).dtype, input.bytes.data(), input.dims)),
              "input"))
      return false;
  if (!fine(session->run(), "run")) return false;
  Hash hash;
  for (size_t i = 0; i < model->outputs(); ++i) {
    if (!model->output(i).is_tensor) continue;
    auto tensor = session->output(i);
    if (!fine(tensor, "output")) return false;
    add(hash, *tensor);
  }
  std::printf("%s threads=%d %016llx\n", mica_context_isa(context->get()), threads,
              static_cast<unsigned long long>(hash.value));
  return true;
}

bool parse(int count, char** words, Flags& flags) {
  if (count < 3) return false;
  flags.model = words[1];
  flags.inputs = words[2];
  for (int i = 3; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--exact") {
      flags.exact = true;
    } else if (word == "--isa" && i + 1 < count) {
      flags.isa = words[++i];
    } else if (word == "--threads" && i + 1 < count) {
      std::istringstream list(words[++i]);
      flags.threads.clear();
      for (std::string part; std::getline(list, part, ',');) flags.threads.push_back(std::stoi(part));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int count, char** words) {
  Flags flags;
  if (!parse(count, words, flags)) {
    std::fprintf(stderr, "answers MODEL.mica INPUTS [--isa NAME] [--threads 1,2,3,4] [--exact]\n");
    return 2;
  }
  std::map<size_t, Input> inputs;
  if (!read_inputs(flags.inputs.c_str(), inputs)) {
    std::fprintf(stderr, "cannot read `%s`\n", flags.inputs.c_str());
    return 2;
  }
  for (int threads : flags.threads)
    if (!answer(flags, inputs, threads)) return 1;
  return 0;
}
