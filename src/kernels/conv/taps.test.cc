// Taps far apart on small pictures: each is multiplied for the pixels that find it inside the input.
#include "kernels/conv/conv_problem.test.h"
#include "kernels/conv/cost.h"

namespace mica {
namespace {

struct Spread {
  int64_t size, channels, dilation, stride, pad;
};

ConvCase spread(const Spread& s) {
  ConvCase c;
  c.p.images = s.size < 20 ? 2 : 1;
  c.p.in_channels = s.channels;
  c.p.out_channels = 37;
  for (int axis : {1, 2}) {
    c.p.in[axis] = s.size + axis;
    c.p.kernel[axis] = 3;
    c.p.dilation[axis] = s.dilation;
    c.p.stride[axis] = s.stride;
    c.p.pad[axis] = s.pad;
  }
  set_out(c.p, s.pad + 1);
  return c;
}

bool by_taps(const ConvProblem& p, Isa isa) { return choose_conv(p, ConvAlgorithm::kImplicit, isa, {}).by_taps; }

TEST(ConvTaps, Right) {
  int cases = 0;
  for (const Isa isa : every_isa())
    for (const int64_t size : {13, 27})
      for (const int64_t dilation : {2, 5, 12, 24})
        for (const int64_t stride : {1, 2, 3})
          for (const bool residual : {false, true}) {
            // 300 channels come in two blocks of k.
            const int64_t pad = residual ? dilation : dilation - 1, channels = size == 13 && dilation == 5 ? 300 : 33;
            ConvCase c = spread({size, channels, dilation, stride, pad});
            if (c.p.out[1] <= 0 || c.p.out[2] <= 0) continue;
            c.finish(residual ? 3 : 0, residual ? 5 : 0);
            c.epilogue = {.bias = c.bias.data(), .activation = Activation::kClip, .a = -0.5f, .b = 2};
            if (residual) {
              c.epilogue.residual = c.residual.data();
              c.epilogue.residual_stride = c.p.residual_view.pixel;
            } else {
              c.epilogue.activation = Activation::kTanh;
            }
            SCOPED_TRACE(testing::Message() << name_of(isa) << " " << size << " d=" << dilation << " s=" << stride
                                            << (residual ? " residual" : ""));
            cases += by_taps(c.p, isa);
            c.run(isa, ConvAlgorithm::kImplicit, {.l2_bytes = 1 << 16}, 2);
            ASSERT_NO_FATAL_FAILURE(c.check());
          }
  EXPECT_GE(cases, 20);
}

TEST(ConvTaps, ThreeDimensionsAndGroups) {
  for (const Isa isa : every_isa()) {
    ConvCase c = spread({14, 96, 6, 1, 6});
    c.p.groups = 3;
    c.p.out_channels = 39;
    c.p.in[0] = 4, c.p.kernel[0] = 3, c.p.dilation[0] = 2, c.p.pad[0] = 2;
    set_out(c.p, 6);
    c.finish();
    c.epilogue.bias = c.bias.data();
    EXPECT_TRUE(gemm_tile_rows(isa) < 6 || by_taps(c.p, isa)) << name_of(isa);
    c.run(isa, ConvAlgorithm::kImplicit);
    ASSERT_NO_FATAL_FAILURE(c.check());
  }
}

// An output sees a NaN where a tap of it does.
TEST(ConvTaps, NanStaysInItsPixels) {
  for (const Isa isa : every_isa()) {
    ConvCase c = spread({13, 32, 9, 1, 9});
    c.finish();
    c.run(isa, ConvAlgorithm::kImplicit);
    const std::vector<float> clean = c.y;
    c.x[3 * c.p.in_view.row + 4 * c.p.in_view.pixel] = std::numeric_limits<float>::quiet_NaN();
    c.run(isa, ConvAlgorithm::kImplicit);
    for (int64_t y = 0; y < c.p.out[1]; ++y)
      for (int64_t x = 0; x < c.p.out[2]; ++x) {
        const bool sees = std::abs(y - 3) % 9 == 0 && std::abs(x - 4) % 9 == 0;
        const int64_t at = y * c.p.out_view.row + x * c.p.out_view.pixel;
        EXPECT_EQ(std::isnan(c.y[at]), sees) << y << " " << x;
        if (!sees) {
          EXPECT_EQ(c.y[at], clean[at]);
        }
      }
  }
}

TEST(ConvTaps, ShareThatMeetsTheInput) {
  ConvProblem p = spread({27, 512, 24, 1, 24}).p;
  for (int axis : {1, 2}) p.in[axis] = p.out[axis] = 28;
  EXPECT_DOUBLE_EQ(met_share(p), (4.0 + 28 + 4) / (3 * 28) * (4.0 + 28 + 4) / (3 * 28));
  p.stride[2] = 3, p.out[2] = 10;  // outputs at 0, 3 … 27: the first tap finds 24 and beyond, the last 3 and below
  EXPECT_DOUBLE_EQ(met_share(p), (4.0 + 28 + 4) / (3 * 28) * (2.0 + 10 + 2) / (3 * 10));
  p.dilation[1] = p.dilation[2] = 1;
  EXPECT_EQ(met_share(p), 1);
}

// Where taps miss most of the picture, transforms do not pay for the products that they save.
TEST(ConvTaps, DecidesTheAlgorithm) {
  const auto chosen = [](int64_t dilation) {
    ConvProblem p = spread({27, 256, dilation, 1, dilation}).p;
    p.out_channels = 256;
    for (int axis : {1, 2}) p.in[axis] = p.out[axis] = 28;
    p.in_view = dense_view(p.in, 256);
    p.out_view = dense_view(p.out, 256);
    return choose_conv_algorithm(p, Isa::kAvx512, {});
  };
  EXPECT_TRUE(is_winograd(chosen(2)));
  EXPECT_EQ(chosen(12), ConvAlgorithm::kImplicit);
  EXPECT_EQ(chosen(24), ConvAlgorithm::kImplicit);
}

}  // namespace
}  // namespace mica
