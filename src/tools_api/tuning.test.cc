// Files of measured choices through the C and C++ interfaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "mica/mica.hpp"
#include "mica/tools.hpp"

namespace mica::api_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kProblem = "1x1x9x9x8:1x9x9x8:k1x3x3:s1x1x1:d1x1x1:p0x1x1:g1";

std::string graph() {
  std::string text = "graph \"one\"\n  input %x: f32[1,8,9,9] \"x\"\n  constant %a: f32[8,8,3,3] = {";
  for (int i = 0; i < 576; ++i) text += (i ? ", " : "") + std::to_string((i * 37 % 23 - 11) * 0.03125);
  return text + "}\n  %y = conv(%x, %a) pads=[1,1,1,1]\n  output %y \"y\"\nend\n";
}

class TuningFile : public ::testing::Test {
 protected:
  TuningFile() {
    mica_context_options options = MICA_INIT(mica_context_options);
    options.threads = 1;
    options.log = [](void* user, mica_log_level level, const char* text) {
      static_cast<TuningFile*>(user)->said_ += std::to_string(level) + ": " + text + "\n";
    };
    options.log_user = this;
    options.log_most = MICA_LOG_INFO;
    context_.emplace(std::move(*Context::create(options)));
    write(source_, graph());
    if (mica_error* error = tools::convert_file(nullptr, source_, file_, {})) ADD_FAILURE() << mica_error_text(error);
  }
  ~TuningFile() override {
    for (const std::string& path : {source_, file_, beside(), other_}) std::remove(path.c_str());
  }

  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  std::string beside() const { return file_ + ".tune"; }
  std::string choices(const std::string& algorithm, std::string processor = {}) {
    const tools::Machine machine = tools::describe_machine(context_->get());
    if (processor.empty()) processor = machine.processor;
    return "mica tuning 1\nversion " + std::string(mica_version()) + "\nprocessor " + processor + "\nisa " +
           machine.isa + "\nl2 " + std::to_string(machine.l2) + "\nconv " + kProblem + " " + algorithm + "\nend 1\n";
  }
  // The kernel of the model's convolution, with a ! when it was measured to be the best; else the error's number.
  std::string kernel(const char* tuning = nullptr) {
    said_.clear();
    mica_load_options options = MICA_INIT(mica_load_options);
    options.tuning = tuning;
    Result<Model> model = context_->load(file_, options);
    if (!model.ok()) return std::to_string(model.error().code());
    return kernel_of(*model);
  }
  static std::string kernel_of(const Model& model) {
    Result<Session> session = model.session();
    const std::vector<float> x(648, 1.0f);
    if (!session.ok() || !session->set_input(0, Tensor::of(x.data(), {1, 8, 9, 9})).ok()) return "";
    std::vector<tools::StageChoice> found;
    if (mica_error* error = tools::explain(session->get(), found)) return mica_error_free(error), "";
    return found.size() == 1 ? found[0].kernel + (found[0].is_tuned ? "!" : "") : "";
  }

  std::string folder_ = ::testing::TempDir() + "mica_tuning_" + std::to_string(getpid());
  std::string source_ = folder_ + ".txt", file_ = folder_ + ".mica", other_ = folder_ + ".other";
  std::optional<Context> context_;
  std::string said_;
};

TEST_F(TuningFile, BesideTheModelIsTaken) {
  const std::string predicted = kernel();
  EXPECT_THAT(said_, Not(HasSubstr("choices"))) << "that there is none is not worth a word";
  write(beside(), choices("implicit"));
  EXPECT_EQ(kernel(), "conv_f32_implicit!");
  EXPECT_THAT(said_, HasSubstr("1 measured choices from " + beside()));
  write(beside(), choices("winograd4"));
  EXPECT_EQ(kernel(), "conv_f32_winograd4!");
  EXPECT_EQ(kernel(""), predicted);
}

TEST_F(TuningFile, TheCallersIsTaken) {
  write(beside(), choices("implicit"));
  write(other_, choices("winograd4"));
  EXPECT_EQ(kernel(other_.c_str()), "conv_f32_winograd4!");
  EXPECT_EQ(kernel((other_ + ".none").c_str()), "7001");
}

TEST_F(TuningFile, OfAnotherProcessorIsLeftAlone) {
  const std::string predicted = kernel();
  write(beside(), choices("implicit", "Another one"));
  EXPECT_EQ(kernel(), predicted);
  EXPECT_THAT(said_, HasSubstr("2: measured choices in " + beside() + " are left alone: another processor"));
  EXPECT_EQ(kernel(beside().c_str()), predicted);
}

TEST_F(TuningFile, DamageIsAWarningOrTheCallersError) {
  const std::string predicted = kernel(), text = choices("implicit");
  write(beside(), text.substr(0, text.size() - 4));
  EXPECT_EQ(kernel(), predicted);
  EXPECT_THAT(said_, HasSubstr("1: measured choices in " + beside() + " are left alone: "));
  EXPECT_EQ(kernel(beside().c_str()), "2010");
  write(beside(), std::string(2 << 20, '\n'));
  EXPECT_EQ(kernel(), predicted);
  EXPECT_EQ(kernel(beside().c_str()), "1050");
}

TEST_F(TuningFile, ModelsInMemoryAndSourcesTakeThemToo) {
  write(other_, choices("winograd4"));
  std::ifstream in(file_, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  mica_load_options options = MICA_INIT(mica_load_options);
  options.copy = 1;
  options.tuning = other_.c_str();
  mica_model* model = nullptr;
  ASSERT_EQ(mica_model_load_memory(context_->get(), bytes.data(), bytes.size(), &options, &model), nullptr);
  EXPECT_EQ(kernel_of(Model(model)), "conv_f32_winograd4!");
  tools::LoadOptions load;
  load.tuning = other_;
  for (const std::string& path : {source_, file_}) {
    ASSERT_EQ(tools::load(context_->get(), path, load, &model), nullptr);
    EXPECT_EQ(kernel_of(Model(model)), "conv_f32_winograd4!");
  }
  ASSERT_EQ(tools::load_memory(context_->get(), {bytes.data(), bytes.size(), "bytes", ""}, load, &model), nullptr);
  EXPECT_EQ(kernel_of(Model(model)), "conv_f32_winograd4!");
  load.tuning = other_ + ".none";
  mica_error* error = tools::load(context_->get(), file_, load, &model);
  EXPECT_EQ(mica_error_code(error), 7001);
  mica_error_free(error);
}

TEST_F(TuningFile, TuneWritesWhatLoadTakes) {
  mica_model* raw = nullptr;
  ASSERT_EQ(tools::load(context_->get(), file_, {}, &raw), nullptr);
  const Model model(raw);
  const std::vector<float> x(648, 1.0f);
  const Tensor input = Tensor::of(x.data(), {1, 8, 9, 9});
  tools::TuneOptions options;
  options.seconds = 0;
  options.path = beside();
  options.feed = [&](mica_session* s) { ASSERT_EQ(mica_session_set_input(s, 0, &input.raw()), nullptr); };
  tools::TuneReport report;
  mica_error* error = tools::tune(model.get(), options, report);
  ASSERT_EQ(error, nullptr) << mica_error_text(error);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].problem, kProblem);
  const bool changed = report.kept && report.problems[0].best > 0;
  EXPECT_EQ(kernel().back() == '!', changed);
  EXPECT_THAT(said_, HasSubstr(std::string(changed ? "1" : "0") + " measured choices from " + beside()));
}

}  // namespace
}  // namespace mica::api_test
