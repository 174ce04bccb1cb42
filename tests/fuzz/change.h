// Damage to files, from a random number: equal seeds and numbers give equal files.
#pragma once
#include <string>

#include "support/random.h"

namespace mica::fuzz {

using support::below;
using support::Random;

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
