// A channel shuffle as exporters spell it becomes one pass over memory, and the answer stays.
#include <gtest/gtest.h>

#include "support/run_graph.h"

namespace mica {
namespace {

using support::difference;
using support::Machinery;
using support::RunOptions;

std::string shuffled(int groups, const std::string& first) {
  const std::string each = std::to_string(12 / groups), parts = std::to_string(groups);
  return "graph \"shuffle\"\n  input %x: f32[2,12,5,7] \"x\"\n  constant %w: f32[12,1,1,2] = {1, 0, 2, 0, 3, 0, 4, "
         "0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0}\n  constant %c: i64[5] = {2, " +
         parts + ", " + each + ", 5, 7}\n  constant %d: i64[4] = {2, 12, 5, 7}\n" + first +
         "  %r = reshape(%a, %c)\n  %t = transpose(%r) perm=[0,2,1,3,4]\n  %s = reshape(%t, %d)\n"
         "  %p, %q = split(%s) axis=1, parts=2\n  %m = mul(%p, %q)\n  %y = tanh(%m)\n  output %y \"y\"\nend\n";
}

size_t steps_named(Session& session, std::string_view name) {
  size_t count = 0;
  for (const BoundStep& step : session.runner().last_segment()->steps) count += step.name == name;
  return count;
}

TEST(Shuffle, IsOnePassAndTheSameNumbers) {
  const std::string image = "  %a = conv(%x, %w) groups=12, pads=[0,0,0,1]\n", plain = "  %a = relu(%x)\n";
  const std::string joined =
      "  %l, %h = split(%x) axis=1, parts=2\n  %j = neg(%h)\n  %b = relu(%l)\n  %k = concat(%b, %j) axis=1\n"
      "  %a = conv(%k, %w) groups=12, pads=[0,0,0,1]\n";
  const std::string direct =
      "  %v = conv(%x, %w) groups=12, pads=[0,0,0,1]\n  %l, %h = split(%v) axis=1, parts=2\n  %j = neg(%h)\n"
      "  %a = concat(%l, %j) axis=1\n";
  for (const std::string& first : {image, plain, joined, direct})
    for (int groups : {2, 3, 4, 6}) {
      const std::string text = shuffled(groups, first);
      SCOPED_TRACE(text);
      const auto wanted = support::run_text(text, support::plainly());
      for (int threads : {1, 3}) {
        RunOptions options;
        options.threads = threads;
        EXPECT_EQ(difference(wanted, support::run_text(text, options), 16), "");
      }
      Machinery machinery(support::compiled(text));
      const OwnedTensor x = support::filled(machinery.session().input_type(0), 1, 1);
      ASSERT_TRUE(machinery.session().set_input(0, x.view()).ok());
      ASSERT_TRUE(machinery.session().run().ok());
      const size_t mixed = first == plain ? 0 : 1;  // where channels are outermost, rows are copied
      EXPECT_EQ(steps_named(machinery.session(), "interleave_rows"), mixed);
    }
}

}  // namespace
}  // namespace mica
