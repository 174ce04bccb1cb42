/* JPEG by libjpeg-turbo. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include "modules/pictures/picture.h"

typedef struct jpeg_failure {
  struct jpeg_error_mgr base;
  jmp_buf back;
  picture* out;
} jpeg_failure;

static void leave(j_common_ptr info) {
  jpeg_failure* failure = (jpeg_failure*)info->err;
  char text[JMSG_LENGTH_MAX];
  info->err->format_message(info, text);
  picture_refuse(failure->out, text);
  longjmp(failure->back, 1);
}

static void keep_silent(j_common_ptr info) { (void)info; }
static void ignore_warning(j_common_ptr info, int level) {
  (void)level;
  /* A damaged file may warn once for every row; the count alone is kept. */
  ++info->err->num_warnings;
}

int picture_decode_jpeg(picture_bytes in, picture* out) {
  struct jpeg_decompress_struct info;
  jpeg_failure failure;
  memset(&info, 0, sizeof info);
  info.err = jpeg_std_error(&failure.base);
  failure.base.error_exit = leave;
  failure.base.output_message = keep_silent;
  failure.base.emit_message = ignore_warning;
  failure.out = out;
  if (setjmp(failure.back)) {
    jpeg_destroy_decompress(&info);
    return 1;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, in.data, (unsigned long)in.size);
  jpeg_read_header(&info, TRUE);
  if (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK) {
    picture_refuse(out, "a JPEG file in CMYK colors");
    longjmp(failure.back, 1);
  }
  info.out_color_space = JCS_RGB;
  if (picture_make(out, info.image_width, info.image_height)) longjmp(failure.back, 1);
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = out->rgb + (size_t)3 * info.output_scanline * info.output_width;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return 0;
}
