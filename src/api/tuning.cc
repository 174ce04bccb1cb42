// A model's measured choices, from a file beside it or one that the caller names.
#include "api/handles.h"
#include "base/file.h"

namespace mica {
namespace {

Result<Tuning> read_tuning(std::string_view path) {
  MICA_TRY(Vector<std::byte> text, read_file(path, kMostTuningBytes));
  Result<Tuning> made = Tuning::parse(std::move(text));
  if (!made.ok()) return made.take_error().at(path).hinting("`mica tune` writes such files");
  return made;
}

}  // namespace

Status take_tuning(const mica_context& context, const char* path, std::string_view beside, Model& model) {
  const bool asked = path != nullptr && *path;
  if constexpr (!kWithTuning) {
    if (!asked) return {};
    return error(Code::kUsage, "this runtime is trimmed and takes no measured choices")
        .at(path)
        .hinting("`mica tune` the model before `mica convert --trim`");
  }
  String name;
  if (path) {
    MICA_TRY_STATUS(name.assign(path));
  } else if (!beside.empty()) {
    MICA_TRY_STATUS(name.print("{}.tune", beside));
  }
  if (name.empty()) return {};
  Result<Tuning> tuning = read_tuning(name);
  if (!tuning.ok()) {
    if (asked || tuning.error().code() == Code::kOutOfMemory) return tuning.take_error();
    // Mostly there is none.
    if (tuning.error().code() == Code::kIo)
      context.log.debug("no measured choices: {}", tuning.error().what());
    else
      context.log.warning("measured choices in {} are left alone: {}", name, tuning.error().what());
    return {};
  }
  const std::string_view other = tuning->mismatch(context.core.machine);
  if (!other.empty()) {
    context.log.info("measured choices in {} are left alone: another {}", name, other);
    return {};
  }
  context.log.info("{} measured choices from {}", tuning->choices().size(), name);
  model.set_tuning(std::move(*tuning));
  return {};
}

}  // namespace mica
