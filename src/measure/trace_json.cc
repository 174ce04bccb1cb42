#include "measure/trace_json.h"

#include <nlohmann/json.hpp>

namespace mica {

std::string trace_json(std::span<const LayerTime> layers, std::string_view title) {
  using Json = nlohmann::ordered_json;
  constexpr auto kReplace = Json::error_handler_t::replace;  // names of a model may be any bytes
  Json events = Json::array();
  events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", title}}}});
  events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", "stages"}}}});
  for (const LayerTime& layer : layers) {
    const double seconds = layer.ms * 1e-3;
    events.push_back({{"name", layer.name.empty() ? layer.op : layer.name},
                      {"cat", layer.op},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", static_cast<double>(layer.begin_ns) * 1e-3},
                      {"dur", layer.ms * 1e3},
                      {"args",
                       {{"op", layer.op},
                        {"kernel", layer.kernel},
                        {"flops", layer.flops},
                        {"bytes", layer.bytes},
                        {"gflops", seconds > 0 ? static_cast<double>(layer.flops) / seconds * 1e-9 : 0}}}});
  }
  return Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump(1, ' ', false, kReplace) + "\n";
}

}  // namespace mica
