#include "image.h"

#include <algorithm>
#include <cmath>

#include "common.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_NO_PSD
#define STBI_NO_PIC
#define STBI_MAX_DIMENSIONS 32768
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace mica::cli {
namespace {

// What one target pixel takes from an axis: `count` source pixels from `first`, with weights that sum to 1.
struct Share {
  int first = 0;
  std::vector<double> weights;
};

std::vector<Share> shares(int from, int to) {
  std::vector<Share> all(static_cast<size_t>(to));
  const double ratio = static_cast<double>(from) / to;
  for (int i = 0; i < to; ++i) {
    Share& share = all[static_cast<size_t>(i)];
    if (to < from) {  // the mean of what [i, i+1) covers
      const double begin = i * ratio, end = std::min((i + 1) * ratio, static_cast<double>(from));
      share.first = static_cast<int>(begin);
      for (int k = share.first; k < end && k < from; ++k)
        share.weights.push_back((std::min<double>(end, k + 1) - std::max<double>(begin, k)) / ratio);
    } else {
      const double centre = std::clamp((i + 0.5) * ratio - 0.5, 0.0, static_cast<double>(from - 1));
      share.first = std::min(static_cast<int>(centre), std::max(from - 2, 0));
      const double part = centre - share.first;
      share.weights = from > 1 ? std::vector<double>{1 - part, part} : std::vector<double>{1.0};
    }
  }
  return all;
}

}  // namespace

bool is_image(const std::string& bytes) {
  int x, y, n;
  return bytes.size() <= INT32_MAX && stbi_info_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                                                            static_cast<int>(bytes.size()), &x, &y, &n) != 0;
}

Image decode_image(const std::string& bytes, const std::string& name) {
  Image image;
  int channels = 0;
  stbi_uc* pixels = bytes.size() > INT32_MAX ? nullptr
                                             : stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                                                                     static_cast<int>(bytes.size()), &image.width,
                                                                     &image.height, &channels, 3);
  if (!pixels)
    fail_usage("cannot decode the picture `" + name +
               "`: " + (stbi_failure_reason() ? stbi_failure_reason() : "too large"));
  image.pixels.assign(pixels, pixels + static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3);
  stbi_image_free(pixels);
  return image;
}

Image resize(const Image& image, int height, int width) {
  if (image.height == height && image.width == width) return image;
  const std::vector<Share> rows = shares(image.height, height), columns = shares(image.width, width);
  // Columns first, into doubles; then rows, and one rounding.
  std::vector<double> narrow(static_cast<size_t>(image.height) * static_cast<size_t>(width) * 3);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < width; ++x) {
      const Share& share = columns[static_cast<size_t>(x)];
      for (int c = 0; c < 3; ++c) {
        double sum = 0;
        for (size_t k = 0; k < share.weights.size(); ++k)
          sum += share.weights[k] * image.pixels[(static_cast<size_t>(y) * static_cast<size_t>(image.width) +
                                                  static_cast<size_t>(share.first) + k) *
                                                     3 +
                                                 static_cast<size_t>(c)];
        narrow[(static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) * 3 +
               static_cast<size_t>(c)] = sum;
      }
    }
  Image made{width, height, std::vector<uint8_t>(static_cast<size_t>(height) * static_cast<size_t>(width) * 3)};
  const size_t line = static_cast<size_t>(width) * 3;
  for (int y = 0; y < height; ++y) {
    const Share& share = rows[static_cast<size_t>(y)];
    for (size_t i = 0; i < line; ++i) {
      double sum = 0;
      for (size_t k = 0; k < share.weights.size(); ++k)
        sum += share.weights[k] * narrow[(static_cast<size_t>(share.first) + k) * line + i];
      made.pixels[static_cast<size_t>(y) * line + i] =
          static_cast<uint8_t>(std::clamp(std::floor(sum + 0.5), 0.0, 255.0));
    }
  }
  return made;
}

Image crop(const Image& image, int height, int width, int short_side) {
  const double ratio = static_cast<double>(short_side) / std::min(image.width, image.height);
  const auto scaled = [&](int side, bool shorter) {
    return shorter ? short_side : static_cast<int>(std::floor(side * ratio + 0.5));
  };
  const bool wide = image.width > image.height;
  const Image whole =
      resize(image, scaled(image.height, wide || image.width == image.height), scaled(image.width, !wide));
  if (whole.height < height || whole.width < width)
    fail_usage("the crop is larger than the scaled picture", "make --short-side at least the larger of --size");
  const int top = (whole.height - height) / 2, left = (whole.width - width) / 2;
  Image made{width, height, {}};
  for (int y = 0; y < height; ++y) {
    const uint8_t* line =
        whole.pixels.data() +
        (static_cast<size_t>(top + y) * static_cast<size_t>(whole.width) + static_cast<size_t>(left)) * 3;
    made.pixels.insert(made.pixels.end(), line, line + static_cast<size_t>(width) * 3);
  }
  return made;
}

}  // namespace mica::cli
