#include "import/import.h"

#include <filesystem>
#include <new>

#include "base/file.h"
#include "import/onnx/onnx.h"
#include "ir/text.h"
#include "plan/file.h"

namespace mica {
namespace {

constexpr std::string_view kTextStart = "graph \"";

Result<Graph> import_text(Bytes bytes) {
  try {
    return graph_from_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const Failure& failure) {
    return failure.error->copy();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace

SourceFormat detect_format(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kTextStart.size()));
  if (text == kTextStart) return SourceFormat::kText;
  return looks_like_onnx(bytes) ? SourceFormat::kOnnx : SourceFormat::kUnknown;
}

std::string_view name_of(SourceFormat format) {
  switch (format) {
    case SourceFormat::kOnnx: return "ONNX";
    case SourceFormat::kText: return "graph text";
    case SourceFormat::kUnknown: break;
  }
  return "unknown";
}

Status check_not_written(const std::string& path, const std::vector<std::string>& written) {
  for (const std::string& target : written) {
    std::error_code code;  // files that are not there are not the same
    if (std::filesystem::equivalent(path, target, code))
      return error(Code::kUsage, "cannot write `{}`: it is the same file as `{}`, which is read", target, path)
          .hinting("name another file to write");
  }
  return {};
}

Result<Graph> import_model(const Source& source, const ImportOptions& options) {
  const std::string_view where = source.path.empty() ? std::string_view("model") : std::string_view(source.path);
  if (!source.bytes.data()) {
    MICA_TRY_STATUS(check_not_written(source.path, options.written));
    auto file = MappedFile::open(source.path);
    if (!file.ok()) return file.take_error();
    Source mapped = source;
    mapped.bytes = file->bytes();
    if (mapped.folder.empty()) mapped.folder = folder_of(source.path);
    if (mapped.bytes.data()) return import_model(mapped, options);
  }
  switch (detect_format(source.bytes)) {
    case SourceFormat::kOnnx: return import_onnx(source, options);
    case SourceFormat::kText: {
      Result<Graph> graph = import_text(source.bytes);
      return graph.ok() ? std::move(graph) : Result<Graph>(graph.take_error().at(where));
    }
    case SourceFormat::kUnknown: break;
  }
  if (looks_like_plan(source.bytes))
    return error(Code::kUsage, "the model is compiled already, and its source is needed here")
        .at(where)
        .hinting("name the model that this file was made from");
  return error(Code::kBadModel, "the bytes are no model of a known format")
      .at(where)
      .hinting("ONNX models and graph text are read");
}

}  // namespace mica
