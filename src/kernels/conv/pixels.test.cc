// Bytes as input: the bits of the convolution of the floats that they become.
#include "kernels/conv/conv_problem.test.h"

namespace mica {
namespace {

struct PixelCase {
  ConvCase c;
  std::vector<uint8_t> bytes;
  float scale[kMostPlanes], shift[kMostPlanes];

  // Every value of a byte, the first and the last in the corners; c.x gets what they become, as planes.
  void finish(Isa isa, bool is_signed) {
    ConvProblem& p = c.p;
    c.finish(0, 2);
    for (int64_t i = 0; i < p.in_channels; ++i) {
      scale[i] = 0.017f + 0.003f * static_cast<float>(i);
      shift[i] = -2.1f + 0.7f * static_cast<float>(i);
    }
    const ConvView v = dense_view(p.in, p.in_channels);
    bytes.resize(static_cast<size_t>(p.images * v.image));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37);
    bytes.back() = 255;
    const bool fused = isa != Isa::kPortable && isa != Isa::kSse2;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const size_t channel = i % static_cast<size_t>(p.in_channels);
      const auto x = static_cast<float>(is_signed ? static_cast<int8_t>(bytes[i]) : bytes[i]);
      const volatile float product = x * scale[channel];  // rounded by itself
      c.x[i] = fused ? std::fma(x, scale[channel], shift[channel]) : product + shift[channel];
    }
  }

  void run(Isa isa, const ConvProblem& problem, const uint8_t* from, const GemmLimits& limits) {
    ConvArgs args{.problem = problem,
                  .choice = choose_conv(problem, ConvAlgorithm::kImplicit, isa, limits),
                  .pixels = from,
                  .w = c.packed.data(),
                  .y = c.y.data(),
                  .epilogue = c.epilogue};
    std::copy_n(scale, kMostPlanes, args.scale);
    std::copy_n(shift, kMostPlanes, args.shift);
    c.y.assign(c.y.size(), ConvCase::kUntouched);
    const int64_t floats = args.choice.scratch_floats;
    c.scratch.assign(static_cast<size_t>(floats) + 16 + 4, std::numeric_limits<float>::quiet_NaN());
    float* aligned = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(c.scratch.data()) + 63) / 64 * 64);
    for (int i = 0; i < 4; ++i) aligned[floats + i] = ConvCase::kUntouched;
    for (int64_t t = args.choice.tasks; t-- > 0;) conv_kernels(isa).run(args, t, t + 1, aligned);
    for (int i = 0; i < 4; ++i) ASSERT_EQ(aligned[floats + i], ConvCase::kUntouched) << "scratch overrun";
  }
};

// The bytes by other strides, with room of other bytes around each.
std::vector<uint8_t> apart(const ConvProblem& p, const std::vector<uint8_t>& dense, const ConvView& to) {
  const ConvView from = dense_view(p.in, p.in_channels);
  std::vector<uint8_t> bytes(static_cast<size_t>(p.images * to.image), 99);
  for (int64_t i = 0; i < p.images; ++i)
    for (int64_t y = 0; y < p.in[1]; ++y)
      for (int64_t x = 0; x < p.in[2]; ++x)
        for (int64_t c = 0; c < p.in_channels; ++c)
          bytes[static_cast<size_t>(i * to.image + y * to.row + x * to.pixel + c * to.channel)] =
              dense[static_cast<size_t>(i * from.image + y * from.row + x * from.pixel + c)];
  return bytes;
}

class Pixels : public testing::TestWithParam<Isa> {};

// As pixels, as planes, and neither.
TEST_P(Pixels, GiveTheBitsOfTheirFloats) {
  for (int64_t width : {1, 14, 37, 70})
    for (int64_t in : {1, 3, 4})
      for (int64_t out : {3, 16, 40})
        for (int64_t kernel : {1, 3, 7})
          for (int64_t stride : {1, 2, 4}) {
            PixelCase k;
            ConvProblem& p = k.c.p;
            const int64_t dilation = kernel == 3 && stride == 1 ? 2 : 1;
            p = {.images = 2,
                 .in_channels = in,
                 .out_channels = out,
                 .in = {1, 9, width},
                 .kernel = {1, kernel, kernel},
                 .stride = {1, stride, stride},
                 .dilation = {1, dilation, dilation},
                 .pad = {0, kernel / 2, 3}};
            set_out(p, 4);
            if (p.out[1] < 1 || p.out[2] < 1) continue;
            const bool is_signed = in == 4;
            k.finish(GetParam(), is_signed);
            k.c.epilogue.bias = k.c.bias.data();
            if (out == 40) k.c.epilogue = {.activation = Activation::kClip, .a = 0, .b = 6};
            SCOPED_TRACE(testing::Message()
                         << width << " c=" << in << " n=" << out << " k=" << kernel << " s=" << stride);
            k.c.run(GetParam(), ConvAlgorithm::kImplicit);
            const std::vector<float> want = k.c.y;
            p.pixels = is_signed ? PixelType::kI8 : PixelType::kU8;
            const int64_t row = p.in[2] * in + 5;
            const ConvView views[] = {
                {.image = 9 * row, .row = row, .pixel = in},
                {.image = 9 * row, .row = p.in[2], .pixel = 1, .channel = 9 * p.in[2]},
                {.image = 18 * row, .row = 2 * row, .pixel = 2 * in, .channel = 2},
            };
            for (const ConvView& view : views) {
              ConvProblem problem = p;
              problem.in_view = view;
              ASSERT_TRUE(reads_pixels(problem));
              const std::vector<uint8_t> bytes = apart(p, k.bytes, view);
              for (int threads : {1, 3}) {
                k.run(GetParam(), problem, bytes.data(), {.l1_bytes = 16 << 10, .threads = threads});
                ASSERT_EQ(k.c.y, want) << view.pixel << " " << view.channel;
              }
            }
          }
}

INSTANTIATE_TEST_SUITE_P(Sets, Pixels, testing::ValuesIn(every_isa()), IsaName());

}  // namespace
}  // namespace mica
