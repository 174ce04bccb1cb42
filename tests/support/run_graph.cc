#include "run_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/os.h"
#include "base/threads.h"
#include "ir/text.h"

namespace mica::support {
namespace {

std::string text_of(const Error& error) {
  char text[2048];
  error.print(text, sizeof text);
  return text;
}

// A linear congruence whose high bits are good enough to tell tensors apart (Knuth's MMIX constants).
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  double next() {  // [0, 1)
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

}  // namespace

RunOptions plainly() {
  RunOptions options;
  options.rewrite = false;
  options.lower.fuse = options.lower.chains = options.lower.channels_last = options.lower.pack = false;
  options.runner.reference_only = true;
  options.runner.views = options.runner.in_place = options.runner.compose = false;
  return options;
}

Machinery::Machinery(Lowered lowered, const RunOptions& options) : keep_(lowered.keep) {
  if (lowered.plan.functions.empty()) return;  // what failed is reported already
  Result<Machine> machine = describe_machine({});
  if (machine.ok()) context_.machine = *machine;
  if (options.threads > 1) {
    context_.machine.threads = options.threads;
    Result<Threads> threads = Threads::create({.threads = options.threads});
    if (threads.ok()) threads_ = std::make_unique<Threads>(threads.take());
    context_.threads = threads_.get();
  }
  Result<Model*> model = Model::create(context_, std::move(lowered.plan), {});
  EXPECT_TRUE(model.ok());
  if (!model.ok()) return;
  model_ = *model;
  Result<Session*> session = Session::create(*model_, options.runner);
  EXPECT_TRUE(session.ok());
  if (session.ok()) session_ = *session;
}

Machinery::~Machinery() {
  Session::destroy(session_);
  if (model_) model_->drop();
}

std::string numbers(int n) {
  std::string text = "{";
  for (int i = 0; i < n; ++i) text += (i ? ", " : "") + std::to_string((i * 37 % 23 - 11) * 0.03125);
  return text + "}";
}

std::string weights(const char* name, std::vector<int> dims) {
  int n = 1;
  std::string text = std::string("  constant %") + name + ": f32[";
  for (size_t i = 0; i < dims.size(); ++i) {
    n *= dims[i];
    text += (i ? "," : "") + std::to_string(dims[i]);
  }
  return text + "] = " + numbers(n) + "\n";
}

Lowered compiled(const std::string& text, const RunOptions& options) {
  try {
    Graph graph = graph_from_text(text);
    if (options.rewrite) declutter(graph, options.declutter);
    return lower(std::move(graph), options.lower);
  } catch (const Failure& failure) {
    ADD_FAILURE() << text_of(*failure.error) << "in\n" << text;
    return {};
  }
}

OwnedTensor filled(const Type& type, int64_t open_size, uint64_t seed) {
  std::vector<int64_t> dims;
  for (Dim d : type.shape.span()) dims.push_back(d.is_fixed() ? d.value() : open_size);
  OwnedTensor tensor = value_or_throw(OwnedTensor::make(type.dtype, dims));
  Numbers numbers(seed);
  const Elements elements(tensor.view());
  for (int64_t i = 0; i < tensor.view().count(); ++i)
    if (is_float(type.dtype))
      elements.set_number(i, numbers.next() * 4 - 2);
    else
      elements.set_integer(i, static_cast<int64_t>(numbers.next() * 2));
  return tensor;
}

OwnedTensor floats(std::vector<int64_t> dims, std::vector<float> numbers) {
  return value_or_throw(OwnedTensor::copy_of(dense_view(numbers.data(), DType::kF32, dims)));
}
OwnedTensor ints(std::vector<int64_t> dims, std::vector<int64_t> numbers) {
  return value_or_throw(OwnedTensor::copy_of(dense_view(numbers.data(), DType::kI64, dims)));
}

std::vector<OwnedTensor> run_text(const std::string& text, const RunOptions& options) {
  Machinery machinery(compiled(text, options), options);
  if (!machinery.made()) return {};
  return run_session(machinery.session(), text, options);
}

std::vector<OwnedTensor> run_session(Session& session, const std::string& text, const RunOptions& options) {
  std::vector<OwnedTensor> inputs, outputs;
  for (size_t i = 0; i < session.input_count(); ++i) {
    if (const Type& type = session.input_type(i); !type.is_tensor() || type.dtype == DType::kString) {
      ADD_FAILURE() << "input " << i << " is no tensor of numbers";
      return outputs;
    }
    if (!options.inputs) inputs.push_back(filled(session.input_type(i), options.size, options.seed + i));
    const TensorView& view = options.inputs ? (*options.inputs)[i].view() : inputs.back().view();
    if (Status status = session.set_input(i, view); !status.ok()) ADD_FAILURE() << text_of(status.error());
  }
  const int64_t deadline = options.milliseconds ? now_ns() + options.milliseconds * 1'000'000 : 0;
  if (Status status = session.run({.deadline_ns = deadline}); !status.ok()) {
    ADD_FAILURE() << text_of(status.error()) << "in\n" << text;
    return outputs;
  }
  for (size_t i = 0; i < session.output_count(); ++i) {
    if (const Type& type = session.output_type(i); !type.is_tensor() || type.dtype == DType::kString) {
      ADD_FAILURE() << "output " << i << " is no tensor of numbers";
      continue;
    }
    Result<TensorView> view = session.output(i);
    EXPECT_TRUE(view.ok());
    if (view.ok()) outputs.push_back(value_or_throw(OwnedTensor::copy_of(*view)));
  }
  return outputs;
}

std::string difference(const TensorView& wanted, const TensorView& got, double units) {
  if (wanted.dtype != got.dtype || !std::ranges::equal(wanted.shape(), got.shape())) return "another type or shape";
  const Elements w(wanted), g(got);
  const bool exact = units == 0 || !is_float(wanted.dtype);
  double largest = 0;
  for (int64_t i = 0; !exact && i < wanted.count(); ++i)
    if (const double x = std::fabs(w.number(i)); std::isfinite(x)) largest = std::fmax(largest, x);
  const double bound = units * 0x1p-23 * largest;
  for (int64_t i = 0; i < wanted.count(); ++i) {
    const double x = w.number(i), y = g.number(i);
    const bool same = std::isnan(x) ? std::isnan(y) : x == y;
    if (same || (!exact && std::fabs(x - y) <= bound)) continue;
    char text[120];
    std::snprintf(text, sizeof text, "element %lld is %.9g, not %.9g", static_cast<long long>(i), y, x);
    return text;
  }
  return {};
}

std::string difference(const std::vector<OwnedTensor>& wanted, const std::vector<OwnedTensor>& got, double units) {
  if (wanted.size() != got.size()) return "another number of outputs";
  for (size_t i = 0; i < wanted.size(); ++i)
    if (std::string what = difference(wanted[i].view(), got[i].view(), units); !what.empty())
      return "output " + std::to_string(i) + ": " + what;
  return {};
}

}  // namespace mica::support
