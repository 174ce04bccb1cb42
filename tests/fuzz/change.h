// Damage to files, from a random number: equal seeds and numbers give equal files.
#pragma once
#include <cstdint>
#include <string>

namespace mica::fuzz {

// The sequence SplitMix64: no state to set up, unlike the standard's generators, for files that cost 100 microseconds.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

 private:
  uint64_t state_;
};

inline size_t below(size_t n, Random& random) { return n ? static_cast<size_t>(random() % n) : 0; }
// A count or an index: mostly small, then the borders of the integers, then anything.
int64_t any_number(Random& random);

// A change of structure in what is an ONNX model (else of bytes), mostly one; parts of `other`, a model too, may be
// put in.
std::string change_onnx(const std::string& bytes, const std::string& other, Random& random);
// Words, numbers and lines of a graph's text.
std::string change_text(std::string text, Random& random);
// Flips, insertions, deletions, cuts and lengths that are too large.
std::string change_bytes(std::string bytes, Random& random);
// Sections of a `.mica` file, their sizes too, with its checksums made right again, so that the change reaches the
// readers of the sections.
std::string change_mica(std::string bytes, Random& random);

}  // namespace mica::fuzz
