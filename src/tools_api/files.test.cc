// Files and what is converted, through the tools library's door.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "mica/mica.hpp"
#include "mica/tools.hpp"

namespace mica::api_test {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

constexpr const char* kPicture = R"(graph "picture"
input %x: f32[1,3,8,8] "x"
%a: f32[1,3,8,8] = exp(%x)
%b: f32[1,3,8,8] = neg(%a)
output %b "b"
end
)";

// An error's code, and its text in `text`; 0 for none.
int code_of(mica_error* error, std::string* text = nullptr) {
  const int code = error ? mica_error_code(error) : 0;
  if (text && error) *text = mica_error_text(error);
  mica_error_free(error);
  return code;
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("mica_files_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    std::ofstream(at("model.txt")) << kPicture;
    mica_context_options options = MICA_INIT(mica_context_options);
    options.threads = 1;
    context_ = std::move(*Context::create(options));
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const char* name) const { return (folder_ / name).string(); }
  int convert(const tools::ConvertOptions& options, std::string* text = nullptr, const char* out = "out.mica") {
    return code_of(tools::convert_file(context_->get(), at("model.txt"), at(out), options), text);
  }

  fs::path folder_;
  std::optional<Context> context_;
};

TEST_F(Files, ReadAndWritten) {
  std::string bytes, text;
  EXPECT_EQ(code_of(tools::write_file(at("a"), std::string("x\0y", 3))), 0);
  EXPECT_EQ(code_of(tools::read_file(at("a"), bytes)), 0);
  EXPECT_EQ(bytes, std::string("x\0y", 3));
  EXPECT_EQ(code_of(tools::read_file(at("none"), bytes), &text), 7001);
  EXPECT_THAT(text, HasSubstr("No such file"));
  EXPECT_EQ(code_of(tools::read_file(folder_.string(), bytes)), 7001);
  EXPECT_EQ(code_of(tools::write_file("/dev/null", "x")), 7001);
}

TEST_F(Files, AModelIsNotConvertedOntoItself) {
  fs::create_symlink("model.txt", folder_ / "soft");
  fs::create_hard_link(folder_ / "model.txt", folder_ / "hard");
  std::string text;
  for (const char* out : {"model.txt", "soft", "hard"}) {
    EXPECT_EQ(convert({}, &text, out), 6001) << out;
    EXPECT_THAT(text, HasSubstr("same file"));
  }
  std::string bytes;
  EXPECT_EQ(code_of(tools::read_file(at("model.txt"), bytes)), 0);
  EXPECT_EQ(bytes, kPicture);
  EXPECT_EQ(convert({}), 0);
  tools::ConvertOptions options;
  options.written = {at("out.mica")};
  mica_model* model = nullptr;
  EXPECT_EQ(code_of(tools::load(context_->get(), at("out.mica"), options, &model)), 6001);
}

TEST_F(Files, ACompiledModelIsNoSource) {
  ASSERT_EQ(convert({}), 0);
  std::string text;
  EXPECT_EQ(code_of(tools::convert_file(context_->get(), at("out.mica"), at("again.mica"), {}), &text), 6001);
  EXPECT_THAT(text, HasSubstr("compiled already"));
}

TEST_F(Files, OptionsThatMeanNothingAreRefused) {
  std::string text;
  tools::ConvertOptions rule, keep, labels, recipe;
  rule.rules_off = {"no-such-rule"};
  EXPECT_EQ(convert(rule), 6002);
  rule.rules_off = {tools::all_rules().at(0).name + "s"};
  EXPECT_EQ(convert(rule, &text), 6002);
  EXPECT_THAT(text, HasSubstr("did you mean `" + tools::all_rules().at(0).name + "`?"));
  rule.rules_off.clear();
  for (const tools::RuleInfo& known : tools::all_rules()) rule.rules_off.push_back(known.name);
  EXPECT_EQ(convert(rule), 0);
  keep.keep = {"a"};
  EXPECT_EQ(convert(keep), 0);
  keep.keep = {"a", "nothing of this name"};
  EXPECT_EQ(convert(keep), 6002);
  labels.labels = {"right", "a\xff"};
  EXPECT_EQ(convert(labels, &text), 6001);
  EXPECT_THAT(text, HasSubstr("class 1"));
  recipe.preprocess = "{bad";
  EXPECT_EQ(convert(recipe), 6001);
  recipe.preprocess = R"({"size": [9, 9]})";
  EXPECT_EQ(convert(recipe), 6001);
  recipe.preprocess = R"({"size": [8, 8], "mean": [1, 2, 3]})";
  EXPECT_EQ(convert(recipe), 0);
  recipe.pixels = true;
  EXPECT_EQ(convert(recipe), 0);
}

}  // namespace
}  // namespace mica::api_test
