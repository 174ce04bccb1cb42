#include "measure/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/os.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::compiled;
using support::Machinery;
using support::RunOptions;

// 16 G operations in one product: the reference needs seconds for it on any machine, and asks for the time in between.
constexpr const char* kLong = R"(graph "long"
  input %x: f32[2000,2000] "x"
  %a = neg(%x)
  %b = exp(%a)
  %c = matmul(%b, %x)
  output %c "c"
end
)";

CompareResult held_against_reference(const char* text, CompareOptions options) {
  RunOptions reference = support::plainly();
  Machinery a(compiled(text, reference), reference), b(compiled(text));
  const OwnedTensor x = support::filled(a.session().input_type(0), 3, 5);
  EXPECT_TRUE(a.session().set_input(0, x.view()).ok() && b.session().set_input(0, x.view()).ok());
  auto found = compare(a.session(), b.session(), options);
  EXPECT_TRUE(found.ok());
  return found.ok() ? found.take() : CompareResult{};
}

TEST(Compare, ARunThatTakesTooLongIsComparedAsFarAsItCame) {
  CompareOptions options;
  options.stages = false;
  options.seconds = 0.3;
  const int64_t begin = now_ns();
  const CompareResult found = held_against_reference(kLong, options);
  EXPECT_LT(now_ns() - begin, 20'000'000'000);
  EXPECT_TRUE(found.cut);
  EXPECT_FALSE(found.different);
  EXPECT_TRUE(found.outputs.empty());
  EXPECT_EQ(found.stages, 3u);
  EXPECT_LT(found.ran, 3u);
}

TEST(Compare, WithEnoughTimeOutputsAreCompared) {
  CompareOptions options;
  options.stages = false;
  options.seconds = 1000;
  const CompareResult found = held_against_reference(R"(graph "short"
  input %x: f32[20,20] "x"
  %a = exp(%x)
  %b = matmul(%a, %x)
  output %b "b"
end
)",
                                                     options);
  EXPECT_FALSE(found.cut);
  EXPECT_FALSE(found.different);
  ASSERT_EQ(found.outputs.size(), 1u);
  EXPECT_EQ(found.outputs[0].elements, 400);
}

TEST(Compare, OutputsThatDifferAreFollowedByTheStage) {
  CompareOptions options;
  options.stages = false;
  options.seconds = 1000;
  options.relative = options.absolute = 0;
  const CompareResult found = held_against_reference(R"(graph "rounds"
  input %x: f32[40,40] "x"
  %a = exp(%x)
  %b = matmul(%a, %x)
  %c = softmax(%b) axis=1
  output %c "c"
end
)",
                                                     options);
  EXPECT_TRUE(found.different);
  EXPECT_FALSE(found.first_op.empty());
}

// Roots of numbers below 0.
CompareResult of_roots(const char* operand, CompareOptions options) {
  const std::string text = std::string("graph \"roots\"\n  input %x: f32[20,20] \"x\"\n  %a = exp(%x)\n  %b = ") +
                           operand + "\n  %c = sqrt(%b)\n  output %c \"c\"\nend\n";
  return held_against_reference(text.c_str(), options);
}

TEST(Compare, NothingButNaNShowsNothing) {
  for (const bool stages : {false, true}) {
    CompareOptions options;
    options.stages = stages;
    const CompareResult roots = of_roots("neg(%a)", options), finite = of_roots("exp(%a)", options);
    EXPECT_FALSE(roots.different || finite.different);
    EXPECT_EQ(roots.elements, 400);
    EXPECT_EQ(roots.finite, 0);
    EXPECT_TRUE(roots.shows_nothing());
    EXPECT_EQ(finite.finite, 400);
    EXPECT_FALSE(finite.shows_nothing());
  }
  const float nan[] = {NAN, -INFINITY}, one[] = {NAN, 1};
  const int64_t dims[] = {2};
  const auto view = [&](const float* numbers) {
    return dense_view(const_cast<float*>(numbers), DType::kF32, std::span(dims));
  };
  EXPECT_EQ(compare_values("x", view(nan), view(nan), {}).finite, 0);
  EXPECT_FALSE(compare_values("x", view(nan), view(nan), {}).different);
  EXPECT_EQ(compare_values("x", view(one), view(one), {}).finite, 1);
  EXPECT_TRUE(compare_values("x", view(nan), view(one), {}).different);
}

}  // namespace
}  // namespace mica
