// Convolutions by every algorithm that fits, on every instruction set, against a double loop.
#include "kernels/conv/cost.h"

#include <string>

#include "kernels/conv/conv_problem.test.h"

namespace mica {
namespace {

class Conv : public testing::TestWithParam<Isa> {};

constexpr ConvAlgorithm kTransforms[] = {ConvAlgorithm::kWinograd4, ConvAlgorithm::kWinograd6,
                                         ConvAlgorithm::kWinograd8};

// Whether the Winograd tile of output `o` of 3 taps with padding 1 reads input `at`.
bool tile_reads(ConvAlgorithm algorithm, int64_t o, int64_t at) {
  const int64_t points = 4 + 2 * (static_cast<int>(algorithm) - static_cast<int>(ConvAlgorithm::kWinograd4));
  const int64_t begin = o / (points - 2) * (points - 2) - 1;
  return at >= begin && at < begin + points;
}

TEST_P(Conv, ImplicitShapes) {
  for (int64_t size : {5, 17})
    for (int64_t in : {1, 3, 16, 20})
      for (int64_t kernel : {1, 2, 3, 5})
        for (int64_t stride : {1, 2})
          for (int64_t dilation : {1, 2})
            for (int64_t pad : {0, 1, 2}) {
              if ((kernel - 1) * dilation + 1 > size + 2 * pad || (kernel == 1 && pad)) continue;
              ConvCase c = square_case(size, in, 19, kernel, stride, dilation, pad);
              c.finish(in == 3 ? 2 : 0, in == 16 ? 3 : 0);
              c.epilogue.bias = c.bias.data();
              SCOPED_TRACE(testing::Message() << size << " c=" << in << " k=" << kernel << " s=" << stride
                                              << " d=" << dilation << " p=" << pad);
              c.run(GetParam(), ConvAlgorithm::kImplicit);
              ASSERT_NO_FATAL_FAILURE(c.check());
            }
}

// Kernels longer than the input: many taps meet no pixel of a tile, whole blocks of them among these, and some outputs
// meet no pixel at all.
TEST_P(Conv, TapsOutsideTheInput) {
  for (int64_t in : {16, 200})
    for (int64_t width : {9, 40})
      for (int64_t kernel : {31, 67})
        for (int64_t stride : {1, 3})
          for (int64_t pad : {30, 75}) {
            if (kernel > width + 2 * pad) continue;
            ConvCase c;
            c.p = {.images = 2,
                   .in_channels = in,
                   .out_channels = 19,
                   .in = {1, 1, width},
                   .kernel = {1, 1, kernel},
                   .stride = {1, 1, stride},
                   .dilation = {1, 1, 1},
                   .pad = {0, 0, pad}};
            set_out(c.p, pad);
            c.finish(0, 0);
            c.epilogue.bias = c.bias.data();
            SCOPED_TRACE(testing::Message()
                         << width << " c=" << in << " k=" << kernel << " s=" << stride << " p=" << pad);
            c.run(GetParam(), ConvAlgorithm::kImplicit);
            ASSERT_NO_FATAL_FAILURE(c.check());
          }
}

TEST_P(Conv, PointwiseIsAProduct) {
  for (int64_t in : {1, 17, 64})
    for (int64_t out : {1, 16, 40}) {
      ConvCase c = square_case(9, in, out, 1, 1, 1, 0);
      c.finish();
      c.epilogue.bias = c.bias.data();
      c.epilogue.residual = c.residual.data();
      c.p.has_residual = true;
      EXPECT_EQ(choose_conv_algorithm(c.p), ConvAlgorithm::kPointwise);
      c.run(GetParam(), ConvAlgorithm::kAuto);
      ASSERT_NO_FATAL_FAILURE(c.check());
    }
}

TEST_P(Conv, GroupsAndAsymmetricPadding) {
  for (int64_t groups : {2, 4})
    for (int64_t per_group : {1, 3, 16}) {
      ConvCase c;
      c.p = {.images = 1,
             .groups = groups,
             .in_channels = groups * per_group,
             .out_channels = groups * 5,
             .in = {1, 11, 20},
             .kernel = {1, 3, 2},
             .stride = {1, 1, 2},
             .dilation = {1, 2, 1},
             .pad = {0, 2, 0}};
      set_out(c.p, 1);
      c.finish(1, 2);
      c.epilogue.bias = c.bias.data();
      c.epilogue.residual = c.residual.data();
      c.epilogue.activation = Activation::kClip;
      c.epilogue.a = -0.5f;
      c.epilogue.b = 1.0f;
      c.run(GetParam(), ConvAlgorithm::kAuto, {.threads = 3}, 1);
      ASSERT_NO_FATAL_FAILURE(c.check());
      c.y.assign(c.y.size(), ConvCase::kUntouched);
      c.run(GetParam(), ConvAlgorithm::kImplicit, {.l2_bytes = 1 << 10});  // rows are fetched ahead
      ASSERT_NO_FATAL_FAILURE(c.check());
    }
}

TEST_P(Conv, DepthwiseShapes) {
  for (int64_t size : {3, 8, 21})
    for (int64_t channels : {1, 16, 37})
      for (int64_t kernel : {1, 3, 5})
        for (int64_t stride : {1, 2, 3})
          for (int64_t dilation : {1, 2})
            for (int64_t pad : {0, 1, 2}) {
              if ((kernel - 1) * dilation + 1 > size + 2 * pad) continue;
              ConvCase c = square_case(size, channels, channels, kernel, stride, dilation, pad);
              c.p.groups = channels;
              c.finish(channels == 16 ? 4 : 0, channels == 37 ? 3 : 0);
              c.epilogue.bias = c.bias.data();
              SCOPED_TRACE(testing::Message() << size << " c=" << channels << " k=" << kernel << " s=" << stride
                                              << " d=" << dilation << " p=" << pad);
              c.run(GetParam(), ConvAlgorithm::kDepthwise, {.threads = 2}, 1);
              ASSERT_NO_FATAL_FAILURE(c.check());
            }
}

// Windows: wider than a row, taps outside, channels behind the last whole vector.
TEST_P(Conv, DepthwiseWide) {
  for (int64_t width : {3, 8, 21})
    for (int64_t channels : {16, 21})
      for (int64_t kernel : {2, 8, 15})
        for (int64_t stride : {1, 2})
          for (int64_t dilation : {1, 2})
            for (int64_t pad : {0, 2, 14}) {
              ConvCase c = square_case(3, channels, channels, kernel, stride, dilation, pad);
              c.p.groups = channels;
              c.p.in[2] = width;
              c.p.kernel[1] = 2, c.p.dilation[1] = 1, c.p.pad[1] = 1;
              set_out(c.p, pad);
              c.p.out[1] = 4 / stride;
              if (c.p.out[2] <= 0) continue;
              c.finish(0, channels == 21 ? 3 : 0);
              c.epilogue.bias = c.bias.data();
              SCOPED_TRACE(testing::Message() << width << " c=" << channels << " k=" << kernel << " s=" << stride
                                              << " d=" << dilation << " p=" << pad);
              c.run(GetParam(), ConvAlgorithm::kDepthwise, {.threads = 2}, 1);
              ASSERT_NO_FATAL_FAILURE(c.check());
            }
}

// Rows of all depths before the next row, or planes one by one.
TEST_P(Conv, DepthwiseVolumes) {
  for (int64_t depth : {2, 5, 17})
    for (int64_t kernel : {2, 3})
      for (int64_t stride : {1, 2}) {
        ConvCase c = square_case(9, 21, 21, 3, 1, 1, 1);
        c.p.groups = 21;
        c.p.images = 2;
        c.p.in[0] = depth, c.p.kernel[0] = kernel, c.p.pad[0] = 1, c.p.stride[0] = stride;
        c.p.out[0] = (depth + 2 - kernel) / stride + 1;
        c.finish(0, depth == 5 ? 3 : 0);
        c.epilogue.bias = c.bias.data();
        const ConvChoice choice = choose_conv(c.p, ConvAlgorithm::kDepthwise, GetParam(), {.threads = 3});
        EXPECT_EQ(choice.depths_first, depth < 17) << depth;
        c.run(GetParam(), ConvAlgorithm::kDepthwise, {.threads = 3}, 1);
        ASSERT_NO_FATAL_FAILURE(c.check());
      }
}

// residual: 0 none, 1 before the activation, 2 behind it.
void set_epilogue(ConvCase& c, Activation kind, int residual) {
  c.epilogue = {.bias = c.bias.data(),
                .residual = residual ? c.residual.data() : nullptr,
                .residual_last = residual == 2,
                .activation = kind,
                .a = -0.25f,
                .b = 0.5f};
}

TEST_P(Conv, GroupedShapes) {
  for (int64_t width : {2, 4, 8, 16, 32})
    for (int64_t groups : {1, 3, 5})
      for (int64_t size : {3, 11})
        for (int64_t kernel : {1, 2, 3})
          for (int64_t stride : {1, 2})
            for (int64_t pad : {-1, 2}) {
              const int64_t dilation = stride == 1 && kernel == 3 ? 2 : 1;
              if ((kernel - 1) * dilation + 1 > size + 2 * pad) continue;
              ConvCase c = square_case(size, width * groups, width * groups, kernel, stride, dilation, pad);
              c.p.groups = groups;
              c.finish(groups == 3 ? 4 : 0, groups == 5 ? 3 : 0);
              c.epilogue.bias = c.bias.data();
              SCOPED_TRACE(testing::Message() << width << "x" << groups << " size " << size << " k=" << kernel
                                              << " s=" << stride << " p=" << pad);
              c.run(GetParam(), ConvAlgorithm::kGrouped, {.l1_bytes = 1 << (8 + size), .threads = 2}, 1);
              ASSERT_NO_FATAL_FAILURE(c.check());
            }
}

// Inputs and outputs of a group.
constexpr int64_t kUnequal[][2] = {{1, 2}, {1, 3}, {1, 17}, {2, 1},   {2, 3}, {3, 3},
                                   {4, 8}, {5, 2}, {7, 1},  {12, 12}, {32, 5}};

TEST_P(Conv, GroupsOfUnequalWidths) {
  for (const auto& [inputs, outputs] : kUnequal)
    for (int64_t groups : {2, 5, 19})
      for (int64_t kernel : {1, 3})
        for (int64_t stride : {1, 2})
          for (int64_t pad : {-1, 2}) {
            if (groups == 19 && inputs == 32) continue;
            const int64_t dilation = stride == 1 && kernel == 3 ? 2 : 1;
            ConvCase c = square_case(9, inputs * groups, outputs * groups, kernel, stride, dilation, pad);
            c.p.groups = groups;
            c.finish(groups == 2 ? 4 : 0, groups == 5 ? 3 : 0);
            c.epilogue.bias = c.bias.data();
            SCOPED_TRACE(testing::Message() << inputs << " to " << outputs << " x" << groups << " k=" << kernel
                                            << " s=" << stride << " p=" << pad);
            c.run(GetParam(), ConvAlgorithm::kGrouped, {.l1_bytes = 1 << (8 + 2 * kernel), .threads = 2}, 1);
            ASSERT_NO_FATAL_FAILURE(c.check());
          }
}

TEST_P(Conv, GroupedEpilogues) {
  for (Activation kind : {Activation::kNone, Activation::kClip, Activation::kTanh})
    for (int residual : {0, 1, 2}) {
      ConvCase c = square_case(9, 20, 20, 3, 1, 1, 1);
      c.p.groups = 5;
      c.finish(0, 2);
      set_epilogue(c, kind, residual);
      c.run(GetParam(), ConvAlgorithm::kGrouped);
      ASSERT_NO_FATAL_FAILURE(c.check());
    }
}

// Sets that fuse multiply-adds give the same bits.
TEST(ConvGrouped, TheLanesChangeNoBit) {
  const auto expect_same = [](int64_t inputs, int64_t outputs) {
    std::vector<float> first;
    for (const Isa isa : every_isa()) {
      if (isa == Isa::kSse2 || isa == Isa::kPortable) continue;
      ConvCase c = square_case(9, inputs * 3, outputs * 3, 3, 1, 1, 1);
      c.p.groups = 3;
      c.finish();
      c.epilogue.bias = c.bias.data();
      c.run(isa, ConvAlgorithm::kGrouped);
      if (first.empty()) first = c.y;
      EXPECT_EQ(c.y, first) << name_of(isa) << " " << inputs << " to " << outputs;
    }
  };
  for (int64_t width : {2, 4, 8, 16, 32}) expect_same(width, width);
  for (const auto& [inputs, outputs] : kUnequal) expect_same(inputs, outputs);
}

TEST_P(Conv, SpreadShapes) {
  int forms = 0;
  for (int64_t size : {3, 17, 600})
    for (int64_t out : {1, 3, 5, 20})
      for (int64_t kernel : {2, 3, 9})
        for (int64_t dilation : {1, 2})
          for (int64_t pad : {-1, 0, 2, 9}) {
            ConvCase c = square_case(size == 600 ? 3 : size, 5, out, kernel, 1, dilation, pad);
            c.p.in[2] = size + 1;
            c.p.stride[1] = out == 3 ? 2 : 1;
            if (size == 600) c.p.kernel[1] = 1, c.p.pad[1] = 0;
            set_out(c.p, pad);
            if (c.p.out[1] <= 0 || c.p.out[2] <= 0) continue;
            c.finish(out == 3 ? 4 : 0, out == 5 ? 3 : 0);
            if (!conv_fits(c.p, ConvAlgorithm::kSpread)) continue;
            ++forms;
            if (pad != 2) c.epilogue.bias = c.bias.data();
            SCOPED_TRACE(testing::Message()
                         << size << " n=" << out << " k=" << kernel << " d=" << dilation << " p=" << pad);
            c.run(GetParam(), ConvAlgorithm::kSpread, {.threads = 2}, 1);
            ASSERT_NO_FATAL_FAILURE(c.check());
          }
  EXPECT_GT(forms, 150);
}

TEST_P(Conv, SpreadEpilogues) {
  for (Activation kind : {Activation::kNone, Activation::kClip, Activation::kTanh})
    for (int residual : {0, 1, 2}) {
      ConvCase c = square_case(9, 21, 3, 3, 1, 1, 1);
      c.finish(0, 2);
      set_epilogue(c, kind, residual);
      c.run(GetParam(), ConvAlgorithm::kSpread);
      ASSERT_NO_FATAL_FAILURE(c.check());
    }
}

TEST_P(Conv, DepthwiseEpilogues) {
  for (Activation kind : {Activation::kNone, Activation::kClip, Activation::kTanh})
    for (int residual : {0, 1, 2}) {
      ConvCase c = square_case(9, 21, 21, 3, 1, 1, 1);
      c.p.groups = 21;
      c.finish(0, 2);
      set_epilogue(c, kind, residual);
      c.run(GetParam(), ConvAlgorithm::kDepthwise);
      ASSERT_NO_FATAL_FAILURE(c.check());
    }
}

TEST_P(Conv, ThreeAndOneSpatialAxes) {
  for (int64_t groups : {1, 3, 6})
    for (bool is_3d : {true, false}) {
      ConvCase c;
      c.p = {.images = 2,
             .groups = groups,
             .in_channels = 6,
             .out_channels = 6,
             .in = {is_3d ? 5 : 1, is_3d ? 6 : 1, 23},
             .kernel = {is_3d ? 3 : 1, is_3d ? 2 : 1, 4},
             .stride = {is_3d ? 2 : 1, 1, 2},
             .pad = {is_3d ? 1 : 0, is_3d ? 1 : 0, 2}};
      set_out(c.p, 1);
      c.finish(0, 1);
      c.epilogue.bias = c.bias.data();
      c.run(GetParam(), ConvAlgorithm::kAuto);
      ASSERT_NO_FATAL_FAILURE(c.check());
      c.y.assign(c.y.size(), ConvCase::kUntouched);
      c.run(GetParam(), ConvAlgorithm::kImplicit, {.threads = 2}, 1);
      ASSERT_NO_FATAL_FAILURE(c.check());
      if (groups != 3) continue;
      c.y.assign(c.y.size(), ConvCase::kUntouched);
      c.run(GetParam(), ConvAlgorithm::kGrouped, {.threads = 2}, 1);
      ASSERT_NO_FATAL_FAILURE(c.check());
    }
}

TEST_P(Conv, TheSplitAndTheBlocksChangeNoBit) {
  for (ConvAlgorithm algorithm : {ConvAlgorithm::kImplicit, ConvAlgorithm::kDepthwise, ConvAlgorithm::kGrouped,
                                  ConvAlgorithm::kWinograd4, ConvAlgorithm::kWinograd6, ConvAlgorithm::kWinograd8}) {
    const bool transforms = is_winograd(algorithm);
    ConvCase c =
        square_case(13, 40, 40, transforms ? 3 : 9, 1, 1, transforms ? 1 : 4);  // 9x9: deep enough for K to be cut
    if (transforms) c.slack = 16;
    if (algorithm == ConvAlgorithm::kDepthwise) c.p.groups = 40;
    if (algorithm == ConvAlgorithm::kGrouped) c.p.groups = 10;
    c.finish();
    c.epilogue = {
        .bias = c.bias.data(), .residual = c.residual.data(), .activation = Activation::kClip, .a = -1, .b = 1};
    c.run(GetParam(), algorithm);
    ASSERT_NO_FATAL_FAILURE(c.check());
    const std::vector<float> whole = c.y;
    for (int64_t l2 : {1 << 14, 1 << 22})
      for (int threads : {2, 3, 8, 100})
        for (int64_t chunk : {1, 3, 1 << 20}) {  // tasks that are run together
          c.y.assign(c.y.size(), ConvCase::kUntouched);
          c.run(GetParam(), algorithm, {.l1_bytes = l2 / 4, .l2_bytes = l2, .threads = threads}, chunk);
          ASSERT_EQ(c.y, whole) << l2 << " " << threads << " " << chunk;
        }
  }
}

TEST_P(Conv, NotANumberStaysWhereItsWindowsAre) {
  for (ConvAlgorithm algorithm : {ConvAlgorithm::kImplicit, ConvAlgorithm::kDepthwise, ConvAlgorithm::kGrouped,
                                  ConvAlgorithm::kWinograd4, ConvAlgorithm::kWinograd6, ConvAlgorithm::kWinograd8}) {
    ConvCase c = square_case(12, 20, 20, 3, 1, 1, 1);
    c.p.groups = algorithm == ConvAlgorithm::kDepthwise ? 20 : algorithm == ConvAlgorithm::kGrouped ? 5 : 1;
    const int64_t width = 20 / c.p.groups;
    c.finish();
    c.epilogue.activation = Activation::kClip;
    c.epilogue.a = 0;
    c.epilogue.b = 6;
    c.x[5 * c.p.in_view.row + 6 * c.p.in_view.pixel + 7] = std::numeric_limits<float>::quiet_NaN();
    c.run(GetParam(), algorithm);
    for (int64_t y = 0; y < 12; ++y)
      for (int64_t x = 0; x < 14; ++x)
        for (int64_t n = 0; n < 20; ++n) {
          const bool near = std::abs(y - 5) <= 1 && std::abs(x - 6) <= 1 && n / width == 7 / width;
          const bool is_nan = std::isnan(c.y[y * c.p.out_view.row + x * c.p.out_view.pixel + n]);
          // Winograd's tiles share their inputs: there the neighbourhood is whole tiles.
          const bool may = is_winograd(algorithm) && tile_reads(algorithm, y, 5) && tile_reads(algorithm, x, 6);
          ASSERT_TRUE(is_nan == near || (is_nan && may)) << y << "," << x << "," << n;
        }
  }
}

TEST_P(Conv, EveryFinishedRectangleIsShownOnce) {
  struct Seen {
    int64_t channels;
    std::vector<int> count;
  };
  const auto finish = [](const void* context, float* c, int64_t stride, int64_t row, int64_t column, int64_t rows,
                         int64_t columns) {
    Seen& seen = *const_cast<Seen*>(static_cast<const Seen*>(context));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        ++seen.count[(row + i) * seen.channels + column + j];
        c[i * stride + j] = static_cast<float>((row + i) * seen.channels + column + j);
      }
  };
  for (ConvAlgorithm algorithm : {ConvAlgorithm::kImplicit, ConvAlgorithm::kDepthwise, ConvAlgorithm::kGrouped,
                                  ConvAlgorithm::kWinograd4, ConvAlgorithm::kWinograd6, ConvAlgorithm::kWinograd8})
    for (int64_t groups : {1, 2, 4, 36})
      for (Activation kind : {Activation::kClip, Activation::kHardSwish, Activation::kTanh}) {
        ConvCase c = square_case(9, 36, 36, 3, 1, 1, 1);
        c.p.groups = groups;
        c.finish(0, 3);
        if (!conv_fits(c.p, algorithm)) continue;
        const int64_t pixels = c.p.images * c.p.out[1] * c.p.out[2];
        Seen seen{36, std::vector<int>(pixels * 36)};
        c.epilogue = {.activation = kind, .a = -1, .b = 1, .finish = finish, .finish_context = &seen};
        c.run(GetParam(), algorithm, {.threads = 3}, 1);
        for (int64_t i = 0; i < pixels * 36; ++i) {
          const int64_t pixel = i / 36, line = pixel / c.p.out[2], image = line / c.p.out[1];
          const int64_t at = image * c.p.out_view.image + line % c.p.out[1] * c.p.out_view.row +
                             pixel % c.p.out[2] * c.p.out_view.pixel + i % 36;
          ASSERT_EQ(seen.count[i], 1) << i;
          ASSERT_EQ(c.y[at], static_cast<float>(i));
        }
      }
}

TEST_P(Conv, CostKnowsTheTile) { EXPECT_EQ(cost_lanes(GetParam()).rows, gemm_tile_rows(GetParam())); }

TEST_P(Conv, EmptyOutputsHaveNoTasks) {
  ConvCase c = square_case(5, 3, 8, 3, 1, 1, 1);
  c.p.images = 0;
  EXPECT_EQ(choose_conv(c.p, ConvAlgorithm::kAuto, GetParam(), {}).tasks, 0);
}

TEST_P(Conv, WeightsComeBack) {
  for (int64_t groups : {1, 4}) {
    ConvCase c = square_case(5, 4, 8, 3, 1, 1, 1);
    c.p.groups = groups;
    c.finish();
    std::vector<float> packed(packed_conv_size(c.p, ConvAlgorithm::kImplicit)), back(c.weights.size());
    pack_conv(c.p, ConvAlgorithm::kImplicit, c.weights.data(), packed.data());
    unpack_conv(c.p, ConvAlgorithm::kImplicit, packed.data(), back.data());
    EXPECT_EQ(back, c.weights);
  }
}

TEST_P(Conv, Winograd) {
  for (ConvAlgorithm algorithm : kTransforms)
    for (int64_t size : {1, 3, 4, 9, 14})
      for (int64_t in : {1, 16, 37})
        for (int64_t out : {3, 32})
          for (int64_t pad : {0, 1, 2}) {
            if (size + 2 * pad < 3) continue;
            ConvCase c = square_case(size, in, out, 3, 1, 1, pad);
            c.finish(in == 16 ? 2 : 0, out == 3 ? 1 : 0);
            c.slack = 16;
            c.epilogue.bias = c.bias.data();
            SCOPED_TRACE(testing::Message() << size << " c=" << in << " n=" << out << " p=" << pad);
            c.run(GetParam(), algorithm, {.l2_bytes = 1 << 17, .threads = 2}, 1);
            ASSERT_NO_FATAL_FAILURE(c.check());
          }
}

// Every tile that there is: one or two axes, dilated, in groups.
TEST_P(Conv, WinogradForms) {
  int forms = 0;
  for (ConvAlgorithm algorithm : kTransforms)
    for (int64_t down : {1, 2, 3, 4, 5, 7, 11})
      for (int64_t across : {1, 2, 3, 4, 5, 7, 11})
        for (int64_t dilation : {1, 2, 3})
          for (int64_t groups : {1, 2}) {
            ConvCase c = square_case(13, 6 * groups, 10 * groups, 1, 1, dilation, 0);
            c.p.groups = groups;
            c.p.kernel[1] = down, c.p.kernel[2] = across;
            c.p.pad[1] = down / 2 * dilation, c.p.pad[2] = across / 2;
            set_out(c.p, 2);
            if (c.p.out[1] <= 0 || c.p.out[2] <= 0) continue;
            c.finish(1, 2);
            if (!conv_fits(c.p, algorithm)) continue;
            ++forms;
            c.slack = 16;
            c.epilogue = {.bias = c.bias.data(), .residual = c.residual.data()};
            SCOPED_TRACE(testing::Message()
                         << name_of(algorithm) << " " << down << "x" << across << " d=" << dilation << " g=" << groups);
            c.run(GetParam(), algorithm, {.threads = 2}, 1);
            ASSERT_NO_FATAL_FAILURE(c.check());
          }
  // Pairs of axes, taps of one alone on either (9 more that fall apart); 11 dilated taps reach beyond the width.
  EXPECT_EQ(forms, (8 * 3 + 9 * 2) * 3 * 2 - 3 * 2 * 2);
}

TEST_P(Conv, WinogradEpilogues) {
  for (bool tall : {false, true})
    for (Activation kind : {Activation::kNone, Activation::kClip, Activation::kTanh})
      for (int residual : {0, 1, 2}) {
        ConvCase c = square_case(9, 21, 21, 3, 1, 1, 1);
        if (tall) c.p.kernel[2] = 1, c.p.pad[2] = 0, set_out(c.p, 1);
        c.finish(0, 2);
        c.slack = 16;
        set_epilogue(c, kind, residual);
        c.run(GetParam(), ConvAlgorithm::kWinograd6);
        ASSERT_NO_FATAL_FAILURE(c.check());
      }
}

// On data of variance 1 the largest error is below the stated bound, and not far below it.
TEST_P(Conv, ErrorIsAsPredicted) {
  for (int i = 0; i < 2 * kConvAlgorithms; ++i) {
    ConvCase c = square_case(19, 96, 32, 3, 1 + i / kConvAlgorithms, 1, 0);
    c.finish();
    const ConvCandidate one = conv_candidates(c.p, GetParam(), {}).list[i % kConvAlgorithms];
    if (!one.fits) continue;
    SCOPED_TRACE(testing::Message() << name_of(one.algorithm) << " stride " << c.p.stride[1]);
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0, 1);
    for (float& f : c.x) f = normal(random);
    for (float& f : c.weights) f = normal(random) / std::sqrt(96.0f * 9);
    c.run(GetParam(), one.algorithm);
    double most = 0;
    for (int64_t y = 0; y < c.p.out[1]; ++y)
      for (int64_t x = 0; x < c.p.out[2]; ++x)
        for (int64_t n = 0; n < 32; ++n) {
          double size = 0;
          const double error = c.y[y * c.p.out_view.row + x * c.p.out_view.pixel + n] - c.sum_at({0, 0, y, x}, n, size);
          ASSERT_TRUE(std::isfinite(error)) << y << ", " << x << ", " << n;  // what max would pass over
          most = std::max(most, std::fabs(error));
        }
    EXPECT_LE(most, one.error);
    EXPECT_GE(most, one.error / 8);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Conv, testing::ValuesIn(every_isa()), IsaName());

}  // namespace
}  // namespace mica
