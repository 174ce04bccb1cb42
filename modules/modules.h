/* Operators that need libraries of others': each is a module of its own beside the runtime, built where its libraries
 * are found. */
#pragma once
#include "mica/mica.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Gives the operators of every module of this build to a context. */
mica_error* mica_add_modules(mica_context* context);

/* The modules: ImageDecoder (libjpeg-turbo, libpng, libwebp, libtiff, openjpeg); RegexFullMatch and Tokenizer (RE2). */
mica_error* mica_add_pictures(mica_context* context);
mica_error* mica_add_texts(mica_context* context);

#ifdef __cplusplus
}
#endif
