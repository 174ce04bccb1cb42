// run_samples MODEL IN OUT [THREADS]: a model with one float input, run once for each sample of a file.
// IN holds single-precision numbers, sample after sample; OUT gets the model's first output for each, in the same form.
// Prints the milliseconds that loading and all runs took. Exit 1 for anything that fails, 2 for usage.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "mica/mica.hpp"
#include "mica/tools.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

int stop(const char* text) {
  std::fprintf(stderr, "run_samples: %s\n", text);
  return 1;
}

// The samples of `in` through the session, one at a time.
int run_all(mica::Session& session, const std::vector<int64_t>& dims, std::ifstream& in, std::ofstream& out) {
  const int64_t elements = mica::Tensor(MICA_F32, nullptr, dims).count();
  std::vector<float> sample(static_cast<size_t>(elements));
  const auto bytes = static_cast<std::streamsize>(sample.size() * sizeof(float));
  const auto begin = Clock::now();
  int count = 0;
  for (; in.read(reinterpret_cast<char*>(sample.data()), bytes); ++count) {
    if (auto status = session.set_input(size_t{0}, mica::Tensor::of(sample.data(), dims)); !status.ok()) {
      return stop(status.error().text());
    }
    if (auto status = session.run(); !status.ok()) return stop(status.error().text());
    auto result = session.output(0);
    if (!result.ok()) return stop(result.error().text());
    const auto values = result->span<float>();
    if (values.empty()) return stop("the first output holds no single-precision numbers");
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
  }
  if (in.gcount() != 0) return stop("the file's length is no multiple of a sample's");
  if (!out.flush()) return stop("the output could not be written");
  std::printf("samples %d, run_ms %.1f\n", count, ms_since(begin));
  return 0;
}

int run(char** arguments, int threads) {
  mica_context_options options = MICA_INIT(mica_context_options);
  options.threads = threads;
  auto context = mica::Context::create(options);
  if (!context.ok()) return stop(context.error().text());
  const auto begin = Clock::now();
  mica_model* loaded = nullptr;
  if (mica::Error error{mica::tools::load(context->get(), arguments[1], {}, &loaded)}) return stop(error.text());
  const mica::Model model(loaded);
  std::printf("load_ms %.1f\n", ms_since(begin));
  const mica_port_info input = model.input(0);
  if (model.inputs() != 1 || input.dtype != MICA_F32) return stop("the model has not one single-precision input");
  std::vector<int64_t> dims(input.dims, input.dims + input.rank);
  for (int64_t& d : dims) d = d < 0 ? 1 : d;
  auto session = model.session();
  if (!session.ok()) return stop(session.error().text());
  std::ifstream in(arguments[2], std::ios::binary);
  if (!in) return stop("the input file cannot be read");
  std::ofstream out(arguments[3], std::ios::binary);
  return run_all(*session, dims, in, out);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4 && count != 5) {
    std::fputs("usage: run_samples MODEL IN OUT [THREADS]\n", stderr);
    return 2;
  }
  return run(arguments, count == 5 ? std::atoi(arguments[4]) : 1);
}
