// The library's version.
#pragma once
#include <string_view>

namespace mica {

#define MICA_VERSION "0.1.0"
inline constexpr std::string_view kVersion = MICA_VERSION;

}  // namespace mica
