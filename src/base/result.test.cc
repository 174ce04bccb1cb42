#include "base/result.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/string.h"
#include "base/vector.h"

namespace mica {
namespace {

template <class... Args>
std::string text(std::string_view pattern, const Args&... args) {
  std::string out(format_to(nullptr, 0, pattern, args...) + 1, '?');
  out.resize(format_to(out.data(), out.size(), pattern, args...));
  return out;
}

enum class Colour : uint8_t { kRed = 3 };

TEST(Format, Arguments) {
  EXPECT_EQ(text("{} {} {} {}", -3, 18446744073709551615ull, true, 'x'), "-3 18446744073709551615 true x");
  EXPECT_EQ(text("{}|{}|{}", "abc", std::string("d"), std::string_view("e")), "abc|d|e");
  EXPECT_EQ(text("{} {}", 0.1f, 0.1), "0.1 0.1");
  EXPECT_EQ(text("{} {}", std::numeric_limits<double>::infinity(), -0.0), "inf -0");
  EXPECT_EQ(text("{}", std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(text("{} {}", std::numeric_limits<int64_t>::min(), int8_t{-5}), "-9223372036854775808 -5");
  EXPECT_EQ(text("{}", Colour::kRed), "3");
  EXPECT_EQ(text("{}", static_cast<const char*>(nullptr)), "");
  EXPECT_EQ(text("{}", static_cast<char*>(nullptr)), "");
  EXPECT_EQ(text("{}{}", 1), "1{}");
  EXPECT_EQ(text("no {place", 1), "no {place");
  EXPECT_EQ(text("", 1), "");
  EXPECT_EQ(text(std::string_view(), std::string_view()), "");
}

TEST(Format, CutsToTheRoom) {
  char out[5] = {'#', '#', '#', '#', '#'};
  EXPECT_EQ(format_to(out, 4, "ab{}", 12345), 3u);
  EXPECT_STREQ(out, "ab1");
  EXPECT_EQ(out[4], '#');
  EXPECT_EQ(format_to(out, 1, "ab"), 0u);
  EXPECT_STREQ(out, "");
  EXPECT_EQ(format_to(out, 0, "ab"), 2u);
}

std::string print(const Error& e) {
  std::string out(e.print(nullptr, 0) + 1, '?');
  EXPECT_EQ(e.print(out.data(), out.size()), out.size() - 1);
  out.pop_back();
  return out;
}

TEST(Errors, Prints) {
  Error e = error(Code::kBadShape, "rank {} is not {}", 3, 4).at("input `x`").at("node `/a`").hinting("reshape it");
  e = std::move(e).because(error(Code::kIo, "first").at("file")).because(error(Code::kSystem, "second"));
  EXPECT_EQ(print(e),
            "error[MICA3001]: rank 3 is not 4\n  --> node `/a`: input `x`\n  = because: first, at file\n"
            "  = because: second\nhint: reshape it\n");
  char cut[20];
  EXPECT_EQ(e.print(cut, sizeof cut), print(e).size());
  EXPECT_STREQ(cut, "error[MICA3001]: ra");
  const Error copy = e.copy();
  EXPECT_EQ(print(copy), print(e));
}

TEST(Errors, LongTextsAreWhole) {
  const std::string text(5000, 'w');
  EXPECT_EQ(error(Code::kBadModel, "{}!", text).what(), text + "!");
  EXPECT_EQ(error(Code::kBadModel, "x").at(text).at(text).where(), text + ": " + text);
}

TEST(Errors, OutOfMemoryAndMovedFrom) {
  Error e = out_of_memory().at("here").hinting("x");
  EXPECT_EQ(e.code(), Code::kOutOfMemory);
  EXPECT_EQ(print(e), "error[MICA5001]: out of memory\n");
  Error other = error(Code::kIo, "io");
  Error moved = std::move(other);
  EXPECT_EQ(moved.code(), Code::kIo);
  moved = std::move(e);
  EXPECT_EQ(moved.code(), Code::kOutOfMemory);
  EXPECT_EQ(error(Code::kIo, "a").because(out_of_memory()).cause()->code(), Code::kOutOfMemory);
}

TEST(Errors, LongChainsAreReleased) {
  Error e = error(Code::kIo, "0");
  for (int i = 1; i < 1000; ++i) e = error(Code::kIo, "{}", i).because(std::move(e));
  int length = 0;
  for (const Error* inner = &e; inner; inner = inner->cause()) ++length;
  EXPECT_EQ(length, 1000);
}

Result<int> half(int v) {
  MICA_CHECK(v % 2 == 0, kBadValue, "{} is odd", v);
  return v / 2;
}
Result<int> quarter(int v) {
  MICA_TRY(const int h, half(v));
  return half(h);
}
Status check(int v) {
  MICA_TRY_STATUS(half(v).ok() ? Status() : Status(error(Code::kUsage, "no")));
  return {};
}

TEST(Results, ValuesAndErrors) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().what(), "3 is odd");
  EXPECT_TRUE(check(2).ok());
  EXPECT_EQ(check(1).copy().error().code(), Code::kUsage);
  Result<std::string> a = std::string(100, 'a'), b = error(Code::kIo, "b");
  a = std::move(b);
  EXPECT_FALSE(a.ok());
  a = Result<std::string>(std::string("back"));
  EXPECT_EQ(*a, "back");
  EXPECT_EQ(a.take(), "back");
}

struct alignas(64) Wide {
  int v = 7;
};

TEST(Memory, AlignmentAndFailure) {
  for (size_t align : {size_t{1}, size_t{16}, size_t{64}, size_t{4096}}) {
    for (size_t bytes : {size_t{0}, size_t{1}, size_t{65}}) {
      void* p = allocate(bytes, align);
      ASSERT_NE(p, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % align, 0u);
      deallocate(p);
    }
  }
  EXPECT_EQ(allocate(SIZE_MAX, 64), nullptr);
  EXPECT_EQ(allocate(PTRDIFF_MAX, 64), nullptr);
}

TEST(Vectors, GrowsMovesAndFails) {
  Vector<std::string> v;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(v.push_back(std::to_string(i) + std::string(40, '.')).ok());
  EXPECT_EQ(v[999].substr(0, 3), "999");
  ASSERT_TRUE(v.resize(3).ok());
  ASSERT_TRUE(v.resize(5).ok());
  EXPECT_EQ(v.back(), "");
  Vector<std::string> w = std::move(v);
  EXPECT_TRUE(v.empty());
  EXPECT_EQ(w.size(), 5u);
  EXPECT_EQ(w.reserve(SIZE_MAX / 8).error().code(), Code::kOutOfMemory);
  EXPECT_EQ(w.resize(SIZE_MAX).error().code(), Code::kOutOfMemory);
  EXPECT_EQ(w.size(), 5u);
  Vector<Wide> wide;
  ASSERT_TRUE(wide.resize(3).ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(wide.data()) % 64, 0u);
  EXPECT_EQ(wide[2].v, 7);
}

TEST(Vectors, AppendsItself) {
  Vector<Wide> wide;
  ASSERT_TRUE(wide.resize(3).ok());
  for (int i = 0; i < 3; ++i) wide[static_cast<size_t>(i)].v = i;
  const std::span<const Wide> last = std::span<const Wide>(wide).subspan(1);
  ASSERT_TRUE(wide.append(last).ok());
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(wide.append(wide).ok());
  ASSERT_EQ(wide.size(), 320u);
  for (size_t i = 0; i < wide.size(); ++i) EXPECT_EQ(wide[i].v, i % 5 < 3 ? i % 5 : i % 5 - 2);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(wide.data()) % 64, 0u);
  EXPECT_EQ(wide.reserve(SIZE_MAX / sizeof(Wide)).error().code(), Code::kOutOfMemory);
  ASSERT_TRUE(wide.append({}).ok());
  EXPECT_EQ(wide.size(), 320u);
  Vector<int> empty;
  ASSERT_TRUE(empty.append({}).ok());
  ASSERT_TRUE(empty.assign({}).ok());
  EXPECT_EQ(empty.size(), 0u);
}

TEST(Strings, Prints) {
  String s;
  EXPECT_EQ(s.view(), "");
  ASSERT_TRUE(s.print("{}", "").ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(s.print("{},", i).ok());
  ASSERT_TRUE(s.append("end").ok());
  EXPECT_EQ(s.view(), "0,1,2,end");
  ASSERT_TRUE(s.assign("x").ok());
  EXPECT_EQ(s.view(), "x");
}

TEST(Texts, FixedRoom) {
  Text<4> t;
  EXPECT_TRUE(t.empty());
  EXPECT_TRUE(t.assign("abc"));
  EXPECT_FALSE(t.assign("abcd"));
  EXPECT_EQ(t.view(), "abc");
  EXPECT_TRUE(t.assign(t.view().substr(1)));
  EXPECT_EQ(t.view(), "bc");
  EXPECT_TRUE(t.assign({}));
  EXPECT_TRUE(t == Text<4>());
}

}  // namespace
}  // namespace mica
