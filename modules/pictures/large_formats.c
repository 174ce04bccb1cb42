/* TIFF by libtiff, JPEG 2000 by openjpeg, read from memory. */
#include <openjpeg.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "modules/pictures/picture.h"

typedef struct reader {
  picture_bytes in;
  size_t at;
  picture* out;
} reader;

static size_t take(reader* r, void* to, size_t size) {
  const size_t left = r->at < r->in.size ? r->in.size - r->at : 0, some = size < left ? size : left;
  if (some) memcpy(to, r->in.data + r->at, some);
  r->at += some;
  return some;
}

/* ---- TIFF ---- */

static tmsize_t tiff_read(thandle_t h, void* to, tmsize_t size) { return (tmsize_t)take((reader*)h, to, (size_t)size); }
static tmsize_t tiff_write(thandle_t h, void* from, tmsize_t size) {
  (void)h, (void)from, (void)size;
  return 0;
}
static toff_t tiff_seek(thandle_t h, toff_t to, int whence) {
  reader* r = (reader*)h;
  const toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? r->at : r->in.size;
  r->at = base + to > r->in.size ? r->in.size : (size_t)(base + to);
  return r->at;
}
static int tiff_close(thandle_t h) {
  (void)h;
  return 0;
}
static toff_t tiff_size(thandle_t h) { return ((reader*)h)->in.size; }
static int tiff_failed(TIFF* tiff, void* user, const char* module, const char* format, va_list list) {
  char text[160];
  (void)tiff, (void)module;
  vsnprintf(text, sizeof text, format, list);
  picture_refuse((picture*)user, text);
  return 1;
}
static int tiff_warned(TIFF* tiff, void* user, const char* module, const char* format, va_list list) {
  (void)tiff, (void)user, (void)module, (void)format, (void)list;
  return 1;
}

static int tiff_pixels(TIFF* tiff, picture* out) {
  uint32_t width = 0, height = 0;
  if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width) || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height))
    return picture_refuse(out, "a TIFF file without a size");
  if (picture_make(out, width, height)) return 1;
  const size_t count = (size_t)width * height;
  uint32_t* packed = (uint32_t*)calloc(count, sizeof(uint32_t));
  if (!packed) return picture_refuse(out, "no memory for the picture");
  const int good = TIFFReadRGBAImageOriented(tiff, width, height, packed, ORIENTATION_TOPLEFT, 1);
  for (size_t i = 0; good && i < count; ++i) {
    out->rgb[3 * i] = (uint8_t)TIFFGetR(packed[i]);
    out->rgb[3 * i + 1] = (uint8_t)TIFFGetG(packed[i]);
    out->rgb[3 * i + 2] = (uint8_t)TIFFGetB(packed[i]);
  }
  free(packed);
  return good ? 0 : picture_refuse(out, "a damaged TIFF file");
}

int picture_decode_tiff(picture_bytes in, picture* out) {
  reader r = {in, 0, out};
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (!options) return picture_refuse(out, "no memory for a TIFF file");
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)PICTURE_MOST_PIXELS * 8);
  TIFFOpenOptionsSetErrorHandlerExtR(options, tiff_failed, out);
  TIFFOpenOptionsSetWarningHandlerExtR(options, tiff_warned, out);
  TIFF* tiff = TIFFClientOpenExt("picture", "rm", (thandle_t)&r, tiff_read, tiff_write, tiff_seek, tiff_close,
                                 tiff_size, NULL, NULL, options);
  TIFFOpenOptionsFree(options);
  if (!tiff) return picture_refuse(out, "no TIFF file");
  const int failed = tiff_pixels(tiff, out);
  TIFFClose(tiff);
  return failed;
}

/* ---- JPEG 2000 ---- */

static OPJ_SIZE_T opj_read(void* to, OPJ_SIZE_T size, void* user) {
  const size_t some = take((reader*)user, to, size);
  return some ? some : (OPJ_SIZE_T)-1;
}
static OPJ_OFF_T opj_skip(OPJ_OFF_T count, void* user) {
  reader* r = (reader*)user;
  if (count < 0 || (uint64_t)count > r->in.size - r->at) return -1;
  r->at += (size_t)count;
  return count;
}
static OPJ_BOOL opj_seek(OPJ_OFF_T to, void* user) {
  reader* r = (reader*)user;
  if (to < 0 || (uint64_t)to > r->in.size) return OPJ_FALSE;
  r->at = (size_t)to;
  return OPJ_TRUE;
}
static void opj_failed(const char* text, void* user) { picture_refuse((picture*)user, text); }
static void opj_silent(const char* text, void* user) { (void)text, (void)user; }

/* A sample as a byte. */
static int opj_level(const opj_image_comp_t* c, size_t i) {
  int value = c->data[i] + (c->sgnd ? 1 << (c->prec - 1) : 0);
  value = c->prec > 8 ? value >> (c->prec - 8) : value << (8 - c->prec);
  return value < 0 ? 0 : value > 255 ? 255 : value;
}
static uint8_t clipped(double x) { return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x + 0.5); }

static int opj_pixels(const opj_image_t* image, picture* out) {
  if (image->numcomps < 1) return picture_refuse(out, "a JPEG 2000 file without components");
  const opj_image_comp_t* c = image->comps;
  const uint32_t used = image->numcomps >= 3 ? 3 : 1;
  for (uint32_t k = 0; k < used; ++k)
    if (!c[k].data || c[k].w != c[0].w || c[k].h != c[0].h || c[k].prec < 1 || c[k].prec > 31)
      return picture_refuse(out, "a JPEG 2000 file whose components differ in size");
  if (picture_make(out, c[0].w, c[0].h)) return 1;
  const size_t count = (size_t)c[0].w * c[0].h;
  for (size_t i = 0; i < count; ++i)
    for (uint32_t k = 0; k < 3; ++k) out->rgb[3 * i + k] = (uint8_t)opj_level(&c[used == 3 ? k : 0], i);
  if (image->color_space != OPJ_CLRSPC_SYCC || used != 3) return 0;
  for (uint8_t* p = out->rgb; p < out->rgb + 3 * count; p += 3) { /* ITU-R BT.601, full range */
    const double y = p[0], cb = p[1] - 128.0, cr = p[2] - 128.0;
    p[0] = clipped(y + 1.402 * cr);
    p[1] = clipped(y - 0.344136 * cb - 0.714136 * cr);
    p[2] = clipped(y + 1.772 * cb);
  }
  return 0;
}

static int opj_decoded(opj_codec_t* codec, opj_stream_t* stream, picture* out) {
  opj_image_t* image = NULL;
  int failed = !opj_read_header(stream, codec, &image);
  if (!failed) {
    const int64_t width = (int64_t)image->x1 - image->x0, height = (int64_t)image->y1 - image->y0;
    failed = width <= 0 || height <= 0 || width > PICTURE_MOST_PIXELS / height;
    if (failed) picture_refuse(out, "the picture has no pixels, or more than 2^26");
  }
  failed = failed || !opj_decode(codec, stream, image) || opj_pixels(image, out);
  if (image) opj_image_destroy(image);
  return failed ? picture_refuse(out, "a damaged JPEG 2000 file") : 0;
}

int picture_decode_jpeg2000(picture_bytes in, picture* out) {
  const int boxed = in.size > 3 && in.data[0] == 0; /* else a bare code stream */
  reader r = {in, 0, out};
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_codec_t* codec = opj_create_decompress(boxed ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
  opj_stream_t* stream = opj_stream_create(1 << 16, OPJ_TRUE);
  int failed = !codec || !stream;
  if (!failed) {
    opj_set_error_handler(codec, opj_failed, out);
    opj_set_warning_handler(codec, opj_silent, out);
    opj_set_info_handler(codec, opj_silent, out);
    opj_stream_set_read_function(stream, opj_read);
    opj_stream_set_skip_function(stream, opj_skip);
    opj_stream_set_seek_function(stream, opj_seek);
    opj_stream_set_user_data(stream, &r, NULL);
    opj_stream_set_user_data_length(stream, in.size);
    failed = !opj_setup_decoder(codec, &parameters) || opj_decoded(codec, stream, out);
  }
  if (stream) opj_stream_destroy(stream);
  if (codec) opj_destroy_codec(codec);
  return failed;
}
