// One file on the whole way: import, declutter, lower, write, load, a session, inputs, a run.
#pragma once
#include "change.h"

namespace mica::fuzz {

enum class Kind { kOnnx, kText, kMica };
inline constexpr const char* kKindNames[] = {"onnx", "text", "mica"};
inline constexpr int kKinds = 3;

// The stage that refused the file, or kRan.
enum class Stage { kImport, kDeclutter, kLower, kWrite, kLoad, kOpen, kFeed, kRun, kRan };
inline constexpr const char* kStageNames[] = {
    "refused by the importer", "refused by declutter",   "refused by lowering",
    "refused by the writer",   "refused by the loader",  "no session",
    "inputs not fed",          "refused by bind or run", "ran"};
inline constexpr int kStages = 9;

// What a file is by its first bytes; a damaged `.mica` file is one still.
Kind kind_of(const std::string& bytes);

// Call once in a process, before the first attempt. `folder` is where external data lies.
void begin_attempts(const std::string& folder);
// Takes the bytes for a file of this kind, whatever they begin with.
Stage attempt(const std::string& bytes, Kind kind, Random& random);

}  // namespace mica::fuzz
