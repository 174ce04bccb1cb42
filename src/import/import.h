// Source models of every format, told apart by their contents.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "import/source.h"
#include "ir/graph.h"

namespace mica {

enum class SourceFormat : uint8_t { kUnknown, kOnnx, kText };

// What the bytes begin as; file names say nothing.
SourceFormat detect_format(std::span<const std::byte> bytes);
std::string_view name_of(SourceFormat format);

// kUsage when the file is one of those that are going to be written, by whatever name or link.
Status check_not_written(const std::string& path, const std::vector<std::string>& written);

// Imports a model of any known format. Errors: kBadModel when no format is recognised, kUsage for a `.mica` file and
// where a file of the model is one of `options.written`, and those of the format's importer.
Result<Graph> import_model(const Source& source, const ImportOptions& options = {});

}  // namespace mica
