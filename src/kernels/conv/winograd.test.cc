// Winograd's transform of weights: within its bound, the same bits on every instruction set, from every form, before
// the products or on their way.
#include "kernels/conv/winograd.h"

#include <cstring>

#include "base/integers.h"
#include "kernels/conv/conv_problem.test.h"
#include "kernels/conv/cost.h"
#include "kernels/pack/pack.h"

namespace mica {
namespace {

struct Form {
  ConvAlgorithm algorithm;
  int64_t down, across;
  int64_t stride[2] = {1, 1};
};
constexpr int64_t kStrides[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}};

ConvCase make(int64_t groups, const Form& form) {
  ConvCase c;
  c.p = {.groups = groups, .in_channels = 6, .out_channels = 38, .in = {1, 15, 15}};
  c.p.kernel[1] = form.down, c.p.kernel[2] = form.across;
  c.p.stride[1] = form.stride[0], c.p.stride[2] = form.stride[1];
  set_out(c.p, 0);
  c.finish();
  return c;
}

std::vector<Form> every_form() {
  std::vector<Form> forms;
  for (const auto& stride : kStrides)
    for (ConvAlgorithm algorithm : {ConvAlgorithm::kWinograd4, ConvAlgorithm::kWinograd6, ConvAlgorithm::kWinograd8})
      for (int64_t down = 1; down < 15; ++down)
        for (int64_t across = 1; across < 15; ++across) {
          const Form form{algorithm, down, across, {stride[0], stride[1]}};
          if (winograd_plane(make(1, form).p, algorithm).fits) forms.push_back(form);
        }
  return forms;
}
std::ostream& operator<<(std::ostream& out, const Form& f) {
  return out << name_of(f.algorithm) << ' ' << f.down << 'x' << f.across << " strides " << f.stride[0] << f.stride[1];
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

// G of an axis, row after row.
struct Rows {
  Rows(int points, int of_taps) : taps(of_taps) {
    for (int i = 0; i < points; ++i)
      for (int k = 0; k < taps; ++k) values.push_back(row_at(points, taps, i, k));
  }
  long double at(int64_t i, int64_t k) const { return values[i * taps + k]; }

  int taps;
  std::vector<long double> values;
};

// Where a matrix's weight stands.
struct Place {
  int64_t n, channel, slice;
  int point;
};
Exact exact_at(const ConvCase& c, const WinogradPlane& plane, const Rows (&rows)[2], const Place& at) {
  const int64_t channels = c.p.in_channels / c.p.groups, *kernel = c.p.kernel;
  const WinogradSlice s = winograd_slice(plane, at.slice);
  const int i = at.point / plane.points[1], j = at.point % plane.points[1];
  const bool flat = plane.from[0] == 2;  // taps on the second of the problem's axes alone
  Exact e;
  // A filter has every stride-th tap, or, of an axis without stride, a run of them.
  const auto first = [&](int axis) { return s.filter[axis] * (plane.stride[axis] == 2 ? 1 : plane.taps[axis]); };
  for (int64_t y = first(0), v = 0; v < plane.taps[0] && y < kernel[plane.from[0]]; y += plane.stride[0], ++v)
    for (int64_t x = first(1), u = 0; u < plane.taps[1] && x < kernel[plane.from[1]]; x += plane.stride[1], ++u) {
      const int64_t tap = flat ? x : y * kernel[2] + x;
      const long double term =
          rows[0].at(i, v) * rows[1].at(j, u) * c.weights[(at.n * channels + at.channel) * kernel[1] * kernel[2] + tap];
      e.sum += term;
      e.size += std::fabs(term);
    }
  return e;
}

// 8 tiles, each on both axes, on the width and on the height. Strides of 2: two sizes of a strided axis with taps, one
// of one without; beside it, as without strides, taps of one axis from 4 to 14, where they have no
// tiles of their own.
constexpr size_t kApart = 3 * 11 - 3;  // but 5 with 6 points, 5 and 7 with 8
constexpr size_t kEveryForm = 8 * 3 + 2 * 8 * (2 + 2 + 1) + 8 * (4 + 2 + 2) + 4 * kApart;

class WinogradWeightsOf : public testing::TestWithParam<int64_t> {};  // groups

TEST_P(WinogradWeightsOf, EveryFormIsWithinItsBound) {
  const std::vector<Form> forms = every_form();
  EXPECT_EQ(forms.size(), kEveryForm);
  for (const Form& form : forms) {
    const ConvCase c = make(GetParam(), form);
    const WinogradPlane plane = winograd_plane(c.p, form.algorithm);
    const Rows rows[2] = {{plane.points[0], plane.taps[0]}, {plane.points[1], plane.taps[1]}};
    const int64_t channels = c.p.in_channels / c.p.groups, out = c.p.out_channels / c.p.groups;
    const int64_t panels = panel_count(out);
    const std::vector<float> u = from_panels(c, form.algorithm, every_isa().back(), 2);
    size_t at = 0;
    for (int64_t group = 0; group < c.p.groups; ++group)
      for (int point = 0; point < plane.all_points(); ++point)
        for (int64_t panel = 0; panel < panels; ++panel)
          for (int64_t row = 0; row < winograd_range(plane, point).count * channels; ++row)
            for (int64_t lane = 0; lane < kPanel; ++lane, ++at) {
              const int64_t n = panel * kPanel + lane, slice = winograd_range(plane, point).first + row / channels;
              const Exact e =
                  n >= out ? Exact() : exact_at(c, plane, rows, {group * out + n, row % channels, slice, point});
              // Along each axis a term is rounded as a coefficient, as a product, and with each sum that it is in.
              const int taps = plane.taps[1], axes = plane.points[0] == 1 ? 1 : 2;
              const long double bound = e.size * axes * ((taps + 1) / 2 + 2) * 0x1.01p-24L;
              ASSERT_LE(std::fabs(u[at] - e.sum), bound) << form << " point " << point;
            }
    ASSERT_EQ(at, u.size());
  }
}

TEST_P(WinogradWeightsOf, BitsDependOnNothingElse) {
  for (const Form& form : every_form()) {
    const ConvCase c = make(GetParam(), form);
    std::vector<float> plain(winograd_size(c.p, form.algorithm));
    pack_conv(c.p, form.algorithm, c.weights.data(), plain.data());
    for (Isa isa : every_isa())
      for (int64_t step : {1, 3}) {
        const std::vector<float> u = from_panels(c, form.algorithm, isa, step);
        ASSERT_EQ(std::memcmp(u.data(), plain.data(), u.size() * sizeof(float)), 0) << name_of(isa) << ' ' << form;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, WinogradWeightsOf, testing::Values(1, 2));

// With strides: sizes from one pixel on, padding on one side, and an axis without stride that is dilated.
TEST(WinogradStrides, Right) {
  size_t cases = 0;
  for (const Isa isa : every_isa())
    for (const Form& form : every_form())
      for (const int64_t size : {1, 2, 7, 12, 23}) {
        if (form.stride[0] * form.stride[1] == 1) continue;
        ConvCase c = make(size == 23 ? 1 : 2, form);
        c.p.images = size == 7 ? 2 : 1;
        c.p.in[1] = size, c.p.in[2] = size + 1;
        for (int axis : {1, 2}) c.p.dilation[axis] = size == 23 && c.p.stride[axis] == 1 ? 2 : 1;
        c.p.pad[1] = form.down / 2, c.p.pad[2] = form.across - 1;
        set_out(c.p, form.down / 2);
        if (c.p.out[1] <= 0 || c.p.out[2] <= 0) continue;
        c.finish(size == 7 ? 3 : 0, size == 12 ? 2 : 0);
        c.slack = 16;
        c.epilogue.bias = c.bias.data();
        SCOPED_TRACE(testing::Message() << name_of(isa) << ' ' << form << " size " << size);
        c.run(isa, form.algorithm, {.l2_bytes = 1 << 15, .threads = 2}, 1);
        ASSERT_NO_FATAL_FAILURE(c.check());
        ++cases;
      }
  EXPECT_GT(cases, 100 * every_isa().size());
}

// Three dimensions: one or two axes by points, the third one by its taps.
struct Volume {
  int64_t kernel[3], stride[3], dilation[3];
};
constexpr Volume kVolumes[] = {
    {{3, 3, 3}, {1, 1, 1}, {1, 1, 1}}, {{2, 3, 3}, {2, 1, 1}, {1, 1, 1}}, {{3, 2, 2}, {1, 1, 1}, {2, 1, 2}},
    {{3, 1, 3}, {2, 1, 1}, {1, 1, 1}}, {{3, 3, 1}, {1, 1, 1}, {1, 2, 1}}, {{1, 3, 3}, {1, 1, 1}, {1, 1, 1}},
    {{3, 1, 1}, {1, 2, 1}, {1, 1, 1}}, {{5, 1, 1}, {1, 1, 1}, {2, 1, 1}}, {{5, 3, 3}, {3, 1, 1}, {1, 1, 1}},
    {{3, 3, 3}, {1, 2, 2}, {2, 1, 1}}, {{2, 5, 5}, {2, 2, 2}, {1, 1, 1}}, {{3, 1, 5}, {2, 1, 2}, {1, 1, 1}},
    {{4, 3, 1}, {2, 2, 1}, {1, 1, 1}}, {{3, 4, 3}, {1, 2, 2}, {1, 1, 1}}, {{1, 1, 9}, {1, 1, 1}, {1, 1, 1}},
    {{3, 1, 8}, {2, 1, 1}, {1, 1, 1}}, {{1, 4, 1}, {1, 1, 1}, {1, 1, 1}}};

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

// Every output of a case with weights that were transformed before, and with such as are on the way.
void expect_same_bits(ConvCase& c, Isa isa, ConvAlgorithm algorithm) {
  for (const int64_t l2_bytes : {1 << 15, 1 << 18}) {
    const GemmLimits limits{.l2_bytes = l2_bytes, .threads = 2};
    c.run(isa, algorithm, limits, 1);
    const std::vector<float> before = c.y;
    std::fill(c.y.begin(), c.y.end(), ConvCase::kUntouched);
    c.run(isa, algorithm, limits, 1, true);
    ASSERT_EQ(std::memcmp(c.y.data(), before.data(), before.size() * sizeof(float)), 0) << "cache of " << l2_bytes;
  }
}

TEST(WinogradOnTheWay, SameBitsOfEveryForm) {
  for (const Isa isa : every_isa())
    for (const Form& form : every_form()) {
      ConvCase c = make(2, form);
      c.p.in_channels = 2 * 21, c.p.in[2] = 17;
      c.p.pad[1] = 1;
      set_out(c.p, 0);
      c.finish(3, 5);
      c.epilogue.bias = c.bias.data();
      SCOPED_TRACE(testing::Message() << name_of(isa) << ' ' << form);
      ASSERT_NO_FATAL_FAILURE(expect_same_bits(c, isa, form.algorithm));
    }
}

TEST(WinogradOnTheWay, SameBitsInVolumes) {
  for (const Isa isa : every_isa())
    for (const Volume& volume : kVolumes) {
      ConvCase c = make(2, volume);
      c.finish();
      c.epilogue = {.bias = c.bias.data(), .residual = c.residual.data()};
      if (!conv_fits(c.p, ConvAlgorithm::kWinograd6)) continue;
      SCOPED_TRACE(testing::Message() << name_of(isa) << ' ' << volume.kernel[0] << volume.kernel[1]
                                      << volume.kernel[2]);
      ASSERT_NO_FATAL_FAILURE(expect_same_bits(c, isa, ConvAlgorithm::kWinograd6));
    }
}

// Scratch stays small where memory is to be saved, and each thread has its part.
TEST(WinogradOnTheWay, ScratchHasABound) {
  for (const int64_t size : {7, 14, 28, 56, 224})
    for (const int threads : {1, 2, 3}) {
      ConvCase c;
      c.p = {.in_channels = 256, .out_channels = 256, .in = {1, size, size}};
      c.p.kernel[1] = c.p.kernel[2] = 3;
      c.p.pad[1] = c.p.pad[2] = 1;
      set_out(c.p, 1);
      const GemmLimits limits{.threads = threads};
      const ConvChoice choice = choose_conv(c.p, ConvAlgorithm::kWinograd6, Isa::kAvx512, limits, true);
      EXPECT_LE(choice.scratch_floats * 4, 3 * limits.l2_bytes) << size << ' ' << threads;
      EXPECT_GE(choice.tasks, threads) << size;
      EXPECT_EQ(choice.tasks % threads, 0) << size;
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
  EXPECT_EQ(cases, static_cast<int>(every_isa().size()) * 2 * 47);
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

// Two threads have about as many tiles each, and transform the input once where there are enough of them; the
// choice of an algorithm does not ask how many threads there are.
TEST(Winograd, ThreadsShareTiles) {
  for (const int64_t size : {14, 20, 26, 28, 40, 56, 80, 112}) {
    ConvCase c;
    c.p = {.in_channels = 128, .out_channels = 128, .in = {1, size, size}};
    c.p.kernel[1] = c.p.kernel[2] = 3;
    c.p.pad[1] = c.p.pad[2] = 1;
    set_out(c.p, 1);
    const ConvChoice two = choose_conv(c.p, ConvAlgorithm::kWinograd6, Isa::kAvx512, {.threads = 2});
    const int64_t m_tasks = ceil_div(two.tiles, two.tile_block);
    SCOPED_TRACE(testing::Message() << size << ": " << m_tasks << " blocks of " << two.tile_block);
    // Of 100 tiles in seven blocks, one thread would have 60.
    if (m_tasks > 1) {
      EXPECT_LE(static_cast<double>(ceil_div(m_tasks, 2) * two.tile_block), 0.55 * static_cast<double>(two.tiles));
    }
    EXPECT_EQ(two.n_block * kPanel == 128, m_tasks >= 2);
    for (const ConvAlgorithm algorithm : {ConvAlgorithm::kWinograd4, ConvAlgorithm::kWinograd6}) {
      const auto cycles = [&](int threads) {
        return conv_candidates(c.p, Isa::kAvx512, {.threads = threads}).list[static_cast<int>(algorithm) - 1].cycles;
      };
      EXPECT_EQ(cycles(1), cycles(2));
    }
  }
}

}  // namespace
}  // namespace mica
