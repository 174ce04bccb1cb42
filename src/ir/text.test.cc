#include "ir/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/builder.h"

namespace mica {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSmall = R"(graph "small"
  symbol N input
  symbol T bounded 256
  symbol `time of day` input
  metadata "labels" "cat\x0adog"
  keep "h"
  input %x: f32[N,3,5] "image"
  input %"a:0": i64[T,`time of day`] "a:0"
  constant %w: f32[3] = {1, -0, 0.1}
  constant %@1: i64[2] = {0, -1}
  %h: f32[N,3,5] = relu(%x)  # first \\ node # 1
  %@2: f32[2*N,3,5] = concat(%h, %x)
  %h@2: f32[N,15] = reshape(%h, %@1)
  %12: i64[2] = shape(%"a:0")
  output %@2 "both"
  output %h@2 "flat"
  output %12 "sizes"
  output %w "w"
end
)";

std::string why(std::string_view text) {
  try {
    graph_from_text(text);
  } catch (const Failure& failure) {
    return std::string(failure.error->where()) + ": " + std::string(failure.error->what());
  }
  return "";
}

TEST(Text, PrintsWhatItParsed) {
  const Graph graph = graph_from_text(kSmall);
  EXPECT_EQ(to_text(graph), kSmall);
  EXPECT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(graph.nodes[0]->name, "first \\ node # 1");
  EXPECT_EQ(graph.inputs[1]->name, "a:0");
  EXPECT_EQ(graph.outputs[0]->name, "");
  EXPECT_EQ(graph.outputs[1]->name, "h");
  EXPECT_EQ(graph.metadata.at("labels"), "cat\ndog");
  const int bounded = graph.dims->find_symbol("T");
  ASSERT_GE(bounded, 0);
  EXPECT_EQ(graph.dims->symbol_info(static_cast<size_t>(bounded)).kind, SymbolKind::kBounded);
  EXPECT_EQ(graph.dims->symbol_info(static_cast<size_t>(bounded)).bound, 256);
  EXPECT_TRUE(graph.outputs[2]->has_values);  // inferred anew
}

TEST(Text, TypesOfResultsMayBeLeftOut) {
  const Graph graph = graph_from_text(
      "graph \"\"\ninput %x: f32[2,3] \"x\"\n%y = relu(%x)\n%z = concat(%y, %x) axis=1\noutput %z \"z\"\nend\n");
  EXPECT_EQ(graph.outputs[0]->type, Type::tensor(DType::kF32, {2, 6}));
}

// Every element type, with values at its ends, in both forms.
TEST(Text, ConstantsReadBackToTheBit) {
  for (int code = 1; code < kDTypeCount; ++code) {
    const auto dtype = static_cast<DType>(code);
    for (int64_t rows : {0, 1, 3}) {
      const std::vector<int64_t> dims{rows, 3};
      std::vector<std::byte> bytes(static_cast<size_t>(dense_bytes(dtype, dims)));
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(dtype == DType::kBool ? i % 2 : i * 37 + 0x7f);
      if (is_sub_byte(dtype))
        for (size_t i = 0; i < bytes.size(); ++i)
          bytes[i] &= static_cast<std::byte>((i + 1) % static_cast<size_t>(row_bytes(dtype, 3))
                                                 ? 0xff
                                                 : (1 << (3 * bits_of(dtype) % 8 ? 3 * bits_of(dtype) % 8 : 8)) - 1);
      std::vector<StringRef> texts{{"", 0},  {"a\"b\\\n", 5}, {"c\0d", 3}, {"e", 1}, {"", 0},
                                   {"f", 1}, {"g", 1},        {"h", 1},    {"i", 1}};
      Graph graph;
      const void* from = dtype == DType::kString ? static_cast<const void*>(texts.data()) : bytes.data();
      graph.add_output(graph.add_constant(Constant::make(dtype, dims, from), "c"), "c");
      for (int64_t short_list : {0, 100}) {
        const std::string text = to_text(graph, {.contents = true, .short_list = short_list});
        const Graph back = graph_from_text(text);
        const TensorView& a = graph.outputs[0]->constant->view;
        const TensorView& b = back.outputs[0]->constant->view;
        ASSERT_EQ(a.dtype, b.dtype);
        ASSERT_TRUE(std::ranges::equal(a.shape(), b.shape()));
        if (dtype == DType::kString) {
          for (int64_t i = 0; i < a.count(); ++i) EXPECT_EQ(Elements(a).text(i).view(), Elements(b).text(i).view());
        } else if (!bytes.empty()) {
          EXPECT_EQ(std::memcmp(a.data, b.data, bytes.size()), 0) << name_of(dtype) << " " << text;
        }
        EXPECT_EQ(to_text(back, {.contents = true, .short_list = short_list}), text);
      }
    }
  }
}

TEST(Text, SpecialNumbers) {
  const float numbers[] = {NAN, INFINITY, -INFINITY, std::numeric_limits<float>::denorm_min(), -0.f, 3.4028235e38f};
  Graph graph;
  Builder build(graph);
  graph.add_output(build.floats(numbers), "c");
  const Graph back = graph_from_text(to_text(graph));
  EXPECT_EQ(std::memcmp(back.outputs[0]->constant->view.data, numbers, sizeof numbers), 0);
}

TEST(Text, LongConstantsAreShownByTheirDigest) {
  Graph graph;
  Builder build(graph);
  graph.add_output(build.floats(std::vector<float>(100, 1.5f)), "c");
  EXPECT_THAT(to_text(graph), HasSubstr("= digest "));
  EXPECT_THAT(why(to_text(graph)), HasSubstr("not in the text"));
  EXPECT_EQ(why(to_text(graph, {.contents = true})), "");
}

TEST(Text, Quantization) {
  constexpr std::string_view kText =
      "graph \"q\"\n"
      "  input %x: u8[4,64] quant(affine, axis 0, scales f32[4] = {0.5, 1, 2, 4}, zero_points u8[4] = {0, 1, 2, 3}) "
      "\"x\"\n"
      "  input %y: i4[4,64] quant(block, axis 1, block 1, block 32, scales f32[4,2] = {1, 2, 3, 4, 5, 6, 7, 8}) \"y\"\n"
      "  output %x \"x\"\n  output %y \"y\"\nend\n";
  const Graph graph = graph_from_text(kText);
  EXPECT_EQ(to_text(graph), kText);
  EXPECT_EQ(graph.inputs[0]->quant->axis, 0);
  EXPECT_EQ(graph.inputs[1]->quant->block, (std::vector<int64_t>{1, 32}));
}

TEST(Text, Regions) {
  constexpr std::string_view kText = R"(graph "choice"
  input %c: bool[] "c"
  input %x: f32[2] "x"
  %y: f32[2] = cond(%c, %x)  # choose
    region "then"
      input %x: f32[2] "x"
      %r: f32[2] = relu(%x)
      output %r "r"
    end
    region "else"
      input %x: f32[2] "x"
      %r: f32[2] = neg(%x)
      output %r "r"
    end
  output %y "y"
end
)";
  const Graph graph = graph_from_text(kText);
  EXPECT_EQ(to_text(graph), kText);
  EXPECT_EQ(graph.nodes[0]->regions.size(), 2u);
  EXPECT_EQ(graph.nodes[0]->regions[1]->dims, graph.dims);
}

TEST(Text, States) {
  constexpr std::string_view kText =
      "graph \"s\"\n  input %h: f32[2] \"h\"\n  %n: f32[2] = relu(%h)\n  output %n \"n\"\n  state \"n\" \"h\"\nend\n";
  const Graph graph = graph_from_text(kText);
  ASSERT_EQ(graph.states.size(), 1u);
  EXPECT_EQ(to_text(graph), kText);
}

TEST(Text, ErrorsNameTheLine) {
  EXPECT_THAT(why(""), HasSubstr("expected `graph`"));
  EXPECT_THAT(why("graph \"g\"\n"), HasSubstr("no `end`"));
  EXPECT_THAT(why("graph \"g\"\nnonsense\nend"), HasSubstr("line 2: `nonsense` begins no statement"));
  EXPECT_THAT(why("graph \"g\"\ninput %x: f32[2] \"x\"\n%y = rellu(%x)\nend"),
              HasSubstr("line 3: there is no operator `rellu`"));
  EXPECT_THAT(why("graph \"g\"\n%y = relu(%x)\nend"), HasSubstr("no value `x`"));
  EXPECT_THAT(why("graph \"g\"\ninput %x: f32[2] \"x\"\ninput %x: f32[2] \"z\"\nend"), HasSubstr("defined twice"));
  EXPECT_THAT(why("graph \"g\"\ninput %x: q32[2] \"x\"\nend"), HasSubstr("line 2"));
  EXPECT_THAT(why("graph \"g\"\ninput %x: f32[2] \"x\nend"), HasSubstr("no end"));
  EXPECT_THAT(why("graph \"g\"\nend\nmore"), HasSubstr("behind the graph"));
  EXPECT_THAT(why("graph \"g\"\ninput %x: f32[2] \"x\"\n%y = relu(%x, %x)\nend"), HasSubstr("operands"));
  EXPECT_THAT(why("graph \"g\"\ninput %x: f32[2] \"x\"\n%y = concat(%x) axes=1\nend"), HasSubstr("line 3"));
  EXPECT_THAT(why("graph \"g\"\nstate \"a\" \"b\"\nend"), HasSubstr("state"));
}

TEST(Text, HostileSizesAllocateNothing) {
  EXPECT_NE(why("graph \"g\"\nconstant %c: f32[9223372036854775807,9223372036854775807] = {}\nend"), "");
  EXPECT_NE(why("graph \"g\"\nconstant %c: f32[1000000000000] = {1}\nend"), "");
  EXPECT_NE(why("graph \"g\"\nconstant %c: f32[1000000000000] = base64 \"AAAA\"\nend"), "");
  EXPECT_NE(why("graph \"g\"\nconstant %c: f32[-1] = {}\nend"), "");
  EXPECT_NE(why("graph \"g\"\nconstant %c: f32[N] = {1}\nend"), "");
  EXPECT_NE(why("graph \"g\"\nconstant %c: f32[1] = base64 \"AA=A\"\nend"), "");
  EXPECT_NE(why("graph \"g\"\nconstant %c: f32[1] = base64 \"====\"\nend"), "");
}

// No prefix and no changed letter makes the parser do anything but throw a Failure.
TEST(Text, DamagedTextIsRefusedOrRead) {
  const std::string whole(kSmall);
  for (size_t i = 0; i < whole.size(); i += 3) why(std::string_view(whole).substr(0, i));
  for (size_t i = 0; i < whole.size(); ++i)
    for (char c : {'(', '"', '%', '9', '\0', '`'}) {
      std::string damaged = whole;
      damaged[i] = c;
      why(damaged);
    }
}

}  // namespace
}  // namespace mica
