// Where values stand: views, in-place results and composed concatenations change memory, never an answer.
#include <gtest/gtest.h>

#include "runtime/place.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::compiled;
using support::difference;
using support::Machinery;
using support::run_text;
using support::RunOptions;

// Dense blocks: each layer reads the concatenation of all before it, so that concatenations nest.
constexpr const char* kDenseNet = R"(graph "dense"
  symbol N input
  input %x: f32[N,2,5,4] "x"
  constant %w1: f32[2,2,1,1] = {0.5, -1, 2, 0.25}
  constant %w2: f32[2,4,1,1] = {0.5, -1, 2, 0.25, 1, 1, -0.5, 0.125}
  constant %w3: f32[2,6,1,1] = {0.5, -1, 2, 0.25, 1, 1, -0.5, 0.125, 3, -2, 1, 0.5}
  %a = conv(%x, %w1)
  %b = relu(%a)
  %c = concat(%x, %b) axis=1
  %d = conv(%c, %w2)
  %e = concat(%c, %d) axis=1
  %f = conv(%e, %w3)
  %y = concat(%e, %f) axis=1
  %z = sigmoid(%y)
  output %z "z"
end
)";

constexpr const char* kViews = R"(graph "views"
  input %x: f32[4,6,5] "x"
  constant %s: i64[2] = {24, 5}
  constant %b: i64[1] = {1}
  constant %e: i64[1] = {3}
  constant %o: i64[1] = {0}
  %r = relu(%x)
  %v = reshape(%r, %s)
  %n = neg(%v)
  %p, %q = split(%r) axis=0, parts=2
  %c = slice(%r, %b, %e, %o)
  %t = add(%p, %q)
  %u = mul(%c, %t)
  %w = exp(%u)
  %k = concat(%w, %p, %q) axis=0
  output %n "n"
  output %k "k"
end
)";

// The same input twice in one concatenation, a kept part, and a part that is a view.
constexpr const char* kAwkwardConcat = R"(graph "awkward"
  input %x: f32[3,4] "x"
  constant %s: i64[2] = {4, 3}
  constant %e: f32[3,0] = {}
  %a = relu(%x)
  %b = neg(%x)
  %r = reshape(%b, %s)
  %t = transpose(%r) perm=[1,0]
  %c = concat(%a, %a, %b, %t, %e) axis=1
  %d = concat(%c, %a) axis=1
  %y = tanh(%d)
  output %y "y"
  output %a "a"
end
)";

// Channels added to a residual, which others read too; an edge in front of a line; a pad along an axis between others,
// a cut one, one of another kind, one of a pad, and one of what the graph is given.
constexpr const char* kPads = R"(graph "pads"
  symbol N input
  input %x: f32[N,2,5,4] "x"
  constant %w1: f32[2,2,1,1] = {0.5, -1, 2, 0.25}
  constant %w2: f32[3,2,1,1] = {0.5, -1, 2, 0.25, 1, 1}
  constant %channel: i64[8] = {0, 0, 0, 0, 0, 1, 0, 0}
  constant %around: i64[8] = {0, 2, 0, 0, 0, 1, 0, 0}
  constant %last: i64[1] = {-1}
  constant %pair: i64[2] = {1, 0}
  constant %row: i64[2] = {1, 1}
  constant %rows: i64[1] = {2}
  constant %cut: i64[8] = {0, 1, 0, 0, 0, 0, 0, -1}
  constant %value: f32[1] = {-7}
  %a = conv(%x, %w1)
  %p = pad(%a, %channel)
  %c = conv(%a, %w2)
  %d = add(%c, %p)
  %e = relu(%d)
  %f = neg(%a)
  %g = pad(%f, %around, %value)
  %h = tanh(%a)
  %i = pad(%h, %pair, _, %last)
  %j = exp(%a)
  %k = pad(%j, %row, _, %rows)
  %l = sigmoid(%a)
  %m = pad(%l, %cut)
  %n = abs(%a)
  %o = pad(%n, %pair, _, %last) mode=edge
  %q = pad(%g, %channel)
  %r = pad(%x, %channel, %value)
  output %e "e"
  output %i "i"
  output %k "k"
  output %m "m"
  output %o "o"
  output %q "q"
  output %r "r"
end
)";

// A value's last reader comes before the last reader of a view of it, and between them stands one of the same shape.
constexpr const char* kLaterView = R"(graph "later"
  input %x: f32[4,6,5] "x"
  constant %s: i64[3] = {6, 4, 5}
  %r = relu(%x)
  %v = reshape(%r, %s)
  %e = exp(%r)
  %a = softmax(%e) axis=2
  %t = tanh(%v)
  %b = softmax(%t) axis=2
  %n = neg(%b)
  output %a "a"
  output %n "n"
end
)";

// Residuals that die where they are added: behind a convolution and a product, whose kernels take them, and behind two
// functions, where they do not.
constexpr const char* kResiduals = R"(graph "residuals"
  symbol N input
  input %x: f32[N,2,5,4] "x"
  constant %w1: f32[2,2,1,1] = {0.5, -1, 2, 0.25}
  constant %w2: f32[2,2,1,1] = {1, 1, -0.5, 0.125}
  constant %w3: f32[2,2,1,1] = {3, -2, 1, 0.5}
  constant %m: f32[4,4] = {1, 2, 0, 0.5, -1, 1, 0.25, 3, 0, 1, 1, -2, 0.5, 0.5, 1, 1}
  %a = conv(%x, %w1)
  %b = relu(%a)
  %c = conv(%b, %w2)
  %d = add(%c, %a)
  %e = relu(%d)
  %f = conv(%e, %w3)
  %g = tanh(%f)
  %h = sigmoid(%g)
  %i = add(%h, %d)
  %j = abs(%i)
  %k = matmul(%j, %m)
  %l = add(%k, %i)
  %y = neg(%l)
  output %y "y"
end
)";

// Data that nobody reads later, and data that is kept while the indices, which look like the result, are not.
constexpr const char* kScatters = R"(graph "scatters"
  input %x: i64[2,2] "x"
  input %i: i64[2,2] "i"
  input %u: i64[2] "u"
  constant %low: i64[1] = {-2}
  constant %high: i64[1] = {1}
  %m = max(%i, %low)
  %j = min(%m, %high)
  %k = bit_not(%j)
  %d = neg(%x)
  %o = scatter_nd(%d, %k, %u)
  %y = neg(%o)
  %e = abs(%d)
  %z = scatter_nd(%e, %j, %u) reduction=add
  %v = neg(%z)
  output %y "y"
  output %d "d"
  output %v "v"
end
)";

// Rows of 4 KiB and multiples of it: products, sums in place, row by row, moved, reduced, parts of a concatenation, and
// one that is also seen as another shape.
constexpr const char* kLongRows = R"(graph "rows"
  input %x: f32[11,1024] "x"
  input %w: f32[1024,1024] "w"
  constant %s: i64[2] = {22, 512}
  %a = relu(%x)
  %b = matmul(%a, %w)
  %c = add(%b, %a)
  %d = softmax(%c) axis=1
  %e = concat(%d, %c) axis=1
  %f = transpose(%e) perm=[1,0]
  %g = reduce(%e) kind=sum
  %h = sigmoid(%b)
  %r = reshape(%h, %s)
  %y = tanh(%r)
  output %f "f"
  output %g "g"
  output %y "y"
end
)";

// Pixels of 4 KiB, channels last.
constexpr const char* kLongPixels = R"(graph "pixels"
  input %x: f32[1,1024,5,3] "x"
  input %w: f32[1024,1,3,3] "w"
  input %v: f32[16,1024,1,1] "v"
  %a = relu(%x)
  %b = conv(%a, %w) pads=[1,1,1,1], groups=1024
  %c = add(%b, %a)
  %d = max_pool(%c) kernel=[3,3], pads=[1,1,1,1]
  %e = conv(%d, %v)
  %g = global_average_pool(%c)
  output %e "e"
  output %g "g"
end
)";

size_t arena(const char* text, const RunOptions& options, size_t* bound = nullptr) {
  Machinery machinery(compiled(text, options), options);
  Session& session = machinery.session();
  std::vector<OwnedTensor> inputs;
  for (size_t i = 0; i < session.input_count(); ++i) {
    inputs.push_back(support::filled(session.input_type(i), options.size, 1));
    EXPECT_TRUE(session.set_input(i, inputs.back().view()).ok());
  }
  EXPECT_TRUE(session.prepare().ok());
  if (bound) *bound = session.runner().arena_bound();
  return session.runner().arena_bytes();
}

TEST(Place, SpreadRowsLeaveTheBits) {
  for (const char* text : {kLongRows, kLongPixels}) {
    SCOPED_TRACE(text);
    RunOptions dense;
    dense.runner.spread = false;
    const auto wanted = run_text(text, dense);
    EXPECT_EQ(difference(run_text(text, support::plainly()), wanted, 1024), "");
    EXPECT_EQ(difference(wanted, run_text(text), 0), "");
  }
}

TEST(Place, RowsAreSpreadWhereTheyCollide) {
  const auto strides = [](std::vector<int64_t> dims, bool channels_last, DType dtype = DType::kF32) {
    TensorView view;
    view.dtype = dtype;
    view.rank = static_cast<int>(dims.size());
    std::ranges::copy(dims, view.dims.begin());
    set_order(view, channels_last);
    spread_rows(view, channels_last);
    return std::vector<int64_t>(view.strides.begin(), view.strides.begin() + view.rank);
  };
  using Strides = std::vector<int64_t>;
  EXPECT_EQ(strides({12, 1024}, false), (Strides{4160, 4}));
  EXPECT_EQ(strides({2, 5, 3072}, false), (Strides{5 * 12352, 12352, 4}));
  EXPECT_EQ(strides({12, 2048}, false, DType::kF16), (Strides{4160, 2}));
  EXPECT_EQ(strides({12, 512}, false), (Strides{2112, 4}));
  EXPECT_EQ(strides({12, 1023}, false), (Strides{4092, 4}));
  EXPECT_EQ(strides({12, 128}, false), (Strides{576, 4}));
  EXPECT_EQ(strides({12, 64}, false), (Strides{256, 4}));         // only every sixteenth row collides
  EXPECT_EQ(strides({8, 1024}, false), (Strides{4096, 4}));       // so few do not throw each other out
  EXPECT_EQ(strides({1024, 12, 1}, false), (Strides{48, 4, 4}));  // short rows
  EXPECT_EQ(strides({4096}, false), (Strides{4}));
  EXPECT_EQ(strides({0, 1024}, false), (Strides{4096, 4}));
  EXPECT_EQ(strides({1, 1024, 5, 3}, true), (Strides{15 * 4160, 4, 3 * 4160, 4160}));
}

// A value that is seen as another shape stands side by side: no copy is made for the view.
TEST(Place, SpreadRowsKeepViews) {
  constexpr const char* kSeen = R"(graph "seen"
  input %x: f32[12,1024] "x"
  constant %s: i64[2] = {24, 512}
  %a = relu(%x)
  %b = reshape(%a, %s)
  %y = tanh(%b)
  output %y "y"
end
)";
  RunOptions dense;
  dense.runner.spread = false;
  EXPECT_EQ(arena(kSeen, {}), arena(kSeen, dense));
  EXPECT_GT(arena(kLongRows, {}), arena(kLongRows, dense));
}

TEST(Place, EachSwitchLeavesTheBits) {
  for (const char* text : {kDenseNet, kViews, kAwkwardConcat, kPads, kLaterView, kResiduals, kScatters})
    for (int64_t size : {0, 1, 3}) {
      SCOPED_TRACE(text);
      RunOptions all;
      all.size = size;
      const auto wanted = run_text(text, all);
      EXPECT_EQ(difference(run_text(text,
                                    [&] {
                                      RunOptions o = support::plainly();
                                      o.size = size;
                                      return o;
                                    }()),
                           wanted, 64),
                "");
      for (int off = 1; off < 8; ++off) {
        RunOptions some = all;
        some.runner.views = !(off & 1);
        some.runner.in_place = !(off & 2);
        some.runner.compose = !(off & 4);
        EXPECT_EQ(difference(wanted, run_text(text, some), 0), "") << "switches " << off;
      }
      for (int off = 1; off < 16; ++off) {
        RunOptions some = all;
        some.lower.fuse = !(off & 1);
        some.lower.chains = !(off & 2);
        some.lower.channels_last = !(off & 4);
        some.lower.pack = !(off & 8);
        EXPECT_EQ(difference(wanted, run_text(text, some), 64), "") << "lowering " << off;
      }
    }
}

TEST(Place, ArenaReachesTheBound) {
  for (const char* text : {kDenseNet, kViews, kAwkwardConcat}) {
    size_t bound = 0;
    EXPECT_EQ(arena(text, {}, &bound), bound) << text;
  }
}

TEST(Place, EachSwitchSavesMemory) {
  RunOptions all, none;
  none.runner.views = none.runner.in_place = none.runner.compose = false;
  EXPECT_LT(arena(kViews, all), arena(kViews, none));
  RunOptions separate;
  separate.runner.compose = false;
  EXPECT_LT(arena(kDenseNet, all), arena(kDenseNet, separate));
  separate = {};
  separate.size = all.size = 64;
  separate.runner.in_place = false;
  constexpr const char* kResidual = R"(graph "residual"
  symbol N input
  input %x: f32[N,2,5,4] "x"
  constant %w1: f32[2,2,1,1] = {0.5, -1, 2, 0.25}
  constant %w2: f32[2,2,1,1] = {1, 1, -0.5, 0.125}
  %a = conv(%x, %w1)
  %b = relu(%a)
  %c = conv(%b, %w2)
  %d = add(%c, %a)
  %e = conv(%d, %w1)
  output %e "e"
end
)";
  EXPECT_LT(arena(kResidual, all), arena(kResidual, separate));
}

// How many steps a run of the graph takes, without element-wise chains.
size_t steps_of(const char* text, bool compose) {
  RunOptions options;
  options.lower.chains = false;
  options.runner.compose = compose;
  Machinery machinery(compiled(text, options), options);
  OwnedTensor x = support::filled(machinery.session().input_type(0), 1, 1);
  EXPECT_TRUE(machinery.session().set_input(0, x.view()).ok());
  EXPECT_TRUE(machinery.session().run().ok());
  return machinery.session().runner().last_segment()->steps.size();
}

// A concatenation in place has no step of its own.
TEST(Place, ComposedConcatenationsDoNotRun) {
  constexpr const char* kConcatenations = R"(graph "c"
  input %x: f32[3,4] "x"
  %a = relu(%x)
  %b = neg(%x)
  %c = concat(%a, %b) axis=0
  %d = tanh(%x)
  %e = concat(%c, %d) axis=0
  %y = sigmoid(%e)
  output %y "y"
end
)";
  EXPECT_EQ(steps_of(kConcatenations, true), 4u);  // relu, neg, tanh, sigmoid
  // And five parts of two concatenations, of which the kernel copies each in a step, less one.
  EXPECT_EQ(steps_of(kConcatenations, false), 8u);
}

// Of a pad in place only the edge is written.
TEST(Place, ComposedPadsCopyNothing) {
  constexpr const char* kPad = R"(graph "p"
  input %x: f32[3,4] "x"
  constant %pads: i64[4] = {0, 2, 0, 0}
  %a = relu(%x)
  %b = pad(%a, %pads)
  %y = sigmoid(%b)
  output %y "y"
end
)";
  EXPECT_EQ(steps_of(kPad, true), 3u);   // relu, the edge, sigmoid
  EXPECT_EQ(steps_of(kPad, false), 4u);  // and what is padded
}

// Products read transposed operands where they stand, whichever axes change places, but for what others read, too.
TEST(Place, ProductsReadTransposedOperands) {
  constexpr const char* kProducts = R"(graph "products"
  input %x: f32[2,9,3,20] "x"
  input %k: f32[2,9,3,20] "k"
  input %v: f32[7,20] "v"
  %a = relu(%x)
  %b = relu(%k)
  %c = relu(%v)
  %q = transpose(%a) perm=[0,2,1,3]
  %t = transpose(%b) perm=[0,2,3,1]
  %s = matmul(%q, %t)
  %f = transpose(%s) perm=[0,1,3,2]
  %p = matmul(%f, %s)
  %h = tanh(%v)
  %w = transpose(%h) perm=[1,0]
  %o = gemm(%w, %w) transpose_b=true
  %d = transpose(%c) perm=[1,0]
  %e = matmul(%c, %d)
  %y = sigmoid(%p)
  output %y "y"
  output %o "o"
  output %d "d"
  output %e "e"
end
)";
  const auto copies = [&](bool views) {
    RunOptions options;
    options.runner.views = views;
    const auto wanted = run_text(kProducts, support::plainly());
    EXPECT_EQ(difference(wanted, run_text(kProducts, options), 64), "");
    Machinery machinery(compiled(kProducts, options), options);
    Session& session = machinery.session();
    std::vector<OwnedTensor> inputs;
    for (size_t i = 0; i < session.input_count(); ++i) {
      inputs.push_back(support::filled(session.input_type(i), 1, 1));
      EXPECT_TRUE(session.set_input(i, inputs.back().view()).ok());
    }
    EXPECT_TRUE(session.run().ok());
    size_t count = 0;
    for (const auto& step : session.runner().last_segment()->steps)
      count += std::string_view(step.name).starts_with("copy");
    return count;
  };
  EXPECT_EQ(copies(false), 5u);
  EXPECT_EQ(copies(true), 2u);  // what is read twice, and what is returned
}

// Two images operators that read one value in source order share one conversion.
TEST(Place, ConversionsAreShared) {
  const std::string text = R"(graph "shared"
  input %x: f32[1,2,5,4] "x"
  constant %w: f32[2,2,1,1] = {0.5, -1, 2, 0.25}
  constant %v: f32[2,2,1,1] = {1, 2, 3, 4}
  %a = conv(%x, %w)
  %b = conv(%x, %v)
  %y = mul(%a, %b)
  output %y "y"
end
)";
  const Lowered lowered = compiled(text);
  size_t copies = 0;
  for (const Stage& stage : lowered.plan.functions[0].stages) copies += stage.op->name == "copy";
  EXPECT_EQ(copies, 1u);
  EXPECT_EQ(difference(run_text(text, support::plainly()), run_text(text), 64), "");
}

TEST(Chains, LeaveEpiloguesAndKeptValuesAlone) {
  const std::string text = R"(graph "chains"
  input %x: f32[2,3,4] "x"
  input %z: f32[3,4] "z"
  constant %w: f32[4,4] = {1, 2, 3, 4, 0.5, 6, 7, 8, 9, -1, 2, 3, 4, 5, 6, 7}
  %a = matmul(%x, %w)
  %b = relu(%a)
  %c = exp(%x)
  %d = mul(%c, %z)
  %e = sub(%z, %d)
  %f = tanh(%e)
  %g = div(%f, %d)
  %y = add(%b, %f)
  output %y "y"
  output %g "g"
end
)";
  const Lowered lowered = compiled(text);
  std::vector<std::string> ops;
  for (const Stage& stage : lowered.plan.functions[0].stages) ops.emplace_back(stage.op->name);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "pointwise_chain"), 2);  // exp·mul, and sub·tanh
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "relu"), 0);             // the product's
  RunOptions options;
  for (int size : {1, 3}) {
    options.size = size;
    RunOptions plain = support::plainly(), without = options;
    plain.size = size;
    without.lower.chains = false;
    const auto wanted = run_text(text, plain);
    EXPECT_EQ(difference(wanted, run_text(text, options), 64), "");
    EXPECT_EQ(difference(wanted, run_text(text, without), 64), "");
  }
}

}  // namespace
}  // namespace mica
