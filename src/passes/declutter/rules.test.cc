// Each rule by its cases: the graph before and after, off, counted, and the same answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "ir/text.h"
#include "support/canonical.h"
#include "support/rule_cases.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::RuleCase;

using support::all_cases;
using support::graph_of;
using support::only;

int64_t fired(const RuleCounts& counts, const std::string& rule) {
  int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += name == rule ? count : 0;
  return sum;
}

TEST(Rules, EachHasACase) {
  const std::vector<RuleCase> cases = all_cases();
  for (const RuleInfo& info : all_rules())
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const RuleCase& c) { return c.rule == info.name; }))
        << info.name << " has no case";
}

TEST(Rules, EachCaseIsOfARule) {
  const std::vector<RuleInfo> rules = all_rules();
  for (const RuleCase& c : all_cases())
    EXPECT_TRUE(std::ranges::any_of(rules, [&](const RuleInfo& info) { return c.rule == info.name; })) << c.rule;
}

TEST(Rules, EachIsNamedOnceAndSaysWhatItDoes) {
  std::vector<std::string_view> names;
  for (const RuleInfo& info : all_rules()) {
    names.push_back(info.name);
    EXPECT_THAT(std::string(info.doc), testing::HasSubstr("→")) << info.name;
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(Rules, BeforeAndAfter) {
  for (const RuleCase& c : all_cases()) {
    SCOPED_TRACE(c.rule + "\n" + c.before);
    Graph graph = graph_from_text(graph_of(c.given, c.before));
    const RuleCounts counts = declutter(graph, only(c.rule));
    EXPECT_GE(fired(counts, c.rule), 1);
    EXPECT_EQ(support::canonical_text(graph), support::canonical_text(graph_from_text(graph_of(c.given, c.after))));
  }
}

TEST(Rules, EachCanBeSwitchedOff) {
  for (const RuleCase& c : all_cases()) {
    SCOPED_TRACE(c.rule);
    Graph graph = graph_from_text(graph_of(c.given, c.before));
    DeclutterOptions options = only("");
    const RuleCounts counts = declutter(graph, options);
    EXPECT_EQ(fired(counts, c.rule), 0);
    EXPECT_EQ(support::canonical_text(graph), support::canonical_text(graph_from_text(graph_of(c.given, c.before))));
  }
}

TEST(Rules, AnswersStay) {
  for (const RuleCase& c : all_cases()) {
    SCOPED_TRACE(c.rule + "\n" + c.before);
    const std::string text = graph_of(c.given, c.before);
    for (uint64_t seed : {1, 2}) {
      support::RunOptions before = support::plainly(), one, all;
      before.seed = one.seed = all.seed = seed;
      one.declutter = only(c.rule);
      all.declutter.without_kernels = true;
      const auto wanted = support::run_text(text, before);
      EXPECT_EQ(support::difference(wanted, support::run_text(text, one), c.units), "") << "with this rule alone";
      EXPECT_EQ(support::difference(wanted, support::run_text(text, all), c.units), "") << "with all rules";
    }
  }
}

// A rule whose result has no kernel rests unless it is asked for.
TEST(Rules, NothingIsMadeThatOnlyTheReferenceComputes) {
  for (const RuleCase& c : support::attention_cases()) {
    Graph graph = graph_from_text(graph_of(c.given, c.before));
    declutter(graph);
    for (const auto& node : graph.nodes) EXPECT_TRUE(node->op->name != "attention" || find_run(*node->op));
  }
}

struct Miss {
  const char* rule;
  std::string given, statements;
};
void expect_left_alone(std::span<const Miss> misses) {
  for (const Miss& miss : misses) {
    SCOPED_TRACE(std::string(miss.rule) + "\n" + miss.statements);
    Graph graph = graph_from_text(graph_of(miss.given, miss.statements));
    EXPECT_EQ(fired(declutter(graph, only(miss.rule)), miss.rule), 0);
  }
}

// What rules must leave alone.
TEST(Rules, NearMisses) {
  const std::string x = "input %x: f32[2,3,4] \"x\"\n";
  const Miss misses[] = {
      {"pow-two", x + "constant %c: f32[] = {2.001}\n", "%y = pow(%x, %c)\n"},
      {"pow-two", x + "constant %c: f32[2,1,1,1] = {2, 2}\n", "%y = pow(%x, %c)\n"},
      {"add-zero", x + "constant %c: f32[2,1,1,1] = {0, 0}\n", "%y = add(%x, %c)\n"},
      {"mul-one", x + "constant %c: f32[4] = {1, 1, 1, 2}\n", "%y = mul(%x, %c)\n"},
      {"mul-one", x + "constant %c: f32[] = {1.0000001}\n", "%y = mul(%x, %c)\n"},
      {"join-scaled-input",
       "input %x: f32[1,2,1,1] \"x\"\nconstant %w: f32[2,2,1,1] = {1, 2, 3, 4}\nconstant %s: f32[2,1,1] = {3, 5}\n",
       "%a = conv(%x, %w) pads=[1,1,1,1]\n%b = mul(%x, %s)\n%y = add(%a, %b)\n"},
      {"recognise-silu", x + "input %z: f32[2,3,4] \"z\"\n", "%s = sigmoid(%z)\n%y = mul(%x, %s)\n"},
      {"recognise-hard-sigmoid", x + "constant %t: f32[] = {3}\nconstant %s: f32[] = {5}\n",
       "%a = add(%x, %t)\n%g = clip(%a) alpha=0, beta=6\n%y = div(%g, %s)\n"},
      {"recognise-gelu-half-first",
       x + "constant %r: f32[] = {1.4142135}\nconstant %one: f32[] = {1}\nconstant %half: f32[] = {0.5}\n",
       "%a = div(%r, %x)\n%b = erf(%a)\n%e = add(%b, %one)\n%m = mul(%x, %half)\n%y = mul(%m, %e)\n"},
      {"spell-out-log-sum-exp", x + "input %a: i64[1] \"a\"\n",
       "%y = reduce(%x, %a) kind=log_sum_exp, keep_dims=false\n"},
      {"merge-transposes", x, "%a = transpose(%x) perm=[1,2,0]\n%b = relu(%a)\n%y = transpose(%b) perm=[2,0,1]\n"},
      {"transpose-is-reshape", x, "%y = transpose(%x) perm=[0,2,1]\n"},
      {"fold-bias-into-gemm",
       "input %x: f32[3,2] \"x\"\nconstant %w: f32[2,2] = {1, 2, 3, 4}\nconstant %b: f32[3,1] = {1, 2, 3}\n",
       "%a = matmul(%x, %w)\n%y = add(%a, %b)\n"},
      {"fold-add-into-conv",
       "input %x: f32[1,2,2,2] \"x\"\nconstant %w: f32[2,2,1,1] = {1, 2, 3, 4}\nconstant %c: f32[2] = {1, 2}\n",
       "%a = conv(%x, %w)\n%y = add(%a, %c)\n"},
      {"recognise-attention",
       "input %q: f32[2,3,5,4] \"q\"\ninput %k: f32[1,3,6,4] \"k\"\ninput %v: f32[2,3,6,7] \"v\"\n",
       "%t = transpose(%k) perm=[0,1,3,2]\n%s = matmul(%q, %t)\n%w = softmax(%s) axis=-1\n%y = matmul(%w, %v)\n"},
      {"recognise-attention",
       "input %q: f32[2,3,5,4] \"q\"\ninput %t: f32[2,3,4,6] \"t\"\ninput %v: f32[2,1,6,7] \"v\"\n",
       "%s = matmul(%q, %t)\n%w = softmax(%s) axis=-1\n%y = matmul(%w, %v)\n"},
      {"recognise-attention",
       "input %q: f32[2,3,5,4] \"q\"\ninput %t: f32[2,3,4,6] \"t\"\ninput %v: f32[2,3,6,7] \"v\"\ninput %f: f32[5,1] "
       "\"f\"\n"
       "input %m: f32[6] \"m\"\n",
       "%p = matmul(%q, %t)\n%r = add(%p, %m)\n%n = mul(%r, %f)\n%w = softmax(%n) axis=-1\n%y = matmul(%w, %v)\n"},
      {"part-before-transpose", "input %x: f32[2,4,3] \"x\"\nconstant %c: i64[4] = {2, 3, 2, 2}\n",
       "%t = transpose(%x) perm=[1,2,0]\n%y = reshape(%t, %c)\n"},
  };
  expect_left_alone(misses);
}

// Constants that make the result larger than x, by length or by rank.
TEST(Rules, NearMissesOfComposites) {
  const std::string gelu =
      "%d = div(%x, %r)\n%p = erf(%d)\n%e = add(%p, %one)\n%m = mul(%x, %e)\n%y = mul(%m, %half)\n";
  const std::string tanh =
      "%q = square(%x)\n%c = mul(%x, %q)\n%d = mul(%c, %k)\n%i = add(%x, %d)\n%j = mul(%i, %f)\n%t = tanh(%j)\n"
      "%e = add(%t, %one)\n%m = mul(%x, %e)\n%y = mul(%m, %half)\n";
  const std::string gate = "%a = add(%x, %three)\n%g = clip(%a) alpha=0, beta=6\n";
  const auto numbers = [](const char* one, const char* three) {
    return std::string("constant %one: ") + one + "\nconstant %three: " + three +
           "\nconstant %r: f32[] = {1.4142135}\nconstant %half: f32[] = {0.5}\nconstant %k: f32[] = {0.044715}\n"
           "constant %f: f32[] = {0.7978846}\nconstant %six: f32[] = {6}\n";
  };
  const std::string longer = "input %x: f32[2,1] \"x\"\n" + numbers("f32[3] = {1, 1, 1}", "f32[3] = {3, 3, 3}");
  const std::string deeper = "input %x: f32[2] \"x\"\n" + numbers("f32[1,1] = {1}", "f32[1,1] = {3}");
  for (const std::string& given : {longer, deeper}) {
    const Miss misses[] = {
        {"recognise-gelu", given, gelu},
        {"recognise-gelu-tanh", given, tanh},
        {"recognise-hard-sigmoid", given, gate + "%y = div(%g, %six)\n"},
        {"recognise-hard-swish-of-clip", given, gate + "%m = mul(%x, %g)\n%y = div(%m, %six)\n"},
    };
    expect_left_alone(misses);
  }
}

TEST(Rules, NumbersThatAreNotAllOne) {
  std::string other = "constant %c: f32[32,32] = {", same = other;
  for (int i = 0; i < 1024; ++i) {
    other += i == 1023 ? "-0}\n" : "0, ";
    same += i == 1023 ? "0}\n" : "0, ";
  }
  const Miss misses[] = {{"uniform-is-number", "input %x: f32[32,32] \"x\"\n" + other, "%y = sub(%x, %c)\n"},
                         {"uniform-is-number", "input %x: f32[32] \"x\"\n" + same, "%y = sub(%x, %c)\n"}};
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfCheaperOnes) {
  const Miss misses[] = {
      {"divisor-of-two", "input %x: f32[2,9] \"x\"\nconstant %c: f32[2,1] = {8, 3}\n", "%y = div(%x, %c)\n"},
      {"divisor-of-two", "input %x: f32[2] \"x\"\nconstant %c: f32[2] = {8, 0}\n", "%y = div(%x, %c)\n"},
      {"divisor-of-two", "input %x: f32[2] \"x\"\nconstant %c: f32[2] = {8, inf}\n", "%y = div(%x, %c)\n"},
      {"divisor-of-two", "input %x: f32[2] \"x\"\nconstant %c: f32[2] = {8, 1e-38}\n", "%y = div(%x, %c)\n"},
      {"divisor-of-two", "input %x: i32[2] \"x\"\nconstant %c: i32[2] = {8, 2}\n", "%y = div(%x, %c)\n"},
      {"sum-of-squares", "input %x: f32[2,9] \"x\"\n", "%q = square(%x)\n%y = reduce(%q) kind=mean\n"},
      {"sum-of-squares", "input %x: f32[2,9] \"x\"\n", "%q = square(%x)\n%s = reduce(%q)\n%y = div(%q, %s)\n"},
      {"sum-of-squares", "input %x: f64[2,9] \"x\"\n", "%q = square(%x)\n%y = reduce(%q)\n"},
  };
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfStrides) {
  const std::string given =
      "input %x: f32[1,2,5,4] \"x\"\ninput %z: f32[1,2,4,3] \"z\"\nconstant %w: f32[2,2,1,1] = {1, 2, 3, 4}\n"
      "constant %u: f32[2,2,2,2] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}\n"
      "constant %v: f32[1,2,1,3] = {1, 2, 3, 4, 5, 6}\n";
  const std::string last = "%y = conv(%a, %w) strides=[2,2]\n";
  const Miss misses[] = {
      {"pull-strides", given, "%a = relu(%x)\n" + last},
      {"pull-strides", given, "%a = conv(%x, %u)\n%b = conv(%a, %w) strides=[2,2]\n%y = conv(%a, %u) strides=[2,2]\n"},
      {"pull-strides", given,
       "%a = conv(%x, %u)\n%b = conv(%a, %w) strides=[3,2]\n%c = conv(%a, %w) strides=[2,2]\n%y = sub(%b, %c)\n"},
      {"pull-strides", given, "%a = conv(%x, %u) auto_pad=same_upper\n" + last},
      {"pull-strides", given, "%a = conv(%x, %u) strides=[1,65536]\n" + last},
      {"pull-strides", given, "%a = conv(%x, %u)\n%y = conv(%a, %w) strides=[2,65536]\n"},
      {"pull-strides", given, "%a = conv(%x, %u)\n%y = conv(%a, %w) strides=[2,2], pads=[1,1,1,1]\n"},
      {"pull-strides", given, "%b = conv(%x, %u)\n%a = add(%b, %v)\n" + last},
      {"pull-strides", given, "%b = conv(%x, %u)\n%a = add(%b, %z)\n%y = conv(%a, %w)\n"},
      {"pull-strides", given, "%b = conv(%x, %u)\n%c = relu(%b)\n%a = add(%b, %c)\n" + last},
      {"pull-strides", "input %x: f32[1,2,h,4] \"x\"\n" + given.substr(given.find('\n') + 1),
       "%a = conv(%x, %u)\n" + last},
  };
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfHeads) {
  const Miss misses[] = {
      {"attention-of-rows",
       "input %q: f32[2,5,3,4] \"q\"\ninput %k: f32[2,3,6,4] \"k\"\ninput %v: f32[2,6,3,7] \"v\"\n",
       "%a = transpose(%q) perm=[0,2,1,3]\n%c = transpose(%v) perm=[0,2,1,3]\n%y = attention(%a, %k, %c)\n"},
      {"attention-of-rows", "input %x: f32[2,5,3,3,4] \"x\"\nconstant %z: i64[4] = {2, 3, 5, 4}\n",
       "%t = transpose(%x) perm=[3,0,2,1,4]\n%a, %b = split(%t) axis=0, parts=2\n%d, %e = split(%a) axis=0, "
       "parts=2\n%f = reshape(%d, %z)\n%y = attention(%f, %f, %f)\n"},
      {"join-projections",
       "input %x: f32[2,3,2] \"x\"\ninput %v: f32[2,2] \"v\"\ninput %l: f32[2,3,2] \"l\"\n"
       "constant %w: f32[2,2] = {1, 2, 3, 4}\n",
       "%q = matmul(%x, %w)\n%k = matmul(%x, %v)\n%y = attention(%q, %k, %l) q_heads=1, kv_heads=1\n"},
      {"join-projections",
       "input %x: f32[2,3,2] \"x\"\ninput %l: f32[2,3,2] \"l\"\nconstant %v: f32[2,2] = {5, 6, 7, 8}\n"
       "constant %w: f32[2,2] = {1, 2, 3, 4}\n",
       "%q = matmul(%x, %w)\n%k = matmul(%x, %v)\n%a = attention(%q, %k, %l) q_heads=1, kv_heads=1\n%y = add(%a, "
       "%k)\n"},
      {"join-projections",
       "input %x: f32[2,3,2] \"x\"\ninput %l: f32[2,3,2] \"l\"\nconstant %v: f32[2,2] = {5, 6, 7, 8}\n"
       "constant %w: f32[2,2] = {1, 2, 3, 4}\nconstant %b: f32[2] = {1, 2}\n",
       "%q = matmul(%x, %w)\n%m = matmul(%x, %v)\n%k = add(%m, %b)\n%y = attention(%q, %k, %l) q_heads=1, "
       "kv_heads=1\n"},
  };
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfPatches) {
  const std::string five = "constant %c: i64[5] = {3, 2, 2, 3, 2}\n";
  const std::string w = "constant %w: f32[3,2,1,1] = {1, 2, -3, 4, 0.5, -1}\n";
  const std::string steps =
      "constant %a: i64[1] = {0}\nconstant %b: i64[1] = {1}\nconstant %e: i64[1] = {9223372036854775807}\n"
      "constant %f: i64[1] = {4}\nconstant %c: i64[1] = {3}\nconstant %s: i64[1] = {2}\n";
  const std::string sixteen = "{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}";
  const Miss misses[] = {
      {"merge-transposes-around-reshape", "input %x: f32[2,3] \"x\"\nconstant %c: i64[2] = {2, 3}\n",
       "%a = transpose(%x) perm=[1,0]\n%b = reshape(%a, %c)\n%y = transpose(%b) perm=[1,0]\n"},
      {"merge-transposes-around-reshape", "input %x: f32[n,3] \"x\"\nconstant %c: i64[3] = {3, 1, -1}\n",
       "%a = transpose(%x) perm=[1,0]\n%b = reshape(%a, %c)\n%y = transpose(%b) perm=[2,0,1]\n"},
      // A stride whose double is none of a window.
      {"conv-of-interlaced-image", "input %x: f32[1,1,2,4] \"x\"\n" + steps + "constant %w: f32[1,2,1,1] = {2, 3}\n",
       "%p = slice(%x, %a, %e, %c, %s)\n%q = slice(%x, %b, %e, %c, %s)\n%j = concat(%p, %q) axis=1\n"
       "%y = conv(%j, %w) strides=[1,2000000000]\n"},
      // A place twice, an image whose width is odd, channels enough for a product of their own, groups.
      {"conv-of-interlaced-image", "input %x: f32[1,1,2,4] \"x\"\n" + steps + "constant %w: f32[1,2,1,1] = {2, 3}\n",
       "%p = slice(%x, %b, %e, %c, %s)\n%q = slice(%x, %b, %e, %c, %s)\n%j = concat(%p, %q) axis=1\n"
       "%y = conv(%j, %w)\n"},
      // Sixteen channels fill a panel; two strides; a cut beyond the kernel's reach.
      {"transposed-conv-to-few-channels",
       "input %x: f32[1,1,2,3] \"x\"\nconstant %w: f32[1,16,1,1] = " + sixteen + "\n",
       "%y = conv_transpose(%x, %w) strides=[2,2]\n"},
      {"transposed-conv-to-few-channels", "input %x: f32[1,1,2,3] \"x\"\nconstant %w: f32[1,1,2,2] = {1, 2, 3, 4}\n",
       "%y = conv_transpose(%x, %w) strides=[2,3]\n"},
      {"transposed-conv-to-few-channels",
       "input %x: f32[1,1,9,9] \"x\"\nconstant %w: f32[1,1,3,3] = {1, 2, 3, 4, 5, 6, 7, 8, 9}\n",
       "%y = conv_transpose(%x, %w) strides=[2,2], pads=[4,4,0,0]\n"},
      {"conv-of-interlaced-image", "input %x: f32[1,1,2,5] \"x\"\n" + steps + "constant %w: f32[1,2,1,1] = {2, 3}\n",
       "%p = slice(%x, %a, %f, %c, %s)\n%q = slice(%x, %b, %f, %c, %s)\n%j = concat(%p, %q) axis=1\n"
       "%y = conv(%j, %w)\n"},
      {"conv-of-interlaced-image",
       "input %x: f32[1,9,2,4] \"x\"\n" + steps +
           "constant %w: f32[1,18,1,1] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}\n",
       "%p = slice(%x, %b, %e, %c, %s)\n%q = slice(%x, %a, %e, %c, %s)\n%j = concat(%p, %q) axis=1\n"
       "%y = conv(%j, %w)\n"},
      {"conv-of-interlaced-image", "input %x: f32[1,1,2,4] \"x\"\n" + steps + "constant %w: f32[2,1,1,1] = {2, 3}\n",
       "%p = slice(%x, %b, %e, %c, %s)\n%q = slice(%x, %a, %e, %c, %s)\n%j = concat(%p, %q) axis=1\n"
       "%y = conv(%j, %w) groups=2\n"},
      {"channels-last-of-joined-images", "input %a: f32[1,4,3,2] \"a\"\nconstant %c: i64[3] = {1, 6, 4}\n",
       "%p = reshape(%a, %c)\n%q = reshape(%a, %c)\n%j = concat(%p, %q) axis=2\n%y = transpose(%j) perm=[0,2,1]\n"},
      {"channels-last-of-joined-images", "input %a: f32[1,4,3,2] \"a\"\nconstant %c: i64[3] = {1, 4, 6}\n",
       "%p = reshape(%a, %c)\n%q = reshape(%a, %c)\n%j = concat(%p, %q) axis=1\n%y = transpose(%j) perm=[0,2,1]\n"},
      {"patches-of-image", "input %x: f32[1,3,4,6] \"x\"\n" + five,
       "%p = reshape(%x, %c)\n%y = transpose(%p) perm=[2,4,1,3,0]\n"},
      {"patches-of-image", "input %x: f32[1,2,4,6] \"x\"\n" + w + five,
       "%i = conv(%x, %w)\n%p = reshape(%i, %c)\n%y = transpose(%p) perm=[2,4,0,1,3]\n"},
      {"image-of-patches", "input %x: f32[2,2,2,1,2] \"x\"\nconstant %c: i64[4] = {1, 2, 4, 2}\n" + w,
       "%t = transpose(%x) perm=[1,2,0,4,3]\n%i = reshape(%t, %c)\n%y = conv(%i, %w)\n"},
  };
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfConcats) {
  const std::string x = "input %x: f32[1,2,4,4] \"x\"\nconstant %w: f32[2,2,1,1] = {1, 2, 3, 4}\n";
  const std::string convs = "%a = conv(%x, %w)\n%b = conv(%x, %w) pads=[0,0,0,0]\n";
  const Miss misses[] = {
      // A convolution that is read elsewhere too, or twice; a part that is none.
      {"function-before-concat", x, convs + "%c = concat(%a, %b) axis=1\n%r = relu(%c)\n%y = concat(%r, %a) axis=1\n"},
      {"function-before-concat", x, convs + "%c = concat(%a, %a) axis=1\n%y = relu(%c)\n"},
      {"function-before-concat", x, convs + "%c = concat(%a, %x) axis=1\n%y = relu(%c)\n"},
      // Numbers along another axis, of a larger result, of another axis' parts.
      {"constant-before-concat", x + "constant %s: f32[4,1] = {1, 2, 3, 4}\n",
       convs + "%c = concat(%a, %b) axis=1\n%y = mul(%c, %s)\n"},
      {"constant-before-concat", x + "constant %s: f32[2,4,1,1] = {1, 2, 3, 4, 5, 6, 7, 8}\n",
       convs + "%c = concat(%a, %b) axis=1\n%y = mul(%c, %s)\n"},
      {"constant-before-concat", x + "constant %s: f32[2,1,1] = {1, 2}\n",
       convs + "%c = concat(%a, %b) axis=2\n%y = mul(%c, %s)\n"},
  };
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfPlanes) {
  const std::string w = "constant %w: f32[2,3] = {1, 2, 3, 4, 5, 6}\n";
  const std::string x = "input %x: f32[1,2,3,4] \"x\"\n" + w;
  const std::string product = "%t = transpose(%x) perm=[0,2,3,1]\n%p = matmul(%t, %w)\n";
  const Miss misses[] = {
      // Another axis goes last, or comes back elsewhere; a product that is read twice; a sum that is larger.
      {"conv-of-planes", "input %x: f32[1,3,2,4] \"x\"\n" + w,
       "%t = transpose(%x) perm=[0,3,1,2]\n%p = matmul(%t, %w)\n%y = transpose(%p) perm=[0,3,1,2]\n"},
      {"conv-of-planes", x, product + "%y = transpose(%p) perm=[0,3,2,1]\n"},
      {"conv-of-planes", x,
       product + "%q = transpose(%p) perm=[0,3,1,2]\n%r = neg(%p)\n%s = transpose(%r) perm=[0,3,1,2]\n"
                 "%y = add(%q, %s)\n"},
      {"conv-of-planes", x + "constant %b: f32[2,1,1,3] = {1, 2, 3, 4, 5, 6}\n",
       product + "%s = add(%p, %b)\n%y = transpose(%s) perm=[0,3,1,2]\n"},
  };
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfTaps) {
  const std::string w = "constant %w: f32[1,1,1,2] = {1, 2}\n";
  const Miss misses[] = {
      // Every tap meets some pixel.
      {"crop-taps-in-padding", "input %x: f32[1,1,1,2] \"x\"\n" + w, "%y = conv(%x, %w) pads=[0,1,0,1]\n"},
      // The second tap reads padding alone, but one tap would also visit the last five pixels.
      {"crop-taps-in-padding", "input %x: f32[1,1,1,10] \"x\"\n" + w,
       "%y = conv(%x, %w) dilations=[1,20], pads=[0,0,0,15]\n"},
      // Neither reads anything else; the kernel needs one.
      {"crop-taps-in-padding", "input %x: f32[1,1,1,2] \"x\"\n" + w,
       "%y = conv(%x, %w) pads=[0,9,0,0], strides=[1,10]\n"},
      {"crop-taps-in-padding", "input %x: f32[1,1,1,n] \"x\"\n" + w, "%y = conv(%x, %w) pads=[0,9,0,9]\n"},
      // Sizes whose product is no number.
      {"crop-taps-in-padding",
       "input %x: f32[1,1,3000000000,3000000000,3000000000] \"x\"\nconstant %w: f32[1,1,1,1,2] = {1, 2}\n",
       "%y = conv(%x, %w) pads=[0,0,9,0,0,9]\n"},
  };
  expect_left_alone(misses);
}

// Weights of `made` x `read` numbers for convolutions of one pixel.
std::string one_pixel(const std::string& name, int made, int read) {
  std::string text = "constant " + name + ": f32[" + std::to_string(made) + "," + std::to_string(read) + ",1,1] = {";
  for (int i = 0; i < made * read; ++i) text += i ? ", 1" : "1";
  return text + "}\n";
}

// Three of four channels.
TEST(Rules, NearMissesOfPictures) {
  const std::string given =
      "input %x: u8[1,2,2,4] \"x\"\nconstant %i: i64[3] = {2, 1, 0}\nconstant %b: i64[1] = {0}\n"
      "constant %e: i64[1] = {3}\n" +
      one_pixel("%w", 8, 3);
  const std::string cast = "%f = cast(%x) to=f32\n";
  const std::string rest = "%t = transpose(%g) perm=[0,3,1,2]\n%y = conv(%t, %w)\n";
  const Miss misses[] = {{"pixels-into-conv", given, cast + "%g = gather(%f, %i) axis=3\n" + rest},
                         {"pixels-into-conv", given, cast + "%g = slice(%f, %b, %e, %e)\n" + rest}};
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfCommuting) {
  const std::string x = "input %x: f32[1,64,4,6] \"x\"\nconstant %s: f32[4] = {1, 1, 2, 2}\n";
  const std::string small = x + one_pixel("%w", 1, 64) + one_pixel("%v", 1, 66), wide = x + one_pixel("%w", 16, 64);
  const std::string pool = "%y = average_pool(%c) kernel=[2,2], strides=[2,2]";
  const std::string bias = "constant %b: f32[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}\n";
  const Miss misses[] = {
      // Few results; as many pixels behind the average; a bias that padding does not have; a stride; two readers.
      {"average-before-product", small, "%c = conv(%x, %w)\n" + pool + "\n"},
      {"average-before-product", wide, "%c = conv(%x, %w)\n%y = average_pool(%c) kernel=[2,2]\n"},
      {"average-before-product", wide + bias,
       "%c = conv(%x, %w, %b)\n" + pool + ", pads=[1,1,1,1], count_include_pad=true\n"},
      {"average-before-product", wide + bias, "%c = conv(%x, %w, %b)\n" + pool + ", ceil_mode=true\n"},
      {"average-before-product", wide, "%c = conv(%x, %w) strides=[2,1]\n" + pool + "\n"},
      {"average-before-product", wide, "%c = conv(%x, %w)\n%p = global_average_pool(%c)\n%y = add(%c, %p)\n"},
      // A smaller image; samples from outside; an enlarged image that is read twice; one that costs more by its
      // channels; a part that others than products read.
      {"product-before-resize", x + "constant %r: f32[4] = {1, 1, 0.5, 0.5}\n" + one_pixel("%w", 1, 64),
       "%e = resize(%x, _, %r)\n%y = conv(%e, %w)\n"},
      {"product-before-resize", small + "constant %r: f32[8] = {0, 0, 0, 0, 1, 1, 2, 2}\n",
       "%e = resize(%x, %r, %s) mode=linear, coordinates=tf_crop_and_resize\n%y = conv(%e, %w)\n"},
      {"product-before-resize", small, "%e = resize(%x, _, %s)\n%c = conv(%e, %w)\n%y = add(%c, %e)\n"},
      {"product-before-resize", x + one_pixel("%w", 128, 64), "%e = resize(%x, _, %s)\n%y = conv(%e, %w)\n"},
      {"product-before-resize", small + "input %z: f32[1,2,8,12] \"z\"\n",
       "%e = resize(%x, _, %s)\n%j = concat(%e, %z) axis=1\n%c = conv(%j, %v)\n%y = add(%c, %j)\n"},
      {"product-before-resize", small + "input %z: f32[1,64,8,12] \"z\"\n",
       "%e = resize(%x, _, %s)\n%j = concat(%e, %z) axis=3\n%y = conv(%j, %w)\n"},
      // A narrow image between two wide ones; groups; a bias that is computed.
      {"product-of-products", x + one_pixel("%w", 2, 64) + one_pixel("%v", 64, 2),
       "%c = conv(%x, %w)\n%y = conv(%c, %v)\n"},
      {"product-of-products", wide + one_pixel("%v", 2, 8), "%c = conv(%x, %w)\n%y = conv(%c, %v) groups=2\n"},
      {"product-of-products", wide + one_pixel("%v", 1, 16) + "input %b: f32[1] \"b\"\n",
       "%c = conv(%x, %w)\n%y = conv(%c, %v, %b)\n"},
  };
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfRepeatedPixels) {
  const auto image = [](int channels, int height) {
    return "input %x: f32[1," + std::to_string(channels) + "," + std::to_string(height) +
           ",16] \"x\"\nconstant %s: f32[4] = {1, 1, 2, 2}\nconstant %h: f32[4] = {1, 1, 1.5, 2}\n"
           "constant %f: f32[4] = {1, 1, 5, 1}\n";
  };
  const auto weights = [](int made, int read) {
    std::string text = one_pixel("%w", made, 4 * read), dims = std::to_string(4 * read) + ",1,1";
    return text.replace(text.find(dims), dims.size(), std::to_string(read) + ",2,2");
  };
  const std::string given = image(32, 12) + weights(16, 32);
  const std::string nearest = "%r = resize(%x, _, %s) coordinates=asymmetric, nearest=floor\n",
                    conv = "%y = conv(%r, %w)\n";
  const Miss misses[] = {
      // Few pixels, a side too long to walk along, few channels, few results; a stride, gaps, padding alone; samples
      // that are not whole pixels.
      {"conv-of-repeated-pixels", image(32, 11) + weights(16, 32), nearest + conv},
      {"conv-of-repeated-pixels", image(32, 32769) + weights(16, 32), nearest + conv},
      {"conv-of-repeated-pixels", image(31, 12) + weights(16, 31), nearest + conv},
      {"conv-of-repeated-pixels", image(32, 12) + weights(15, 32), nearest + conv},
      {"conv-of-repeated-pixels", image(32, 12) + weights(65, 32), nearest + conv},
      {"conv-of-repeated-pixels", given, nearest + "%y = conv(%r, %w) strides=[2,1]\n"},
      {"conv-of-repeated-pixels", given, nearest + "%y = conv(%r, %w) dilations=[1,2]\n"},
      {"conv-of-repeated-pixels", given, nearest + "%y = conv(%r, %w) pads=[0,2,0,0]\n"},
      {"conv-of-repeated-pixels", given, "%r = resize(%x, _, %s) mode=linear\n" + conv},
      {"conv-of-repeated-pixels", given, "%r = resize(%x, _, %s) coordinates=asymmetric, nearest=ceil\n" + conv},
      {"conv-of-repeated-pixels", given, "%r = resize(%x, _, %h) coordinates=asymmetric, nearest=floor\n" + conv},
      {"conv-of-repeated-pixels", given, "%r = resize(%x, _, %f) coordinates=asymmetric, nearest=floor\n" + conv},
      // A mirror beyond a pixel, zeros around it, zeros around a border.
      {"conv-of-repeated-pixels", given + "constant %p: i64[8] = {0, 0, 2, 0, 0, 0, 0, 0}\n",
       nearest + "%q = pad(%r, %p) mode=reflect\n%y = conv(%q, %w)\n"},
      {"conv-of-repeated-pixels", given + "constant %p: i64[8] = {0, 0, 1, 0, 0, 0, 0, 0}\n",
       nearest + "%q = pad(%r, %p)\n%y = conv(%q, %w)\n"},
      {"conv-of-repeated-pixels", given + "constant %p: i64[8] = {0, 0, 1, 0, 0, 0, 0, 0}\n",
       nearest + "%q = pad(%r, %p) mode=reflect\n%y = conv(%q, %w) pads=[1,0,0,0]\n"},
      {"conv-of-repeated-pixels", given, nearest + "%c = conv(%r, %w)\n%d = conv(%r, %w)\n%y = sub(%c, %d)\n"},
  };
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfTokens) {
  const std::string x =
      "input %x: f32[1,6,2] \"x\"\nconstant %w: f32[2,2] = {1, 2, 3, 4}\nconstant %d: f32[2,1,1,1] = {1, 2}\n"
      "constant %e: f32[2,2,1,1] = {1, 2, 3, 4}\nconstant %i: i64[4] = {1, 2, 3, 2}\n"
      "constant %t: i64[3] = {1, 6, 2}\nconstant %b: f32[6,1] = {1, 2, 3, 4, 5, 6}\n";
  const std::string up = "%a = matmul(%x, %w)\n%p = reshape(%a, %i)\n%m = transpose(%p) perm=[0,3,1,2]\n";
  const std::string down = "%q = transpose(%n) perm=[0,2,3,1]\n%r = reshape(%q, %t)\n";
  const Miss misses[] = {
      // A full convolution; a product that is read twice; rows and columns that changed places; another axis first.
      {"products-around-depthwise", x, up + "%n = conv(%m, %e)\n" + down + "%y = matmul(%r, %w)\n"},
      {"products-around-depthwise", x,
       up + "%n = conv(%m, %d) groups=2\n" + down + "%z = matmul(%r, %w)\n%y = add(%z, %a)\n"},
      {"products-around-depthwise", x,
       up + "%n = conv(%m, %d) groups=2\n%q = transpose(%n) perm=[0,3,2,1]\n%r = reshape(%q, %t)\n"
            "%y = matmul(%r, %w)\n"},
      {"products-around-depthwise", x,
       "%a = matmul(%x, %w)\n%p = reshape(%a, %i)\n%m = transpose(%p) perm=[0,3,2,1]\n"
       "%n = conv(%m, %d) groups=2\n" +
           down + "%y = matmul(%r, %w)\n"},
      // A bias for each token.
      {"sum-of-images", x,
       "%p = reshape(%x, %i)\n%m = transpose(%p) perm=[0,3,1,2]\n%n = conv(%m, %e)\n" + down + "%y = add(%r, %b)\n"},
      // A narrow product between two wide ones.
      {"product-of-pixels-before-product",
       "input %x: f32[1,6,4] \"x\"\nconstant %w: f32[4,1] = {1, 2, 3, 4}\nconstant %i: i64[4] = {1, 2, 3, 1}\n" +
           one_pixel("%e", 4, 1),
       up + "%y = conv(%m, %e)\n"},
  };
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfScaledProducts) {
  const std::string x =
      "input %x: f32[2,3,2] \"x\"\nconstant %w: f32[2,3] = {1, 2, 3, 4, 5, 6}\n"
      "constant %r: f32[3,1] = {1, 2, 3}\nconstant %c: f32[3] = {1, 2, 3}\n"
      "constant %l: f32[4,1,1,3] = {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}\ninput %z: f32[2,3,3] \"z\"\n";
  const std::string p = "%p = matmul(%x, %w)\n";
  const Miss misses[] = {
      // A factor for each row; a larger result; a bias for each row; a product that is read twice.
      {"fold-mul-into-matmul", x, p + "%y = mul(%p, %r)\n"},
      {"fold-mul-into-matmul", x, p + "%y = mul(%p, %l)\n"},
      {"fold-mul-into-matmul", x, p + "%s = add(%p, %r)\n%y = mul(%s, %c)\n"},
      {"fold-mul-into-matmul", x, p + "%s = mul(%p, %c)\n%y = add(%s, %p)\n"},
      // Another order; a constant, which goes behind a bias.
      {"transpose-behind-residual", x,
       p + "%t = transpose(%p) perm=[1,0,2]\n%u = transpose(%z) perm=[1,0,2]\n"
           "%y = add(%t, %u)\n"},
      {"transpose-behind-residual", x, p + "%t = transpose(%p) perm=[0,2,1]\n%y = add(%t, %c)\n"},
  };
  expect_left_alone(misses);
}

TEST(Rules, NearMissesOfWhatIsTaken) {
  const std::string x =
      "input %x: f32[2,5,4] \"x\"\nconstant %b: i64[1] = {1}\nconstant %e: i64[1] = {2}\nconstant %f: i64[1] = {4}\n"
      "constant %o: i64[1] = {0}\nconstant %a: i64[1] = {1}\nconstant %g: i64[1] = {2}\n";
  const std::string attended = x + "input %k: f32[2,6,4] \"k\"\ninput %v: f32[2,6,4] \"v\"\n";
  const std::string row = "%y = slice(%h, %b, %e, %a)\n";
  const Miss misses[] = {
      // More than half; other places that somebody reads; steps; the axis that is normalised; columns of a product.
      {"take-first", x, "%h = tanh(%x)\n%y = slice(%h, %b, %f, %a)\n"},
      {"take-first", x, "%h = tanh(%x)\n%t = slice(%h, %b, %e, %a)\n%y = add(%t, %h)\n"},
      {"take-first", x, "%h = tanh(%x)\n%t = slice(%h, %b, %e, %a)\n%u = slice(%h, %b, %e, %g)\n%y = add(%t, %u)\n"},
      {"take-first", x, "%h = tanh(%x)\n%y = slice(%h, %o, %f, %a, %g)\n"},
      {"take-first", x + "constant %s: f32[4] = {1, 2, 3, 4}\n",
       "%h = layer_norm(%x, %s)\n%y = slice(%h, %b, %e, %g)\n"},
      {"take-first", x + "constant %s: f32[5,4] = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5}\n",
       "%h = layer_norm(%x, %s) axis=1\n" + row},
      {"take-first", x + "constant %w: f32[4,2] = {1, 2, 3, 4, 5, 6, 7, 8}\n",
       "%h = matmul(%x, %w)\n%y = slice(%h, %b, %e, %g)\n"},
      // Queries that their place tells what to see; an axis that a reshape does not keep; two parts that hold it.
      {"take-first", attended, "%h = attention(%x, %k, %v) q_heads=2, kv_heads=2, causal=true\n" + row},
      {"take-first", attended, "%h = attention(%x, %k, %v) q_heads=2, kv_heads=2, left_window=1\n" + row},
      {"take-first", x + "constant %s: i64[3] = {4, 5, 2}\n", "%h = reshape(%x, %s)\n" + row},
      {"take-first", x + "constant %s: i64[3] = {2, 4, 5}\n", "%h = reshape(%x, %s)\n" + row},
      {"take-first", x, "%h = concat(%x, %x) axis=1\n%y = slice(%h, %f, %s, %a)\n# with constant %s: i64[1] = {6}\n"},
  };
  expect_left_alone(misses);
}

// A value that somebody looks at stays.
TEST(Rules, KeptValuesStay) {
  Graph graph =
      graph_from_text(graph_of("input %x: f32[1,2,2,2] \"x\"\nconstant %w: f32[2,2,1,1] = {1, 2, 3, 4}\nkeep \"a\"\n",
                               "%a = conv(%x, %w)\n%y = neg(%a)\n"));
  EXPECT_EQ(fired(declutter(graph), "fold-neg-into-conv"), 0);
}

}  // namespace
}  // namespace mica
