// Public options and reports as the compiler's own, and back.
#pragma once
#include "convert/convert.h"
#include "mica/tools.hpp"

namespace mica::tools {

inline mica::ConvertOptions internal_options(const ConvertOptions& options) {
  mica::ConvertOptions made;
  made.import.shapes = options.shapes;
  made.import.bounds = options.bounds;
  made.import.states = options.states;
  made.import.outputs = options.outputs;
  made.import.written = options.written;
  made.import.strict = options.strict;
  made.import.onnx_release = options.onnx_release;
  made.declutter.off.insert(options.rules_off.begin(), options.rules_off.end());
  made.lower.fuse = options.fuse;
  made.lower.pack = options.pack;
  made.preprocess = options.preprocess;
  made.pixels = options.pixels;
  made.labels = options.labels;
  made.keep = options.keep;
  return made;
}

constexpr double kMostSeconds = 1e6;
inline Status check_seconds(double seconds) {
  MICA_CHECK(seconds >= 0 && seconds <= kMostSeconds, kUsage, "the time to take is 0 to {} seconds, got {}",
             kMostSeconds, seconds);
  return {};
}

inline ConvertReport public_report(const mica::ConvertReport& report) {
  return {report.nodes_imported, report.nodes_decluttered, report.stages,
          report.rules_fired,    report.parameters,        report.constant_bytes};
}

}  // namespace mica::tools
