/* A decoded picture, and the decoders. C, because libjpeg's errors leave by longjmp, which must pass no destructor. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Larger pictures are refused before anything of their size is allocated. */
#define PICTURE_MOST_PIXELS ((int64_t)1 << 26)

typedef struct picture {
  int64_t width, height;
  uint8_t* rgb;    /* 3 * width * height bytes, from malloc */
  char wrong[160]; /* what is wrong, after a failure */
} picture;

typedef struct picture_bytes {
  const uint8_t* data;
  size_t size;
} picture_bytes;

/* Notes what is wrong, unless something is noted already; returns 1. */
int picture_refuse(picture* out, const char* what);
/* Sets the size and allocates `rgb`, zeroed. Returns 0, or 1 for an impossible size or no memory. */
int picture_make(picture* out, int64_t width, int64_t height);

/* Each returns 0 or 1. `rgb` may be set after a failure too, and is the caller's to free. */
int picture_decode_bmp(picture_bytes in, picture* out);
int picture_decode_jpeg(picture_bytes in, picture* out);
int picture_decode_jpeg2000(picture_bytes in, picture* out);
int picture_decode_png(picture_bytes in, picture* out);
int picture_decode_pnm(picture_bytes in, picture* out);
int picture_decode_tiff(picture_bytes in, picture* out);
int picture_decode_webp(picture_bytes in, picture* out);

#ifdef __cplusplus
}
#endif
