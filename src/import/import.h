// Source models of every format, told apart by their contents.
#pragma once
#include <string_view>

#include "import/source.h"
#include "ir/graph.h"

namespace mica {

enum class SourceFormat : uint8_t { kUnknown, kOnnx, kText };

// What the bytes begin as; file names say nothing.
SourceFormat detect_format(std::span<const std::byte> bytes);
std::string_view name_of(SourceFormat format);

// Imports a model of any known format. Errors: kBadModel when no format is recognised, and those of the format's
// importer.
Result<Graph> import_model(const Source& source, const ImportOptions& options = {});

}  // namespace mica
