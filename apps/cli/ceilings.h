// The machine's measured ceilings, as JSON and as rows of a table.
#pragma once
#include <nlohmann/json.hpp>

#include "mica/tools.hpp"
#include "table.h"

namespace mica::cli {

// {"fma_gflops": [one, all], "dot_gops": [one, all], "levels": [{"name", "bytes", "gbytes": [one, all]}, ...],
//  "handover_ns": where there are several threads}
nlohmann::ordered_json ceilings_json(const tools::MachinePeak& peak);
// A row for each ceiling, for a table of two columns.
void add_ceilings(Table& table, const tools::MachinePeak& peak);

}  // namespace mica::cli
