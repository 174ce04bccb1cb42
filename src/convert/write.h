// A compiled model → a `.mica` file.
#pragma once
#include <string>
#include <vector>

#include "passes/lower/lower.h"
#include "plan/file.h"

namespace mica {

struct WriteMicaOptions {
  std::string graph;   // the decluttered graph as text, stored with it
  std::string source;  // where the model came from
};

// Marks what a file of half the size may hold in half precision: single-precision constants of a thousand elements or
// more whose elements are finite and do not overflow. Loading widens them again.
void store_in_half(Plan& plan);

// Another program sees the old file or the whole new one. Errors: those of write_plan, kIo.
Result<FileSizes> write_mica(const Plan& plan, std::string_view path, const WriteMicaOptions& options = {});
Result<std::vector<std::byte>> mica_bytes(const Plan& plan, const WriteMicaOptions& options = {});

}  // namespace mica
