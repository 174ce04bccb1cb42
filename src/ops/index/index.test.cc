#include <gtest/gtest.h>

#include <cmath>

#include "problem.h"

namespace mica::suite {
namespace {

Spec at(std::vector<int64_t> dims, std::vector<double> indices, DType dtype = DType::kI64) {
  return list(std::move(dims), std::move(indices), dtype);
}

TEST(Gather, AxesAndTypes) {
  for (DType dtype : {DType::kU8, DType::kF16, DType::kF32, DType::kI64, DType::kI4, DType::kC128})
    for (int axis : {0, 1, 2, -1})
      check({.op = "gather",
             .attributes = {{"axis", axis}},
             .inputs = {list({3, 5, 4}, {0, 1, 2, 3, 4, 5, 6}, dtype), at({2, 3}, {0, -1, 1, 2, -3, 0}, DType::kI32)}});
  check({.op = "gather",
         .inputs = {iota({3, 2}), at({}, {-1})},
         .expect = {{.numbers = {4, 5}, .dims = {{2}}}},
         .expect_kernel = "gather_rows"});
  check({.op = "gather", .inputs = {iota({3, 2}), at({0}, {})}, .expect = {{.dims = {{0, 2}}}}});
  check_error({.op = "gather", .inputs = {iota({3}), at({1}, {3})}}, Code::kBadValue);
  check_error({.op = "gather", .inputs = {iota({3}), at({1}, {-4})}}, Code::kBadValue);
}
// Constant indices that walk over the table in even steps, and some that nearly do.
TEST(Gather, Walks) {
  const struct {
    std::vector<int64_t> dims;
    std::vector<double> indices;
    bool walks;
  } kCases[] = {{{3, 2}, {0, 1, 2, 3, 4, 5}, true},
                {{2, 3}, {0, 1, 2, 1, 2, 3}, true},
                {{3}, {8, 5, 2}, true},
                {{2, 1, 2}, {4, 4, 4, 4}, true},
                {{2, 3}, {0, 1, 2, 1, 2, 4}, false},
                {{3}, {-1, 0, 1}, false},
                {{2, 2}, {1, 2, 1, 3}, false},
                {{}, {4}, true}};
  for (const auto& c : kCases)
    for (const DType dtype : {DType::kF32, DType::kU8, DType::kI64})
      for (const int axis : {0, 1, 2}) {
        std::vector<int64_t> table{2, 3, 4};
        table[static_cast<size_t>(axis)] = 9;
        check({.op = "gather",
               .attributes = {{"axis", axis}},
               .inputs = {uniform(table, 0, 100, 1, dtype), constant(at(c.dims, c.indices))},
               .expect_kernel = c.walks ? "copy_" : "gather_rows"});
      }
  check_error({.op = "gather", .inputs = {iota({3}), constant(at({3}, {1, 2, 3}))}}, Code::kBadValue);
}
TEST(GatherElements, Axes) {
  for (int axis : {0, 1})
    check({.op = "gather_elements",
           .attributes = {{"axis", axis}},
           .inputs = {iota({3, 3}), at({2, 3}, {0, 1, -1, 2, 0, 0})}});
  check_error({.op = "gather_elements", .inputs = {iota({3}), at({1}, {3})}}, Code::kBadValue);
  for (DType dtype : {DType::kF32, DType::kF16, DType::kI64, DType::kI8, DType::kBool})
    for (DType index : {DType::kI32, DType::kI64})
      for (int axis : {0, 1, 2}) {
        std::vector<int64_t> dims{5, 7, 3};
        dims[static_cast<size_t>(axis)] = 4;
        check({.op = "gather_elements",
               .attributes = {{"axis", axis}},
               .inputs = {with_dtype(uniform({5, 7, 3}, 0, 100), dtype), with_dtype(uniform(dims, -3, 2), index)},
               .expect_kernel = "gather_elements"});
      }
  check({.op = "gather_elements", .inputs = {iota({3, 4}), at({2, 3}, {0, 1, -1, 2, 0, 0})}});  // fewer columns
  check_error({.op = "gather_elements", .inputs = {iota({2, 2}), at({2, 2}, {0, 1, -3, 0})}}, Code::kBadValue);
}
TEST(GatherNd, Batches) {
  check({.op = "gather_nd", .inputs = {iota({2, 2}), at({2, 2}, {0, 0, 1, -1})}, .expect = {{.numbers = {0, 3}}}});
  check({.op = "gather_nd",
         .attributes = {{"batch_dims", 1}},
         .inputs = {iota({2, 2, 2}), at({2, 1}, {1, 0})},
         .expect = {{.numbers = {2, 3, 4, 5}}}});
  check_error({.op = "gather_nd", .inputs = {iota({2}), at({1, 2}, {0, 0})}}, Code::kBadShape);
}
TEST(GatherNd, Kernels) {
  for (DType dtype : {DType::kU8, DType::kF16, DType::kF32, DType::kI64})
    for (DType index : {DType::kI32, DType::kI64})
      for (int64_t batch : {0, 1, 2})
        for (int64_t tuple : {0, 1, 2}) {
          const std::vector<int64_t> places =
              batch == 2 ? std::vector<int64_t>{3, 3, 100, tuple} : std::vector<int64_t>{3, 91, tuple};
          check({.op = "gather_nd",
                 .attributes = {{"batch_dims", batch}},
                 .inputs = {uniform({3, 3, 3, 3}, -9, 9, 1, dtype), uniform(places, -3, 2, 2, index)},
                 .expect_kernel = "gather_nd"});
        }
  check({.op = "gather_nd", .inputs = {iota({2, 2}), at({0, 1}, {})}});
  check({.op = "gather_nd", .inputs = {iota({3}), at({1}, {-2})}, .expect = {{.numbers = {1}, .dims = {{}}}}});
  for (double bad : {3., -4., 9e18})
    check_error({.op = "gather_nd", .inputs = {iota({3, 2}), at({2, 1}, {1, bad})}}, Code::kBadValue);
}
TEST(Scatter, OneElementAPlace) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kI64, DType::kI8})
    for (DType index : {DType::kI32, DType::kI64})
      for (int axis : {0, 1, -1}) {
        std::vector<int64_t> dims{3, 4, 5};
        dims[static_cast<size_t>(axis < 0 ? 2 : axis)] = 6;
        check({.op = "scatter_elements",
               .attributes = {{"axis", axis}},
               .inputs = {uniform({3, 4, 5}, -9, 9, 1, dtype), uniform(dims, -3, 2, 2, index),
                          uniform(dims, -9, 9, 3, dtype)},
               .expect_kernel = "scatter_elements"});
      }
  check_error({.op = "scatter_elements", .inputs = {iota({3}), at({2}, {0, 3}), iota({2})}}, Code::kBadValue);
}
TEST(Scatter, Reductions) {
  for (const char* reduction : {"none", "add", "mul", "min", "max"})
    for (DType dtype : {DType::kF32, DType::kI32, DType::kU8})
      check({.op = "scatter_elements",
             .attributes = {{"axis", 1}, {"reduction", reduction}},
             .inputs = {list({2, 3}, {4, 1, 3, 2, 5, 6}, dtype), at({2, 2}, {1, 0, -1, 2}),
                        list({2, 2}, {2, 7, 1, 3}, dtype)}});
  check({.op = "scatter_elements",
         .attributes = {{"reduction", "add"}},
         .inputs = {iota({3}), at({3}, {1, 1, 1}), list({3}, {1, 2, 4})},
         .expect = {{.numbers = {0, 8, 2}}}});
  check({.op = "scatter_elements",
         .attributes = {{"reduction", "max"}},
         .inputs = {list({2}, {1, NAN}), at({2}, {0, 1}), list({2}, {NAN, 1})},
         .expect = {{.numbers = {NAN, NAN}}}});
  check({.op = "scatter_nd",
         .inputs = {iota({4, 2}), at({2, 1}, {1, -1}), list({2, 2}, {9, 8, 7, 6})},
         .expect = {{.numbers = {0, 1, 9, 8, 4, 5, 7, 6}}}});
  check_error({.op = "scatter_nd", .inputs = {iota({4}), at({1, 1}, {4}), iota({1})}}, Code::kBadValue);
}
TEST(Scatter, ReducingKernels) {
  for (const char* reduction : {"add", "mul", "min", "max"})
    for (DType dtype : {DType::kF32, DType::kI32, DType::kI64}) {
      const Spec data = uniform({3, 4, 5}, -9, 9, 1, dtype);
      check({.op = "scatter_elements",
             .attributes = {{"axis", 1}, {"reduction", reduction}},
             .inputs = {data, uniform({3, 7, 5}, -4, 3, 2, DType::kI64), uniform({3, 7, 5}, -9, 9, 3, dtype)},
             .units = 0,
             .expect_kernel = "scatter_elements"});
      check({.op = "scatter_nd",
             .attributes = {{"reduction", reduction}},
             .inputs = {data, list({9, 2}, {0, 1, 2, -1, 0, 1, -1, 3, 1, 1, 2, 3, 0, 0, -3, 1, 1, -4}, DType::kI32),
                        uniform({9, 5}, -9, 9, 3, dtype)},
             .units = 0,
             .expect_kernel = "scatter_nd"});
    }
  check({.op = "scatter_nd",
         .attributes = {{"reduction", "min"}},
         .inputs = {list({3}, {1, NAN, 4}), at({4, 1}, {0, 1, 2, 2}), list({4}, {NAN, 1, 2, 3})},
         .expect = {{.numbers = {NAN, NAN, 2}}},
         .expect_kernel = "scatter_nd"});
}
TEST(Scatter, Tuples) {
  for (DType dtype : {DType::kU8, DType::kF16, DType::kF32, DType::kF64, DType::kC128})
    for (DType index : {DType::kI32, DType::kI64})
      for (int64_t tuple : {0, 1, 2, 3}) {  // 300 places: more than are looked up at a time, many of them twice
        const std::vector<int64_t> dims{3, 3, 3};
        std::vector<int64_t> updates{100, 3};
        updates.insert(updates.end(), dims.begin() + tuple, dims.end());
        check({.op = "scatter_nd",
               .inputs = {uniform(dims, -9, 9, 1, dtype), uniform({100, 3, tuple}, -3, 2, 2, index),
                          uniform(updates, -9, 9, 3, dtype)},
               .expect_kernel = "scatter_nd"});
      }
  // Slices of two tasks and a bit; the later of two wins in each.
  check({.op = "scatter_nd",
         .inputs = {iota({3, 9001}), at({3, 1}, {1, -1, 1}), uniform({3, 9001})},
         .expect_kernel = "scatter_nd"});
  for (bool known : {false, true}) {
    const Spec none = at({0, 2}, {});
    check({.op = "scatter_nd",
           .inputs = {iota({4, 3, 2}), known ? constant(none) : none, iota({0, 2})},
           .expect_kernel = "scatter_data"});
    check({.op = "scatter_nd", .inputs = {iota({4, 0}), at({2, 1}, {1, 3}), iota({2, 0})}});
    // Bad ones first, last and beyond the first block, constant or not.
    for (double bad : {4., -5., 9e18}) {
      std::vector<double> places(300, 1);
      for (size_t n : {size_t{0}, size_t{299}}) {
        places[n] = bad;
        const Spec spec = at({300, 1}, places);
        check_error({.op = "scatter_nd", .inputs = {iota({4, 2}), known ? constant(spec) : spec, iota({300, 2})}},
                    Code::kBadValue);
        places[n] = 1;
      }
    }
  }
}
// The tuples of a box of data: begin + step · i along each of the leading axes.
Spec box(const std::vector<int64_t>& dims, const std::vector<int64_t>& begin, const std::vector<int64_t>& step) {
  std::vector<double> values;
  std::vector<int64_t> shape = dims;
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n;
    std::vector<double> tuple(dims.size());
    for (size_t i = dims.size(); i-- > 0; rest /= dims[i])
      tuple[i] = static_cast<double>(begin[i] + rest % dims[i] * step[i]);
    values.insert(values.end(), tuple.begin(), tuple.end());
  }
  shape.push_back(static_cast<int64_t>(dims.size()));
  return constant(at(std::move(shape), values));
}
TEST(Scatter, Boxes) {
  const Spec data = iota({2, 5, 6, 3});
  const auto one = [&](Spec indices, std::vector<int64_t> updates, const char* kernel) {
    check({.op = "scatter_nd",
           .inputs = {data, std::move(indices), uniform(std::move(updates))},
           .expect_kernel = kernel});
  };
  one(box({2, 4, 6, 3}, {0, 1, 0, 0}, {1, 1, 1, 1}), {2, 4, 6, 3}, "copy_");
  one(box({2, 3}, {0, 0}, {1, 2}), {2, 3, 6, 3}, "copy_");
  one(box({1, 2, 3}, {1, -3, -5}, {1, 2, 1}), {1, 2, 3, 3}, "copy_");
  one(box({1}, {-1}, {1}), {1, 5, 6, 3}, "copy_");
  one(box({2, 5}, {1, 4}, {-1, -1}), {2, 5, 6, 3}, "scatter_nd");                      // backwards
  one(constant(at({2, 2}, {1, 1, 1, 1})), {2, 6, 3}, "scatter_nd");                    // twice the same
  one(constant(at({3, 2}, {0, 0, 0, 1, 0, 3})), {3, 6, 3}, "scatter_nd");              // not even
  one(constant(at({2, 2, 2}, {0, 0, 0, 1, 0, 1, 0, 2})), {2, 2, 6, 3}, "scatter_nd");  // even, but meeting
}
TEST(NonZero, Places) {
  check({.op = "non_zero",
         .inputs = {list({2, 2}, {1, 0, NAN, -0.0})},
         .expect = {{.numbers = {0, 1, 0, 0}, .dims = {{2, 2}}}}});
  check({.op = "non_zero", .inputs = {list({}, {3})}, .expect = {{.dims = {{0, 1}}}}});
}
TEST(TopK, TiesAndNan) {
  check({.op = "top_k",
         .inputs = {list({5}, {1, 3, 3, 2, 3}), ints({3})},
         .outputs = 2,
         .expect = {{.numbers = {3, 3, 3}}, {.numbers = {1, 2, 4}}}});
  check({.op = "top_k",
         .attributes = {{"largest", false}, {"axis", 0}},
         .inputs = {list({3, 2}, {1, 9, 0, 9, 1, 8}), ints({2})},
         .outputs = 2,
         .expect = {{.numbers = {0, 8, 1, 9}}, {.numbers = {1, 2, 0, 0}}}});
  check({.op = "top_k",
         .inputs = {list({3}, {1, NAN, 2}), ints({2})},
         .outputs = 2,
         .expect = {{.numbers = {NAN, 2}}, {.numbers = {1, 2}}}});
  check({.op = "top_k",
         .inputs = {list({3}, {1, 18e18, 2}, DType::kU64), ints({1})},
         .outputs = 2,
         .expect = {{}, {.numbers = {1}}}});
  check_error({.op = "top_k", .inputs = {iota({3}), ints({4})}, .outputs = 2}, Code::kBadValue);
}
// So many elements that most need no key: rising and falling ones, ties, NaN and infinities, lanes that lie apart.
TEST(TopK, ManyElements) {
  std::vector<double> rising, beside;  // the latter a lane that rises beside one that falls
  for (int i = 0; i < 1517; ++i) {
    rising.push_back(i - 700);
    beside.insert(beside.end(), {static_cast<double>(i), -5000.0 - i});
  }
  for (const bool largest : {false, true})
    for (const int64_t k : {1, 7, 32, 33, 100, 600, 1100}) {
      const Spec inputs[] = {
          list({1, 1517}, rising),    special({3, 1517}),           uniform({2, 1517}, -4, 4, 1, DType::kI32),
          list({1, 1517, 2}, beside), uniform({1, 1517, 2}, -9, 9), uniform({1, 40000}, -9, 9)};
      for (const Spec& in : inputs)
        check({.op = "top_k",
               .attributes = {{"largest", largest}, {"axis", 1}},
               .inputs = {in, ints({k})},
               .outputs = 2,
               .units = 0,
               .expect_kernel = "top_k"});
    }
}
TEST(TopK, Kernels) {
  for (DType dtype : {DType::kF32, DType::kI32})
    for (bool largest : {false, true})
      for (int axis : {0, 1, -1})
        for (int64_t k : {1, 3, 9})  // of 9 elements, many of them equal
          check({.op = "top_k",
                 .attributes = {{"largest", largest}, {"axis", axis}},
                 .inputs = {uniform({9, 9, 9}, -3, 3, 1, dtype), ints({k})},
                 .outputs = 2,
                 .units = 0,
                 .expect_kernel = "top_k"});
  for (bool largest : {false, true})
    for (int64_t k : {2, 40, 300}) {
      check({.op = "top_k",
             .attributes = {{"largest", largest}},
             .inputs = {special({2, 300}), ints({k})},
             .outputs = 2,
             .units = 0,
             .expect_kernel = "top_k"});
      check({.op = "top_k",
             .attributes = {{"largest", largest}},
             .inputs = {uniform({1, 300}, -2, 2, 5, DType::kI32), ints({k})},
             .outputs = 2,
             .unwanted_outputs = {0},
             .expect_kernel = "top_k"});
    }
  check({.op = "top_k",
         .inputs = {list({6}, {-0.0, 0, NAN, -NAN, INFINITY, -INFINITY}), ints({6})},
         .outputs = 2,
         .expect = {{}, {.numbers = {2, 3, 4, 0, 1, 5}}},
         .expect_kernel = "top_k"});
  check({.op = "top_k", .inputs = {iota({3}), ints({0})}, .outputs = 2});
}
TEST(Unique, Orders) {
  check({.op = "unique",
         .attributes = {{"sorted", false}},
         .inputs = {list({6}, {2, 1, 1, 3, 4, 3})},
         .outputs = 4,
         .expect = {{.numbers = {2, 1, 3, 4}},
                    {.numbers = {0, 1, 3, 4}},
                    {.numbers = {0, 1, 1, 2, 3, 2}},
                    {.numbers = {1, 2, 2, 1}}}});
  check({.op = "unique",
         .attributes = {{"flat", false}},
         .inputs = {list({3, 2}, {2, 0, 1, 5, 2, 0})},
         .outputs = 4,
         .expect = {{.numbers = {1, 5, 2, 0}}, {.numbers = {1, 0}}, {.numbers = {1, 0, 1}}, {.numbers = {1, 2}}}});
  check({.op = "unique", .inputs = {uniform({0})}, .outputs = 4, .expect = {{.dims = {{0}}}}});
}
TEST(NonMaxSuppression, Overlaps) {
  const Spec boxes = list({1, 3, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 5, 1, 6}),
             scores = list({1, 1, 3}, {0.5, 0.9, 0.8});
  check({.op = "non_max_suppression",
         .inputs = {boxes, scores, ints({9}), list({1}, {0.5})},
         .expect = {{.numbers = {0, 0, 1, 0, 0, 2}}}});
  check({.op = "non_max_suppression",
         .inputs = {boxes, scores, ints({9}), list({1}, {0.5}), list({1}, {0.85})},
         .expect = {{.numbers = {0, 0, 1}}}});
  check({.op = "non_max_suppression", .inputs = {boxes, scores}, .expect = {{.dims = {{0, 3}}}}});
}
TEST(LabelEncoder, KeysAndDefault) {
  check({.op = "label_encoder",
         .inputs = {texts({2, 2}, {"b", "x", "a", "b"}), constant(texts({3}, {"b", "a", "b"})),
                    constant(list({3}, {1, 2, 3}, DType::kI64)), constant(scalar(-1, DType::kI64))},
         .expect = {{.numbers = {1, -1, 2, 1}}}});
  check({.op = "label_encoder",
         .inputs = {list({3}, {NAN, 2, -0.0}), constant(list({2}, {NAN, 0})), constant(list({2}, {7, 8})),
                    constant(scalar(9))},
         .expect = {{.numbers = {7, 9, 8}}}});
}
TEST(Det, Matrices) {
  check({.op = "det", .inputs = {list({2, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0})}, .expect = {{.numbers = {-2, -1}}}});
  check({.op = "det", .inputs = {list({0, 0}, {})}, .expect = {{.numbers = {1}}}});
  check_error({.op = "det", .inputs = {uniform({2, 3})}}, Code::kBadShape);
}

}  // namespace
}  // namespace mica::suite
