#pragma once
#include "types/attr.h"

namespace mica {

enum class TfIdfMode : uint8_t { kTf, kIdf, kTfIdf };
inline constexpr std::string_view kTfIdfModeNames[] = {"TF", "IDF", "TFIDF"};
constexpr std::span<const std::string_view> names_of(TfIdfMode) { return kTfIdfModeNames; }

struct TfIdfVectorizer {
  TfIdfMode mode = TfIdfMode::kTf;
  int64_t min_length = 1, max_length = 1, max_skip = 0;
  template <class V>
  void visit(V&& v) {
    v("mode", mode, "counts, weights of what is there, or weighted counts");
    v("min_length", min_length, "shortest n-grams");
    v("max_length", max_length, "longest n-grams");
    v("max_skip", max_skip, "most items left out between neighbours of an n-gram");
  }
};

}  // namespace mica
