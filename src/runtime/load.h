// `.mica` bytes → Model: from a path, from memory, or through a reader of the caller's.
//
// Cost: the small sections; weights stay where they are. Errors: those of read_plan with the file's name as their
// place.
#pragma once
#include "base/file.h"
#include "runtime/model.h"

namespace mica {

struct LoadOptions {
  std::string_view name = {};   // for messages: the path, or what the caller calls it
  bool verify_weights = false;  // reads all of them
};

// Maps the file; the model keeps the mapping. Do not shrink the file meanwhile.
Result<Model*> load_model(Context& context, std::string_view path, const LoadOptions& options = {});
Result<Model*> load_model(Context& context, MappedFile file, const LoadOptions& options = {});

// Copies the bytes when they are not 64-byte aligned or `copy` says so; otherwise they must outlive the model.
Result<Model*> load_model_from_memory(Context& context, Bytes bytes, bool copy, const LoadOptions& options = {});

// Reads `size` bytes in pieces, in order. `read` fills `to` with the bytes from `offset` on and returns how many it
// had: 0 or less is a failure (kIo).
struct ByteReader {
  int64_t (*read)(void* user, uint64_t offset, void* to, size_t bytes) = nullptr;
  void* user = nullptr;
  uint64_t size = 0;
};
Result<Model*> load_model_from_reader(Context& context, const ByteReader& reader, const LoadOptions& options = {});

}  // namespace mica
