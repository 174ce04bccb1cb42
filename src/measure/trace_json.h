// Stages of a run in the Trace Event Format that Perfetto and Chrome read.
#pragma once
#include <string>

#include "measure/bench.h"

namespace mica {

// One track of complete events; times in microseconds as the format wants.
std::string trace_json(std::span<const LayerTime> layers, std::string_view title);

}  // namespace mica
