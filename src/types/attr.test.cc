#include "types/attr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace mica {
namespace {

enum class Mode : uint8_t { kNearest, kLinear, kCubic };
constexpr std::string_view kModes[] = {"nearest", "linear", "cubic"};
constexpr std::span<const std::string_view> names_of(Mode) { return kModes; }

struct Sample {
  Ints strides;
  Floats scales;
  Dims shape;
  Name equation;
  int64_t groups = 1;
  float alpha = 0.5f;
  bool exclusive = false;
  DType to = DType::kF32;
  Mode mode = Mode::kNearest;
  template <class V>
  void visit(V&& v) {
    v("strides", strides, "");
    v("scales", scales, "");
    v("shape", shape, "");
    v("equation", equation, "");
    v("groups", groups, "");
    v("alpha", alpha, "");
    v("exclusive", exclusive, "");
    v("to", to, "");
    v("mode", mode, "");
  }
};
constexpr AttrClass kClass = attr_class<Sample>();

Sample full(DimTable& dims) {
  Sample s;
  s.strides = {1, -2, INT64_MAX};
  s.scales = {0.1f, -INFINITY, NAN, -0.0f};
  s.shape = {dims.max(dims.symbol("a,]b"), 3), -1};
  s.equation.assign("b\"i,\\j\n->]=");
  s.groups = -7;
  s.alpha = 1e-45f;
  s.exclusive = true;
  s.to = DType::kNone;
  s.mode = Mode::kCubic;
  return s;
}

std::string text_of(const Sample& s, const DimTable& dims) {
  String out;
  const Status status = print_attributes(kClass, &s, dims, out);
  EXPECT_TRUE(status.ok());
  return std::string(out.view());
}

TEST(Attributes, DefaultsAreNotPrinted) {
  DimTable dims;
  Sample s;
  EXPECT_EQ(text_of(s, dims), "");
  s.groups = 2;
  s.strides = {1, 1};
  s.mode = Mode::kLinear;
  EXPECT_EQ(text_of(s, dims), "strides=[1,1], groups=2, mode=linear");
}

TEST(Attributes, TextRoundTrips) {
  DimTable dims;
  const Sample s = full(dims);
  const std::string text = text_of(s, dims);
  Sample back;
  back.groups = 99;
  const Status status = parse_attributes(kClass, &back, text, dims);
  ASSERT_TRUE(status.ok()) << text << ": " << status.error().what();
  EXPECT_TRUE(equal_attributes(kClass, &s, &back)) << text << "\n" << text_of(back, dims);
  ASSERT_TRUE(parse_attributes(kClass, &back, "  ", dims).ok());
  EXPECT_EQ(back.groups, 1);
}

TEST(Attributes, TextErrorsNameTheNearest) {
  DimTable dims;
  Sample s;
  Status status = parse_attributes(kClass, &s, "stride=[1]", dims);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), Code::kBadAttribute);
  EXPECT_EQ(status.error().hint(), "did you mean `strides`?");
  status = parse_attributes(kClass, &s, "mode=liner", dims);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().hint(), "did you mean `linear`?");
  for (std::string_view text :
       {"groups", "groups=", "groups=1.5", "groups=1,", "groups=1, groups=2", "strides=[1,]", "strides=1", "strides=[1",
        "to=f33", "exclusive=1", "equation=ij", "equation=\"\\x00\"", "equation=\"\\q\"", "alpha=zero",
        "groups=99999999999999999999", "strides=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]", "=1", ",",
        "shape=[N)]"})
    EXPECT_FALSE(parse_attributes(kClass, &s, text, dims).ok()) << text;
  EXPECT_FALSE(parse_attributes(kClass, &s, "equation=\"" + std::string(256, 'x') + "\"", dims).ok());
  EXPECT_FALSE(parse_attributes(AttrClass(), nullptr, "groups=1", dims).ok());
  EXPECT_TRUE(parse_attributes(AttrClass(), nullptr, "", dims).ok());
}

TEST(Attributes, EveryFieldCountsInEqualityAndHash) {
  DimTable dims;
  const Sample base = full(dims);
  EXPECT_TRUE(equal_attributes(kClass, &base, &base));
  const auto differs = [&](auto change) {
    Sample other = base;
    change(other);
    EXPECT_FALSE(equal_attributes(kClass, &base, &other));
    EXPECT_NE(hash_attributes(kClass, &base), hash_attributes(kClass, &other));
  };
  differs([](Sample& s) { s.strides[1] = 2; });
  differs([](Sample& s) { s.strides.push(0); });
  differs([](Sample& s) { s.scales[3] = 0.0f; });
  differs([](Sample& s) { s.shape[1] = 1; });
  differs([](Sample& s) { s.equation.assign("x"); });
  differs([](Sample& s) { s.groups = 0; });
  differs([](Sample& s) { s.alpha = 0; });
  differs([](Sample& s) { s.exclusive = false; });
  differs([](Sample& s) { s.to = DType::kF16; });
  differs([](Sample& s) { s.mode = Mode::kLinear; });
  Sample stale = base;  // what stands beyond a list's end is nobody's business
  stale.strides.items[7] = 5;
  EXPECT_TRUE(equal_attributes(kClass, &base, &stale));
  EXPECT_EQ(hash_attributes(kClass, &base), hash_attributes(kClass, &stale));
}

TEST(Attributes, BytesRoundTrip) {
  DimTable dims;
  const Sample s = full(dims);
  Vector<char> bytes;
  ASSERT_TRUE(write_attributes(kClass, &s, bytes).ok());
  ASSERT_TRUE(write_attributes(AttrClass(), nullptr, bytes).ok());
  std::span<const char> in = bytes;
  Sample back;
  ASSERT_TRUE(read_attributes(kClass, &back, in, 100).ok());
  EXPECT_TRUE(equal_attributes(kClass, &s, &back));
  ASSERT_TRUE(read_attributes(AttrClass(), nullptr, in, 100).ok());
  EXPECT_TRUE(in.empty());
  in = bytes;
  EXPECT_FALSE(read_attributes(kClass, &back, in, 0).ok()) << "an expression that the table does not have";
}

TEST(Attributes, DamagedBytesAreRefusedOrValid) {
  DimTable dims;
  const Sample s = full(dims);
  Vector<char> bytes;
  ASSERT_TRUE(write_attributes(kClass, &s, bytes).ok());
  for (size_t n = 0; n < bytes.size(); ++n) {
    std::span<const char> in(bytes.data(), n);
    Sample back;
    EXPECT_FALSE(read_attributes(kClass, &back, in, 100).ok()) << n;
    for (int bit = 0; bit < 8; ++bit) {
      bytes[n] = static_cast<char>(bytes[n] ^ (1 << bit));
      in = bytes;
      if (read_attributes(kClass, &back, in, 100).ok()) {
        EXPECT_LE(back.strides.size(), back.strides.items.size());
        EXPECT_LT(static_cast<size_t>(back.mode), std::size(kModes));
        EXPECT_LT(static_cast<int>(back.to), kDTypeCount);
        EXPECT_LT(back.equation.view().size(), sizeof back.equation.chars);
        for (Dim d : back.shape) EXPECT_TRUE(d.is_fixed() || d.id() < 100);
      }
      bytes[n] = static_cast<char>(bytes[n] ^ (1 << bit));
    }
  }
}

}  // namespace
}  // namespace mica
