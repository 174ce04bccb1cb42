// Convolution problems for tests: operands, views with gaps, and a double loop that says what is right.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "device/cpu/every_isa.h"
#include "kernels/conv/conv.h"
#include "kernels/plain.test.h"

namespace mica {

struct ConvCase {
  ConvProblem p;
  std::vector<float> x, weights, packed, bias, residual, y, scratch;
  std::vector<float> row_means;  // written when it has the room
  GemmEpilogue epilogue;
  double slack = 1;  // times the bound of a plain sum; more for algorithms that transform

  static constexpr float kUntouched = -12345.0f;

  // `gap` floats are left free behind each pixel, and as many pixels behind each row.
  static ConvView gapped(const int64_t (&extent)[3], int64_t channels, int64_t gap) {
    ConvView v{.pixel = channels + gap};
    v.row = extent[2] * v.pixel + gap * v.pixel;
    v.depth = extent[1] * v.row;
    v.image = extent[0] * v.depth + gap;
    return v;
  }

  void finish(int64_t in_gap = 0, int64_t out_gap = 0, unsigned seed = 1) {
    p.in_view = gapped(p.in, p.in_channels, in_gap);
    p.out_view = gapped(p.out, p.out_channels, out_gap);
    p.residual_view = gapped(p.out, p.out_channels, out_gap ? out_gap + 1 : 0);
    UniformFloats random(seed);
    random.fill(x, p.images * p.in_view.image);
    random.fill(weights, p.out_channels * p.in_channels / p.groups * p.kernel[0] * p.kernel[1] * p.kernel[2]);
    random.fill(bias, p.out_channels);
    random.fill(residual, p.images * p.residual_view.image);
    y.assign(p.images * p.out_view.image, kUntouched);
  }

  // A plane for each channel, `gap` floats behind each row and plane.
  static ConvView planes_of(const int64_t (&extent)[3], int64_t channels, int64_t gap) {
    ConvView v{.pixel = 1};
    v.row = extent[2] + gap;
    v.depth = extent[1] * v.row;
    v.channel = extent[0] * v.depth + gap;
    v.image = channels * v.channel + gap;
    return v;
  }
  void out_to_planes(int64_t gap) {
    p.out_view = planes_of(p.out, p.out_channels, gap);
    y.assign(p.images * p.out_view.image, kUntouched);
  }

  // The same input with adjacent pixels.
  void to_planes(int64_t gap) {
    const ConvView from = p.in_view, to = planes_of(p.in, p.in_channels, gap);
    std::vector<float> planes(p.images * to.image, std::numeric_limits<float>::quiet_NaN());
    for (int64_t i = 0; i < p.images; ++i)
      for (int64_t z = 0; z < p.in[0]; ++z)
        for (int64_t yy = 0; yy < p.in[1]; ++yy)
          for (int64_t xx = 0; xx < p.in[2]; ++xx)
            for (int64_t c = 0; c < p.in_channels; ++c)
              planes[i * to.image + z * to.depth + yy * to.row + xx + c * to.channel] =
                  x[i * from.image + z * from.depth + yy * from.row + xx * from.pixel + c];
    x = planes;
    p.in_view = to;
  }

  void run(Isa isa, ConvAlgorithm algorithm, const GemmLimits& limits = {}, int64_t chunk = 1 << 30,
           bool on_the_way = false) {
    p.has_residual = epilogue.residual != nullptr;
    ASSERT_TRUE(conv_fits(p, algorithm));
    ConvArgs args{.problem = p,
                  .choice = choose_conv(p, algorithm, isa, limits, on_the_way),
                  .x = x.data(),
                  .y = y.data(),
                  .epilogue = epilogue,
                  .row_means = row_means.empty() ? nullptr : row_means.data()};
    pack(isa, is_on_the_way(args.choice) ? ConvAlgorithm::kImplicit : args.choice.algorithm);
    args.w = packed.data();
    // Scratch is 64-byte aligned, holds NaN, and ends where it was promised to end.
    scratch.assign(args.choice.scratch_floats + 16 + 4, std::numeric_limits<float>::quiet_NaN());
    float* aligned = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    for (int i = 0; i < 4; ++i) aligned[args.choice.scratch_floats + i] = kUntouched;
    for (int64_t t = 0; t < args.choice.tasks; t += chunk)
      conv_kernels(isa).run(args, t, std::min(t + chunk, args.choice.tasks), aligned);
    for (int i = 0; i < 4; ++i) ASSERT_EQ(aligned[args.choice.scratch_floats + i], kUntouched) << "scratch overrun";
  }

  void pack(Isa isa, ConvAlgorithm algorithm) {
    const bool strassen = algorithm == ConvAlgorithm::kStrassen, paired = algorithm == ConvAlgorithm::kPaired;
    const ConvAlgorithm first = strassen || paired ? ConvAlgorithm::kImplicit : algorithm;
    packed.assign(packed_conv_size(p, first), std::numeric_limits<float>::quiet_NaN());
    pack_conv(p, first, weights.data(), packed.data());
    if (!strassen && !paired) return;
    const std::vector<float> panels = packed;
    packed.assign(packed_conv_size(p, algorithm), std::numeric_limits<float>::quiet_NaN());
    if (paired) {
      const PairedWeights scaled{
          .k = p.in_channels, .panels = panel_count(p.out_channels), .from = panels.data(), .to = packed.data()};
      return gemm_kernels(isa).paired_weights(scaled, 0, scaled.panels);
    }
    StrassenWeights sums = strassen_weights_of(pointwise_product(p), 1);
    sums.from = panels.data();
    sums.to = packed.data();
    gemm_kernels(isa).strassen_weights(sums, 0, sums.panels);
  }

  // The sum at one output, and the sum of its terms' magnitudes. What transforms errs by its tile's inputs, also where
  // the output's own taps lie outside the picture: these count with the largest that an input is, 1.
  MICA_PLAIN_LOOP double sum_at(const int64_t (&o)[4], int64_t n, double& size) const {
    const int64_t channels = p.in_channels / p.groups, group = n / (p.out_channels / p.groups);
    const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2], step = p.in_view.channel;
    double sum = epilogue.bias ? epilogue.bias[n] : 0;
    size = std::fabs(sum) + 1;
    for (int64_t kz = 0; kz < p.kernel[0]; ++kz) {
      const int64_t z = o[1] * p.stride[0] - p.pad[0] + kz * p.dilation[0];
      for (int64_t ky = 0; ky < p.kernel[1]; ++ky) {
        const int64_t yy = o[2] * p.stride[1] - p.pad[1] + ky * p.dilation[1];
        for (int64_t kx = 0; kx < p.kernel[2]; ++kx) {
          const int64_t xx = o[3] * p.stride[2] - p.pad[2] + kx * p.dilation[2];
          const bool inside = z >= 0 && z < p.in[0] && yy >= 0 && yy < p.in[1] && xx >= 0 && xx < p.in[2];
          const float* w = weights.data() + n * channels * taps + (kz * p.kernel[1] + ky) * p.kernel[2] + kx;
          if (!inside) {
            for (int64_t c = 0; slack > 1 && c < channels; ++c) size += std::fabs(w[c * taps]);
            continue;
          }
          const float* a = x.data() + o[0] * p.in_view.image + z * p.in_view.depth + yy * p.in_view.row +
                           xx * p.in_view.pixel + group * channels * step;
          for (int64_t c = 0; c < channels; ++c) {
            const double term = static_cast<double>(a[c * step]) * w[c * taps];
            sum += term;
            size += std::fabs(term);
          }
        }
      }
    }
    return sum;
  }

  // Every output is within the bound of a sum of its length (length · 2^-24 · Σ|terms|), and the gaps are untouched.
  void check() const {
    const double length = static_cast<double>(p.kernel[0] * p.kernel[1] * p.kernel[2] * p.in_channels / p.groups) + 4;
    std::vector<float> seen = y;
    for (int64_t i = 0; i < p.images; ++i)
      for (int64_t z = 0; z < p.out[0]; ++z)
        for (int64_t yy = 0; yy < p.out[1]; ++yy)
          for (int64_t xx = 0; xx < p.out[2]; ++xx)
            for (int64_t n = 0; n < p.out_channels; ++n) {
              double size = 0;
              double want = sum_at({i, z, yy, xx}, n, size);
              const int64_t r = i * p.residual_view.image + z * p.residual_view.depth + yy * p.residual_view.row +
                                xx * p.residual_view.pixel + n;
              if (epilogue.residual) size += std::fabs(residual[r]);
              if (epilogue.residual && !epilogue.residual_last) want += residual[r];
              if (epilogue.activation == Activation::kClip)
                want = std::min<double>(std::max<double>(want, epilogue.a), epilogue.b);
              if (epilogue.activation == Activation::kTanh) want = std::tanh(want);
              if (epilogue.residual && epilogue.residual_last) want += residual[r];
              const int64_t at = i * p.out_view.image + z * p.out_view.depth + yy * p.out_view.row +
                                 xx * p.out_view.pixel + n * p.out_view.channel;
              const double bound = slack * length * 7e-8 * size;
              ASSERT_TRUE(std::fabs(y[at] - want) <= bound)
                  << "image " << i << " at " << z << "," << yy << "," << xx << " channel " << n << ": " << y[at]
                  << " for " << want << " ± " << bound;
              seen[at] = kUntouched;
            }
    ASSERT_EQ(std::ranges::count(seen, kUntouched), std::ssize(seen)) << "written outside the output";
  }
};

// Fills in `out` from explicit padding on both sides.
inline void set_out(ConvProblem& p, int64_t pad_after) {
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t after = p.kernel[axis] == 1 ? 0 : pad_after;
    p.out[axis] = (p.in[axis] + p.pad[axis] + after - (p.kernel[axis] - 1) * p.dilation[axis] - 1) / p.stride[axis] + 1;
  }
}

// A kernel of the same size along both axes, over two pictures that are nearly square.
inline ConvCase square_case(int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation,
                            int64_t pad) {
  ConvCase c;
  c.p = {.images = 2,
         .in_channels = in,
         .out_channels = out,
         .in = {1, size, size + 2},
         .kernel = {1, kernel, kernel},
         .stride = {1, stride, stride},
         .dilation = {1, dilation, dilation},
         .pad = {0, pad, pad}};
  set_out(c.p, pad);
  return c;
}

}  // namespace mica
