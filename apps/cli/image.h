// Pictures: decoding, and fitting to a network's input as docs/preprocessing.md says.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mica::cli {

// 8 bits a channel, red, green, blue.
struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> pixels;
};

// Whether the file begins as a picture that can be decoded (PNG, JPEG, BMP, GIF, PNM, TGA is not recognised by
// content).
bool is_image(const std::string& bytes);
// Usage error when it cannot be decoded.
Image decode_image(const std::string& bytes, const std::string& name);

// An axis that shrinks takes the mean of the source pixels that each target pixel covers, one that grows is
// interpolated linearly between pixel centres; rounded to whole numbers at the end.
Image resize(const Image& image, int height, int width);
// Shorter side to `short_side`, then the centre.
Image crop(const Image& image, int height, int width, int short_side);

}  // namespace mica::cli
