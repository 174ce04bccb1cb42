// Winograd's transform of weights: rounded once, the same bits on every instruction set and from every form.
#include "kernels/conv/winograd.h"

#include <cstring>

#include "kernels/conv/conv_problem.test.h"
#include "kernels/pack/pack.h"

namespace mica {
namespace {

struct Form {
  ConvAlgorithm algorithm;
  int64_t down, across;
};

std::vector<Form> every_form(const ConvProblem& of) {
  std::vector<Form> forms;
  for (ConvAlgorithm algorithm : {ConvAlgorithm::kWinograd4, ConvAlgorithm::kWinograd6, ConvAlgorithm::kWinograd8})
    for (int64_t down : {1, 2, 3, 5, 7})
      for (int64_t across : {1, 2, 3, 5, 7}) {
        ConvProblem p = of;
        p.kernel[1] = down, p.kernel[2] = across;
        p.out[1] = p.in[1] - down + 1, p.out[2] = p.in[2] - across + 1;
        if (winograd_plane(p, algorithm).fits) forms.push_back({algorithm, down, across});
      }
  return forms;
}

ConvCase make(int64_t groups, const Form& form) {
  ConvCase c;
  c.p = {.groups = groups, .in_channels = 6, .out_channels = 38, .in = {1, 9, 9}};
  c.p.kernel[1] = form.down, c.p.kernel[2] = form.across;
  c.p.out[1] = 10 - form.down, c.p.out[2] = 10 - form.across;
  c.finish();
  return c;
}

std::vector<float> from_panels(const ConvCase& c, ConvAlgorithm algorithm, Isa isa, int64_t step) {
  std::vector<float> panels(packed_conv_size(c.p, ConvAlgorithm::kImplicit));
  pack_conv(c.p, ConvAlgorithm::kImplicit, c.weights.data(), panels.data());
  std::vector<float> u(winograd_size(c.p, algorithm), std::numeric_limits<float>::quiet_NaN());
  const int64_t count = winograd_panels(c.p);
  for (int64_t i = 0; i < count; i += step)
    transform_panels(c.p, algorithm, conv_kernels(isa).winograd_weights, panels.data(), u.data(), i,
                     std::min(i + step, count));
  return u;
}

// Σ over taps of g[i][y] g[j][x] w[y][x], in long doubles, and the sum of the terms' magnitudes.
struct Exact {
  long double sum = 0, size = 0;
};

// The value of G's row for point i of `points` at tap k, from the points themselves.
long double row_at(int points, int taps, int i, int k) {
  if (points == 1) return 1;
  if (i == points - 1) return k == taps - 1 ? 1 : 0;
  const WinogradPolynomials w = winograd_polynomials(points);
  std::vector<long double> at = {0};
  for (int pair = 0; pair < w.pairs; ++pair) at.push_back(w.p[pair]), at.push_back(-w.p[pair]);
  long double others = 1, power = 1;
  for (int j = 0; j < points - 1; ++j)
    if (j != i) others *= at[i] - at[j];
  for (int e = 0; e < k; ++e) power *= at[i];
  return power / others;
}

Exact exact_at(const ConvCase& c, const WinogradPlane& plane, int64_t n, int64_t channel, int i, int j) {
  const int64_t channels = c.p.in_channels / c.p.groups, taps = plane.taps[0] * plane.taps[1];
  Exact e;
  for (int y = 0; y < plane.taps[0]; ++y)
    for (int x = 0; x < plane.taps[1]; ++x) {
      const long double term = row_at(plane.points[0], plane.taps[0], i, y) *
                               row_at(plane.points[1], plane.taps[1], j, x) *
                               c.weights[(n * channels + channel) * taps + y * plane.taps[1] + x];
      e.sum += term;
      e.size += std::fabs(term);
    }
  return e;
}

class WinogradWeightsOf : public testing::TestWithParam<int64_t> {};  // groups

TEST_P(WinogradWeightsOf, EveryFormIsRoundedOnce) {
  const std::vector<Form> forms = every_form(make(1, {ConvAlgorithm::kWinograd4, 3, 3}).p);
  EXPECT_EQ(forms.size(), 24u);  // 8 tiles, each on both axes, on the width and on the height
  for (const Form& form : forms) {
    const ConvCase c = make(GetParam(), form);
    const WinogradPlane plane = winograd_plane(c.p, form.algorithm);
    const int64_t channels = c.p.in_channels / c.p.groups, out = c.p.out_channels / c.p.groups;
    const int64_t panels = panel_count(out);
    const std::vector<float> u = from_panels(c, form.algorithm, every_isa().back(), 2);
    size_t at = 0;
    for (int64_t group = 0; group < c.p.groups; ++group)
      for (int point = 0; point < plane.all_points(); ++point)
        for (int64_t panel = 0; panel < panels; ++panel)
          for (int64_t channel = 0; channel < channels; ++channel)
            for (int64_t lane = 0; lane < kPanel; ++lane, ++at) {
              const int64_t n = panel * kPanel + lane;
              const Exact e = n >= out ? Exact()
                                       : exact_at(c, plane, group * out + n, channel, point / plane.points[1],
                                                  point % plane.points[1]);
              // Half a unit of the result's last place for the rounding, and what doubles lose before it.
              const long double bound = std::fabs(e.sum) * 0x1p-24L + e.size * 0x1p-48L;
              ASSERT_LE(std::fabs(u[at] - e.sum), bound)
                  << name_of(form.algorithm) << ' ' << form.down << 'x' << form.across << " point " << point;
            }
    ASSERT_EQ(at, u.size());
  }
}

TEST_P(WinogradWeightsOf, BitsDependOnNothingElse) {
  for (const Form& form : every_form(make(1, {ConvAlgorithm::kWinograd4, 3, 3}).p)) {
    const ConvCase c = make(GetParam(), form);
    std::vector<float> plain(winograd_size(c.p, form.algorithm));
    pack_conv(c.p, form.algorithm, c.weights.data(), plain.data());
    for (Isa isa : every_isa())
      for (int64_t step : {1, 3}) {
        const std::vector<float> u = from_panels(c, form.algorithm, isa, step);
        ASSERT_EQ(std::memcmp(u.data(), plain.data(), u.size() * sizeof(float)), 0)
            << name_of(isa) << ' ' << name_of(form.algorithm) << ' ' << form.down << 'x' << form.across;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, WinogradWeightsOf, testing::Values(1, 2));

// Three dimensions: one or two axes by points, the third one by its taps.
struct Volume {
  int64_t kernel[3], stride[3], dilation[3];
};
constexpr Volume kVolumes[] = {
    {{3, 3, 3}, {1, 1, 1}, {1, 1, 1}}, {{2, 3, 3}, {2, 1, 1}, {1, 1, 1}}, {{3, 2, 2}, {1, 1, 1}, {2, 1, 2}},
    {{3, 1, 3}, {2, 1, 1}, {1, 1, 1}}, {{3, 3, 1}, {1, 1, 1}, {1, 2, 1}}, {{1, 3, 3}, {1, 1, 1}, {1, 1, 1}},
    {{3, 1, 1}, {1, 2, 1}, {1, 1, 1}}, {{5, 1, 1}, {1, 1, 1}, {2, 1, 1}}, {{5, 3, 3}, {3, 1, 1}, {1, 1, 1}}};

ConvCase make(int64_t groups, const Volume& v) {
  ConvCase c;
  c.p = {.images = 2, .groups = groups, .in_channels = 17 * groups, .out_channels = 21 * groups, .in = {6, 7, 9}};
  for (int axis = 0; axis < 3; ++axis) {
    c.p.kernel[axis] = v.kernel[axis];
    c.p.stride[axis] = v.stride[axis];
    c.p.dilation[axis] = v.dilation[axis];
    c.p.pad[axis] = v.kernel[axis] / 2;
  }
  set_out(c.p, 1);
  c.slack = 16;
  return c;
}

// The place of each row that the finish is told of.
void expect_place(const void* context, float* rows, int64_t stride, int64_t first, int64_t column, int64_t count,
                  int64_t) {
  const auto& c = *static_cast<const ConvCase*>(context);
  for (int64_t row = first; row < first + count; ++row, rows += stride) {
    const int64_t line = row / c.p.out[2], plane = line / c.p.out[1], x = row % c.p.out[2], y = line % c.p.out[1];
    const ConvView& v = c.p.out_view;
    const int64_t at = plane / c.p.out[0] * v.image + plane % c.p.out[0] * v.depth + y * v.row + x * v.pixel + column;
    ASSERT_EQ(rows - c.y.data(), at) << "row " << row;
  }
}

TEST(WinogradBlocks, WeightsThatDoNotStayNearPassSeldom) {
  const auto blocks = [](int64_t size, int64_t channels, int64_t l2_bytes, int threads) {
    ConvProblem p{.in_channels = channels, .out_channels = channels, .in = {1, size, size}, .kernel = {1, 3, 3}};
    p.pad[1] = p.pad[2] = 1;
    p.out[1] = p.out[2] = size;
    p.in_view = dense_view(p.in, channels);
    p.out_view = dense_view(p.out, channels);
    const ConvChoice choice =
        choose_conv(p, ConvAlgorithm::kWinograd6, Isa::kAvx2, {.l2_bytes = l2_bytes, .threads = threads});
    EXPECT_GE(choice.tasks, threads);
    return (choice.tiles + choice.tile_block - 1) / choice.tile_block;
  };
  // 9.4 MB of weights for 16 tiles, of which six fill the cache: all at once, channels are split between threads.
  EXPECT_EQ(blocks(14, 256, 512 << 10, 1), 1);
  EXPECT_EQ(blocks(14, 256, 512 << 10, 2), 1);
  // 150 KB for 196 tiles: blocks that stay in the cache, at least one for each task of two threads.
  EXPECT_GE(blocks(56, 32, 512 << 10, 1), 3);
  EXPECT_GE(blocks(56, 32, 512 << 10, 2), 8);
}

TEST(WinogradVolumes, Right) {
  int cases = 0;
  for (const Isa isa : every_isa())
    for (const Volume& volume : kVolumes)
      for (const ConvAlgorithm algorithm :
           {ConvAlgorithm::kWinograd4, ConvAlgorithm::kWinograd6, ConvAlgorithm::kWinograd8})
        for (const int64_t groups : {1, 2}) {
          ConvCase c = make(groups, volume);
          c.finish(groups, 3);
          if (!conv_fits(c.p, algorithm)) continue;
          c.epilogue = {.bias = c.bias.data(), .residual = c.residual.data()};
          c.epilogue.activation = groups == 1 ? Activation::kTanh : Activation::kClip;
          c.epilogue.a = -1, c.epilogue.b = 1.5f;
          c.epilogue.finish = expect_place;
          c.epilogue.finish_context = &c;
          SCOPED_TRACE(testing::Message() << name_of(isa) << ' ' << name_of(algorithm) << " kernel " << volume.kernel[0]
                                          << volume.kernel[1] << volume.kernel[2] << " g=" << groups);
          c.run(isa, algorithm, {.l2_bytes = 1 << 17, .threads = 2}, 1);
          ASSERT_NO_FATAL_FAILURE(c.check());
          ++cases;
        }
  EXPECT_EQ(cases, static_cast<int>(every_isa().size()) * 2 * 25);
}

TEST(WinogradVolumes, WeightsFromPanelsAndFromPlainOnes) {
  for (const Volume& volume : kVolumes) {
    ConvCase c = make(2, volume);
    c.finish();
    if (!conv_fits(c.p, ConvAlgorithm::kWinograd6)) continue;
    std::vector<float> plain(winograd_size(c.p, ConvAlgorithm::kWinograd6));
    pack_conv(c.p, ConvAlgorithm::kWinograd6, c.weights.data(), plain.data());
    EXPECT_EQ(from_panels(c, ConvAlgorithm::kWinograd6, every_isa().back(), 1), plain);
  }
}

}  // namespace
}  // namespace mica
