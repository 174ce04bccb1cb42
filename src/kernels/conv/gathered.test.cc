// Products whose rows are gathered before them: the bits of the ones that gather tile by tile.
#include "kernels/conv/conv_problem.test.h"

namespace mica {
namespace {

// The same case by gathered rows. Caches are so small that gathering pays, and tasks run one by one.
std::vector<float> run_gathered(ConvCase& c, Isa isa, int threads) {
  const int64_t pixels = c.p.images * c.p.out[0] * c.p.out[1] * c.p.out[2];
  const int64_t depth = c.p.kernel[0] * c.p.kernel[1] * c.p.kernel[2] * c.p.in_channels;
  const GemmLimits limits{.l2_bytes = 2 * pixels * row_pitch(depth) * int64_t{sizeof(float)}, .threads = threads};
  c.y.assign(c.y.size(), ConvCase::kUntouched);
  ConvArgs args{.problem = c.p,
                .choice = choose_conv(c.p, ConvAlgorithm::kImplicit, isa, limits),
                .x = c.x.data(),
                .w = c.packed.data(),
                .y = c.y.data(),
                .epilogue = c.epilogue};
  choose_gathered(c.p, isa, limits, args.choice);
  EXPECT_TRUE(args.choice.gathered);
  const size_t floats = pixels * args.choice.row_pitch;
  std::vector<float> rows(floats + 1, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> scratch(args.choice.scratch_floats + 17, std::numeric_limits<float>::quiet_NaN());
  rows[floats] = scratch.back() = ConvCase::kUntouched;
  float* aligned = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  const ConvKernels& kernels = conv_kernels(isa);
  for (int64_t t = 0; t < args.choice.gather_tasks; ++t) kernels.gather(args, t, t + 1, rows.data(), aligned);
  args.x = rows.data();
  for (int64_t t = 0; t < args.choice.tasks; ++t) kernels.run(args, t, t + 1, aligned);
  EXPECT_EQ(rows[floats], ConvCase::kUntouched);
  EXPECT_EQ(scratch.back(), ConvCase::kUntouched);
  return c.y;
}

ConvCase strided(int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
  ConvCase c;
  c.p.images = size == 5 ? 2 : 1;
  c.p.in_channels = 19;
  c.p.out_channels = 260;  // weights outweigh rows
  for (int axis : {1, 2}) {
    c.p.in[axis] = size + axis;
    c.p.kernel[axis] = kernel;
    c.p.stride[axis] = stride;
    c.p.pad[axis] = pad;
  }
  set_out(c.p, pad + 1);
  return c;
}

TEST(ConvGathered, ChangesNoBit) {
  int cases = 0;
  for (const Isa isa : every_isa())
    for (int64_t size : {1, 5, 13})
      for (int64_t kernel : {1, 3})
        for (int64_t stride : {1, 2, 3})
          for (int64_t pad : {0, 1}) {
            ConvCase c = strided(size, kernel, stride, pad);
            if (c.p.out[1] <= 0 || c.p.out[2] <= 0 || c.p.out[1] * c.p.out[2] * c.p.images > 100) continue;
            c.finish(size == 13 ? 3 : 0);
            if (choose_conv(c.p, ConvAlgorithm::kImplicit, isa, {}).by_rows) continue;  // read in place
            c.epilogue = {.bias = c.bias.data(), .activation = Activation::kClip, .a = -0.5f, .b = 2};
            if (size == 5) {
              c.epilogue.residual = c.residual.data();
              c.epilogue.residual_stride = c.p.residual_view.pixel;
            }
            c.run(isa, ConvAlgorithm::kImplicit);
            ASSERT_NO_FATAL_FAILURE(c.check());
            const std::vector<float> want = c.y;
            for (int threads : {1, 3})
              EXPECT_EQ(run_gathered(c, isa, threads), want) << name_of(isa) << " " << size << " " << kernel << stride;
            ++cases;
          }
  EXPECT_GE(cases, 20);
}

TEST(ConvGathered, NanStaysInItsPixels) {
  ConvCase c = strided(5, 3, 2, 1);
  c.finish();
  c.x[c.p.in_view.row + 2 * c.p.in_view.pixel] = std::numeric_limits<float>::quiet_NaN();
  for (const Isa isa : every_isa()) {
    c.run(isa, ConvAlgorithm::kImplicit);
    const std::vector<float> want = c.y, seen = run_gathered(c, isa, 1);
    int nans = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(std::isnan(want[i]), std::isnan(seen[i])) << i;
      nans += std::isnan(seen[i]);
    }
    EXPECT_GT(nans, 0);
    EXPECT_LT(nans, static_cast<int>(want.size()));
  }
}

TEST(ConvGathered, WhereItPays) {
  const GemmLimits limits{.l2_bytes = 2 << 20};
  for (const Isa isa : every_isa()) {
    if (gemm_tile_rows(isa) < 6) continue;  // lower tiles read the rows of such pictures in place
    const auto gathered = [&](int64_t size, int64_t in, int64_t out, int64_t kernel) {
      ConvProblem p{.in_channels = in, .out_channels = out};
      for (int axis : {1, 2}) p.in[axis] = size, p.kernel[axis] = kernel, p.stride[axis] = 2, p.pad[axis] = kernel / 2;
      set_out(p, kernel / 2);
      p.in_view = dense_view(p.in, in);
      p.out_view = dense_view(p.out, out);
      ConvChoice choice = choose_conv(p, ConvAlgorithm::kImplicit, isa, limits);
      choose_gathered(p, isa, limits, choice);
      return choice.gathered;
    };
    EXPECT_TRUE(gathered(14, 512, 512, 3)) << name_of(isa);
    EXPECT_TRUE(gathered(14, 1024, 2048, 1)) << name_of(isa);
    EXPECT_FALSE(gathered(56, 256, 512, 1)) << name_of(isa);   // weights stay in the cache
    EXPECT_FALSE(gathered(112, 128, 256, 3)) << name_of(isa);  // rows do not
  }
}

// Patches: short lines of planes.
TEST(ConvGathered, PlanesChangeNoBit) {
  int cases = 0;
  for (const Isa isa : every_isa())
    for (int64_t channels : {1, 2, 3, 4})
      for (int64_t kernel : {5, 6, 16})
        for (int64_t line : {1, 2, 3}) {
          ConvCase c;
          c.p.images = 2;
          c.p.in_channels = channels;
          c.p.out_channels = 260;
          const int64_t in[] = {line == 2 ? 2 : 1, 2 * kernel + 1, line * (kernel + 1)};
          for (int axis : {0, 1, 2}) {
            c.p.in[axis] = in[axis];
            c.p.kernel[axis] = axis == 0 ? in[0] : kernel;
            c.p.stride[axis] = kernel + axis % 2;
          }
          set_out(c.p, 0);
          c.finish(1);
          c.epilogue = {.bias = c.bias.data(), .activation = Activation::kClip, .a = -0.5f, .b = 2};
          c.to_planes(3);
          if (!reads_planes(c.p) || c.p.kernel[0] * kernel * kernel * channels < 32) continue;
          ++cases;
          c.run(isa, ConvAlgorithm::kImplicit);
          ASSERT_NO_FATAL_FAILURE(c.check());
          const std::vector<float> want = c.y;
          for (int threads : {1, 3})
            EXPECT_EQ(run_gathered(c, isa, threads), want)
                << name_of(isa) << " " << channels << " " << kernel << " " << line;
        }
  EXPECT_GE(cases, 30);
}

TEST(ConvGathered, PlanesWhereItPays) {
  for (const Isa isa : every_isa()) {
    if (gemm_tile_rows(isa) < 6) continue;
    const auto gathered = [&](int64_t size, int64_t out, int64_t kernel, int64_t stride, int64_t pad) {
      ConvProblem p{.in_channels = 3, .out_channels = out};
      for (int axis : {1, 2}) p.in[axis] = size, p.kernel[axis] = kernel, p.stride[axis] = stride, p.pad[axis] = pad;
      set_out(p, pad);
      p.in_view = {.image = 3 * size * size, .depth = size * size, .row = size, .pixel = 1, .channel = size * size};
      p.out_view = dense_view(p.out, out);
      ConvChoice choice = choose_conv(p, ConvAlgorithm::kImplicit, isa, {});
      choose_gathered(p, isa, {}, choice);
      return choice.gathered;
    };
    EXPECT_TRUE(gathered(64, 192, 16, 16, 0)) << name_of(isa);
    EXPECT_TRUE(gathered(48, 96, 16, 16, 0)) << name_of(isa);
    EXPECT_FALSE(gathered(20, 192, 3, 5, 0)) << name_of(isa);  // few steps of k
    EXPECT_FALSE(gathered(224, 32, 4, 4, 0)) << name_of(isa);  // long lines, few columns for what is gathered
    EXPECT_FALSE(gathered(224, 32, 3, 2, 1)) << name_of(isa);  // reads what lies outside
    EXPECT_FALSE(gathered(225, 32, 3, 2, 0)) << name_of(isa);
  }
}

}  // namespace
}  // namespace mica
