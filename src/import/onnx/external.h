// Files beside a model that hold the contents of its tensors.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "import/onnx/reader.h"

namespace mica::onnx {

// Bytes somewhere in a mapped file, and what keeps them there.
struct ExternalBytes {
  std::shared_ptr<const MappedFile> file;
  Bytes bytes;
};

// Maps each file once. Only regular files inside the model's folder are opened, whatever names and symbolic links say.
class ExternalFiles {
 public:
  // `written`: as of ImportOptions.
  ExternalFiles(std::string folder, std::vector<std::string> written)
      : folder_(std::move(folder)), written_(std::move(written)) {}
  // The `need` bytes that a tensor's entries (location, offset, length) name. Throws Failure: kBadModel, kIo, kUsage.
  ExternalBytes find(const google::protobuf::RepeatedPtrField<pb::Entry>& entries, int64_t need);

 private:
  std::shared_ptr<const MappedFile> open(const std::string& location);

  std::string folder_;
  std::vector<std::string> written_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

}  // namespace mica::onnx
