// Files through the tools library's door.
#include "base/file.h"

#include "api/handles.h"
#include "import/import.h"
#include "mica/tools.hpp"

namespace mica::tools {
namespace {

Status read_text(const std::string& path, std::string& bytes) {
  MICA_TRY(const auto read, mica::read_file(path));
  try {
    bytes.assign(reinterpret_cast<const char*>(read.data()), read.size());
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
  return {};
}

}  // namespace

mica_error* read_file(const std::string& path, std::string& bytes) { return give(read_text(path, bytes)); }

mica_error* check_not_written(const std::string& path, const std::vector<std::string>& written) {
  return give(mica::check_not_written(path, written));
}

mica_error* write_file(const std::string& path, const std::string& bytes) {
  return give(mica::write_file(path, std::as_bytes(std::span(bytes))));
}

}  // namespace mica::tools
