// The tools library: converting, measuring, comparing and looking inside, as functions. For programs on a workstation;
// a device needs mica.h only. Functions follow mica.h: null when all went well, else an error that the caller frees.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mica/mica.h"

namespace mica::tools {

struct ConvertOptions {
  std::map<std::string, std::vector<int64_t>> shapes;  // input → sizes; -1 keeps an axis
  std::map<std::string, int64_t> bounds;               // named dimension → largest value
  std::map<std::string, std::string> states;           // output → input of the next run
  std::vector<std::string> outputs;                    // values to return instead of the model's outputs
  std::vector<std::string> keep;                       // values that must exist at run time
  std::vector<std::string> rules_off;                  // rewriting rules that must not fire
  std::string preprocess;                              // JSON (docs/preprocessing.md); empty: the model's own
  std::vector<std::string> labels;                     // names of classes; empty: the model's own
  bool strict = false;                                 // declarations that contradict what was inferred are errors
};

struct ConvertReport {
  size_t nodes_imported = 0, nodes_decluttered = 0, stages = 0;
  std::vector<std::pair<std::string, int64_t>> rules_fired;
  int64_t parameters = 0;  // elements of constants
  int64_t constant_bytes = 0;
  int64_t file_bytes = 0, weight_bytes = 0;   // of a file that was written
};

// A source model or a `.mica` file, told apart by its bytes, ready for sessions. `report` may be null. Errors: 6001 for
// options given with a `.mica` file, which is compiled already.
mica_error* load(mica_context* context, const std::string& path, const ConvertOptions& options, mica_model** model,
                 ConvertReport* report = nullptr);

// Compiles a source model into a `.mica` file, which is written under a temporary name first. Operators of `context`, which may be null,
// come before Mica's own; a program that loads the file needs them too.
mica_error* convert_file(mica_context* context, const std::string& path, const std::string& out, const ConvertOptions& options,
                         ConvertReport* report = nullptr);

}  // namespace mica::tools
