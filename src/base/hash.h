// Fingerprints of bytes. Neither is meant against an adversary.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mica {

// XXH64 as its specification describes it (xxHash fast digest algorithm, version 0.1.1): the same on every machine, so
// that it may be stored.
uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t seed = 0);
inline uint64_t hash_text(std::string_view text, uint64_t seed = 0) {
  return hash_bytes(std::as_bytes(std::span(text.data(), text.size())), seed);
}
// For keys of several parts, in order: h = hash_combine(h, part). The finaliser of SplitMix64 over both.
constexpr uint64_t hash_combine(uint64_t hash, uint64_t part) {
  uint64_t z = hash + 0x9e3779b97f4a7c15u + (part ^ (part >> 32)) * 0xd6e8feb86659fd93u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// CRC-32C (Castagnoli; RFC 3720, appendix B.4), reflected, as iSCSI and ext4 use it. Pieces chain: crc32c(b,
// crc32c(a)). Finds every error burst of up to 32 bits. A table of 1 KiB takes eight bytes a step.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0);

}  // namespace mica
