// Convolutions in groups from a band of rows: the bits of the ones that read rows where they lie.
#include "kernels/conv/conv_problem.test.h"

namespace mica {
namespace {

constexpr GemmLimits kNoRoom{.l2_bytes = 0};  // for a band

ConvCase grouped_case(int64_t size, int64_t groups, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                      int64_t dilation = 1) {
  ConvCase c = square_case(size, groups * in, groups * out, kernel, stride, dilation, kernel / 2);
  c.p.groups = groups;
  return c;
}

// By rows where they lie, and by bands in second-level caches of several sizes, by several threads, some tasks at a
// time.
void expect_same_bits(ConvCase& c, Isa isa) {
  ASSERT_FALSE(reads_bands(c.p, kNoRoom));
  ASSERT_NO_FATAL_FAILURE(c.run(isa, ConvAlgorithm::kImplicit, kNoRoom));
  ASSERT_NO_FATAL_FAILURE(c.check());
  const std::vector<float> want = c.y;
  for (const int64_t l2_bytes : {1 << 16, 1 << 18, 1 << 21})
    for (const int threads : {1, 3}) {
      const GemmLimits limits{.l2_bytes = l2_bytes, .threads = threads};
      if (!reads_bands(c.p, limits)) continue;
      EXPECT_TRUE(choose_conv(c.p, ConvAlgorithm::kImplicit, isa, limits).banded);
      c.y.assign(c.y.size(), ConvCase::kUntouched);
      ASSERT_NO_FATAL_FAILURE(c.run(isa, ConvAlgorithm::kImplicit, limits, threads));
      EXPECT_EQ(c.y, want) << name_of(isa) << " " << l2_bytes << " " << threads;
    }
}

TEST(ConvBanded, ChangesNoBit) {
  for (const Isa isa : every_isa())
    for (const int64_t size : {1, 5, 14})
      for (const int64_t kernel : {1, 3, 4})
        for (const int64_t stride : {1, 2, 3})
          for (const int64_t out : {1, 8, 19, 24, 40}) {
            ConvCase c = grouped_case(size, 3, out == 24 ? 24 : 13, out, kernel, stride);
            if (c.p.out[1] <= 0 || c.p.out[2] <= 0) continue;
            c.finish(size == 5 ? 3 : 0, out == 8 ? 2 : 0);
            c.epilogue = {.bias = c.bias.data(), .activation = Activation::kClip, .a = -0.5f, .b = 2};
            if (stride == 2) c.epilogue = {.activation = Activation::kTanh};
            if (size == 5) {
              c.epilogue.residual = c.residual.data();
              c.epilogue.residual_last = stride == 3;
            }
            ASSERT_NO_FATAL_FAILURE(expect_same_bits(c, isa)) << size << " " << kernel << stride << " " << out;
          }
}

// More groups than a band has, taps apart, padding that is larger than the picture or cuts it, and lines.
TEST(ConvBanded, OtherShapesToo) {
  for (const Isa isa : every_isa()) {
    ConvCase many = grouped_case(12, 37, 8, 24, 3, 1);
    ConvCase apart = grouped_case(9, 4, 16, 16, 3, 1, 3);
    ConvCase far = grouped_case(2, 4, 16, 24, 5, 2);
    far.p.pad[1] = far.p.pad[2] = 7;
    set_out(far.p, 9);
    ConvCase cut = grouped_case(11, 5, 24, 12, 3, 2);
    cut.p.pad[1] = cut.p.pad[2] = -2;
    set_out(cut.p, -1);
    ConvCase line = grouped_case(30, 6, 20, 24, 3, 1);
    line.p.in[1] = line.p.kernel[1] = 1;
    line.p.pad[1] = 0;
    set_out(line.p, 1);
    for (ConvCase* c : {&many, &apart, &far, &cut, &line}) {
      c->finish(1, 1);
      c->epilogue = {.bias = c->bias.data()};
      ASSERT_NO_FATAL_FAILURE(expect_same_bits(*c, isa));
    }
  }
}

TEST(ConvBanded, ResidualInPlace) {
  for (const Isa isa : every_isa()) {
    ConvCase c = grouped_case(9, 4, 24, 24, 3, 1);
    c.finish();
    c.epilogue = {.bias = c.bias.data(), .residual = c.residual.data()};
    ASSERT_NO_FATAL_FAILURE(c.run(isa, ConvAlgorithm::kImplicit));
    const std::vector<float> want = c.y;
    c.y = c.residual;
    c.p.residual_in_place = true;
    c.epilogue.residual = c.y.data();
    ASSERT_TRUE(reads_bands(c.p, {}));
    ASSERT_NO_FATAL_FAILURE(c.run(isa, ConvAlgorithm::kImplicit));
    EXPECT_EQ(c.y, want) << name_of(isa);
  }
}

TEST(ConvBanded, NanStaysInItsGroupAndPixels) {
  for (const Isa isa : every_isa()) {
    ConvCase c = grouped_case(9, 3, 24, 24, 3, 1);
    c.finish();
    c.x[4 * c.p.in_view.row + 4 * c.p.in_view.pixel + 30] = std::numeric_limits<float>::quiet_NaN();
    ASSERT_NO_FATAL_FAILURE(c.run(isa, ConvAlgorithm::kImplicit));
    int64_t nans = 0;
    for (int64_t i = 0; i < std::ssize(c.y); ++i) {
      if (!std::isnan(c.y[i])) continue;
      ++nans;
      EXPECT_EQ(i % 72 / 24, 1);
    }
    EXPECT_EQ(nans, 9 * 24) << name_of(isa);
  }
}

TEST(ConvBanded, WhereItFits) {
  const auto takes = [](const ConvCase& c, int64_t l2_bytes) { return reads_bands(c.p, {.l2_bytes = l2_bytes}); };
  EXPECT_TRUE(takes(grouped_case(14, 17, 24, 24, 3, 1), 1 << 19));
  EXPECT_FALSE(takes(grouped_case(14, 1, 24, 24, 3, 1), 1 << 19));   // one group lies side by side as it is
  EXPECT_FALSE(takes(grouped_case(14, 17, 24, 24, 3, 1), 1 << 15));  // no room for three rows
  EXPECT_FALSE(takes(grouped_case(14, 17, 24, 24, 1, 2), 1 << 19));  // pixels in between are read by nobody
  EXPECT_FALSE(takes(grouped_case(14, 2, 512, 24, 3, 1), 1 << 23));  // too many steps of k for one run
  ConvCase volume = grouped_case(14, 17, 24, 24, 3, 1);
  volume.p.in[0] = volume.p.out[0] = 2;
  EXPECT_FALSE(takes(volume, 1 << 19));
}

// A session of bounded shapes has room for the largest picture.
TEST(ConvBanded, SmallerPicturesNeedNoMoreScratch) {
  const auto floats = [](int64_t size, int64_t stride) {
    ConvCase c = grouped_case(size, 6, 24, 24, 3, stride);
    c.finish();
    EXPECT_TRUE(reads_bands(c.p, {}));
    return choose_conv(c.p, ConvAlgorithm::kImplicit, Isa::kPortable, {.threads = 2}).scratch_floats;
  };
  for (const int64_t stride : {1, 2, 3})
    for (int64_t size = 3; size < 90; ++size)
      ASSERT_LE(floats(size, stride), floats(size + 1, stride)) << size << " " << stride;
}

// AVX2's tiles of a panel and a half are lower than others.
TEST(ConvBanded, TilesGoByColumns) {
  const ConvProblem half = grouped_case(14, 17, 24, 24, 3, 1).p, whole = grouped_case(14, 17, 24, 32, 3, 1).p;
  EXPECT_EQ(banded_tile_rows(half, Isa::kAvx2, 6), 4);
  EXPECT_EQ(banded_tile_rows(whole, Isa::kAvx2, 6), 6);
  EXPECT_EQ(banded_tile_rows(half, Isa::kAvx512, 14), 14);
}

}  // namespace
}  // namespace mica
