#include "device/cpu/cpu_model.h"

#include <algorithm>

#include "base/format.h"
#include "base/string.h"

namespace mica {
namespace {

// The value of the first line "key   : value".
std::string_view field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = slice(text, 0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    const size_t colon = line.find_first_not_of(" \t");
    if (colon == std::string_view::npos || line[colon] != ':') continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    if (start != std::string_view::npos) return slice(line, start);
  }
  return {};
}

CpuModel tidy(std::string_view text) {
  char name[sizeof(CpuModel)];
  size_t length = 0;
  for (char c : text) {
    const bool blank = c == ' ' || c == '\t';
    if (static_cast<unsigned char>(c) < ' ' && !blank) continue;
    if (blank && (length == 0 || name[length - 1] == ' ')) continue;
    if (length + 1 == sizeof name) break;
    name[length++] = blank ? ' ' : c;
  }
  while (length > 0 && name[length - 1] == ' ') --length;
  CpuModel model;
  model.assign({name, length});
  return model;
}

}  // namespace

CpuModel cpu_model(std::string_view cpuinfo) {
  for (std::string_view key : {"model name", "cpu model", "Hardware", "uarch"}) {
    const CpuModel model = tidy(field(cpuinfo, key));
    if (!model.empty()) return model;
  }
  const std::string_view implementer = field(cpuinfo, "CPU implementer"), part = field(cpuinfo, "CPU part");
  if (implementer.empty()) return tidy("unknown processor");
  char text[128];
  const size_t length = format_to(text, sizeof text, "Arm implementer {} part {}", implementer, part);
  return tidy({text, length});
}

}  // namespace mica
