// ONNX models as graphs: the door of the importer.
#pragma once
#include "import/source.h"
#include "ir/graph.h"

namespace mica {

// Reads an ONNX model (opsets 1 and later). Errors: kBadModel for bytes that contradict the format, kUnsupportedModel
// listing every node that cannot be imported with its reason, kLimit, kIo, kNotFound for names in the options that the
// model does not have.
Result<Graph> import_onnx(const Source& source, const ImportOptions& options = {});

// Whether the bytes begin as an ONNX model does (fields and their wire types, down to the graph); the bytes may be
// hostile.
bool looks_like_onnx(std::span<const std::byte> bytes);

}  // namespace mica
