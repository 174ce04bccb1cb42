/* PNG and WebP by their libraries' simple interfaces, which return errors; BMP and PNM by hand. */
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

#include "modules/pictures/picture.h"

int picture_refuse(picture* out, const char* what) {
  if (!out->wrong[0]) strncpy(out->wrong, what, sizeof out->wrong - 1);
  return 1;
}

int picture_make(picture* out, int64_t width, int64_t height) {
  if (width <= 0 || height <= 0 || width > PICTURE_MOST_PIXELS || height > PICTURE_MOST_PIXELS ||
      width * height > PICTURE_MOST_PIXELS)
    return picture_refuse(out, "the picture has no pixels, or more than 2^26");
  out->width = width;
  out->height = height;
  out->rgb = (uint8_t*)calloc((size_t)(width * height), 3);
  return out->rgb ? 0 : picture_refuse(out, "no memory for the picture");
}

int picture_decode_png(picture_bytes in, picture* out) {
  png_image image;
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, in.data, in.size)) return picture_refuse(out, image.message);
  if (picture_make(out, image.width, image.height)) {
    png_image_free(&image);
    return 1;
  }
  /* Transparency is laid over black. */
  const png_color black = {0, 0, 0};
  image.format = PNG_FORMAT_RGB;
  if (!png_image_finish_read(&image, &black, out->rgb, 0, NULL)) return picture_refuse(out, image.message);
  return 0;
}

int picture_decode_webp(picture_bytes in, picture* out) {
  int width = 0, height = 0;
  if (!WebPGetInfo(in.data, in.size, &width, &height)) return picture_refuse(out, "no WebP file");
  if (picture_make(out, width, height)) return 1;
  const size_t bytes = (size_t)width * (size_t)height * 3;
  if (!WebPDecodeRGBInto(in.data, in.size, out->rgb, bytes, 3 * width))
    return picture_refuse(out, "a damaged WebP file");
  return 0;
}

static uint32_t little(const uint8_t* at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= (uint32_t)at[i] << (8 * i);
  return value;
}

int picture_decode_bmp(picture_bytes in, picture* out) {
  enum { kHeaders = 54 };
  if (in.size < kHeaders || little(in.data + 14, 4) < 40) return picture_refuse(out, "a BMP file without its headers");
  const uint64_t pixels = little(in.data + 10, 4), palette = 14 + (uint64_t)little(in.data + 14, 4);
  const int64_t width = (int32_t)little(in.data + 18, 4), signed_height = (int32_t)little(in.data + 22, 4);
  const uint32_t bits = little(in.data + 28, 2), compression = little(in.data + 30, 4);
  if (compression != 0 || (bits != 8 && bits != 24 && bits != 32))
    return picture_refuse(out, "a BMP file that is compressed or has other than 8, 24 or 32 bits a pixel");
  const int64_t height = signed_height < 0 ? -signed_height : signed_height;
  if (picture_make(out, width, height)) return 1;
  const uint64_t row = ((uint64_t)width * bits + 31) / 32 * 4;
  if (pixels > in.size || row * (uint64_t)height > in.size - pixels) return picture_refuse(out, "a BMP file cut short");
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t* from = in.data + pixels + row * (uint64_t)(signed_height < 0 ? y : height - 1 - y);
    uint8_t* to = out->rgb + 3 * width * y;
    for (int64_t x = 0; x < width; ++x, to += 3) {
      const uint8_t* color = from + x * (bits / 8);
      if (bits == 8) {
        if (palette + 4 * (uint64_t)*color + 3 > in.size)
          return picture_refuse(out, "a color that is not in the palette");
        color = in.data + palette + 4 * (uint64_t)*color;
      }
      to[0] = color[2], to[1] = color[1], to[2] = color[0];
    }
  }
  return 0;
}

/* The next number of a PNM file, comments left out; -1 when there is none below 2^30. */
static int64_t next_number(picture_bytes in, size_t* at) {
  for (; *at < in.size; ++*at) {
    if (in.data[*at] == '#')
      while (*at < in.size && in.data[*at] != '\n') ++*at;
    else if (in.data[*at] > ' ')
      break;
  }
  int64_t value = -1;
  for (; *at < in.size && in.data[*at] >= '0' && in.data[*at] <= '9'; ++*at) {
    value = (value < 0 ? 0 : value) * 10 + (in.data[*at] - '0');
    if (value >> 30) return -1;
  }
  return value;
}

/* P2, P3, P5 and P6: gray or colors, as text or bytes. */
int picture_decode_pnm(picture_bytes in, picture* out) {
  const char kind = (char)in.data[1];
  const int channels = kind == '3' || kind == '6' ? 3 : 1, text = kind < '5';
  size_t at = 2;
  const int64_t width = next_number(in, &at), height = next_number(in, &at), most = next_number(in, &at);
  if (kind == '1' || kind == '4' || most < 1 || most > 65535) return picture_refuse(out, "a PNM file of another kind");
  if (picture_make(out, width, height)) return 1;
  const size_t bytes = most > 255 ? 2 : 1, count = (size_t)(width * height) * (size_t)channels;
  ++at; /* one blank */
  if (!text && (at > in.size || count > (in.size - at) / bytes)) return picture_refuse(out, "a PNM file cut short");
  for (size_t i = 0; i < count; ++i) {
    int64_t value = 0;
    if (text)
      value = next_number(in, &at);
    else
      for (size_t k = 0; k < bytes; ++k) value = value << 8 | in.data[at++];
    if (value < 0 || value > most) return picture_refuse(out, "a PNM file with a number that is missing or too large");
    const uint8_t level = (uint8_t)((value * 255 + most / 2) / most);
    if (channels == 3)
      out->rgb[i] = level;
    else
      memset(out->rgb + 3 * i, level, 3);
  }
  return 0;
}
