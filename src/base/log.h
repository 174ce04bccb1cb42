// Where the library's remarks go: to the sink that the application gives, and nowhere without one.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/format.h"

namespace mica {

enum class LogLevel : uint8_t { kError, kWarning, kInfo, kDebug };

constexpr std::string_view name_of(LogLevel level) {
  constexpr std::string_view kNames[] = {"error", "warning", "info", "debug"};
  return kNames[static_cast<int>(level)];
}

// `text` is one remark without a line end, and ends with the call. May be called from several threads at a time.
using LogFn = void (*)(void* user, LogLevel level, std::string_view text);

// A value that is copied into whatever wants to say something; the sink behind `user` must live longer.
struct Log {
  LogFn fn = nullptr;
  void* user = nullptr;
  LogLevel most = LogLevel::kInfo;  // remarks of higher levels are dropped before they are formatted

  bool wants(LogLevel level) const { return fn && level <= most; }
  // Texts are cut at 1023 bytes. Never fails, never allocates.
  template <class... Args>
  void write(LogLevel level, std::string_view pattern, const Args&... args) const {
    if (!wants(level)) return;
    char text[1024];
    fn(user, level, {text, format_to(text, sizeof text, pattern, args...)});
  }
  template <class... Args>
  void warning(std::string_view pattern, const Args&... args) const {
    write(LogLevel::kWarning, pattern, args...);
  }
  template <class... Args>
  void info(std::string_view pattern, const Args&... args) const {
    write(LogLevel::kInfo, pattern, args...);
  }
  template <class... Args>
  void debug(std::string_view pattern, const Args&... args) const {
    write(LogLevel::kDebug, pattern, args...);
  }
};

}  // namespace mica
