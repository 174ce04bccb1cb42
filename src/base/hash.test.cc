#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace mica {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(Hash, KnownXxh64) {
  EXPECT_EQ(hash_text(""), 0xef46db3751d8e999u);
  EXPECT_EQ(hash_text("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(hash_text("abc"), 0x44bc2cf5ad770999u);
  EXPECT_EQ(hash_text("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1u);
}

TEST(Hash, EveryByteAndLengthMatters) {
  std::set<uint64_t> seen;
  size_t count = 0;
  for (size_t length = 0; length < 70; ++length) {
    std::string text(length, 'q');
    seen.insert(hash_text(text));
    ++count;
    for (size_t i = 0; i < length; ++i, ++count) {
      text[i] ^= 1;
      seen.insert(hash_text(text));
      text[i] ^= 1;
    }
  }
  seen.insert(hash_text("a", 1));
  EXPECT_EQ(seen.size(), count + 1);
  EXPECT_NE(hash_combine(hash_combine(0, 1), 2), hash_combine(hash_combine(0, 2), 1));
  EXPECT_NE(hash_combine(0, 0), hash_combine(0, uint64_t{1} << 63));
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\0'))), 0x8a9136aau);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\xff'))), 0x62a8ab43u);
}

TEST(Crc32c, PiecesChain) {
  std::string text(1003, ' ');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i);
  const auto all = bytes_of(text);
  for (size_t cut : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{500}, text.size()}) {
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all));
  }
}

}  // namespace
}  // namespace mica
