// Products against a double loop, on every instruction set of the machine.
#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "device/cpu/every_isa.h"
#include "kernels/pack/pack.h"
#include "kernels/plain.test.h"

namespace mica {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kUntouched = -12345.0f;

double activation(Activation kind, double x, double a, double b) {
  if (std::isnan(x)) return x;
  switch (kind) {
    case Activation::kNone: return x;
    case Activation::kClip: return std::min(std::max(x, a), b);
    case Activation::kLeakyRelu: return x < 0 ? a * x : x;
    case Activation::kHardSigmoid: return std::min(std::max(a * x + b, 0.0), 1.0);
    case Activation::kHardSwish: return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0);
    case Activation::kSigmoid: return 1 / (1 + std::exp(-x));
    case Activation::kSilu: return x == -kInf ? 0 : x / (1 + std::exp(-a * x));
    case Activation::kTanh: return std::tanh(x);
    case Activation::kGelu: return x == -kInf ? 0 : x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  }
  return x;
}

// A product with its operands, its result and its bound. A sum of k products in floats, in any order, is off by at most
// k · 2^-24 · Σ|a·b| to first order; the activations' own error, at most 2e-7 of their argument, is added.
struct Problem {
  GemmArgs args;
  std::vector<float> a, b, packed, bias, residual, c, scratch;

  Problem(int64_t m, int64_t n, int64_t k, MatrixForm a_form, MatrixForm b_form) {
    args.problem = {.m = m, .n = n, .k = k, .a_form = a_form, .b_form = b_form};
    args.a_stride = (a_form == MatrixForm::kRows ? k : m) + 3;
    args.b_stride = (b_form == MatrixForm::kTransposed ? k : n) + 5;
    args.c_stride = n + 7;
    args.epilogue.residual_stride = n + 2;
  }
  void fill(unsigned seed = 1) {
    UniformFloats random(seed);
    const GemmProblem& p = args.problem;
    const int64_t batches = p.batch[0] * p.batch[1];
    const int64_t a_size = (a_form_rows() + 1) * args.a_stride, b_size = (b_form_rows() + 1) * args.b_stride;
    random.fill(a, a_size * batches);
    random.fill(b, b_size * batches);
    random.fill(bias, p.n);
    random.fill(residual, (p.m + 1) * args.epilogue.residual_stride * batches);
    c.assign((p.m + 1) * args.c_stride * batches, kUntouched);
    if (batches > 1) {
      args.a_batch[1] = a_size, args.a_batch[0] = a_size * p.batch[1];
      args.b_batch[1] = b_size, args.b_batch[0] = 0;  // the second operand is shared by the outer counter
      args.c_batch[1] = (p.m + 1) * args.c_stride, args.c_batch[0] = args.c_batch[1] * p.batch[1];
      args.residual_batch[1] = (p.m + 1) * args.epilogue.residual_stride;
      args.residual_batch[0] = args.residual_batch[1] * p.batch[1];
    }
  }
  // A bias, an activation, and a residual in front of it (1) or behind it (2).
  void take_epilogue(Activation activation, int residual_kind) {
    GemmEpilogue& e = args.epilogue;
    e.bias = bias.data();
    e.activation = activation;
    e.a = activation == Activation::kSilu ? 1.0f : activation == Activation::kClip ? -0.5f : 0.2f;
    e.b = activation == Activation::kClip ? 0.75f : 0.5f;
    if (residual_kind) e.residual = residual.data();
    e.residual_last = residual_kind == 2;
  }
  int64_t a_form_rows() const { return args.problem.a_form == MatrixForm::kRows ? args.problem.m : args.problem.k; }
  int64_t b_form_rows() const {
    return args.problem.b_form == MatrixForm::kTransposed ? args.problem.n : args.problem.k;
  }

  void run(Isa isa, const GemmLimits& limits, int64_t chunk = 1 << 30) {
    const GemmProblem& p = args.problem;
    args.a = a.data();
    args.b = b.data();
    args.c = c.data();
    if (p.b_form == MatrixForm::kPanels) {
      packed.assign(panels_size(p.k, p.n), 0);
      pack_panels(
          {.data = b.data(), .n = p.n, .n_stride = 1, .k = {1, 1, 1, p.k}, .k_stride = {0, 0, 0, args.b_stride}},
          packed.data());
      args.b = packed.data();
    }
    args.choice = choose_gemm(p, isa, limits);
    scratch.assign(args.choice.scratch_floats, kNan);
    for (int64_t t = 0; t < args.choice.tasks; t += chunk)
      gemm_kernels(isa).run(args, t, std::min(t + chunk, args.choice.tasks), scratch.data());
  }

  void check() const {
    const GemmProblem& p = args.problem;
    const GemmEpilogue& e = args.epilogue;
    for (int64_t o = 0; o < p.batch[0]; ++o)
      for (int64_t q = 0; q < p.batch[1]; ++q) {
        const float* pa = a.data() + o * args.a_batch[0] + q * args.a_batch[1];
        const float* pb = b.data() + o * args.b_batch[0] + q * args.b_batch[1];
        const float* pc = c.data() + o * args.c_batch[0] + q * args.c_batch[1];
        const int64_t residual_at = o * args.residual_batch[0] + q * args.residual_batch[1];
        for (int64_t i = 0; i < p.m; ++i)
          for (int64_t j = 0; j < args.c_stride; ++j) {
            if (j >= p.n) {
              ASSERT_EQ(pc[i * args.c_stride + j], kUntouched);
              continue;
            }
            double sum = e.bias ? e.bias[j] : 0, size = std::fabs(sum);
            for (int64_t k = 0; k < p.k; ++k) {
              const double x = p.a_form == MatrixForm::kRows ? pa[i * args.a_stride + k] : pa[k * args.a_stride + i];
              const double y =
                  p.b_form == MatrixForm::kTransposed ? pb[j * args.b_stride + k] : pb[k * args.b_stride + j];
              sum += x * y * args.alpha;
              size += std::fabs(x * y * args.alpha);
            }
            const double r = e.residual ? residual[residual_at + i * e.residual_stride + j] : 0;
            size += std::fabs(r);
            if (!e.residual_last) sum += r;
            double want = activation(e.activation, sum, e.a, e.b);
            if (e.residual_last) want += r;
            const double bound =
                (static_cast<double>(p.k) + 4) * 6e-8 * (size + 1) * 1.2 + 4e-7 * (std::fabs(want) + 1);
            const float got = pc[i * args.c_stride + j];
            ASSERT_TRUE(std::fabs(got - want) <= bound)
                << i << "," << j << ": " << got << " for " << want << " ± " << bound;
          }
      }
  }
};

class Gemm : public testing::TestWithParam<Isa> {};

TEST_P(Gemm, AwkwardShapes) {
  for (int64_t m : {1, 2, 3, 5, 14, 15, 31})
    for (int64_t n : {1, 8, 9, 15, 16, 17, 24, 25, 33, 48, 130, 260})
      for (int64_t k : {0, 1, 7, 67}) {
        Problem p(m, n, k, MatrixForm::kRows, MatrixForm::kPanels);
        p.fill();
        if (n != 33) p.args.epilogue.bias = p.bias.data();
        p.run(GetParam(), {});
        SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
        ASSERT_NO_FATAL_FAILURE(p.check());
      }
}

TEST_P(Gemm, EveryFormOfTheOperands) {
  for (MatrixForm a : {MatrixForm::kRows, MatrixForm::kTransposed})
    for (MatrixForm b : {MatrixForm::kRows, MatrixForm::kTransposed, MatrixForm::kPanels})
      for (int64_t m : {1, 9, 37})
        for (int64_t n : {1, 20, 64}) {
          Problem p(m, n, 45, a, b);
          p.args.problem.batch[0] = 2;
          p.args.problem.batch[1] = b == MatrixForm::kPanels ? 1 : 3;
          p.args.alpha = b == MatrixForm::kPanels ? 1.0f : 0.125f;
          p.fill();
          p.args.epilogue.bias = p.bias.data();
          p.args.epilogue.residual = p.residual.data();
          p.run(GetParam(), {.threads = 3}, 1);
          SCOPED_TRACE(testing::Message() << static_cast<int>(a) << static_cast<int>(b) << " " << m << "x" << n);
          ASSERT_NO_FATAL_FAILURE(p.check());
        }
}

// Few rows are multiplied by a B that is not packed where it lies.
TEST_P(Gemm, FewRowsByAPlainMatrix) {
  for (MatrixForm a : {MatrixForm::kRows, MatrixForm::kTransposed})
    for (MatrixForm b : {MatrixForm::kRows, MatrixForm::kTransposed})
      for (int64_t m : {1, 2, 3, 4, 5})
        for (int64_t n : {1, 3, 15, 16, 33, 64, 70, 2100})
          for (int64_t k : {0, 1, 7, 8, 19, 64, 300}) {
            if (n == 2100 && (k > 19 || a == MatrixForm::kTransposed)) continue;
            Problem p(m, n, k, a, b);
            p.args.alpha = k == 19 ? 0.25f : 1.0f;
            p.fill();
            if (n != 33) p.args.epilogue.bias = p.bias.data();
            p.run(GetParam(), {.threads = k == 8 ? 3 : 1}, 1);
            SCOPED_TRACE(testing::Message()
                         << static_cast<int>(a) << static_cast<int>(b) << " " << m << "x" << n << "x" << k);
            ASSERT_EQ(p.args.choice.few_rows, m <= kMostFewRows);
            ASSERT_NO_FATAL_FAILURE(p.check());
          }
}

TEST_P(Gemm, FewRowsHaveEveryEpilogue) {
  for (int kind = 0; kind <= static_cast<int>(Activation::kGelu); ++kind)
    for (int residual : {0, 1, 2, 3}) {
      Problem p(3, 37, 20, MatrixForm::kRows, MatrixForm::kRows);
      if (residual == 3) p.args.c_stride = p.args.epilogue.residual_stride;
      p.fill();
      p.take_epilogue(static_cast<Activation>(kind), residual);
      if (residual == 3)  // it is the result
        for (int64_t i = 0; i < 3; ++i) std::copy_n(&p.residual[i * p.args.c_stride], 37, &p.c[i * p.args.c_stride]);
      if (residual == 3) p.args.epilogue.residual = p.c.data();
      p.args.problem.residual_in_place = residual == 3;
      p.run(GetParam(), {});
      SCOPED_TRACE(testing::Message() << "activation " << kind << " residual " << residual);
      ASSERT_NO_FATAL_FAILURE(p.check());
    }
}

TEST_P(Gemm, FewRowsPassSpecialValues) {
  for (MatrixForm b : {MatrixForm::kRows, MatrixForm::kTransposed}) {
    Problem p(4, 40, 9, MatrixForm::kRows, b);
    p.fill();
    for (float& x : p.a) x = 1.0f;
    for (float& x : p.b) x = 1.0f;
    const float special[] = {kNan, kInf, -kInf, 1e-41f};
    for (int i = 0; i < 4; ++i) p.a[i * p.args.a_stride + 2 * i] = special[i];
    p.run(GetParam(), {});
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 40; ++j) {
        const float got = p.c[i * p.args.c_stride + j], want = special[i] + 8.0f;
        EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want) << special[i] << " gives " << got;
      }
  }
}

TEST_P(Gemm, EveryEpilogue) {
  for (int kind = 0; kind <= static_cast<int>(Activation::kGelu); ++kind)
    for (int residual : {0, 1, 2})
      for (int64_t n : {32, 37, 70}) {
        Problem p(n == 37 ? 17 : 28, n, 20, MatrixForm::kRows, MatrixForm::kPanels);  // lower tiles, and the highest
        p.fill();
        p.take_epilogue(static_cast<Activation>(kind), residual);
        p.run(GetParam(), {});
        SCOPED_TRACE(testing::Message() << "activation " << kind << " residual " << residual);
        ASSERT_NO_FATAL_FAILURE(p.check());
      }
}

TEST_P(Gemm, TheSplitAndTheBlocksChangeNoBit) {
  const struct {
    MatrixForm a, b;
  } forms[] = {{MatrixForm::kRows, MatrixForm::kPanels},
               {MatrixForm::kTransposed, MatrixForm::kPanels},
               {MatrixForm::kRows, MatrixForm::kRows},
               {MatrixForm::kRows, MatrixForm::kTransposed}};
  for (const auto& form : forms)
    for (int64_t m : {3, 5, 61}) {  // columns are split, and rows
      Problem p(m, 150, 300, form.a, form.b);
      p.args.problem.batch[0] = 2;
      p.fill();
      p.args.epilogue.bias = p.bias.data();
      p.args.epilogue.residual = p.residual.data();
      p.args.epilogue.activation = Activation::kHardSwish;
      p.run(GetParam(), {.l2_bytes = 64 << 20, .threads = 1});
      ASSERT_NO_FATAL_FAILURE(p.check());
      const std::vector<float> whole = p.c;
      for (int64_t l2 : {8 << 10, 20 << 10, 200 << 10})
        for (int threads : {1, 2, 7, 64})
          for (int64_t chunk : {1, 3, 1 << 20}) {  // tasks that are run together
            p.c.assign(p.c.size(), kUntouched);
            p.run(GetParam(), {.l2_bytes = l2, .threads = threads}, chunk);
            ASSERT_EQ(p.c, whole) << m << " " << l2 << " " << threads << " " << chunk;
          }
    }
}

// Where no whole panel is left, many rows go together: whole and partial vectors, rows that are left, in place or not.
TEST_P(Gemm, EndsOfManyRows) {
  for (int64_t m : {7, 12, 67, 139})
    for (int64_t n : {17, 23, 24, 25, 31, 37, 40, 58})
      for (int64_t k : {1, 2, 9, 66})
        for (Activation activation : {Activation::kNone, Activation::kClip})
          for (int residual : {0, 1, 2}) {
            Problem p(m, n, k, MatrixForm::kRows, MatrixForm::kPanels);
            p.fill();
            p.take_epilogue(activation, residual);
            if (k == 9) p.args.epilogue.bias = nullptr;
            SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " residual " << residual);
            p.run(GetParam(), {});
            ASSERT_NO_FATAL_FAILURE(p.check());
            const std::vector<float> whole = p.c;
            p.args.problem.m = 5;  // too few to go together
            p.run(GetParam(), {});
            ASSERT_EQ(p.c, whole);
          }
}

// Rows pass one panel after the other where the set can do so: in one part and in several, by several groups of panels,
// and with everything that may happen to a sum; a residual lies as the result does, is the result, or lies apart.
// The other sets take small shapes: all that is left to see there is that none is passed.
TEST_P(Gemm, ManyRowsPassPanels) {
  const bool by_panels = gemm_kernels(GetParam()).by_panels;
  using Sizes = std::vector<int64_t>;
  for (int64_t m : by_panels ? Sizes{12, 45, 139} : Sizes{45})
    for (int64_t n : by_panels ? Sizes{16, 48, 90, 330} : Sizes{48, 90})
      for (int64_t k : by_panels ? Sizes{1, 66, 300} : Sizes{66})
        for (Activation activation : {Activation::kNone, Activation::kClip, Activation::kHardSwish, Activation::kSilu})
          for (int residual : {0, 1, 2, 3}) {
            Problem p(m, n, k, MatrixForm::kRows, MatrixForm::kPanels);
            if (n != 90) p.args.c_stride = p.args.epilogue.residual_stride;
            const bool in_place = residual == 3 && n != 90;
            p.args.problem.residual_in_place = in_place;
            p.fill();
            p.take_epilogue(activation, in_place ? 1 : residual);
            if (k == 66) p.args.epilogue.bias = nullptr;
            if (n == 330 && activation == Activation::kClip) p.args.epilogue.b = kInf;
            SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " activation "
                                            << static_cast<int>(activation) << " residual " << residual);
            std::vector<float> whole;
            for (int64_t l2 : {1 << 20, 80 << 10, 20 << 10}) {
              if (in_place) {
                for (int64_t i = 0; i < m; ++i) std::copy_n(&p.residual[i * (n + 2)], n, &p.c[i * (n + 2)]);
                p.args.epilogue.residual = p.c.data();
              }
              p.run(GetParam(), {.l2_bytes = l2});
              const bool whole_k = p.args.choice.k_block >= k;
              EXPECT_EQ(p.args.choice.panel_rows > 0, by_panels && whole_k && 2 * m * k <= l2);
              if (whole.empty()) whole = p.c;
              ASSERT_EQ(p.c, whole);
            }
            ASSERT_NO_FATAL_FAILURE(p.check());
            if (in_place) continue;
            p.args.problem.m = 5;  // too few to go together
            p.run(GetParam(), {});
            ASSERT_EQ(p.c, whole);
          }
}

TEST_P(Gemm, HalfUnitsChangeNoBit) {
  for (int64_t n : {3, 8, 20, 24, 40, 53})
    for (Activation activation : {Activation::kNone, Activation::kClip, Activation::kHardSwish, Activation::kGelu})
      for (bool has_residual : {false, true})
        for (int64_t l2 : {1 << 20, 8 << 10}) {  // all of k at once, and blocks of it
          Problem p(31, n, 200, MatrixForm::kRows, MatrixForm::kPanels);
          p.fill();
          p.args.epilogue = {.bias = p.bias.data(), .residual_stride = n + 2, .activation = activation};
          p.args.epilogue.a = -0.5f, p.args.epilogue.b = 0.75f;
          if (has_residual) p.args.epilogue.residual = p.residual.data();
          p.run(GetParam(), {.l2_bytes = l2});
          SCOPED_TRACE(testing::Message() << n << " " << static_cast<int>(activation) << " " << has_residual << l2);
          ASSERT_NO_FATAL_FAILURE(p.check());
          const std::vector<float> whole = p.c;
          p.c.assign(p.c.size(), kUntouched);
          p.run(GetParam(), {.l2_bytes = l2, .half_units = true});
          ASSERT_EQ(p.c, whole);
        }
}

// The smaller the second-level cache, the smaller the blocks; rows are cut, too.
TEST_P(Gemm, BlocksOfKPassOneAfterTheOther) {
  const auto choice = [&](GemmProblem p, int64_t l2) { return choose_gemm(p, GetParam(), {.l2_bytes = l2}); };
  GemmProblem p{.m = 200, .n = 256, .k = 3000};
  const bool collide = gemm_tile_rows(GetParam()) > 8;  // more rows than a set of a first-level cache holds
  EXPECT_EQ(choice(p, 1 << 20).k_outside, collide);
  EXPECT_EQ(choice(p, 1 << 20).m_tasks > 1, collide);
  EXPECT_LT(choice(p, 200 << 10).k_block, choice(p, 1 << 20).k_block);
  EXPECT_FALSE(choice(p, 4 << 20).k_outside);
  p.residual_in_place = true;
  EXPECT_FALSE(choice(p, 1 << 20).k_outside);
  p = {.m = 200, .n = 256, .k = 3000, .b_form = MatrixForm::kRows};
  EXPECT_FALSE(choice(p, 1 << 20).k_outside);
}

TEST_P(Gemm, RowsThatCollideAreCopied) {
  for (MatrixForm form : {MatrixForm::kPanels, MatrixForm::kTransposed})
    for (int64_t stride : {1024, 2048, 1027})
      for (int64_t l2 : {1 << 20, 100 << 10}) {  // all of k at once, and blocks of it
        Problem p(31, 150, 1024, MatrixForm::kRows, form);
        p.args.a_stride = stride;
        p.fill();
        p.run(GetParam(), {.l2_bytes = l2});
        EXPECT_EQ(p.args.choice.copies_rows, gemm_tile_rows(GetParam()) > 8 && l2 == 1 << 20);
        SCOPED_TRACE(testing::Message() << static_cast<int>(form) << " " << stride << " " << l2);
        ASSERT_NO_FATAL_FAILURE(p.check());
      }
}

TEST_P(Gemm, TheResidualMayBeTheResult) {
  for (int64_t n : {24, 26, 32, 37})
    for (Activation activation : {Activation::kTanh, Activation::kClip}) {
      Problem p(17, n, 20, MatrixForm::kRows, MatrixForm::kPanels);
      p.args.c_stride = p.args.epilogue.residual_stride;
      p.fill();
      p.take_epilogue(activation, 1);
      p.c = p.residual;
      p.args.epilogue.residual = p.c.data();
      p.args.problem.residual_in_place = true;
      p.run(GetParam(), {.l2_bytes = 1 << 10});
      for (int64_t i = 0; i < 17; ++i)
        for (int64_t j = n; j < p.args.c_stride; ++j) {
          ASSERT_EQ(p.c[i * p.args.c_stride + j], p.residual[i * p.args.c_stride + j]);
          p.c[i * p.args.c_stride + j] = kUntouched;
        }
      ASSERT_NO_FATAL_FAILURE(p.check());
    }
}

TEST_P(Gemm, SpecialValuesPass) {
  for (int kind = 0; kind <= static_cast<int>(Activation::kGelu); ++kind) {
    Problem p(4, 40, 3, MatrixForm::kRows, MatrixForm::kPanels);
    p.fill();
    p.args.epilogue = {.activation = static_cast<Activation>(kind), .a = 1.0f, .b = 2.0f};
    for (float& x : p.a) x = 1.0f;
    for (float& x : p.b) x = 1.0f;
    const float special[] = {kNan, kInf, -kInf, 1e-41f};
    for (int i = 0; i < 4; ++i) p.a[i * p.args.a_stride] = special[i];
    p.run(GetParam(), {});
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 40; ++j) {
        const double want = activation(p.args.epilogue.activation, special[i] + 2.0, 1.0, 2.0);
        const float got = p.c[i * p.args.c_stride + j];
        EXPECT_TRUE(std::isnan(want)   ? std::isnan(got)
                    : std::isinf(want) ? got == want
                                       : std::fabs(got - want) <= 1e-6)
            << kind << ": " << special[i] << " gives " << got << ", not " << want;
      }
  }
}

TEST_P(Gemm, ActivationsOverTheirWholeRange) {
  for (int kind = 0; kind <= static_cast<int>(Activation::kGelu); ++kind) {
    Problem p(1, 16384, 1, MatrixForm::kRows, MatrixForm::kPanels);
    p.fill();
    p.args.epilogue = {.activation = static_cast<Activation>(kind), .a = 1.0f, .b = 0.5f};
    p.a[0] = 1.0f;
    for (int j = 0; j < 16384; ++j) p.b[j] = (static_cast<float>(j) - 8192.0f) / (j % 3 == 0 ? 80.0f : 1000.0f);
    p.run(GetParam(), {});
    for (int j = 0; j < 16384; ++j) {
      const double want = activation(p.args.epilogue.activation, p.b[j], 1.0, 0.5);
      EXPECT_TRUE(std::fabs(p.c[j] - want) <= 3e-7 * std::max(1.0, std::fabs(want)))
          << kind << "(" << p.b[j] << ") gives " << p.c[j] << ", not " << want;
    }
  }
}

// Powers of two by a sum of exponents would make a number of some NaN.
TEST_P(Gemm, SiluKeepsNaN) {
  const auto payload = std::bit_cast<float>(0x7fc001ffu);
  for (const float a : {1.0f, 0.0f, 0.5f, -1.0f}) {
    Problem p(1, 37, 1, MatrixForm::kRows, MatrixForm::kPanels);
    p.fill();
    p.args.epilogue = {.activation = Activation::kSilu, .a = a};
    p.a[0] = 1.0f;
    for (int j = 0; j < 37; ++j) p.b[j] = j % 3 == 0 ? payload : j % 3 == 1 ? kInf : 1.0f;
    p.run(GetParam(), {});
    for (int j = 0; j < 37; ++j) {
      const bool nan = j % 3 == 0 || (j % 3 == 1 && a == 0.0f);
      EXPECT_EQ(std::isnan(p.c[j]), nan) << a << " column " << j;
      if (j % 3 == 1 && a > 0.0f) {
        EXPECT_EQ(p.c[j], kInf);
      }
      if (j % 3 == 2) {
        EXPECT_NEAR(p.c[j], 1 / (1 + std::exp(-a)), 3e-7);
      }
    }
  }
}

void check_finish(Isa isa, int64_t k, int threads) {
  struct Count {
    std::vector<int> seen = std::vector<int>(31 * 85);
  } count;
  Problem p(31, 85, k, MatrixForm::kRows, MatrixForm::kPanels);
  p.fill();
  p.args.epilogue.finish_context = &count;
  p.args.epilogue.finish = [](const void* context, float* c, int64_t stride, int64_t row, int64_t column, int64_t rows,
                              int64_t columns) {
    auto& seen = const_cast<Count*>(static_cast<const Count*>(context))->seen;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        ++seen[(row + i) * 85 + column + j];
        c[i * stride + j] = 2 * c[i * stride + j];
      }
  };
  p.run(isa, {.threads = threads}, 1);
  for (int n : count.seen) ASSERT_EQ(n, 1);
  for (float& x : p.a) x *= 2;
  p.args.epilogue.finish = nullptr;
  const std::vector<float> doubled = p.c;
  p.run(isa, {.threads = threads}, 1);
  EXPECT_EQ(p.c, doubled);
}

TEST_P(Gemm, EveryFinishedRectangleIsShownOnce) {
  for (int64_t k : {9, 300})  // of which all panels are one group, and two
    for (int threads : {1, 5}) ASSERT_NO_FATAL_FAILURE(check_finish(GetParam(), k, threads));
}

// Also where rows of either side, or of both, share sets of the first-level cache. Nothing beside them is read or
// written.
TEST_P(Gemm, MatricesAreTransposed) {
  for (const int64_t rows : {1, 7, 16, 47, 81})
    for (const int64_t columns : {1, 5, 16, 35})
      for (const int64_t in_stride : {columns, columns + 3, int64_t{512}})
        for (const int64_t out_stride : {rows, rows + 5, int64_t{512}, int64_t{1024}}) {
          const auto in_size = static_cast<size_t>((rows - 1) * in_stride + columns);
          const auto out_size = static_cast<size_t>((columns - 1) * out_stride + rows);
          std::vector<float> in(in_size, kNan), out(out_size + 1, kUntouched), expected = out;
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j) {
              const auto x = static_cast<float>(i * columns + j);
              in[static_cast<size_t>(i * in_stride + j)] = expected[static_cast<size_t>(j * out_stride + i)] = x;
            }
          gemm_kernels(GetParam()).transpose(in.data(), in_stride, out.data(), out_stride, rows, columns);
          ASSERT_EQ(out, expected) << rows << " x " << columns << ", " << in_stride << " and " << out_stride;
        }
}

TEST_P(Gemm, EmptyProductsHaveNoTasks) {
  EXPECT_EQ(choose_gemm({.m = 0, .n = 5, .k = 5}, GetParam(), {}).tasks, 0);
  EXPECT_EQ(choose_gemm({.m = 5, .n = 0, .k = 5}, GetParam(), {}).tasks, 0);
  EXPECT_EQ(choose_gemm({.m = 5, .n = 5, .k = 5, .batch = {0, 1}}, GetParam(), {}).tasks, 0);
}

INSTANTIATE_TEST_SUITE_P(Every, Gemm, testing::ValuesIn(every_isa()), IsaName());

TEST(GemmChoice, PrintsItsNumbers) {
  const GemmProblem p{.m = 784, .n = 256, .k = 256};
  char text[256];
  const size_t length = print(p, choose_gemm(p, Isa::kPortable, {}), text, sizeof text);
  EXPECT_EQ(std::string(text, length).substr(0, 32), "m=784 n=256 k=256 batch=1x1 rows");
}

}  // namespace
}  // namespace mica
