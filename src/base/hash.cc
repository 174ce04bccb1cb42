#include "base/hash.h"

#include <array>

namespace mica {
namespace {

constexpr uint64_t kPrime1 = 0x9e3779b185ebca87u, kPrime2 = 0xc2b2ae3d27d4eb4fu, kPrime3 = 0x165667b19e3779f9u;
constexpr uint64_t kPrime4 = 0x85ebca77c2b2ae63u, kPrime5 = 0x27d4eb2f165667c5u;

constexpr uint64_t rotate(uint64_t v, int by) { return v << by | v >> (64 - by); }

// Little-endian, whatever the machine; compilers make one load of it.
template <class T>
T load(const std::byte* p) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<T>(p[i]) << (8 * i));
  return value;
}

uint64_t round(uint64_t lane, uint64_t input) { return rotate(lane + input * kPrime2, 31) * kPrime1; }
uint64_t merge(uint64_t hash, uint64_t lane) { return (hash ^ round(0, lane)) * kPrime1 + kPrime4; }

// kTables[k][n]: what a word's k-th four bits, which are n, do to the checksum. Whole bytes would be faster by half,
// and their tables eight times as large.
using Tables = std::array<std::array<uint32_t, 16>, 16>;
constexpr Tables make_tables() {
  constexpr uint32_t kReflectedPolynomial = 0x82f63b78u;  // of 0x1edc6f41
  Tables tables{};
  for (size_t k = 0; k < 16; ++k) {
    for (uint32_t n = 0; n < 16; ++n) {
      uint32_t crc = n;
      for (size_t bit = 4 * k; bit < 64; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kReflectedPolynomial : 0);
      tables[k][n] = crc;
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

}  // namespace

uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t seed) {
  const std::byte* p = bytes.data();
  size_t left = bytes.size();
  uint64_t hash = seed + kPrime5;
  if (left >= 32) {
    uint64_t a = seed + kPrime1 + kPrime2, b = seed + kPrime2, c = seed, d = seed - kPrime1;
    for (; left >= 32; p += 32, left -= 32) {
      a = round(a, load<uint64_t>(p));
      b = round(b, load<uint64_t>(p + 8));
      c = round(c, load<uint64_t>(p + 16));
      d = round(d, load<uint64_t>(p + 24));
    }
    hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  }
  hash += bytes.size();
  for (; left >= 8; p += 8, left -= 8) hash = rotate(hash ^ round(0, load<uint64_t>(p)), 27) * kPrime1 + kPrime4;
  for (; left >= 4; p += 4, left -= 4) hash = rotate(hash ^ load<uint32_t>(p) * kPrime1, 23) * kPrime2 + kPrime3;
  for (; left > 0; ++p, --left) hash = rotate(hash ^ static_cast<uint64_t>(*p) * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before) {
  uint32_t crc = ~before;
  const std::byte* p = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; p += 8, left -= 8) {
    const uint64_t word = load<uint64_t>(p) ^ crc;
    crc = 0;
    for (size_t k = 0; k < 16; ++k) crc ^= kTables[k][word >> (4 * k) & 15];
  }
  for (; left > 0; ++p, --left) {
    const uint32_t byte = crc ^ static_cast<uint32_t>(*p);
    crc = crc >> 8 ^ kTables[14][byte & 15] ^ kTables[15][byte >> 4 & 15];
  }
  return ~crc;
}

}  // namespace mica
