#pragma once
#include "types/attr.h"

namespace mica {

enum class CaseChange : uint8_t { kNone, kLower, kUpper };
inline constexpr std::string_view kCaseChangeNames[] = {"none", "lower", "upper"};
constexpr std::span<const std::string_view> names_of(CaseChange) { return kCaseChangeNames; }

struct StringNormalizer {
  CaseChange change = CaseChange::kNone;
  bool case_sensitive = false;
  template <class V>
  void visit(V&& v) {
    v("change", change, "the case that results have");
    v("case_sensitive", case_sensitive, "whether stop words are compared by case");
  }
};

}  // namespace mica
