// Load, first run and peak memory of a model, each measured in a process of its own.
#pragma once
#include "inputs.h"

namespace mica::cli {

// Prints a row for each way of using memory (`--memory full` and `low`); some more runs give the time of a run when
// everything is there.
int measure_start(const ModelFlags& model, const InputFlags& input, const std::string& format);

}  // namespace mica::cli
