#include "kernels/eltwise/eltwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "device/cpu/every_isa.h"

namespace mica {
namespace {

// Error against doubles in units in the last place of the float result.
double ulps(double wanted, float got) {
  if (std::isnan(wanted)) return std::isnan(got) ? 0 : INFINITY;
  if (static_cast<double>(got) == static_cast<double>(static_cast<float>(wanted))) return 0;
  if (!std::isfinite(got) || !std::isfinite(wanted)) return INFINITY;
  const double magnitude = std::fmax(std::fabs(wanted), 0x1p-126);
  return std::fabs(wanted - static_cast<double>(got)) / std::ldexp(1, std::ilogb(magnitude) - 23);
}

struct Bound {
  Pointwise f;
  float low, high;
  double ulp;
};
// The bounds that math.inl and functions.inl state.
const Bound kBounds[] = {
    {Pointwise::kExp, -87, 88.7f, 1},    {Pointwise::kLog, 0, 10, 1},          {Pointwise::kLog, 0, 3e38f, 1},
    {Pointwise::kSigmoid, -80, 80, 2.5}, {Pointwise::kTanh, -10, 10, 3},       {Pointwise::kErf, -5, 5, 3},
    {Pointwise::kElu, -20, 1, 1},        {Pointwise::kElu, -1e-3f, 0, 1},      {Pointwise::kElu, -3e38f, 0, 1},
    {Pointwise::kCelu, -20, 5, 1},       {Pointwise::kSoftplus, -30, 30, 2.5}, {Pointwise::kMish, -20, 30, 5},
    {Pointwise::kAsin, -1, 1, 2},        {Pointwise::kAcos, -1, 1, 1.5},       {Pointwise::kAtan, -30, 30, 2},
    {Pointwise::kAtan, -3e38f, 3e38f, 2}};

class EltwiseMath : public testing::TestWithParam<Isa> {};

TEST_P(EltwiseMath, StaysWithinItsBounds) {
  constexpr int64_t kCount = 100003;
  std::vector<float> x(kCount), y(kCount);
  for (const Bound& bound : kBounds) {
    for (int64_t i = 0; i < kCount; ++i)
      x[static_cast<size_t>(i)] =
          bound.low + (bound.high - bound.low) * static_cast<float>(i) / static_cast<float>(kCount - 1);
    eltwise_kernels(GetParam()).apply(bound.f, x.data(), nullptr, y.data(), kCount, 1, 0);
    double worst = 0;
    float where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = ulps(apply(bound.f, static_cast<double>(x[i]), 0, 1, 0), y[i]);
      if (error > worst) {
        worst = error;
        where = x[i];
      }
    }
    const bool fused = GetParam() != Isa::kPortable && GetParam() != Isa::kSse2;
    EXPECT_LE(worst, bound.ulp + (fused ? 0 : 0.5)) << info_of(bound.f).name << " at " << where;
  }
}

// An absolute bound, up to where the C library takes over and beyond.
TEST_P(EltwiseMath, SinesStayWithinTheirBound) {
  constexpr int64_t kCount = 200003;
  std::vector<float> x(kCount), y(kCount);
  for (int64_t i = 0; i < kCount; ++i)
    x[static_cast<size_t>(i)] = (static_cast<float>(i) / (kCount - 1) - 0.5f) * 17000;
  for (Pointwise f : {Pointwise::kSin, Pointwise::kCos}) {
    eltwise_kernels(GetParam()).apply(f, x.data(), nullptr, y.data(), kCount, 1, 0);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(std::fabs(y[i] - apply(f, static_cast<double>(x[i]), 0, 1, 0)) <= 0x1p-23)
          << info_of(f).name << " of " << x[i] << ": " << y[i];
  }
}

// Ordinary numbers of all sizes, then every pair of special ones.
TEST_P(EltwiseMath, PowersAndRemainders) {
  const float kSpecial[] = {0.0f,  -0.0f,  1.0f,   -1.0f,  2.0f,  -3.0f, 0.5f,   7.25f,   1e-40f, INFINITY, -INFINITY,
                            3e38f, -3e38f, 1e-38f, -1e31f, 1e31f, NAN,   126.0f, -127.5f, 0.75f,  -2.25f,   16777217.f};
  std::vector<float> x, y;
  for (int i = 0; i < 100003; ++i) {
    const float base = std::exp2(static_cast<float>(i % 251) - 125.0f + static_cast<float>(i % 97) / 97);
    const float limit = 124.0f / std::fmax(1.0f, std::fabs(std::log2(base)));
    x.push_back(i % 3 == 0 ? 1 + static_cast<float>(i % 89 - 44) / 64 : base);
    y.push_back(i % 3 == 0 ? static_cast<float>(i % 101 - 50) : limit * (static_cast<float>(i % 199) / 99.5f - 1));
  }
  for (float a : kSpecial)
    for (float b : kSpecial) x.push_back(a), y.push_back(b);
  std::vector<float> got(x.size());
  const bool fused = GetParam() != Isa::kPortable && GetParam() != Isa::kSse2;
  for (Pointwise f : {Pointwise::kPow, Pointwise::kFmod, Pointwise::kMod}) {
    eltwise_kernels(GetParam()).apply(f, x.data(), y.data(), got.data(), static_cast<int64_t>(x.size()), 1, 0);
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double wanted = apply(f, static_cast<double>(x[i]), static_cast<double>(y[i]), 1, 0);
      if (std::isinf(static_cast<float>(wanted)) && static_cast<double>(got[i]) == static_cast<float>(wanted)) continue;
      if (const double error = ulps(wanted, got[i]); error > worst) worst = error, where = i;
      if (wanted == 0) {
        EXPECT_EQ(std::signbit(got[i]), std::signbit(wanted)) << x[i] << " " << y[i];
      }
    }
    EXPECT_LE(worst, f != Pointwise::kPow ? 0.5
                     : fused              ? 2.0
                                          : 1.0)
        << info_of(f).name << " of " << x[where] << " and " << y[where] << ": " << got[where];
  }
}
INSTANTIATE_TEST_SUITE_P(Sets, EltwiseMath, testing::ValuesIn(every_isa()), IsaName());

// How an operand of images x rows x columns lies.
enum class Lie { kDense, kPadded, kTurned, kCropped, kOfImage, kOfRow, kOfColumn, kOne };
constexpr Lie kLies[] = {Lie::kDense,   Lie::kPadded, Lie::kTurned,   Lie::kCropped,
                         Lie::kOfImage, Lie::kOfRow,  Lie::kOfColumn, Lie::kOne};

struct RowsCase {
  int64_t images, rows, columns;
  ChainOperand operand(Lie lie, int16_t slot) const {
    const auto lay = [&](int64_t image, int64_t row, int64_t column) {
      return ChainOperand{.slot = slot, .strides = {image, row, column}};
    };
    switch (lie) {
      case Lie::kDense: return lay(rows * columns, columns, 1);
      case Lie::kPadded: return lay(rows * (columns + 3) + 5, columns + 3, 1);
      case Lie::kTurned: return lay(rows * columns, 1, rows);
      case Lie::kCropped: return lay(1, images * (columns + 3), images);  // images are neighbours
      case Lie::kOfImage: return lay(1, 0, 0);
      case Lie::kOfRow: return lay(0, 1, 0);
      case Lie::kOfColumn: return lay(0, 0, 1);
      case Lie::kOne: return lay(0, 0, 0);
    }
    return {};
  }
  size_t room() const { return static_cast<size_t>(images * (rows * (columns + 3) + 5)); }
};

class EltwiseRows : public testing::TestWithParam<Isa> {
 public:
  // out = relu(in + a) * b, element by element and by the kernels, in two calls.
  static void check(const RowsCase& c, Lie in, Lie a, Lie b, Lie out) {
    std::vector<float> data[3], got(c.room(), -7), wanted(c.room(), -7);
    for (size_t k = 0; k < 3; ++k)
      for (size_t i = 0; i < c.room(); ++i) data[k].push_back(static_cast<float>((i * 37 + k * 11) % 101) - 50);
    ChainArgs args{.loops = 3, .dims = {c.images, c.rows, c.columns}, .in = c.operand(in, 0), .out = c.operand(out, 3)};
    args.count = 3;
    args.steps[0] = {.function = Pointwise::kAdd, .operand = c.operand(a, 1)};
    args.steps[1] = {.function = Pointwise::kRelu};
    args.steps[2] = {.function = Pointwise::kMul, .swapped = true, .operand = c.operand(b, 2)};
    for (int64_t i = 0; i < c.images; ++i)
      for (int64_t r = 0; r < c.rows; ++r)
        for (int64_t k = 0; k < c.columns; ++k) {
          const auto at = [&](const ChainOperand& o) {
            return static_cast<size_t>(i * o.strides[0] + r * o.strides[1] + k * o.strides[2]);
          };
          const float sum = data[0][at(args.in)] + data[1][at(args.steps[0].operand)];
          wanted[at(args.out)] = data[2][at(args.steps[2].operand)] * (sum > 0 ? sum : 0);
        }
    prepare_chain(args);
    void* operands[] = {data[0].data(), data[1].data(), data[2].data(), got.data()};
    eltwise_kernels(GetParam()).run(args, operands, 0, args.tasks / 2);
    eltwise_kernels(GetParam()).run(args, operands, args.tasks / 2, args.tasks);
    EXPECT_EQ(got, wanted) << c.images << 'x' << c.rows << 'x' << c.columns << ' ' << static_cast<int>(in)
                           << static_cast<int>(a) << static_cast<int>(b) << static_cast<int>(out);
  }
};

TEST_P(EltwiseRows, OfEveryLieGiveTheSame) {
  const RowsCase cases[] = {{1, 1, 1},  {2, 3, 1},   {3, 5, 2},    {2, 41, 14},
                            {2, 7, 17}, {1, 70, 33}, {2, 19, 259}, {3, 0, 5}};
  for (const RowsCase& c : cases)
    for (Lie in : kLies)
      for (Lie a : kLies)
        for (Lie out : {Lie::kDense, Lie::kPadded, Lie::kTurned}) check(c, in, a, kLies[(c.rows + c.columns) % 8], out);
  for (Lie out : {Lie::kDense, Lie::kPadded, Lie::kTurned})
    check({37, 5, 40}, Lie::kCropped, out == Lie::kDense ? Lie::kOfImage : Lie::kCropped, Lie::kDense, out);
  check({1, 300, 130}, Lie::kTurned, Lie::kDense, Lie::kPadded, Lie::kDense);
  check({1, 2, 40000}, Lie::kPadded, Lie::kOfRow, Lie::kTurned, Lie::kPadded);
}
// Normalisations one behind the other: a product and a sum with numbers of each column, some with a ReLU.
TEST_P(EltwiseRows, AffineStepsInOnePass) {
  for (const int64_t columns : {1, 5, 16, 24, 130, 256, 300})
    for (const Lie in : {Lie::kDense, Lie::kPadded})
      for (const Lie out : {Lie::kDense, Lie::kPadded, Lie::kTurned})
        for (int pairs = 1; pairs <= 5; ++pairs) {
          const RowsCase c{2, 23, columns};
          std::vector<float> data[3], got(c.room(), -7), wanted(c.room(), -7);
          for (size_t k = 0; k < 3; ++k)
            for (size_t i = 0; i < c.room(); ++i)
              data[k].push_back((static_cast<float>((i * 37 + k * 11) % 101) - 50) * 0.03f);
          ChainArgs args{
              .loops = 3, .dims = {c.images, c.rows, c.columns}, .in = c.operand(in, 0), .out = c.operand(out, 3)};
          for (int p = 0; p < pairs; ++p) {
            args.steps[args.count++] = {.function = Pointwise::kMul, .operand = c.operand(Lie::kOfColumn, 1)};
            args.steps[args.count++] = {.function = Pointwise::kAdd,
                                        .operand = c.operand(p == 3 ? Lie::kDense : Lie::kOfColumn, 2)};
            if (p % 2 == 0) args.steps[args.count++] = {.function = Pointwise::kRelu};
          }
          for (int64_t i = 0; i < c.images; ++i)
            for (int64_t r = 0; r < c.rows; ++r)
              for (int64_t k = 0; k < c.columns; ++k) {
                const auto at = [&](const ChainOperand& o) {
                  return static_cast<size_t>(i * o.strides[0] + r * o.strides[1] + k * o.strides[2]);
                };
                float value = data[0][at(args.in)];
                for (int s = 0; s < args.count; ++s) {
                  const ChainStep& step = args.steps[s];
                  if (step.function == Pointwise::kMul) value *= data[1][at(step.operand)];
                  if (step.function == Pointwise::kAdd) value += data[2][at(step.operand)];
                  if (step.function == Pointwise::kRelu) value = value > 0 ? value : 0;
                }
                wanted[at(args.out)] = value;
              }
          prepare_chain(args);
          void* operands[] = {data[0].data(), data[1].data(), data[2].data(), got.data()};
          eltwise_kernels(GetParam()).run(args, operands, 0, args.tasks);
          EXPECT_EQ(got, wanted) << columns << ' ' << static_cast<int>(in) << static_cast<int>(out) << ' ' << pairs;
        }
}

INSTANTIATE_TEST_SUITE_P(Sets, EltwiseRows, testing::ValuesIn(every_isa()), IsaName());

}  // namespace
}  // namespace mica
