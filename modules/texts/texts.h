/* What the operators on texts share. */
#pragma once
#include <cstdio>

#include "modules/modules.h"

namespace mica_texts {

// An operator's way to say what is wrong.
inline int refuse(char* message, size_t size, const char* what) {
  std::snprintf(message, size, "%s", what);
  return 1;
}

inline int64_t element_count(const mica_tensor& tensor) {
  int64_t count = 1;
  for (int i = 0; i < tensor.rank; ++i) count *= tensor.dims[i];
  return count;
}

extern const mica_operator regex_full_match, tokenizer;

}  // namespace mica_texts
