// Pictures of bytes: what stands before the first convolution is done in it, and where it cannot be, in one stage.
#include <gtest/gtest.h>

#include "support/run_graph.h"

namespace mica {
namespace {

using support::compiled;
using support::difference;
using support::Machinery;
using support::RunOptions;
using support::weights;

struct Net {
  const char* name;
  std::string input, body;  // body makes %f, floats of the picture with channels on axis 1, of %x
  int channels = 3;
};

std::string per_channel(const char* name, int channels, const char* dims) {
  static const char* const kNumbers[] = {"123.675", "116.28", "103.53", "7"};
  std::string list;
  for (int c = 0; c < channels; ++c) list += (c ? ", " : "") + std::string(kNumbers[c]);
  return std::string("  constant %") + name + ": f32[" + dims + "] = {" + list + "}\n";
}

std::vector<Net> nets() {
  const std::string scalar = "  constant %s: f32[] = {0.017}\n";
  const std::string nhwc =
      "  %a = cast(%x) to=f32\n  %b = sub(%a, %m)\n  %c = mul(%b, %s)\n  %f = transpose(%c) perm=[0,3,1,2]\n";
  const std::string nchw = "  %a = cast(%x) to=f32\n  %b = mul(%a, %s)\n  %f = sub(%b, %m)\n";
  return {
      {"NHWC", "u8[1,37,41,3]", per_channel("m", 3, "3") + scalar + nhwc},
      {"batch", "u8[3,19,70,3]", per_channel("m", 3, "3") + scalar + nhwc},
      {"signed", "i8[2,19,23,4]", per_channel("m", 4, "4") + scalar + nhwc, 4},
      {"NCHW", "u8[2,3,37,29]", per_channel("m", 3, "3,1,1") + scalar + nchw},
      {"grey", "u8[1,1,33,64]", per_channel("m", 1, "1,1,1") + scalar + nchw, 1},
      {"two", "u8[1,2,5,200]", per_channel("m", 2, "2,1,1") + scalar + nchw, 2},
      {"one pixel", "u8[2,3,1,1]", per_channel("m", 3, "3,1,1") + scalar + nchw},
      {"any size", "u8[N,H,W,3]", per_channel("m", 3, "3") + scalar + nhwc},
      {"reversed", "u8[1,21,22,3]",
       per_channel("m", 3, "3") + scalar + "  constant %i: i64[3] = {2, 1, 0}\n  %g = gather(%x, %i) axis=3\n" +
           "  %a = cast(%g) to=f32\n  %b = sub(%a, %m)\n  %c = mul(%b, %s)\n  %f = transpose(%c) perm=[0,3,1,2]\n"},
  };
}

std::string text_of(const Net& net, const std::string& window, int kernel) {
  return "graph \"net\"\n  input %x: " + net.input + " \"x\"\n" + weights("w", {20, net.channels, kernel, kernel}) +
         weights("v", {20, 1, 3, 3}) + net.body + "  %1 = conv(%f, %w) " + window +
         "\n  %2 = clip(%1) alpha=0, beta=6\n  %3 = conv(%2, %v) groups=20, pads=[1,1,1,1]\n  %y = relu(%3)\n"
         "  output %y \"y\"\n  output %1 \"z\"\nend\n";
}

// All bytes, the smallest and the largest first.
OwnedTensor picture(const Type& type, int64_t open_size) {
  OwnedTensor made = support::filled(type, open_size, 1);
  auto* bytes = made.view().as<uint8_t>();
  for (int64_t i = 0; i < made.view().count(); ++i) bytes[i] = static_cast<uint8_t>(i == 0 ? 255 : (i - 1) * 89);
  return made;
}

std::vector<OwnedTensor> run(const std::string& text, const RunOptions& options, const char* step = nullptr) {
  Machinery machinery(compiled(text, options), options);
  Session& session = machinery.session();
  const OwnedTensor x = picture(session.input_type(0), 17);
  std::vector<OwnedTensor> outputs;
  if (!session.set_input(0, x.view()).ok() || !session.run().ok()) return outputs;
  for (size_t i = 0; i < session.output_count(); ++i)
    outputs.push_back(value_or_throw(OwnedTensor::copy_of(*session.output(i))));
  if (!step) return outputs;
  bool found = false;
  for (const Stage& stage : machinery.model().plan().functions[0].stages) {
    EXPECT_NE(stage.op->name, "cast");
    found = found || stage.op->name == step;
  }
  EXPECT_TRUE(found);
  return outputs;
}

TEST(Pixels, AreReadByTheFirstConvolution) {
  const struct {
    const char* attributes;
    int kernel;
  } windows[] = {{"pads=[1,1,1,1], strides=[2,2]", 3},
                 {"pads=[3,3,3,3], strides=[2,2]", 7},
                 {"pads=[0,2,4,3], strides=[1,3], dilations=[2,1]", 3},
                 {"pads=[2,2,2,2]", 5},
                 {"strides=[4,4]", 1}};
  for (const Net& net : nets())
    for (const auto& window : windows) {
      SCOPED_TRACE(std::string(net.name) + " " + window.attributes);
      const std::string text = text_of(net, window.attributes, window.kernel);
      const auto wanted = run(text, support::plainly());
      ASSERT_EQ(wanted.size(), 2u);
      RunOptions options;
      options.runner.row_chains = RowChainMode::kNever;
      const auto whole = run(text, options, "pixel_conv");
      EXPECT_EQ(difference(wanted, whole, 600), "");  // of as many terms
      for (int threads : {1, 2, 3, 8})
        for (RowChainMode mode : {RowChainMode::kNever, RowChainMode::kAlways}) {
          options.threads = threads;
          options.runner.row_chains = mode;
          options.runner.low_memory = threads == 2;
          options.runner.exact = threads == 3;
          const auto got = run(text, options);
          EXPECT_EQ(difference(whole, got, threads == 3 ? 600 : 0), "") << threads;
        }
    }
}

// With several readers, or too few filters, or numbers that are none, one stage makes the floats.
TEST(Pixels, BecomeFloatsInOneStage) {
  const Net net = nets()[0];
  for (const char* rest : {"  %1 = conv(%f, %w)\n  %2 = max_pool(%f) kernel=[3,3]\n  %y = mul(%1, %2)\n",
                           "  %y = conv(%f, %w)\n", "  %y = max_pool(%f) kernel=[3,3]\n"}) {
    const std::string text = "graph \"net\"\n  input %x: " + net.input + " \"x\"\n" + weights("w", {3, 3, 3, 3}) +
                             net.body + rest + "  output %y \"y\"\nend\n";
    EXPECT_EQ(difference(run(text, support::plainly()), run(text, {}, "pointwise_chain"), 600), "");
  }
  const std::string infinite = "graph \"net\"\n  input %x: u8[1,3,7,9] \"x\"\n  constant %m: f32[] = {inf}\n" +
                               weights("w", {16, 3, 3, 3}) +
                               "  %a = cast(%x) to=f32\n  %b = sub(%a, %m)\n  %c = abs(%b)\n  %d = add(%c, %m)\n"
                               "  %y = conv(%d, %w)\n  output %y \"y\"\nend\n";
  EXPECT_EQ(difference(run(infinite, support::plainly()), run(infinite, {}, "pointwise_chain"), 0), "");
  std::string direct = infinite;
  direct.replace(direct.find("conv(%d"), 7, "conv(%b");
  const Lowered lowered = compiled(direct);
  for (const Stage& stage : lowered.plan.functions[0].stages) EXPECT_NE(stage.op->name, "pixel_conv");
}

// A picture that grows up to a bound asks for no memory.
TEST(Pixels, BoundedPictures) {
  std::string text = text_of(nets()[7], "pads=[1,1,1,1], strides=[2,2]", 3);
  Machinery free(compiled(text));
  text.insert(text.find("  input"), "  symbol H bounded 40\n  symbol W bounded 300\n  symbol N bounded 2\n");
  Machinery bounded(compiled(text));
  size_t memory = 0;
  for (int64_t size : {17, 3, 40, 1, 39, 2}) {
    const OwnedTensor x =
        value_or_throw(OwnedTensor::make(DType::kU8, std::vector<int64_t>{size % 2 + 1, size, size * 7, 3}));
    auto* bytes = x.view().as<uint8_t>();
    for (int64_t i = 0; i < x.view().count(); ++i) bytes[i] = static_cast<uint8_t>(i * 31);
    for (Machinery* machinery : {&bounded, &free}) {
      ASSERT_TRUE(machinery->session().set_input(0, x.view()).ok());
      ASSERT_TRUE(machinery->session().run().ok()) << size;
    }
    EXPECT_EQ(difference(*free.session().output(0), *bounded.session().output(0), 64), "") << size;
    if (!memory) memory = bounded.session().runner().memory_bytes();
    EXPECT_EQ(bounded.session().runner().memory_bytes(), memory) << size;
  }
}

// What a picture becomes again: one stage, from bytes to bytes, with numbers that no byte has.
TEST(Pixels, AreWrittenByTheStageInFrontOfThem) {
  std::string numbers =
      "inf, -inf, nan, 3e9, -3e9, 1e12, 5e18, -5e18, 300, -5, 0.5, -0.5, 255.99, -0.0, 1e-40, 2147483648";
  for (int i = 16; i < 131; ++i) numbers += ", " + std::to_string(i * 7 - 300) + ".75";
  for (const char* shape : {"2,5,131", "3,131,1,131", "1,1", "7,64", "3,65", "N,3,131"})
    for (const char* to : {"u8", "i8"}) {
      const bool is_long = std::string(shape).ends_with("131");
      const std::string text =
          "graph \"net\"\n  input %x: u8[" + std::string(shape) + "] \"x\"\n  constant %k: f32[" +
          (is_long ? "131] = {" + numbers : "1] = {-31.25") + "}\n  constant %s: f32[] = {2.7}\n" +
          "  %a = cast(%x) to=f32\n  %b = mul(%a, %s)\n  %c = add(%b, %k)\n  %d = cast(%c) to=" + to +
          "\n  output %d \"d\"\nend\n";
      RunOptions options;
      for (int threads : {1, 3}) {
        options.threads = threads;
        EXPECT_EQ(difference(run(text, support::plainly()), run(text, options, "pointwise_chain"), 0), "") << text;
      }
      const Lowered lowered = compiled(text);
      EXPECT_EQ(lowered.plan.functions[0].stages.size(), 1u) << text;
    }
}

}  // namespace
}  // namespace mica
