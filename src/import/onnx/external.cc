#include "import/onnx/external.h"

#include <charconv>
#include <filesystem>
#include <system_error>

#include "import/import.h"
#include "import/onnx/limits.h"

namespace mica::onnx {
namespace {

namespace fs = std::filesystem;

int64_t number(std::string_view text, std::string_view what) {
  int64_t value = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0)
    fail(Code::kBadModel, "the {} of external data is `{}`, expected a number of bytes", what, text.substr(0, 32));
  return value;
}

// Names a file below the folder, by the text alone.
bool stays_inside(const std::string& location) {
  if (location.empty() || location.size() > kMaxNameBytes || location.find('\0') != std::string::npos) return false;
  if (location.find('\\') != std::string::npos || location.find(':') != std::string::npos) return false;
  const fs::path path(location);
  if (path.is_absolute()) return false;
  for (const fs::path& part : path)
    if (part == "..") return false;
  return true;
}

// With every symbolic link followed.
bool is_below(const fs::path& file, const fs::path& folder) {
  const auto [rest, unused] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return rest == folder.end();
}

}  // namespace

std::shared_ptr<const MappedFile> ExternalFiles::open(const std::string& location) {
  if (const auto known = files_.find(location); known != files_.end()) return known->second;
  if (folder_.empty())
    throw Failure(error(Code::kBadModel, "the model keeps data in the file `{}`, and its folder is not known", location)
                      .hinting("load the model by its path, or name the folder"));
  if (!stays_inside(location))
    fail(Code::kBadModel, "external data at `{}`: only files in the model's folder are read", location);
  std::error_code code;
  const fs::path folder = fs::canonical(folder_, code);
  const fs::path path = code ? fs::path() : fs::canonical(folder / location, code);
  if (code == std::errc::not_enough_memory) throw std::bad_alloc();
  if (code) fail(Code::kIo, "external data `{}`: {}", location, code.message());
  if (!is_below(path, folder)) fail(Code::kBadModel, "external data at `{}` lies outside the model's folder", location);
  if (!fs::is_regular_file(path, code)) fail(Code::kBadModel, "external data at `{}` is no regular file", location);
  ok_or_throw(check_not_written(path.string(), written_));
  auto file = std::make_shared<const MappedFile>(value_or_throw(MappedFile::open(path.string())));
  return files_[location] = std::move(file);
}

ExternalBytes ExternalFiles::find(const google::protobuf::RepeatedPtrField<pb::Entry>& entries, int64_t need) {
  std::string location;
  int64_t offset = 0, length = need;
  for (const pb::Entry& entry : entries) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = number(entry.value(), "offset");
    if (entry.key() == "length") length = number(entry.value(), "length");
  }
  if (length != need) fail(Code::kBadModel, "external data has {} bytes, the shape needs {}", length, need);
  const auto file = open(location);
  const Bytes all = file->bytes();
  const auto size = static_cast<int64_t>(all.size());
  if (offset > size || length > size - offset)
    fail(Code::kBadModel, "external data `{}`: {} bytes at {} are wanted, the file has {}", location, length, offset,
         size);
  return {file, all.subspan(static_cast<size_t>(offset), static_cast<size_t>(length))};
}

}  // namespace mica::onnx
