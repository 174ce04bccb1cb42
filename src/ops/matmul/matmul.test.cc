#include <gtest/gtest.h>

#include "problem.h"

namespace mica::suite {
namespace {

Problem product(std::vector<int64_t> a, std::vector<int64_t> b, bool constant_b = true) {
  const double k = static_cast<double>(a.back());
  Problem p{.op = "matmul"};
  p.inputs = {uniform(std::move(a)), uniform(std::move(b), -1, 1, 2)};
  p.inputs[1].constant = constant_b;
  p.terms = p.scale = k;
  p.expect_kernel = "gem";
  return p;
}

TEST(Matmul, KnownSums) {
  check({.op = "matmul",
         .inputs = {list({2, 2}, {1, 2, 3, 4}), list({2, 2}, {5, 6, 7, 8})},
         .expect = {{.numbers = {19, 22, 43, 50}}}});
}

TEST(Matmul, Matrices) {
  for (const bool constant_b : {true, false}) {
    check(product({1, 37}, {37, 19}, constant_b));
    check(product({17, 5}, {5, 33}, constant_b));
    check(product({3, 129}, {129, 1}, constant_b));
  }
}

TEST(Matmul, Batches) {
  for (const bool constant_b : {true, false}) {
    check(product({2, 3, 7, 5}, {5, 9}, constant_b));
    check(product({2, 3, 7, 5}, {2, 3, 5, 9}, constant_b));
    check(product({2, 1, 7, 5}, {3, 5, 9}, constant_b));
    check(product({4, 1, 5}, {4, 5, 3}, constant_b));
  }
}

TEST(Matmul, Vectors) {
  Problem left = product({5}, {3, 5, 4}), right = product({2, 3, 5}, {5});
  left.epilogues = right.epilogues = false;
  check(left);
  check(right);
  Problem dot = product({5}, {5});
  dot.expect_kernel = "";
  check(dot);
}

TEST(Matmul, Integers) {
  check({.op = "matmul",
         .inputs = {list({1, 2}, {1 << 20, 3}, DType::kI32), list({2, 1}, {1 << 20, 5}, DType::kI32)},
         .expect = {{.numbers = {15}}}});
}

TEST(Matmul, Refuses) {
  check_error(product({2, 3}, {4, 5}), Code::kBadShape);
  check_error(product({2, 2, 3}, {3, 3, 5}), Code::kBadShape);
}

TEST(Gemm, FormsOfTheOperands) {
  for (const bool a : {false, true})
    for (const bool b : {false, true})
      for (const bool constant_b : {false, true}) {
        Problem p{.op = "gemm", .attributes = {{"transpose_a", a}, {"transpose_b", b}, {"alpha", 0.5}}};
        p.inputs = {uniform(a ? std::vector<int64_t>{11, 6} : std::vector<int64_t>{6, 11}),
                    uniform(b ? std::vector<int64_t>{21, 11} : std::vector<int64_t>{11, 21}, -1, 1, 2),
                    uniform({21}, -1, 1, 3)};
        p.inputs[1].constant = constant_b;
        p.terms = p.scale = 12;
        p.expect_kernel = "gemm_f32";
        check(p);
        p.inputs[2] = uniform({6, 21}, -1, 1, 3);
        check(p);
        p.inputs.pop_back();
        check(p);
      }
}

TEST(Gemm, SummandsThatBroadcast) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {1}, {3, 1}, {1, 4}}) {
    Problem p{.op = "gemm", .attributes = {{"beta", 2.0}}};
    p.inputs = {uniform({3, 5}), uniform({5, 4}, -1, 1, 2), uniform(shape, -1, 1, 3)};
    p.terms = p.scale = 8;
    check(p);
  }
}

TEST(Einsum, Equations) {
  const auto sum = [](const char* equation, std::vector<Spec> inputs) {
    return Problem{
        .op = "einsum", .attributes = {{"equation", equation}}, .inputs = std::move(inputs), .terms = 20, .scale = 20};
  };
  check(sum("ij,jk->ik", {uniform({3, 4}), uniform({4, 2}, -1, 1, 2)}));
  check(sum("...ij,...jk", {uniform({5, 3, 4}), uniform({1, 4, 2}, -1, 1, 2)}));
  check(sum("ii->i", {uniform({4, 4})}));
  check(sum("i,j,k->kji", {uniform({2}), uniform({3}), uniform({4})}));
  check_error(sum("ij,jk->iz", {uniform({3, 4}), uniform({4, 2})}), Code::kBadAttribute);
  check_error(sum("ijk->i", {uniform({3, 4})}), Code::kBadRank);
  check_error(sum("i!->i", {uniform({3})}), Code::kBadAttribute);
}

// As the runtime sees them when no rule has spelled them: axes in any order, repeated, along a diagonal, of one
// element.
TEST(Einsum, OnTheKernels) {
  const struct {
    const char* equation;
    std::vector<int64_t> a, b;
  } kCases[] = {{"ij,jk->ik", {3, 4}, {4, 2}},
                {"bind,bjnd->bnij", {2, 3, 4, 5}, {2, 7, 4, 5}},
                {"bnij,bjnd->bind", {2, 4, 3, 7}, {2, 7, 4, 5}},
                {"binh,tnh->bnit", {2, 3, 4, 5}, {6, 4, 5}},
                {"ibh,hnd->ibnd", {3, 2, 17}, {17, 4, 5}},
                {"td,dnh->hnt", {19, 3}, {3, 2, 33}},
                {"...ij,...jk", {5, 1, 3, 4}, {6, 4, 2}},
                {"ij,ij->ij", {5, 3}, {5, 3}},
                {"ij,ij->", {5, 3}, {5, 3}},
                {"i,j->ji", {5}, {3}},
                {"iij,kj->ik", {4, 4, 3}, {2, 3}},
                {"ij,kk->kij", {2, 3}, {5, 5}},
                {"ab,bc->ac", {3, 1}, {5, 2}},
                {"ab,bc->cab", {3, 5}, {1, 2}},
                {"ijk,lj->kl", {1, 6, 4}, {1, 6}}};
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.equation);
    check({.op = "einsum",
           .attributes = {{"equation", c.equation}},
           .inputs = {uniform(c.a), uniform(c.b, -1, 1, 2)},
           .terms = 20,
           .scale = 20,
           .expect_kernel = "gem"});
  }
  for (const char* equation : {"iij->ji", "iji->ij"}) {
    const std::vector<int64_t> shape =
        equation[1] == 'i' ? std::vector<int64_t>{4, 4, 3} : std::vector<int64_t>{4, 3, 4};
    check(
        {.op = "einsum", .attributes = {{"equation", equation}}, .inputs = {uniform(shape)}, .expect_kernel = "copy_"});
  }
}

TEST(MatmulInteger, ZeroPoints) {
  check({.op = "matmul_integer",
         .inputs = {list({1, 2}, {3, 255}, DType::kU8), list({2, 1}, {-128, 1}, DType::kI8), list({}, {1}, DType::kU8)},
         .expect = {{.numbers = {2 * -128 + 254}}}});
}

TEST(MatmulInteger, OnTheKernels) {
  Problem p{.op = "matmul_integer", .expect_kernel = "gemm_8bit_exact", .epilogues = false};
  p.inputs = {uniform({2, 3, 37}, 0, 255, 1, DType::kU8), constant(uniform({37, 19}, -128, 127, 2, DType::kI8)),
              scalar(77, DType::kU8)};
  check(p);
  p.inputs = {uniform({5, 17}, -128, 127, 1, DType::kI8), constant(uniform({17, 33}, 0, 255, 2, DType::kU8)), absent(),
              constant(scalar(131, DType::kU8))};
  check(p);
}

// Both operands come at run time: batches, repeated ones, a matrix for all of them; as large as sums may be, and
// larger.
TEST(MatmulInteger, OfRuntimeOperands) {
  struct Sizes {
    std::vector<int64_t> a, b;
  };
  for (const auto& [a, b] : std::vector<Sizes>{{{5, 7}, {7, 4}},
                                               {{2, 3, 5, 64}, {2, 3, 64, 33}},
                                               {{2, 3, 5, 17}, {3, 17, 18}},
                                               {{2, 1, 1, 17}, {1, 3, 17, 18}},
                                               {{4, 15, 258}, {258, 16}},
                                               {{4, 3, 259}, {4, 259, 2}}})
    for (const DType type : {DType::kU8, DType::kI8})
      for (const bool zeros : {false, true}) {
        const bool is_signed = type == DType::kI8;
        const double low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;
        Problem p{.op = "matmul_integer", .epilogues = false};
        p.inputs = {uniform(a, low, high, 1, type), uniform(b, 0, 255, 2, DType::kU8)};
        if (zeros) p.inputs.insert(p.inputs.end(), {scalar(low, type), constant(scalar(131, DType::kU8))});
        p.expect_kernel = "gemm_8bit_exact";
        check(p);
      }
}

// The largest sums of one part, of two, of sixteen, and larger ones; of constants by what they are.
TEST(MatmulInteger, LargeSumsInParts) {
  for (const auto& [k, kernel] :
       {std::pair{258, "gemm_8bit_exact"}, {259, "add_exact_parts"}, {4128, "add_exact_parts"}, {4129, ""}})
    for (const bool is_constant : {false, true}) {
      Problem p{.op = "matmul_integer", .expect_kernel = kernel, .epilogues = false};
      const Spec b = list({k, 17}, {255}, DType::kU8);
      p.inputs = {list({3, k}, {255, 254, 255}, DType::kU8), is_constant ? constant(b) : b};
      check(p);
    }
  Problem p{.op = "matmul_integer", .expect_kernel = "add_exact_parts", .epilogues = false};
  p.inputs = {uniform({2, 5, 3000}, 0, 255, 1, DType::kU8), constant(uniform({3000, 33}, -128, 127, 2, DType::kI8)),
              scalar(77, DType::kU8)};
  check(p);
  p.inputs.push_back(constant(uniform({33}, -128, 127, 3, DType::kI8)));  // a zero point for each column
  check(p);
  p.inputs[0] = uniform({5, 30}, 0, 255, 1, DType::kU8);
  p.inputs[1] = constant(uniform({30, 33}, -128, 127, 2, DType::kI8));
  p.expect_kernel = "gemm_8bit_exact";
  check(p);
}

TEST(QlinearMatmul, OnTheKernels) {
  Problem p{.op = "qlinear_matmul", .expect_kernel = "gemm_8bit_exact", .epilogues = false};
  p.inputs = {uniform({4, 25}, 0, 255, 1, DType::kU8),
              constant(scalar(0.02)),
              constant(scalar(113, DType::kU8)),
              constant(uniform({25, 18}, -128, 127, 2, DType::kI8)),
              constant(uniform({18}, 0.001, 0.02, 3)),
              constant(list({18}, {0}, DType::kI8)),
              constant(scalar(0.4)),
              constant(scalar(100, DType::kU8))};
  check(p);
  p.inputs[0] = uniform({3, 4, 25}, 0, 255, 1, DType::kU8);
  p.inputs[3] = uniform({3, 25, 18}, -128, 127, 2, DType::kI8);
  p.inputs[5] = constant(scalar(0, DType::kI8));
  check(p);
}

}  // namespace
}  // namespace mica::suite
