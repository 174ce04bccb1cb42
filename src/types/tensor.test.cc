#include "types/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "types/object.h"

namespace mica {
namespace {

std::vector<DType> numeric_types() {
  std::vector<DType> all;
  for (int i = 1; i < kDTypeCount; ++i)
    if (static_cast<DType>(i) != DType::kString) all.push_back(static_cast<DType>(i));
  return all;
}

TEST(Number, SmallNumbersRoundTripInEveryType) {
  for (DType dtype : numeric_types()) {
    SCOPED_TRACE(name_of(dtype));
    unsigned char place[16] = {};
    for (double v : {0.0, 1.0, 2.0, -1.0, -2.0, 0.5, 4.0}) {
      const NumberKind kind = kind_of(dtype);
      const bool negative =
          v < 0 && (kind == NumberKind::kUnsigned || kind == NumberKind::kBool || dtype == DType::kF8E8m0);
      const bool large = (v > 1 && (dtype == DType::kBool || dtype == DType::kI2)) || (v > 3 && dtype == DType::kU2);
      const bool fraction = v == 0.5 && kind != NumberKind::kFloat && kind != NumberKind::kComplex;
      if (negative || large || fraction || (v == 0 && dtype == DType::kF8E8m0)) continue;
      store_number(dtype, place, v);
      EXPECT_EQ(load_number(dtype, place), v);
      EXPECT_EQ(load_int(dtype, place), static_cast<int64_t>(v));
      if (v == std::floor(v)) {
        store_int(dtype, place, static_cast<int64_t>(v));
        EXPECT_EQ(load_number(dtype, place), v);
      }
    }
  }
}

TEST(Number, IntegersAreExactAndWrap) {
  unsigned char place[16] = {};
  for (DType dtype : {DType::kI64, DType::kU64}) {
    for (int64_t v : {INT64_MIN, INT64_MAX, int64_t{-1}, (int64_t{1} << 53) + 1}) {
      store_int(dtype, place, v);
      EXPECT_EQ(load_int(dtype, place), v);
    }
  }
  EXPECT_EQ(load_number(DType::kU64, "\xff\xff\xff\xff\xff\xff\xff\xff"), 18446744073709551616.0);
  store_int(DType::kI8, place, 200);
  EXPECT_EQ(load_int(DType::kI8, place), -56);
  store_int(DType::kU16, place, -1);
  EXPECT_EQ(load_int(DType::kU16, place), 65535);
  store_int(DType::kI4, place, 9);
  EXPECT_EQ(load_int(DType::kI4, place), -7);
}

TEST(Number, FloatsBecomeIntegersByTruncationAndSaturate) {
  unsigned char place[16] = {};
  const auto as = [&](DType dtype, double v) {
    store_number(dtype, place, v);
    return load_int(dtype, place);
  };
  EXPECT_EQ(as(DType::kI32, 2.9), 2);
  EXPECT_EQ(as(DType::kI32, -2.9), -2);
  EXPECT_EQ(as(DType::kI32, 1e20), INT32_MAX);
  EXPECT_EQ(as(DType::kI32, -INFINITY), INT32_MIN);
  EXPECT_EQ(as(DType::kI32, NAN), 0);
  EXPECT_EQ(as(DType::kI64, 9.3e18), INT64_MAX);
  EXPECT_EQ(as(DType::kI64, -9.3e18), INT64_MIN);
  EXPECT_EQ(as(DType::kU8, 300), 255);
  EXPECT_EQ(as(DType::kU8, -3), 0);
  EXPECT_EQ(as(DType::kU8, NAN), 0);
  EXPECT_EQ(as(DType::kU64, 1e30), -1);  // all bits
  EXPECT_EQ(as(DType::kU2, 7), 3);
  EXPECT_EQ(as(DType::kI2, -7), -2);
  EXPECT_EQ(as(DType::kBool, 0.25), 1);
  EXPECT_EQ(as(DType::kBool, NAN), 1);
}

TEST(Number, FloatsAreRoundedOnce) {
  unsigned char place[16] = {};
  store_number(DType::kBf16, place, 1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40));  // a tie once rounded to f32
  EXPECT_EQ(load_number(DType::kBf16, place), 1 + std::ldexp(1.0, -7));
  store_int(DType::kF32, place, (int64_t{1} << 60) + (int64_t{1} << 36) + 1);  // a tie once rounded to f64
  EXPECT_EQ(load_number(DType::kF32, place), static_cast<double>((int64_t{1} << 60) + (int64_t{1} << 37)));
  store_int(DType::kF32, place, INT64_MIN);
  EXPECT_EQ(load_number(DType::kF32, place), -9223372036854775808.0);
  store_number(DType::kF32, place, -0.0);
  EXPECT_TRUE(std::signbit(load_number(DType::kF32, place)));
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBf16, DType::kF8E4m3fn, DType::kF8E5m2, DType::kF8E8m0}) {
    store_number(dtype, place, NAN);
    EXPECT_TRUE(std::isnan(load_number(dtype, place))) << name_of(dtype);
  }
}

TEST(Elements, SubByteTypesPackLowBitsFirstAndPadRows) {
  for (DType dtype : {DType::kU4, DType::kI4, DType::kU2, DType::kI2, DType::kF4E2m1}) {
    SCOPED_TRACE(name_of(dtype));
    const int64_t dims[] = {3, 5};
    const int64_t row = row_bytes(dtype, 5);
    EXPECT_EQ(dense_bytes(dtype, dims), 3 * row);
    std::vector<unsigned char> bytes(static_cast<size_t>(3 * row), 0);
    const TensorView view = dense_view(bytes.data(), dtype, dims);
    EXPECT_TRUE(view.contiguous());
    const Elements e(view);
    for (int64_t i = 0; i < 15; ++i) e.set_integer(i, i % 2);
    e.set_number(7, 0);
    int64_t index[2] = {2, 4};
    e.set_number_at(index, 1);
    for (int64_t i = 0; i < 15; ++i) EXPECT_EQ(e.integer(i), i == 7 ? 0 : i == 14 ? 1 : i % 2) << i;
    EXPECT_EQ(e.number_at(index), 1.0);
    EXPECT_EQ(e.integer_at(index), 1);
  }
  unsigned char byte[1] = {};
  const int64_t two[] = {2};
  const Elements e(dense_view(byte, DType::kU4, two));
  e.set_integer(0, 3);
  e.set_integer(1, 12);
  EXPECT_EQ(byte[0], 0xc3);
  EXPECT_EQ(dense_bytes(DType::kU4, {}), 1);
  EXPECT_EQ(dense_bytes(DType::kF32, {}), 4);
}

// A view of `dims` whose axes are stored in the order `order`, outermost first, with `gap` bytes after each of the
// outermost.
struct Permuted {
  std::vector<char> memory;
  TensorView view;
  Permuted(DType dtype, std::vector<int64_t> dims, std::vector<int> order, int64_t gap) {
    view = dense_view(nullptr, dtype, dims);
    int64_t step = element_bytes(dtype);
    for (size_t i = order.size(); i-- > 0;) {
      view.strides[static_cast<size_t>(order[i])] = step + (i == 0 ? gap : 0);
      step *= dims[static_cast<size_t>(order[i])];
    }
    memory.assign(static_cast<size_t>(step + gap * (dims.empty() ? 1 : dims[static_cast<size_t>(order[0])]) + 16), 0);
    view.data = memory.data();
  }
};

TEST(Copy, EveryPermutationOfAwkwardShapes) {
  for (DType dtype : {DType::kU8, DType::kF16, DType::kF32, DType::kI64, DType::kC128})
    for (const std::vector<int64_t>& dims :
         std::vector<std::vector<int64_t>>{{}, {7}, {1, 1}, {3, 37}, {67, 33}, {2, 1, 35}, {3, 34, 5}, {2, 3, 1, 37}}) {
      std::vector<int> order(dims.size()), to_order(dims.size());
      std::iota(order.begin(), order.end(), 0);
      std::iota(to_order.begin(), to_order.end(), 0);
      do {
        for (int64_t gap : {0, 48}) {
          Permuted from(dtype, dims, order, gap), to(dtype, dims, to_order, 48 - gap);
          const Elements source(from.view), target(to.view);
          const int64_t count = from.view.count();
          for (int64_t i = 0; i < count; ++i) source.set_integer(i, i % 101);
          copy_elements(from.view, to.view);
          for (int64_t i = 0; i < count; ++i)
            ASSERT_EQ(target.integer(i), i % 101) << name_of(dtype) << " element " << i;
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
}

TEST(Copy, BroadcastReversedEmptyAndPackedViews) {
  float row[3] = {1, 2, 3}, out[6] = {};
  const int64_t dims[] = {2, 3};
  TensorView from = dense_view(row, DType::kF32, dims);
  from.strides = {0, 4};
  EXPECT_FALSE(from.contiguous());
  copy_elements(from, dense_view(out, DType::kF32, dims));
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[5], 3);
  from.data = row + 2;
  from.strides = {0, -4};
  copy_elements(from, dense_view(out, DType::kF32, dims));
  EXPECT_EQ(out[3], 3);
  EXPECT_EQ(out[5], 1);
  const int64_t none[] = {2, 0};
  copy_elements(dense_view(nullptr, DType::kF32, none), dense_view(nullptr, DType::kF32, none));
  unsigned char packed[2] = {0x21, 0x03}, wide[8] = {};
  const int64_t rows[] = {2, 1};
  TensorView to = dense_view(wide, DType::kU4, rows);
  to.strides[0] = 4;
  copy_elements(dense_view(packed, DType::kU4, rows), to);
  EXPECT_EQ(Elements(to).integer(1), 3);
}

TEST(OwnedTensor, CopiesDeeply) {
  char hello[] = "hello", empty[] = "";
  StringRef refs[] = {{hello, 5}, {empty, 0}, {hello + 1, 2}};
  const int64_t dims[] = {3};
  auto copy = OwnedTensor::copy_of(dense_view(refs, DType::kString, dims));
  ASSERT_TRUE(copy.ok());
  hello[1] = 'x';
  const Elements e(copy->view());
  EXPECT_EQ(e.text(0).view(), "hello");
  EXPECT_EQ(e.text(1).view(), "");
  EXPECT_EQ(e.text(2).view(), "el");
  Object sequence;
  ASSERT_TRUE(sequence.tensors.push_back(copy.take()).ok());
  auto twin = sequence.copy();
  ASSERT_TRUE(twin.ok());
  EXPECT_TRUE(twin->has_value());
  EXPECT_NE(twin->tensors[0].view().data, sequence.tensors[0].view().data);
  EXPECT_EQ(Elements(twin->tensors[0].view()).text(2).view(), "el");
}

TEST(OwnedTensor, RefusesBadSizes) {
  const int64_t negative[] = {2, -1}, huge[] = {int64_t{1} << 40, int64_t{1} << 40}, none[] = {0, 5};
  EXPECT_EQ(OwnedTensor::make(DType::kF32, negative).error().code(), Code::kBadShape);
  EXPECT_EQ(OwnedTensor::make(DType::kF32, huge).error().code(), Code::kBadShape);
  const auto made = OwnedTensor::make(DType::kF32, none);
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(made->empty());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(made->view().data) % 64, 0u);
  const auto text = OwnedTensor::make(DType::kString, {});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(Elements(text->view()).text(0).view(), "");
}

TEST(OwnedTensor, AssignKeepsMemoryThatIsEnough) {
  float numbers[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const int64_t two[] = {2}, twelve[] = {3, 4}, eight[] = {8};
  OwnedTensor held;
  ASSERT_TRUE(held.assign(dense_view(numbers, DType::kF32, two)).ok());
  ASSERT_TRUE(held.assign(dense_view(numbers, DType::kF32, eight)).ok());
  const void* memory = held.view().data;
  ASSERT_TRUE(held.assign(dense_view(numbers, DType::kF32, twelve)).ok());  // half as much again was left
  EXPECT_EQ(held.view().data, memory);
  EXPECT_EQ(held.view().rank, 2);
  EXPECT_EQ(held.view().as<float>()[11], 11);
  const TensorView turned = [&] {
    TensorView view = dense_view(numbers, DType::kF32, twelve);
    std::swap(view.dims[0], view.dims[1]);
    std::swap(view.strides[0], view.strides[1]);
    return view;
  }();
  ASSERT_TRUE(held.assign(turned).ok());
  EXPECT_EQ(held.view().data, memory);
  EXPECT_EQ(held.view().as<float>()[1], 4);
  OwnedTensor moved = std::move(held);
  int64_t words[2] = {7, 8};
  ASSERT_TRUE(moved.assign(dense_view(words, DType::kI64, two)).ok());
  EXPECT_EQ(moved.view().data, memory);
  EXPECT_EQ(moved.view().as<int64_t>()[1], 8);
  StringRef texts[2] = {{"a", 1}, {"bc", 2}};
  ASSERT_TRUE(moved.assign(dense_view(texts, DType::kString, two)).ok());
  EXPECT_EQ(Elements(moved.view()).text(1).size, 2);
}

}  // namespace
}  // namespace mica
