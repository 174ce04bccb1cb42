// Movement operators: kernels are equal to the reference to the bit, whatever the element size and the arrangement.
#include <gtest/gtest.h>

#include "problem.h"

namespace mica::suite {
namespace {

constexpr DType kSizes[] = {DType::kU8, DType::kF16, DType::kF32, DType::kF64, DType::kI4};

// Numbers that every element type holds.
Spec counted(std::vector<int64_t> dims, DType dtype = DType::kF32) {
  return list(std::move(dims), {0, 1, 2, 3, 4, 5, 6, 7, 3, 1, 6}, dtype);
}

TEST(Reshape, Shapes) {
  for (DType dtype : kSizes) {
    check({.op = "reshape", .inputs = {counted({2, 3, 4}, dtype), ints({4, -1})}, .expect = {{.dims = {{4, 6}}}}});
    check({.op = "reshape", .inputs = {counted({2, 3, 4}, dtype), ints({0, -1})}, .expect = {{.dims = {{2, 12}}}}});
    check({.op = "reshape", .inputs = {counted({2, 3, 4, 5}, dtype), ints({2, 3, 20})}});
  }
  check({.op = "reshape", .inputs = {counted({1}), ints({})}, .expect = {{.numbers = {0}, .dims = {{}}}}});
  check({.op = "reshape", .inputs = {uniform({0, 3}), ints({0, -1})}, .expect = {{.dims = {{0, 3}}}}});
  check({.op = "reshape",
         .attributes = {{"allow_zero", true}},
         .inputs = {uniform({0, 3}), ints({3, 0})},
         .expect = {{.dims = {{3, 0}}}}});
  check({.op = "reshape",
         .inputs = {texts({2, 2}, {"a", "bc", "", "d"}), ints({4})},
         .expect = {{.texts = {"a", "bc", "", "d"}}}});
  check_error({.op = "reshape", .inputs = {uniform({2, 3}), ints({4, -1})}}, Code::kBadShape);
  check_error({.op = "reshape", .inputs = {uniform({2, 3}), ints({-1, -1})}}, Code::kBadShape);
  check_error({.op = "reshape", .inputs = {uniform({2, 3}), ints({7})}}, Code::kBadShape);
}
TEST(Flatten, Axes) {
  for (int axis : {-3, -1, 0, 1, 2, 3})
    check({.op = "flatten", .attributes = {{"axis", axis}}, .inputs = {counted({2, 3, 4})}});
  check({.op = "flatten", .attributes = {{"axis", 0}}, .inputs = {counted({})}, .expect = {{.dims = {{1, 1}}}}});
  check_error({.op = "flatten", .attributes = {{"axis", 4}}, .inputs = {counted({2, 3, 4})}}, Code::kBadAttribute);
}
TEST(Squeeze, Axes) {
  check({.op = "squeeze", .inputs = {counted({1, 3, 1, 5}), ints({0, -2})}, .expect = {{.dims = {{3, 5}}}}});
  check({.op = "unsqueeze", .inputs = {counted({3, 5}), ints({0, -2})}, .expect = {{.dims = {{1, 3, 1, 5}}}}});
  check_error({.op = "squeeze", .inputs = {counted({2, 3}), ints({0})}}, Code::kBadShape);
  check_error({.op = "unsqueeze", .inputs = {counted({2, 3}), ints({0, 0})}}, Code::kBadAttribute);
}
TEST(Transpose, Orders) {
  for (DType dtype : kSizes)
    for (std::vector<int64_t> perm :
         std::vector<std::vector<int64_t>>{{0, 2, 3, 1}, {0, 3, 1, 2}, {3, 2, 1, 0}, {1, 0, 2, 3}})
      check({.op = "transpose", .attributes = {{"perm", perm}}, .inputs = {counted({2, 17, 5, 19}, dtype)}});
  check({.op = "transpose",
         .inputs = {counted({2, 3})},
         .expect = {{.numbers = {0, 3, 1, 4, 2, 5}}},
         .expect_kernel = "copy_"});
  check({.op = "transpose", .inputs = {counted({0, 3})}});
  check({.op = "transpose", .inputs = {counted({})}});
  check_error({.op = "transpose", .attributes = {{"perm", std::vector<int64_t>{0, 0}}}, .inputs = {counted({2, 3})}},
              Code::kBadAttribute);
}
TEST(Concat, Axes) {
  for (DType dtype : kSizes)
    for (int axis : {0, 1, -1})
      check({.op = "concat",
             .attributes = {{"axis", axis}},
             .inputs = {counted({2, 3, 5}, dtype), counted({2, 3, 5}, dtype)}});
  check({.op = "concat",
         .attributes = {{"axis", 1}},
         .inputs = {counted({2, 0, 5}), counted({2, 3, 5}), counted({2, 1, 5})},
         .expect_kernel = "copy_"});
  check({.op = "concat",
         .attributes = {{"axis", 0}},
         .inputs = {texts({1}, {"x"}), texts({2}, {"y", "z"})},
         .expect = {{.texts = {"x", "y", "z"}}}});
  check_error({.op = "concat", .attributes = {{"axis", 0}}, .inputs = {uniform({2, 3}), uniform({2, 4})}},
              Code::kBadShape);
}
TEST(Interleave, Axes) {
  for (DType dtype : kSizes)
    for (int axis : {0, 1, -1})
      check({.op = "interleave",
             .attributes = {{"axis", axis}},
             .inputs = {counted({2, 3, 5}, dtype), counted({2, 3, 5}, dtype), counted({2, 3, 5}, dtype)}});
  for (int parts : {1, 2, 4, 8, 9}) {
    std::vector<Spec> inputs(static_cast<size_t>(parts), uniform({3, 7, 2, 37}));
    check({.op = "interleave", .attributes = {{"axis", -1}}, .inputs = inputs});
  }
  check({.op = "interleave",
         .attributes = {{"axis", -1}},
         .inputs = {uniform({9, 58}), uniform({9, 58})},
         .expect_kernel = "interleave_rows"});
  check({.op = "interleave", .attributes = {{"axis", 1}}, .inputs = {uniform({2, 0, 5}), uniform({2, 0, 5})}});
  check_error({.op = "interleave", .attributes = {{"axis", 0}}, .inputs = {uniform({2, 3}), uniform({2, 4})}},
              Code::kBadShape);
}
TEST(Split, Sizes) {
  for (DType dtype : kSizes) {
    check({.op = "split",
           .attributes = {{"axis", 1}, {"parts", 3}},
           .inputs = {counted({2, 7, 4}, dtype)},
           .outputs = 3});
    check({.op = "split",
           .attributes = {{"axis", -1}, {"parts", 3}},
           .inputs = {counted({2, 6}, dtype), ints({1, 0, 5})},
           .outputs = 3});
  }
  check({.op = "split",
         .attributes = {{"parts", 3}},
         .inputs = {counted({6}), ints({1, 2, 3})},
         .outputs = 3,
         .unwanted_outputs = {1},
         .expect = {{.numbers = {0}}, {}, {.numbers = {3, 4, 5}}}});
  check_error({.op = "split", .attributes = {{"parts", 2}}, .inputs = {counted({6}), ints({1, 2})}, .outputs = 2},
              Code::kBadShape);
  check_error({.op = "split", .attributes = {{"parts", 4}}, .inputs = {counted({5})}, .outputs = 4}, Code::kBadShape);
  check_error({.op = "split", .attributes = {{"parts", 4}}, .inputs = {counted({2})}, .outputs = 3}, Code::kBadShape);
}
TEST(Slice, Cuts) {
  for (DType dtype : kSizes) {
    check({.op = "slice",
           .inputs = {counted({5, 7, 9}, dtype), ints({1, 2}), ints({4, 100}), ints({0, -1}), ints({1, 3})}});
    check({.op = "slice",
           .inputs = {counted({5, 7, 9}, dtype), ints({-1, 4}), ints({-100, 0}), ints({2, 1}), ints({-2, -1})}});
  }
  check({.op = "slice",
         .inputs = {iota({4}), ints({3}), ints({-5}), ints({0}), ints({-1})},
         .expect = {{.numbers = {3, 2, 1, 0}}},
         .expect_kernel = "copy_"});
  check({.op = "slice",
         .inputs = {iota({4}), ints({int64_t{1} << 62}), ints({-(int64_t{1} << 62)}), ints({0}), ints({-3})},
         .expect = {{.numbers = {3, 0}}}});
  check({.op = "slice", .inputs = {iota({4}), ints({3}), ints({1})}, .expect = {{.dims = {{0}}}}});
  check({.op = "slice",
         .inputs = {uniform({0}), ints({5}), ints({-9}), ints({0}), ints({-1})},
         .expect = {{.dims = {{0}}}}});
  check_error({.op = "slice", .inputs = {iota({4}), ints({0}), ints({1}), ints({0}), ints({0})}}, Code::kBadValue);
  check_error({.op = "slice", .inputs = {iota({4}), ints({0}), ints({1}), ints({1})}}, Code::kBadAttribute);
}
TEST(Pad, Modes) {
  for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
    for (DType dtype : kSizes)
      check({.op = "pad", .attributes = {{"mode", mode}}, .inputs = {counted({3, 4}, dtype), ints({1, 2, 0, 3})}});
    check({.op = "pad",
           .attributes = {{"mode", mode}},
           .inputs = {counted({2, 3, 5, 6}), ints({0, 0, 2, 1, 0, 0, 1, 3})},
           .expect_kernel = "copy_"});
    check({.op = "pad", .attributes = {{"mode", mode}}, .inputs = {counted({2, 3}), ints({0, 7, 0, 5})}});
    check({.op = "pad", .attributes = {{"mode", mode}}, .inputs = {counted({4, 5}), ints({-1, 1, 1, -2})}});
  }
  check({.op = "pad", .inputs = {iota({2}), ints({1, 1}), scalar(9)}, .expect = {{.numbers = {9, 0, 1, 9}}}});
  check({.op = "pad",
         .inputs = {iota({2, 2}), ints({1, 1}), absent(), ints({-1})},
         .expect = {{.numbers = {0, 0, 1, 0, 0, 2, 3, 0}}}});
  check({.op = "pad",
         .attributes = {{"mode", "reflect"}},
         .inputs = {iota({3}), ints({4, 4})},
         .expect = {{.numbers = {0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2}}}});
  check({.op = "pad", .inputs = {uniform({0, 2}), ints({1, 0, 1, 0})}, .expect = {{.numbers = {0, 0, 0, 0}}}});
  check_error({.op = "pad", .attributes = {{"mode", "edge"}}, .inputs = {uniform({0}), ints({1, 0})}}, Code::kBadShape);
  check_error({.op = "pad", .inputs = {uniform({2}), ints({-2, -1})}}, Code::kBadShape);
}
TEST(Expand, Shapes) {
  for (DType dtype : kSizes)
    check({.op = "expand",
           .inputs = {counted({3, 1, 5}, dtype), ints({2, 1, 4, 1})},
           .expect = {{.dims = {{2, 3, 4, 5}}}}});
  check({.op = "expand",
         .inputs = {scalar(2), ints({2, 2})},
         .expect = {{.numbers = {2, 2, 2, 2}}},
         .expect_kernel = "copy_"});
  check({.op = "expand", .inputs = {counted({1, 3}), ints({0, 3})}, .expect = {{.dims = {{0, 3}}}}});
  check_error({.op = "expand", .inputs = {counted({2}), ints({3})}}, Code::kBadShape);
}
TEST(Tile, Repeats) {
  for (DType dtype : kSizes) check({.op = "tile", .inputs = {counted({2, 3, 5}, dtype), ints({3, 1, 2})}});
  check({.op = "tile",
         .inputs = {iota({2}), ints({2})},
         .expect = {{.numbers = {0, 1, 0, 1}}},
         .expect_kernel = "copy_"});
  check({.op = "tile", .inputs = {iota({2}), ints({0})}, .expect = {{.dims = {{0}}}}});
  check_error({.op = "tile", .inputs = {iota({2}), ints({-1})}}, Code::kBadShape);
}
TEST(Blocks, DepthToSpaceAndBack) {
  for (const char* order : {"dcr", "crd"})
    for (DType dtype : kSizes) {
      check({.op = "depth_to_space",
             .attributes = {{"block", 2}, {"order", order}},
             .inputs = {counted({2, 12, 3, 5}, dtype)}});
      check({.op = "space_to_depth",
             .attributes = {{"block", 3}, {"order", order}},
             .inputs = {counted({1, 2, 6, 9}, dtype)}});
    }
  check_error({.op = "depth_to_space", .attributes = {{"block", 2}}, .inputs = {uniform({1, 6, 2, 2})}},
              Code::kBadShape);
}
TEST(Col2Im, AddsBlocks) {
  check({.op = "col2im",
         .inputs = {iota({1, 2, 3}), constant(ints({4})), constant(ints({2}))},
         .expect = {{.numbers = {0, 4, 6, 5}, .dims = std::vector<int64_t>{1, 1, 4}}},
         .expect_kernel = "col2im"});
  struct Case {
    std::vector<int64_t> image, block, stride, dilation, pads;
  };
  for (const Case& c : std::vector<Case>{{{7, 9}, {3, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
                                         {{7, 9}, {3, 3}, {2, 3}, {1, 2}, {1, 2, 0, 1}},
                                         {{5, 40}, {5, 4}, {1, 1}, {1, 1}, {4, 3, 4, 3}},
                                         {{1, 70}, {1, 16}, {1, 6}, {1, 1}, {0, 0, 0, 0}},
                                         {{61}, {7}, {3}, {2}, {5, 1}},
                                         {{2, 3, 4}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}}}) {
    int64_t places = 1, size = 1;
    for (size_t i = 0, n = c.image.size(); i < n; ++i) {
      places *= (c.image[i] + c.pads[i] + c.pads[i + n] - c.dilation[i] * (c.block[i] - 1) - 1) / c.stride[i] + 1;
      size *= c.block[i];
    }
    check({.op = "col2im",
           .attributes = {{"strides", c.stride}, {"dilations", c.dilation}, {"pads", c.pads}},
           .inputs = {uniform({2, 3 * size, places}), constant(ints(c.image)), constant(ints(c.block))},
           .terms = static_cast<double>(size),
           .expect_kernel = c.image.size() > 2 ? "" : "col2im"});
  }
}

TEST(ShapeOf, Parts) {
  check({.op = "shape", .inputs = {uniform({2, 3, 5})}, .expect = {{.numbers = {2, 3, 5}}}});
  check({.op = "shape",
         .attributes = {{"start", -2}, {"end", -1}},
         .inputs = {uniform({2, 3, 5})},
         .expect = {{.numbers = {3}}}});
  check({.op = "shape",
         .attributes = {{"start", 2}, {"end", 1}},
         .inputs = {uniform({2, 3, 5})},
         .expect = {{.dims = {{0}}}}});
  check({.op = "size", .inputs = {uniform({2, 3, 5})}, .expect = {{.numbers = {30}}}});
}
TEST(Copy, Arrangements) {
  for (DType dtype : kSizes) check({.op = "copy", .inputs = {counted({2, 5, 7, 3}, dtype)}});
  check({.op = "copy", .inputs = {special({3, 5})}, .expect_kernel = "copy_"});
}
TEST(Range, Ends) {
  check({.op = "range",
         .inputs = {scalar(10, DType::kI64), scalar(4, DType::kI64), scalar(-2, DType::kI64)},
         .expect = {{.numbers = {10, 8, 6}}}});
  check({.op = "range", .inputs = {scalar(1), scalar(2), scalar(0.25)}, .expect = {{.numbers = {1, 1.25, 1.5, 1.75}}}});
  check({.op = "range", .inputs = {scalar(5), scalar(1), scalar(1)}, .expect = {{.dims = {{0}}}}});
  for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kI64, DType::kI32, DType::kI16})
    check({.op = "range",
           .inputs = {scalar(-7, dtype), scalar(20, dtype), scalar(5, dtype)},
           .expect = {{.numbers = {-7, -2, 3, 8, 13, 18}}}});
  check_error({.op = "range", .inputs = {scalar(5), scalar(1), scalar(0)}}, Code::kBadValue);
}
TEST(Select, Rules) {
  check({.op = "trilu",
         .attributes = {{"upper", false}},
         .inputs = {iota({2, 3}, 1), scalar(1, DType::kI64)},
         .expect = {{.numbers = {1, 2, 0, 4, 5, 6}}}});
  check({.op = "trilu",
         .inputs = {iota({3, 3}, 1), scalar(-9e18, DType::kI64)},
         .expect = {{.numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9}}}});
  check({.op = "eye_like",
         .attributes = {{"k", 1}, {"dtype", DType::kI32}},
         .inputs = {uniform({2, 3})},
         .expect = {{.numbers = {0, 1, 0, 0, 0, 1}, .dtype = DType::kI32}}});
  check({.op = "one_hot",
         .attributes = {{"axis", 0}},
         .inputs = {list({3}, {0, -1, 7}, DType::kI64), scalar(2, DType::kI64), list({2}, {5, 6})},
         .expect = {{.numbers = {6, 5, 5, 5, 6, 5}}}});
  // A depth is cut to an integer before indices are held against it.
  check({.op = "one_hot",
         .attributes = {{"axis", 0}},
         .inputs = {list({3}, {2, 0, -2}, DType::kI64), scalar(2.5), list({2}, {5, 6})},
         .expect = {{.numbers = {5, 6, 6, 5, 5, 5}}}});
  check({.op = "one_hot",
         .attributes = {{"axis", 0}},
         .inputs = {list({1}, {0}, DType::kI64), scalar(0.5), list({2}, {5, 6})},
         .expect = {{.dims = {{0, 1}}}}});
  check({.op = "compress",
         .attributes = {{"flat", true}},
         .inputs = {iota({2, 3}), list({3}, {0, 1, 1}, DType::kBool)},
         .expect = {{.numbers = {1, 2}}}});
  check({.op = "reverse_sequence",
         .attributes = {{"batch_axis", 0}, {"time_axis", 1}},
         .inputs = {iota({2, 4}), list({2}, {3, 0}, DType::kI64)},
         .expect = {{.numbers = {2, 1, 0, 3, 4, 5, 6, 7}}}});
  check({.op = "center_crop_pad",
         .inputs = {iota({3, 2}, 1), ints({2, 5})},
         .expect = {{.numbers = {0, 1, 2, 0, 0, 0, 3, 4, 0, 0}}}});
}

// Every size of elements and of indices, along each axis, with indices that point nowhere.
TEST(OneHot, KernelOfEverySize) {
  for (const DType index : {DType::kI32, DType::kI64})
    for (const DType type : {DType::kBool, DType::kI8, DType::kF16, DType::kF32, DType::kI64, DType::kF64})
      for (int axis : {0, 1, 2, -1})
        for (int64_t depth : {1, 3, 21}) {
          std::vector<double> numbers;
          for (int i = 0; i < 2 * 35; ++i) numbers.push_back(i * 7 % 29 - 11);
          check({.op = "one_hot",
                 .attributes = {{"axis", axis}},
                 .inputs = {list({2, 35}, numbers, index), constant(scalar(static_cast<double>(depth), DType::kI64)),
                            list({2}, {0, 1}, type)},
                 .expect_kernel = "one_hot"});
        }
}

TEST(Fourier, AnyLength) {
  // A bin is a sum of n numbers of magnitude below 1.5, in fewer than n roundings each; the inverse divides by n.
  for (int64_t n : {1, 2, 3, 8, 12, 17, 30, 34, 49, 100, 143, 1024})
    for (bool inverse : {false, true})
      for (int64_t parts : {1, 2})
        check({.op = "dft",
               .attributes = {{"inverse", inverse}},
               .inputs = {uniform({2, n, parts})},
               .terms = static_cast<double>(n),
               .scale = inverse ? 1.5 : 1.5 * static_cast<double>(n),
               .expect_kernel = n % 17 == 0 ? "" : "dft_f32"});
  for (bool inverse : {false, true})  // another length than the operand's, another axis, half a spectrum
    for (int64_t length : {6, 15, 40})
      for (bool onesided : {false, true})
        check({.op = "dft",
               .attributes = {{"inverse", inverse}, {"onesided", onesided}},
               .inputs = {uniform({15, 3, inverse ? 2 : 1}), scalar(static_cast<double>(length), DType::kI64),
                          scalar(0, DType::kI64)},
               .terms = 40,
               .scale = 60});
  check({.op = "dft",
         .inputs = {list({4, 1}, {1, 2, 3, 4})},
         .expect = {{.numbers = {10, 0, -2, 2, -2, 0, -2, -2}, .dims = {{4, 2}}}},
         .scale = 10});
  check({.op = "window",
         .attributes = {{"kind", "hann"}},
         .inputs = {scalar(4, DType::kI64)},
         .expect = {{.numbers = {0, 0.5, 1, 0.5}}}});
}

TEST(Fourier, Frames) {
  // As above: a bin is a sum of n numbers of magnitude below 1.5.
  for (const int64_t n : {1, 2, 9, 17, 20, 64})
    for (const int64_t parts : {0, 1, 2})
      for (const bool onesided : {false, true})
        for (const bool windowed : {false, true}) {
          std::vector<int64_t> dims{2, 70};
          if (parts) dims.push_back(parts);
          Problem p{.op = "stft",
                    .attributes = {{"onesided", onesided}},
                    .inputs = {uniform(dims), ints({7}), windowed ? uniform({n}) : absent(), ints({n})},
                    .terms = static_cast<double>(n),
                    .scale = 1.5 * static_cast<double>(n),
                    .expect_kernel = n % 17 == 0 ? "" : "stft_f32"};
          check(p);
        }
  check({.op = "stft",
         .attributes = {{"onesided", true}},
         .inputs = {list({1, 5}, {1, 2, 3, 4, 5}), scalar(1, DType::kI64), list({4}, {1, 1, 1, 1})},
         .expect = {{.numbers = {10, 0, -2, 2, -2, 0, 14, 0, -2, 2, -2, 0}, .dims = {{1, 2, 3, 2}}}},
         .scale = 14});
  check_error({.op = "stft", .inputs = {uniform({1, 5}), scalar(0, DType::kI64), uniform({4})}}, Code::kBadValue);
  check_error({.op = "stft", .inputs = {uniform({1, 3}), scalar(1, DType::kI64), uniform({4})}}, Code::kBadValue);
}

}  // namespace
}  // namespace mica::suite
