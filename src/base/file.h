// Whole files: reading, mapping, and writing such that a reader sees the old bytes or all of the new ones.
// Errors are kIo with the path and the system's text, kOutOfMemory, or kLimit.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "base/string.h"
#include "base/vector.h"

namespace mica {

using Bytes = std::span<const std::byte>;
inline constexpr size_t kMaxPath = 4096;
using Path = Text<kMaxPath>;
inline constexpr size_t kMostRead = 0x7fffffff;

// The bytes of a file, read-only: mapped, or read into memory where the system cannot map (a pipe, some file systems).
// Do not shrink a file while it is mapped: touching what is gone kills the process on POSIX systems.
class MappedFile {
 public:
  // `most_read`: of what is no regular file, and so may have no end; kLimit beyond it.
  static Result<MappedFile> open(std::string_view path, size_t most_read = kMostRead);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  Bytes bytes() const { return mapping_ ? Bytes(mapping_, size_) : Bytes(copy_); }
  bool mapped() const { return mapping_ != nullptr; }

 private:
  MappedFile() = default;
  const std::byte* mapping_ = nullptr;
  size_t size_ = 0;
  Vector<std::byte> copy_;
};

// Everything in the file, which may be a pipe or a device; kLimit when it has more than `limit` bytes.
Result<Vector<std::byte>> read_file(std::string_view path, size_t limit = PTRDIFF_MAX);

// Writes to a temporary name in the target's folder; `commit` makes it durable and gives it the target's name. Before
// that, and on any failure, an old file of that name is untouched, and the destructor removes the temporary. Symbolic
// links are followed; a target that is there and no regular file (a device, a folder) or not writable is refused. The
// old file's permissions are kept.
class FileWriter {
 public:
  static Result<FileWriter> create(std::string_view path);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  FileWriter(const FileWriter&) = delete;
  ~FileWriter();

  Status write(Bytes bytes);
  Status commit();

 private:
  FileWriter() = default;
  int file_ = -1;
  Path target_, temporary_;
};

Status write_file(std::string_view path, Bytes bytes);

}  // namespace mica
