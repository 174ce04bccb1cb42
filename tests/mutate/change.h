// Damage to files, from a random number: equal seeds and numbers give equal files.
#pragma once
#include <random>
#include <string>

namespace mica::mutate {

using Random = std::mt19937_64;

// A change of structure in what is an ONNX model (else of bytes), up to four at once.
std::string change_onnx(const std::string& bytes, Random& random);
// Flips, insertions, deletions, cuts and lengths that are too large.
std::string change_bytes(std::string bytes, Random& random);
// Bytes of a `.mica` file with its checksums made right again, so that the change reaches the readers of the sections.
std::string change_mica(std::string bytes, Random& random);

}  // namespace mica::mutate
