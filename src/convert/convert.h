// The table of contents of the compiler: from a source model to a plan, stage by stage.
#pragma once
#include <functional>

#include "import/source.h"
#include "passes/declutter/declutter.h"
#include "passes/lower/lower.h"

namespace mica {

struct ConvertOptions {
  ImportOptions import;
  DeclutterOptions declutter;
  LowerOptions lower;
  bool widen_half = true;           // compute half-precision networks in single precision
  std::string preprocess;           // JSON text (docs/preprocessing.md); replaces the model's own
  bool pixels = false;              // take_pixels (convert/pixels.h)
  std::vector<std::string> labels;  // class names; replace the model's own
  std::vector<std::string> keep;    // values that must exist at run time
};

// What happened, for a person and for tests.
struct ConvertReport {
  size_t nodes_imported = 0, nodes_decluttered = 0, stages = 0;
  std::vector<std::pair<std::string, int64_t>> rules_fired;
  int64_t parameters = 0;  // elements of constants
  int64_t constant_bytes = 0;
  // Called with each form on its way, when set: "import", "graph".
  std::function<void(std::string_view stage, const Graph& graph)> watch;
};

// The only door where the compiler's exceptions become Results.
Result<Lowered> convert(const Source& source, const ConvertOptions& options, ConvertReport& report);
// The same from a graph that exists already (a test's, or one parsed from text).
Result<Lowered> compile(Graph graph, const ConvertOptions& options, ConvertReport& report);

}  // namespace mica
