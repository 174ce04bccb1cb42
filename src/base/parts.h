// What this build has of the parts that a trimmed one may lack (cmake/MicaTrim.cmake): a whole build has them all, a
// trimmed one those that a list of `mica convert --trim` names. Decided while compiling, so that nothing is left of a
// part that is not there.
#pragma once
#include <string_view>

// A whole build includes nothing here that was made for it: a compiler cache then knows its files wherever it stands.
#ifdef MICA_TRIMMED
#include "mica_parts.inc"
#else
#define MICA_PARTS ""
#endif

namespace mica {

inline constexpr std::string_view kParts[] = {MICA_PARTS};  // the lists' lines, and an empty one
inline constexpr bool kTrimmed = std::size(kParts) > 1;

// Whether the build has the part of a kind, such as "operator" "conv".
constexpr bool has_part(std::string_view kind, std::string_view name) {
  for (std::string_view part : kParts)
    if (part.size() == kind.size() + 1 + name.size() && part.starts_with(kind) && part.ends_with(name)) return true;
  return !kTrimmed;
}

// Whether it has a part of the kind whose name begins so.
constexpr bool has_part_like(std::string_view kind, std::string_view begin) {
  for (std::string_view part : kParts)
    if (part.starts_with(kind) && part.size() > kind.size() && part.substr(kind.size() + 1).starts_with(begin))
      return true;
  return !kTrimmed;
}

}  // namespace mica
