// ONNX's ImageDecoder: the bytes of a picture file to pixels [height, width, channels].
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "modules/modules.h"
#include "modules/pictures/picture.h"

namespace {

int refuse(char* message, size_t size, const char* what) {
  std::snprintf(message, size, "%s", what);
  return 1;
}

enum class Pixels { kRgb, kBgr, kGray, kUnknown };
Pixels pixels_of(const mica_op_call* call) {
  const mica_attribute* format = mica_op_attribute(call, "pixel_format");
  if (!format) return Pixels::kRgb;
  const auto is = [&](const char* word) { return format->text && !std::strcmp(format->text, word); };
  return is("RGB") ? Pixels::kRgb : is("BGR") ? Pixels::kBgr : is("Grayscale") ? Pixels::kGray : Pixels::kUnknown;
}

int infer(void*, mica_op_call* call, char* message, size_t message_size) {
  const Pixels pixels = pixels_of(call);
  if (pixels == Pixels::kUnknown) return refuse(message, message_size, "`pixel_format` is RGB, BGR or Grayscale");
  if (call->inputs[0].dtype != MICA_U8) return refuse(message, message_size, "the input must be bytes (u8)");
  mica_tensor& y = call->outputs[0];
  y.dtype = MICA_U8;
  y.rank = 3;
  y.dims[0] = y.dims[1] = -1;
  y.dims[2] = pixels == Pixels::kGray ? 1 : 3;
  return 0;
}

using Decoder = int (*)(picture_bytes, picture*);
struct Format {
  const char* begins;
  size_t size, at;
  Decoder decode;
};
constexpr Format kFormats[] = {
    {"BM", 2, 0, picture_decode_bmp},        {"\xff\xd8\xff", 3, 0, picture_decode_jpeg},
    {"\x89PNG", 4, 0, picture_decode_png},   {"WEBP", 4, 8, picture_decode_webp},
    {"II*\0", 4, 0, picture_decode_tiff},    {"MM\0*", 4, 0, picture_decode_tiff},
    {"jP  ", 4, 4, picture_decode_jpeg2000}, {"\xff\x4f\xff\x51", 4, 0, picture_decode_jpeg2000},
    {"P2", 2, 0, picture_decode_pnm},        {"P3", 2, 0, picture_decode_pnm},
    {"P5", 2, 0, picture_decode_pnm},        {"P6", 2, 0, picture_decode_pnm},
};

int store(mica_op_call* call, const picture& decoded, Pixels pixels) {
  const int64_t count = decoded.width * decoded.height,
                dims[] = {decoded.height, decoded.width, pixels == Pixels::kGray ? 1 : 3};
  auto* to = static_cast<uint8_t*>(mica_op_allocate(call, 0, 3, dims));
  if (!to) return 1;
  const uint8_t* from = decoded.rgb;
  if (pixels == Pixels::kRgb) {
    std::memcpy(to, from, static_cast<size_t>(3 * count));
  } else if (pixels == Pixels::kBgr) {
    for (int64_t i = 0; i < count; ++i, from += 3, to += 3) to[0] = from[2], to[1] = from[1], to[2] = from[0];
  } else {  // luma of ITU-R BT.601 in 16 bits after the point: the weights add up to 2^16
    for (int64_t i = 0; i < count; ++i, from += 3)
      to[i] = static_cast<uint8_t>((from[0] * 19595u + from[1] * 38470u + from[2] * 7471u + 0x8000u) >> 16);
  }
  return 0;
}

int compute(void*, mica_op_call* call, char* message, size_t message_size) {
  const mica_tensor& x = call->inputs[0];
  size_t size = 1;
  for (int i = 0; i < x.rank; ++i) size *= static_cast<size_t>(x.dims[i]);
  const picture_bytes in{static_cast<const uint8_t*>(x.data), size};
  picture decoded{};
  int failed = 1;
  bool known = false;
  for (const Format& format : kFormats) {
    if (in.size < format.at + format.size || std::memcmp(in.data + format.at, format.begins, format.size) != 0)
      continue;
    known = true;
    failed = format.decode(in, &decoded);
    break;
  }
  if (!failed) failed = store(call, decoded, pixels_of(call));
  if (failed)
    refuse(message, message_size,
           decoded.wrong[0] ? decoded.wrong
           : known          ? "no memory for the picture"
                            : "the bytes are no BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP file");
  std::free(decoded.rgb);
  return failed;
}

}  // namespace

mica_error* mica_add_pictures(mica_context* context) {
  mica_operator op = MICA_INIT(mica_operator);
  op.domain = "";
  op.name = "ImageDecoder";
  op.input_least = op.input_most = 1;
  op.output_count = 1;
  op.infer = infer;
  op.compute = compute;
  return mica_context_add_operator(context, &op);
}
