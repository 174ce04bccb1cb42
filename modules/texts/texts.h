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

// The description of an operator with one input and one output.
constexpr mica_operator operator_of(const char* domain, const char* name, decltype(mica_operator::infer) infer,
                                    decltype(mica_operator::compute) compute) {
  return {.size = sizeof(mica_operator),
          .domain = domain,
          .name = name,
          .input_least = 1,
          .input_most = 1,
          .output_count = 1,
          .infer = infer,
          .compute = compute,
          .user = nullptr};
}

extern const mica_operator regex_full_match, tokenizer;

}  // namespace mica_texts
