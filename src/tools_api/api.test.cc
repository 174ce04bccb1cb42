// The C and C++ interfaces on models made from text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "mica/mica.hpp"
#include "mica/tools.hpp"

namespace mica::api_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model from the text form.
Model model_of(const Context& context, const std::string& text) {
  const std::string path = ::testing::TempDir() + "mica_api_" + std::to_string(getpid()) + ".txt";
  std::ofstream(path) << text;
  mica_model* model = nullptr;
  mica_error* error = tools::load(context.get(), path, {}, &model);
  std::remove(path.c_str());
  EXPECT_EQ(error, nullptr) << mica_error_text(error);
  mica_error_free(error);
  return Model(model);
}

Context context_of(int threads = 1) {
  mica_context_options options = MICA_INIT(mica_context_options);
  options.threads = threads;
  return std::move(*Context::create(options));
}

constexpr const char* kChain = R"(graph "chain"
symbol N input
input %x: f32[N,64] "x"
%a: f32[N,64] = exp(%x)  # first
%b: f32[N,64] = softmax(%a)  # second
output %a "a"
output %b "b"
end
)";

constexpr const char* kState = R"(graph "sum"
input %x: f32[2] "x"
input %s: f32[2] "s"
%t: f32[2] = add(%x, %s)
output %t "t"
state "t" "s"
end
)";

std::vector<float> numbers(const Tensor& tensor) {
  const Span<float> span = tensor.span<float>();
  return {span.begin(), span.end()};
}

TEST(Api, PortsAndNames) {
  const Context context = context_of();
  const Model model = model_of(context, kChain);
  ASSERT_EQ(model.inputs(), 1u);
  EXPECT_STREQ(model.input(0).type, "f32[N,64]");
  EXPECT_EQ(model.input(0).dims[0], -1);
  EXPECT_STREQ(model.input(0).dim_names[0], "N");
  EXPECT_EQ(model.input(0).dim_names[1], nullptr);
  EXPECT_EQ(*model.find(MICA_OUTPUT, "b"), 1u);
  const auto missing = model.find(MICA_OUTPUT, "c");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), 6002);
  mica_port_info info = MICA_INIT(mica_port_info);
  info.size = sizeof(size_t) + sizeof(const char*);  // an older caller's
  EXPECT_EQ(mica_model_info(model.get(), MICA_INPUT, 0, &info), nullptr);
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.type, nullptr);
}

TEST(Api, UnknownFieldsAreRefused) {
  struct Newer {
    mica_run_options known;
    int64_t fresh;
  } newer{};
  newer.known.size = sizeof newer;
  const Context context = context_of();
  auto session = model_of(context, kState).session();
  std::vector<float> x(2, 1);
  ASSERT_TRUE(session->set_input("x", Tensor::of(x.data(), {2})).ok());
  EXPECT_TRUE(session->run(newer.known).ok());
  newer.fresh = 1;
  Status status = session->run(newer.known);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), 6001);
}

TEST(Api, StatesAreCarriedSetAndReset) {
  const Context context = context_of();
  const Model model = model_of(context, kState);
  ASSERT_EQ(model.states(), 1u);
  EXPECT_STREQ(model.state(0).name, "s");
  auto session = model.session();
  std::vector<float> x = {1, 2}, s = {10, 20};
  ASSERT_TRUE(session->set_input("x", Tensor::of(x.data(), {2})).ok());
  ASSERT_TRUE(session->run().ok());
  ASSERT_TRUE(session->run().ok());
  EXPECT_THAT(numbers(*session->output(0)), ElementsAre(2, 4));
  EXPECT_THAT(numbers(*session->state(0)), ElementsAre(2, 4));
  ASSERT_TRUE(session->set_state(0, Tensor::of(s.data(), {2})).ok());
  ASSERT_TRUE(session->run().ok());
  EXPECT_THAT(numbers(*session->output(0)), ElementsAre(11, 22));
  ASSERT_TRUE(session->reset().ok());
  ASSERT_TRUE(session->run().ok());
  EXPECT_THAT(numbers(*session->output(0)), ElementsAre(1, 2));
  EXPECT_FALSE(session->state(1).ok());
}

TEST(Api, MemoryCapIsKept) {
  const Context context = context_of();
  const Model model = model_of(context, kChain);
  std::vector<float> x(64 * 100);
  mica_session_options options = MICA_INIT(mica_session_options);
  options.memory_cap = 4096;
  auto session = model.session(options);
  ASSERT_TRUE(session->set_input(0, Tensor::of(x.data(), {100, 64})).ok());
  auto refused = session->prepare();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), 5002);
  EXPECT_EQ(session->run().error().code(), 5002);
  ASSERT_TRUE(session->set_input(0, Tensor::of(x.data(), {1, 64})).ok());
  auto memory = session->prepare();
  ASSERT_TRUE(memory.ok()) << memory.error().text();
  EXPECT_LE(memory->total, options.memory_cap);
  EXPECT_GE(memory->arena, memory->arena_bound);
  EXPECT_TRUE(session->run().ok());
}

struct Watch {
  std::vector<std::string> stages, values;
  std::atomic<int> seen{0};
  std::atomic<bool> hold{false};
  float first = 0;
  int answer = 0;
};
int on_stage(void* user, const mica_stage_event* event) {
  auto& watch = *static_cast<Watch*>(user);
  watch.stages.emplace_back(event->name);
  for (size_t i = 0; i < event->output_count; ++i) watch.values.emplace_back(event->output_names[i]);
  if (event->output_count && event->outputs[0].data) watch.first = *static_cast<const float*>(event->outputs[0].data);
  ++watch.seen;
  while (watch.hold) std::this_thread::yield();
  return watch.answer;
}

Session watched(const Model& model, Watch& watch, bool outputs) {
  mica_session_options options = MICA_INIT(mica_session_options);
  options.stage = on_stage;
  options.stage_user = &watch;
  options.stage_outputs = outputs;
  return std::move(*model.session(options));
}

TEST(Api, StagesAreTold) {
  const Context context = context_of();
  const Model model = model_of(context, kChain);
  Watch watch;
  Session session = watched(model, watch, true);
  std::vector<float> x(64);
  ASSERT_TRUE(session.set_input(0, Tensor::of(x.data(), {1, 64})).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(watch.stages, ElementsAre("first", "second"));
  EXPECT_THAT(watch.values, ElementsAre("a", "b"));
  EXPECT_FLOAT_EQ(watch.first, 1.0f / 64);
  watch.answer = 1;
  EXPECT_EQ(session.run().error().code(), 4002);
}

TEST(Api, RunsInTheBackgroundAndIsCancelled) {
  const Context context = context_of();
  const Model model = model_of(context, kChain);
  Watch watch;
  Session session = watched(model, watch, false);
  std::vector<float> x(64);
  ASSERT_TRUE(session.set_input(0, Tensor::of(x.data(), {1, 64})).ok());
  watch.hold = true;
  ASSERT_TRUE(session.run_async().ok());
  while (watch.seen == 0) std::this_thread::yield();
  EXPECT_EQ(session.run().error().code(), 6003);
  EXPECT_EQ(session.set_input(0, Tensor::of(x.data(), {1, 64})).error().code(), 6003);
  EXPECT_EQ(session.output(0).error().code(), 6003);
  session.cancel();
  watch.hold = false;
  EXPECT_EQ(session.wait().error().code(), 4002);
  EXPECT_TRUE(session.wait().ok());  // the error was taken
  ASSERT_TRUE(session.run_async().ok());
  EXPECT_TRUE(session.wait().ok());
  EXPECT_TRUE(session.output(0).ok());
}

TEST(Api, ARunAsksWhetherToStop) {
  const Context context = context_of();
  const Model model = model_of(context, kState);
  auto session = model.session();
  std::vector<float> x = {1, 2};
  ASSERT_TRUE(session->set_input("x", Tensor::of(x.data(), {2})).ok());
  struct Asked {
    int times = 0, stop_at = 1;
  } asked;
  mica_run_options options = MICA_INIT(mica_run_options);
  options.stop_user = &asked;
  options.stop = [](void* user) {
    auto& self = *static_cast<Asked*>(user);
    return static_cast<int>(++self.times == self.stop_at);
  };
  EXPECT_EQ(session->run(options).error().code(), 4002);
  EXPECT_EQ(asked.times, 1);
  EXPECT_TRUE(session->run(options).ok());
  EXPECT_GT(asked.times, 1);
  EXPECT_THAT(numbers(*session->output(0)), ElementsAre(1, 2));  // the run that was stopped left the state as it was
}

TEST(Api, FreeingASessionEndsItsRun) {
  const Context context = context_of();
  const Model model = model_of(context, kChain);
  Watch watch;
  std::vector<float> x(64);
  {
    Session session = watched(model, watch, false);
    ASSERT_TRUE(session.set_input(0, Tensor::of(x.data(), {1, 64})).ok());
    ASSERT_TRUE(session.run_async().ok());
  }
  SUCCEED();
}

struct Ending {
  mica_session* session = nullptr;
  std::atomic<int> code{-1};
  int again = -1;  // of a second run, begun before the end
};

void end_now(void* user, mica_error* error) {
  auto& self = *static_cast<Ending*>(user);
  const int code = mica_error_code(error);
  mica_error_free(error);
  mica_session_free(self.session);
  self.code = code;
}

void end_later(void* user, mica_error*) {
  auto& self = *static_cast<Ending*>(user);
  self.again = mica_error_code(mica_session_run_async(self.session, nullptr, end_now, user));
}

TEST(Api, ARunsDoneMayFreeItsSession) {
  std::vector<float> x(64);
  for (const bool twice : {false, true}) {
    const Context context = context_of();
    const Model model = model_of(context, kChain);
    Ending ending;
    ASSERT_EQ(mica_session_create(model.get(), nullptr, &ending.session), nullptr);
    ASSERT_EQ(mica_session_set_input(ending.session, 0, &Tensor::of(x.data(), {1, 64}).raw()), nullptr);
    ASSERT_EQ(mica_session_run_async(ending.session, nullptr, twice ? end_later : end_now, &ending), nullptr);
    while (ending.code < 0) std::this_thread::yield();
    EXPECT_EQ(ending.code, 0);
    EXPECT_EQ(ending.again, twice ? 0 : -1);
  }
}

TEST(Api, AStatesInputIsTakenBack) {
  const Context context = context_of();
  const Model model = model_of(context, kState);
  auto session = model.session();
  std::vector<float> x = {1, 2}, s = {10, 20};
  ASSERT_TRUE(session->set_input("x", Tensor::of(x.data(), {2})).ok());
  ASSERT_TRUE(session->set_input("s", Tensor::of(s.data(), {2})).ok());
  ASSERT_TRUE(session->run().ok());
  ASSERT_TRUE(session->run().ok());
  EXPECT_THAT(numbers(*session->output(0)), ElementsAre(11, 22));
  ASSERT_TRUE(session->take_back_input(1).ok());
  ASSERT_TRUE(session->run().ok());
  EXPECT_THAT(numbers(*session->output(0)), ElementsAre(12, 24));
  ASSERT_TRUE(session->set_input("s", Tensor::of(s.data(), {2})).ok());
  ASSERT_TRUE(session->reset().ok());
  ASSERT_TRUE(session->run().ok());
  EXPECT_THAT(numbers(*session->output(0)), ElementsAre(1, 2));
  EXPECT_EQ(session->take_back_input(9).error().code(), 6002);
}

// A cache of rows of two, whose length is the number of runs.
constexpr const char* kCache = R"(graph "cache"
symbol P input
input %x: f32[1,2] "x"
input %h: f32[P,2] "h"
%n = concat(%h, %x) axis=0
%e = exp(%n)
output %n "n"
output %e "e"
state "n" "h"
end
)";

TEST(Api, CostsOfAGrowingState) {
  const Context context = context_of();
  const Model model = model_of(context, kCache);
  auto session = model.session();
  int64_t flops = -1;
  mica_error* unset = tools::count_flops(session->get(), flops);
  EXPECT_EQ(mica_error_code(unset), 6003);
  mica_error_free(unset);
  std::vector<float> x = {1, 2};
  ASSERT_TRUE(session->set_input("x", Tensor::of(x.data(), {1, 2})).ok());
  ASSERT_EQ(tools::count_flops(session->get(), flops), nullptr);
  EXPECT_EQ(flops, 2);
  ASSERT_TRUE(session->run().ok());
  ASSERT_EQ(tools::count_flops(session->get(), flops), nullptr);
  EXPECT_EQ(flops, 4);
  for (const double seconds : {-1.0, std::nan(""), HUGE_VAL}) {
    tools::BenchReport report;
    mica_error* refused = tools::bench(session->get(), {.seconds = seconds, .layers = false, .progress = {}}, report);
    EXPECT_EQ(mica_error_code(refused), 6001);
    mica_error_free(refused);
  }
  std::vector<tools::LayerTime> layers;
  ASSERT_EQ(tools::profile(session->get(), layers), nullptr);
  EXPECT_EQ(layers.back().flops, 4);
}

TEST(Api, AModelComesThroughAPipe) {
  const Context context = context_of();
  const std::string path = ::testing::TempDir() + "mica_api_pipe_" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << kState; });
  mica_model* model = nullptr;
  mica_error* error = tools::load(context.get(), path, {}, &model);
  writer.join();
  std::remove(path.c_str());
  EXPECT_EQ(error, nullptr) << mica_error_text(error);
  EXPECT_EQ(mica_model_count(model, MICA_STATE), 1u);
  mica_model_free(model);
}

int infer_some(void*, mica_op_call* call, char*, size_t) {
  mica_tensor& out = call->outputs[0];
  out.dtype = MICA_F32;
  out.rank = 2;
  out.dims[0] = -1;
  out.dims[1] = 3;
  return 0;
}

// Rows of three ones, as many as the user's number says; none is allocated for a negative one.
int compute_some(void* user, mica_op_call* call, char*, size_t) {
  const int64_t dims[] = {*static_cast<const int64_t*>(user), 3};
  if (call->outputs[0].data || call->outputs[0].dims[0] != -1 || call->outputs[0].dims[1] != 3) return 7;
  if (dims[0] < 0) return 0;
  auto* to = static_cast<float*>(mica_op_allocate(call, 0, 2, dims));
  for (int64_t i = 0; i < dims[0] * 3; ++i) to[i] = 1;
  return 0;
}

TEST(Api, AnOperatorMustAllocateWhatWasOpen) {
  const Context context = context_of();
  int64_t rows = -1;
  mica_operator op = MICA_INIT(mica_operator);
  op.domain = "";
  op.name = "Relu";
  op.input_least = op.input_most = 1;
  op.output_count = 1;
  op.infer = infer_some;
  op.compute = compute_some;
  op.user = &rows;
  ASSERT_EQ(mica_context_add_operator(context.get(), &op), nullptr);
  // An ONNX model of one Relu, from x to y.
  const std::string bytes(
      "\x08\x08\x3a\x27\x0a\x0c\x0a\x01\x78\x12\x01\x79\x22\x04\x52\x65\x6c\x75\x12\x01\x67\x5a\x0f\x0a"
      "\x01\x78\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x01\x62\x03\x0a\x01\x79\x42\x02\x10\x11",
      47);
  mica_model* made = nullptr;
  mica_error* error = tools::load_memory(context.get(), {bytes.data(), bytes.size(), "relu", ""}, {}, &made);
  ASSERT_EQ(error, nullptr) << mica_error_text(error);
  const Model model(made);
  auto session = model.session();
  std::vector<float> x = {1};
  ASSERT_TRUE(session->set_input(0, Tensor::of(x.data(), {1})).ok());
  EXPECT_EQ(session->run().error().code(), 6003);
  for (const int64_t count : {0, 2}) {
    rows = count;
    ASSERT_TRUE(session->run().ok());
    EXPECT_EQ(numbers(*session->output(0)).size(), static_cast<size_t>(count * 3));
  }
}

TEST(Api, ChildrenKeepTheirParents) {
  std::vector<float> x = {1, 2};
  auto session = [] {
    const Context context = context_of();
    return model_of(context, kState).session();
  }();
  ASSERT_TRUE(session->set_input("x", Tensor::of(x.data(), {2})).ok());
  ASSERT_TRUE(session->run().ok());
  EXPECT_THAT(numbers(*session->output(0)), ElementsAre(1, 2));
}

std::atomic<int> pieces{0};
void parallel(void*, void (*fn)(void* arg, int index), void* arg, int n) {
  std::vector<std::thread> threads;
  for (int i = 1; i < n; ++i) threads.emplace_back(fn, arg, i);
  fn(arg, 0);
  pieces += n;
  for (std::thread& thread : threads) thread.join();
}

TEST(Api, CallersExecutorGivesTheSameBits) {
  mica_executor executor = MICA_INIT(mica_executor);
  executor.concurrency = 3;
  executor.parallel = parallel;
  mica_context_options options = MICA_INIT(mica_context_options);
  options.executor = &executor;
  auto own = Context::create(options);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->threads(), 3);
  const Context plain = context_of();
  std::vector<float> x(64 * 1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 37) * 0.1f - 2;
  std::vector<float> results[2];
  const Context* contexts[] = {&*own, &plain};
  for (int k = 0; k < 2; ++k) {
    auto session = model_of(*contexts[k], kChain).session();
    ASSERT_TRUE(session->set_input(0, Tensor::of(x.data(), {1000, 64})).ok());
    ASSERT_TRUE(session->run().ok());
    results[k] = numbers(*session->output(1));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_GT(pieces, 0);
}

TEST(Api, TensorsThatAreNone) {
  const Context context = context_of();
  auto session = model_of(context, kState).session();
  mica_tensor tensor{};
  EXPECT_EQ(session->set_input(0, Tensor(tensor)).error().code(), 3002);
  tensor.dtype = MICA_F32;
  tensor.rank = 11;
  EXPECT_EQ(session->set_input(0, Tensor(tensor)).error().code(), 3003);
  tensor.rank = 2;
  tensor.dims[0] = tensor.dims[1] = INT64_MAX / 2;
  EXPECT_EQ(session->set_input(0, Tensor(tensor)).error().code(), 3001);
  tensor.rank = 1;
  tensor.dims[0] = 2;
  EXPECT_EQ(session->set_input(0, Tensor(tensor)).error().code(), 6001);  // no data
  mica_error* refused = mica_session_set_input(nullptr, 0, &tensor);
  EXPECT_NE(refused, nullptr);
  mica_error_free(refused);
  EXPECT_EQ(mica_tensor_bytes(&tensor), 8);
  EXPECT_STREQ(mica_dtype_name(MICA_F4E2M1), "f4e2m1");
  EXPECT_STREQ(mica_dtype_name(static_cast<mica_dtype>(99)), "none");
}

}  // namespace
}  // namespace mica::api_test
