// Which algorithm a convolution takes, forced, measured or by its cost, and how the choice reads.
#include <string>

#include "kernels/conv/conv_problem.test.h"
#include "kernels/conv/cost.h"

namespace mica {
namespace {

TEST(ConvChoice, SuitsTheProblem) {
  GemmLimits limits;
  const auto algorithm = [&](int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups) {
    ConvCase c = square_case(size, in, out, kernel, stride, 1, kernel / 2);
    c.p.images = 1, c.p.groups = groups;
    c.finish();
    return choose_conv_algorithm(c.p, Isa::kAvx512, limits);
  };
  EXPECT_TRUE(is_winograd(algorithm(56, 64, 64, 3, 1, 1)));
  EXPECT_EQ(algorithm(14, 256, 256, 3, 1, 1), ConvAlgorithm::kWinograd6);
  EXPECT_EQ(algorithm(7, 512, 512, 3, 1, 1), ConvAlgorithm::kWinograd4);
  EXPECT_TRUE(is_winograd(algorithm(56, 64, 64, 3, 1, 2)));
  EXPECT_TRUE(is_winograd(algorithm(35, 48, 64, 5, 1, 1)));
  EXPECT_TRUE(is_winograd(algorithm(56, 64, 64, 3, 2, 1)));
  EXPECT_EQ(algorithm(14, 512, 512, 3, 2, 1), ConvAlgorithm::kImplicit);
  EXPECT_EQ(algorithm(56, 3, 64, 3, 1, 1), ConvAlgorithm::kImplicit);
  EXPECT_EQ(algorithm(56, 64, 64, 3, 1, 64), ConvAlgorithm::kDepthwise);
  EXPECT_EQ(algorithm(56, 64, 64, 1, 1, 1), ConvAlgorithm::kPointwise);
  EXPECT_EQ(algorithm(56, 64, 64, 1, 2, 1), ConvAlgorithm::kImplicit);
  // Groups: of few channels, whose lanes would be other groups' in a panel; of more, with a stride or at small sizes,
  // from a band; what is no vector, as most of a small tile's transform, takes half as long beside units of half the
  // width.
  EXPECT_EQ(algorithm(56, 128, 128, 3, 1, 32), ConvAlgorithm::kGrouped);
  EXPECT_EQ(algorithm(112, 64, 64, 3, 2, 4), ConvAlgorithm::kImplicit);
  EXPECT_EQ(algorithm(28, 128, 128, 3, 1, 8), ConvAlgorithm::kWinograd6);
  EXPECT_EQ(algorithm(14, 408, 408, 3, 1, 17), ConvAlgorithm::kImplicit);
  limits.adds_apart = limits.half_units = true;
  EXPECT_EQ(algorithm(14, 408, 408, 3, 1, 17), ConvAlgorithm::kWinograd6);
  EXPECT_EQ(algorithm(7, 672, 672, 3, 1, 42), ConvAlgorithm::kImplicit);
  // Rows that are read in place, and half of a panel, which takes half of its loads' time there.
  EXPECT_EQ(algorithm(320, 16, 16, 3, 2, 1), ConvAlgorithm::kImplicit);
  EXPECT_EQ(algorithm(160, 24, 20, 3, 2, 1), ConvAlgorithm::kImplicit);
  EXPECT_EQ(algorithm(1024, 8, 8, 3, 1, 1), ConvAlgorithm::kImplicit);
}

TEST(ConvChoice, AForcedAlgorithmIsTakenWhereItFits) {
  ConvCase c = square_case(20, 32, 32, 3, 1, 1, 1), pointwise = square_case(20, 32, 32, 1, 1, 1, 0);
  c.finish(), pointwise.finish();
  for (ConvAlgorithm a :
       {ConvAlgorithm::kImplicit, ConvAlgorithm::kWinograd4, ConvAlgorithm::kWinograd6, ConvAlgorithm::kWinograd8}) {
    const ConvPolicy policy{conv_force(name_of(a))};
    EXPECT_EQ(choose_conv_algorithm(c.p, Isa::kPortable, {}, policy), a);
    if (a == ConvAlgorithm::kImplicit) continue;
    EXPECT_EQ(choose_conv_algorithm(pointwise.p, Isa::kPortable, {}, policy), ConvAlgorithm::kPointwise);
  }
  EXPECT_TRUE(is_winograd(choose_conv_algorithm(c.p, Isa::kPortable, {}, {conv_force("winograd")})));
  EXPECT_EQ(conv_force("").set, 0u);
  EXPECT_EQ(conv_force("fast").set, 0u);
}

// Without room for transformed weights, they are transformed on the way: not at run time, not of phases.
TEST(ConvChoice, LowMemoryTakesNoLargerWeights) {
  ConvCase c = square_case(14, 256, 256, 3, 1, 1, 1);
  c.finish();
  EXPECT_TRUE(is_winograd(choose_conv_algorithm(c.p, Isa::kAvx512, {}, {.low_memory = true})));
  EXPECT_FALSE(is_winograd(choose_conv_algorithm(c.p, Isa::kAvx512, {}, {.low_memory = true, .is_phase = true})));
  EXPECT_FALSE(is_winograd(choose_conv_algorithm(c.p, Isa::kAvx512, {}, {.low_memory = true, .from_panels = false})));
  const ConvPolicy low{.low_memory = true};
  const ConvCandidates before = conv_candidates(c.p, Isa::kAvx512, {}),
                       way = conv_candidates(c.p, Isa::kAvx512, {}, low);
  for (int i = 0; i < kConvAlgorithms; ++i) {
    if (!way.list[i].fits || way.list[i].algorithm == ConvAlgorithm::kStrassen) continue;
    EXPECT_LE(way.list[i].bytes, before.list[static_cast<int>(ConvAlgorithm::kImplicit) - 1].bytes);
    EXPECT_EQ(way.list[i].cycles != before.list[i].cycles, is_winograd(way.list[i].algorithm));
    EXPECT_EQ(way.list[i].error, before.list[i].error);
  }
}

// The most accurate of what is fast enough: 8 points under 3 taps only when asked for, under 7 taps of one axis
// unasked.
TEST(ConvChoice, AMeasuredAlgorithmIsTakenWhereItMayBe) {
  ConvCase cases[] = {square_case(20, 32, 32, 3, 1, 1, 1), square_case(20, 32, 32, 1, 1, 1, 0),
                      square_case(20, 32, 32, 3, 2, 32, 1), square_case(20, 256, 256, 3, 1, 1, 1)};
  for (ConvCase& c : cases) {
    c.finish();
    const ConvAlgorithm predicted = choose_conv_algorithm(c.p, Isa::kAvx512, {});
    for (const ConvCandidate& one : conv_candidates(c.p, Isa::kAvx512, {}).list) {
      const bool may = is_unasked(one, {});
      EXPECT_EQ(choose_conv_algorithm(c.p, Isa::kAvx512, {}, {.tuned = one.algorithm}),
                may ? one.algorithm : predicted);
      EXPECT_TRUE(!may || (one.fits && one.error <= kMostConvError));
      const ConvPolicy forced{.force = conv_force("implicit"), .tuned = one.algorithm};
      EXPECT_EQ(choose_conv_algorithm(c.p, Isa::kAvx512, {}, forced), ConvAlgorithm::kImplicit);
      const ConvPolicy low{.low_memory = true, .tuned = one.algorithm}, unmeasured{.low_memory = true};
      if (is_winograd(one.algorithm)) {
        EXPECT_EQ(choose_conv_algorithm(c.p, Isa::kAvx512, {}, low),
                  choose_conv_algorithm(c.p, Isa::kAvx512, {}, unmeasured));
      }
    }
  }
  EXPECT_EQ(conv_algorithm("winograd6"), ConvAlgorithm::kWinograd6);
  EXPECT_EQ(conv_algorithm("winograd"), ConvAlgorithm::kAuto);
  EXPECT_EQ(conv_algorithm("auto"), ConvAlgorithm::kAuto);
  EXPECT_EQ(conv_algorithm(""), ConvAlgorithm::kAuto);
}

TEST(ConvChoice, KeysNameTheSizes) {
  const auto key = [](const ConvProblem& p) {
    char text[kConvKeySize];
    return std::string(text, print_key(p, text, sizeof text));
  };
  ConvProblem p{.images = 2, .groups = 4, .in_channels = 8, .out_channels = 12, .in = {1, 9, 7}, .out = {1, 5, 3}};
  p.kernel[2] = 3, p.stride[1] = 2, p.pad[2] = -1;
  EXPECT_EQ(key(p), "2x1x9x7x8:1x5x3x12:k1x1x3:s1x2x1:d1x1x1:p0x0x-1:g4");
  ConvProblem other = p;
  other.in_view = dense_view(p.in, 64);
  EXPECT_EQ(key(other), key(p));
  other.dilation[1] = 2;
  EXPECT_NE(key(other), key(p));
  int64_t* const numbers[] = {&p.images, &p.groups, &p.in_channels, &p.out_channels};
  for (int64_t* number : numbers) *number = 999999999;
  for (int a = 0; a < 3; ++a) p.in[a] = p.out[a] = p.kernel[a] = p.stride[a] = p.dilation[a] = p.pad[a] = 999999999;
  EXPECT_LT(key(p).size(), kConvKeySize - 1);
}

TEST(ConvChoice, LargeErrorsAreTakenWhenAskedFor) {
  ConvCase square = square_case(56, 32, 32, 3, 1, 1, 1);
  square.finish();
  for (const Isa isa : {Isa::kAvx512, Isa::kAvx2, Isa::kSse2}) {
    const ConvAlgorithm own = choose_conv_algorithm(square.p, isa, {});
    EXPECT_NE(own, ConvAlgorithm::kWinograd8);
    EXPECT_EQ(choose_conv_algorithm(square.p, isa, {}, {conv_force("winograd8")}), ConvAlgorithm::kWinograd8);
    for (const ConvCandidate& c : conv_candidates(square.p, isa, {}).list) {
      EXPECT_TRUE(c.algorithm != own || c.modest);
      EXPECT_TRUE(c.algorithm != ConvAlgorithm::kWinograd8 || (c.allowed && !c.modest));
    }
  }
}

// Four images cost as much as four times one, unless only one stays in the second-level cache.
TEST(ConvChoice, WinogradWaitsForLargePictures) {
  const auto cycles = [](int64_t images, Isa isa) {
    ConvCase c = square_case(64, 32, 32, 3, 2, 1, 1);
    c.p.images = images;
    c.finish();
    return conv_candidates(c.p, isa, {.l2_bytes = 1 << 20}, {})
        .list[static_cast<int>(ConvAlgorithm::kWinograd4) - 1]
        .cycles;
  };
  constexpr double kPictures = 4.0 * 64 * 64 * 32 * 4;
  EXPECT_NEAR(cycles(4, Isa::kAvx2), 4 * cycles(1, Isa::kAvx2) + kPictures / 10, kPictures / 100);
  EXPECT_NEAR(cycles(4, Isa::kAvx512), 4 * cycles(1, Isa::kAvx512), kPictures / 100);
}

TEST(ConvChoice, PrintsItsCandidates) {
  ConvCase c = square_case(20, 32, 32, 3, 1, 1, 1);
  c.finish();
  char text[512];
  const size_t length = print_candidates(c.p, ConvAlgorithm::kWinograd6, Isa::kAvx2, {}, {}, text);
  const std::string_view all(text, length);
  EXPECT_EQ(all.find("implicit "), 0u);
  EXPECT_NE(all.find("; winograd4 "), all.npos);
  EXPECT_NE(all.find(" (chosen); winograd8 "), all.npos);
  EXPECT_EQ(all.find("depthwise"), all.npos);
  for (size_t room : {0, 1, 7, 60})
    EXPECT_LE(print_candidates(c.p, {}, Isa::kAvx2, {}, {}, std::span(text, room)), room);
}

}  // namespace
}  // namespace mica
