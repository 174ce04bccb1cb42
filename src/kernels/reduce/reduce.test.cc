// Sums along rows have the same bits on every instruction set with fused multiply-add.
#include "kernels/reduce/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "device/cpu/every_isa.h"

namespace mica {
namespace {

// Elements in [-1, 1) of a linear congruential generator: the same on every machine.
std::vector<float> numbers(size_t count) {
  std::vector<float> made(count);
  uint32_t state = 1;
  for (float& x : made) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int32_t>(state)) / 2147483648.0f;
  }
  return made;
}

constexpr int64_t kLengths[] = {1, 3, 4, 8, 15, 16, 17, 31, 49, 64, 65, 127, 197, 512, 513, 768, 3000, 70001};

uint64_t hash_of(uint64_t hash, std::span<const float> values) {
  for (float x : values) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3u;
  }
  return hash;
}

uint64_t answers(Isa isa) {
  const std::vector<float> x = numbers(2 * 70001);
  uint64_t hash = 0xcbf29ce484222325u;
  for (int64_t n : kLengths) {
    for (ReduceFunction function : {ReduceFunction::kSum, ReduceFunction::kProd, ReduceFunction::kSumOfSquares})
      for (int64_t stride : {1, 2}) {
        ReduceArgs args{.function = function, .inner_loops = 1, .inner = {n}, .in_inner = {stride}};
        prepare_reduce(args);
        float sum = 0;
        reduce_kernels(isa).reduce(args, x.data(), &sum, 0, args.tasks);
        hash = hash_of(hash, {&sum, 1});
      }
    for (bool logarithm : {false, true}) {
      SoftmaxArgs args{.logarithm = logarithm, .n = n};
      prepare_softmax(args);
      std::vector<float> y(static_cast<size_t>(n));
      reduce_kernels(isa).softmax(args, x.data(), y.data(), 0, args.tasks);
      hash = hash_of(hash, y);
    }
  }
  return hash;
}

// The number was computed on AVX-512, AVX2 and NEON, and was the same on each.
TEST(Reduce, TheSameBitsOnEverySetWithFusedMultiplyAdd) {
  for (Isa isa : every_isa())
    if (isa == Isa::kAvx2 || isa == Isa::kAvx512 || isa == Isa::kNeon) {
      EXPECT_EQ(answers(isa), 2985234575300394561u) << name_of(isa);
    }
}

// Neighbours are summed side by side, several vectors at a time: each is the sum of its own numbers, and the same bits
// on every set.
TEST(Reduce, NeighboursSideBySide) {
  constexpr int64_t kRuns = 3, kGap = 5;
  for (int64_t lanes : {2, 15, 16, 63, 64, 70, 130})
    for (int64_t n : {1, 11, 33}) {
      const int64_t pixel = lanes + kGap, row = n * pixel + kGap;
      const std::vector<float> x = numbers(static_cast<size_t>(kRuns * row));
      std::vector<float> first;
      for (Isa isa : every_isa()) {
        ReduceArgs args{.inner_loops = 2, .inner = {kRuns, n}, .in_inner = {row, pixel}, .lanes = lanes, .out_lane = 2};
        prepare_reduce(args);
        std::vector<float> y(static_cast<size_t>(2 * lanes), -7.0f);
        reduce_kernels(isa).reduce(args, x.data(), y.data(), 0, args.tasks);
        for (int64_t c = 0; c < lanes; ++c) {
          double sum = 0, size = 0;
          for (int64_t i = 0; i < kRuns * n; ++i) {
            const double term = x[static_cast<size_t>(i / n * row + i % n * pixel + c)];
            sum += term;
            size += std::fabs(term);
          }
          const auto at = static_cast<size_t>(2 * c);
          ASSERT_TRUE(std::fabs(y[at] - sum) <= static_cast<double>(kRuns * n) * 6e-8 * size) << lanes << " " << n;
          ASSERT_EQ(y[at + 1], -7.0f);
        }
        if (first.empty()) first = y;
        EXPECT_EQ(y, first) << name_of(isa);
      }
    }
}

// Short rows that go side by side are each what it is by itself, whatever lies between them.
TEST(Reduce, ShortRowsSideBySide) {
  constexpr int64_t kRows = 37, kInGap = 3, kOutGap = 2;
  for (Isa isa : every_isa())
    for (int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33, 49, 130, 513})
      for (bool logarithm : {false, true}) {
        const int64_t in_row = n + kInGap, out_row = n + kOutGap;
        const std::vector<float> x = numbers(static_cast<size_t>(kRows * in_row));
        SoftmaxArgs args{.logarithm = logarithm, .outer_loops = 1, .outer = {kRows}, .in_outer = {in_row}, .n = n};
        args.out_outer[0] = out_row;
        prepare_softmax(args);
        std::vector<float> y(static_cast<size_t>(kRows * out_row), -7.0f);
        reduce_kernels(isa).softmax(args, x.data(), y.data(), 0, args.tasks);
        std::vector<float> wanted(y.size(), -7.0f);
        SoftmaxArgs one{.logarithm = logarithm, .n = n};
        prepare_softmax(one);
        for (int64_t r = 0; r < kRows; ++r)
          reduce_kernels(isa).softmax(one, x.data() + r * in_row, wanted.data() + r * out_row, 0, one.tasks);
        EXPECT_EQ(y, wanted) << name_of(isa) << " " << n;
      }
}

// Every element within the bound that reduce.h states, along neighbours and across them.
class SoftmaxErrors {
 public:
  SoftmaxErrors(Isa isa, int64_t n, int64_t lanes, float spread) : isa_(isa), n_(n), lanes_(lanes) {
    // Far from zero, where differences round.
    for (int64_t i = 0; i < kRows * n * lanes; ++i)
      x_.push_back(static_cast<float>(i * 7919 % 10007) / 10007 * spread + 3);
    y_.resize(x_.size());
  }
  void check(bool logarithm) {
    SoftmaxArgs args{.logarithm = logarithm, .outer_loops = 1, .outer = {kRows}, .n = n_, .in_stride = lanes_};
    args.in_outer[0] = args.out_outer[0] = n_ * lanes_;
    args.out_stride = lanes_, args.lanes = lanes_;
    prepare_softmax(args);
    reduce_kernels(isa_).softmax(args, x_.data(), y_.data(), 0, args.tasks);
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t lane = 0; lane < lanes_; ++lane) check_axis(logarithm, row * n_ * lanes_ + lane);
  }

 private:
  void check_axis(bool logarithm, int64_t first) {
    const auto at = [&](int64_t i) { return static_cast<size_t>(first + i * lanes_); };
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n_; ++i) largest = std::fmax(largest, x_[at(i)]);
    for (int64_t i = 0; i < n_; ++i) sum += std::exp(x_[at(i)] - largest);
    const double log_n = std::log(static_cast<double>(n_)), more = isa_ == Isa::kPortable || isa_ == Isa::kSse2;
    const double depth = std::min(std::ceil(std::log2(static_cast<double>(n_))) + 26, static_cast<double>(n_ - 1));
    for (int64_t i = 0; i < n_; ++i) {
      const double z = largest - x_[at(i)], power = std::exp(-z) / sum;
      const double want = logarithm ? -z - std::log(sum) : power;
      const double units =
          logarithm ? 2 * z + (4 + more) * log_n + depth + 2 + more : (z + log_n + depth + 6 + 2 * more) * power;
      ASSERT_TRUE(std::fabs(y_[at(i)] - want) <= units * 0x1p-24) << y_[at(i)] << " for " << want << " at " << i;
    }
  }

  static constexpr int64_t kRows = 3;
  Isa isa_;
  int64_t n_, lanes_;
  std::vector<float> x_, y_;
};

TEST(Reduce, SoftmaxStaysWithinItsBound) {
  for (Isa isa : every_isa())
    for (int64_t lanes : {1, 3, 17})
      for (int64_t n : {1, 2, 3, 8, 9, 17, 31, 33, 127, 513, 1000, 2051})
        for (float spread : {1e-3f, 5.0f, 70.0f})
          for (bool logarithm : {false, true}) {
            SCOPED_TRACE(testing::Message() << name_of(isa) << " " << n << " x " << lanes << " over " << spread
                                            << (logarithm ? ", logarithms" : ""));
            ASSERT_NO_FATAL_FAILURE(SoftmaxErrors(isa, n, lanes, spread).check(logarithm));
          }
}

// Rows of neighbours, many at once and each by itself, give the same bits: whatever a row's place is, and whatever
// stands beside it.
TEST(Reduce, RowsOfNeighboursTogether) {
  constexpr int64_t kRows = 37, kInGap = 3, kOutGap = 2;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (Isa isa : every_isa())
    for (ReduceFunction function : {ReduceFunction::kSum, ReduceFunction::kMax, ReduceFunction::kMin,
                                    ReduceFunction::kProd, ReduceFunction::kSumOfAbs, ReduceFunction::kSumOfSquares})
      for (int64_t n : {0, 1, 2, 3, 15, 16, 17, 33, 64, 130, 513}) {
        const int64_t in_row = n + kInGap, out_row = 1 + kOutGap;
        std::vector<float> x = numbers(static_cast<size_t>(kRows * in_row));
        for (size_t i = 0; i < x.size(); i += 29) x[i] = i % 2 ? 0.0f : -0.0f;
        for (size_t i = 7; i < x.size(); i += 211) x[i] = i % 3 ? kInfinity : std::nanf("");
        ReduceArgs args{.function = function, .finish = ReduceFinish::kScale, .scale = 0.5f};
        args.inner_loops = 1, args.inner[0] = n, args.in_inner[0] = 1;
        ReduceArgs one = args;
        args.outer_loops = 1, args.outer[0] = kRows, args.in_outer[0] = in_row, args.out_outer[0] = out_row;
        prepare_reduce(args);
        prepare_reduce(one);
        std::vector<float> y(static_cast<size_t>(kRows * out_row), -7.0f), wanted = y;
        reduce_kernels(isa).reduce(args, x.data(), y.data(), 0, args.tasks);
        for (int64_t r = 0; r < kRows; ++r)
          reduce_kernels(isa).reduce(one, x.data() + r * in_row, wanted.data() + r * out_row, 0, one.tasks);
        EXPECT_EQ(std::memcmp(y.data(), wanted.data(), y.size() * sizeof(float)), 0) << name_of(isa) << " " << n;
      }
}

}  // namespace
}  // namespace mica
