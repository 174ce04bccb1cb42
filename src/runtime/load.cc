#include "runtime/load.h"

#include <algorithm>
#include <new>

#include "plan/file.h"
#include "runtime/frame.h"

namespace mica {
namespace {

// What a model keeps alive.
template <class T>
Result<T*> on_heap(T value) {
  void* place = allocate(sizeof(T), alignof(T));
  if (!place) return out_of_memory();
  return new (place) T(std::move(value));
}
template <class T>
void destroy(void* object) {
  static_cast<T*>(object)->~T();
  deallocate(object);
}

// Memory for a copy of a file: much of it stands in huge pages, as weights in a mapped file may.
Result<Buffer*> buffer_of(size_t bytes) {
  static_assert(kCacheLine % kSectionAlign == 0);
  Buffer made;
  MICA_TRY_STATUS(made.ensure(bytes));
  return on_heap(std::move(made));
}

// Takes `keep`, which owns the bytes.
Result<Model*> load(Context& context, Bytes bytes, const Model::Keep& keep, const LoadOptions& options) {
  ReadOptions read;
  read.find = [](const void* self, std::string_view name) {
    return static_cast<const Context*>(self)->find_operator(name);
  };
  read.self = &context;
  read.verify_weights = options.verify_weights;
  read.pages = keep.pages;
  Result<Plan> plan = read_plan(bytes, read);
  if (plan.ok()) return Model::create(context, plan.take(), keep);
  if (keep.release) keep.release(keep.owner);
  return plan.take_error().at(options.name);
}

}  // namespace

Result<Model*> load_model(Context& context, std::string_view path, const LoadOptions& options) {
  MICA_TRY(MappedFile file, MappedFile::open(path));
  LoadOptions named = options;
  if (named.name.empty()) named.name = path;
  return load_model(context, std::move(file), named);
}

Result<Model*> load_model(Context& context, MappedFile file, const LoadOptions& options) {
  if (!file.mapped()) return load_model_from_memory(context, file.bytes(), true, options);
  MICA_TRY(MappedFile * keep, on_heap(std::move(file)));
  return load(context, keep->bytes(), {keep, destroy<MappedFile>, true}, options);
}

Result<Model*> load_model_from_memory(Context& context, Bytes bytes, bool copy, const LoadOptions& options) {
  if (!copy && reinterpret_cast<uintptr_t>(bytes.data()) % kSectionAlign == 0) return load(context, bytes, {}, options);
  MICA_TRY(Buffer * keep, buffer_of(bytes.size()));
  if (!bytes.empty()) std::memcpy(keep->data(), bytes.data(), bytes.size());
  return load(context, {static_cast<const std::byte*>(keep->data()), bytes.size()}, {keep, destroy<Buffer>}, options);
}

Result<Model*> load_model_from_reader(Context& context, const ByteReader& reader, const LoadOptions& options) {
  constexpr size_t kPiece = size_t{4} << 20;
  MICA_CHECK(reader.read, kUsage, "a reader needs its function");
  MICA_CHECK(reader.size <= static_cast<uint64_t>(PTRDIFF_MAX), kLimit, "the model has {} bytes", reader.size);
  const auto size = static_cast<size_t>(reader.size);
  MICA_TRY(Buffer * keep, buffer_of(size));
  auto* memory = static_cast<std::byte*>(keep->data());
  for (size_t at = 0; at < size;) {
    const size_t piece = std::min(size - at, kPiece);
    const int64_t got = reader.read(reader.user, at, memory + at, piece);
    if (got <= 0 || static_cast<uint64_t>(got) > piece) {
      destroy<Buffer>(keep);
      return error(Code::kIo, "the reader failed at byte {} of {}", at, size).at(options.name);
    }
    at += static_cast<size_t>(got);
  }
  return load(context, {memory, size}, {keep, destroy<Buffer>}, options);
}

}  // namespace mica
