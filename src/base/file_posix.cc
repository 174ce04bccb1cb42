#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/file.h"
#include "base/os.h"

namespace mica {
namespace {

constexpr size_t kLargestCall = size_t{1} << 30;  // Linux moves at most 2^31 - 4096 bytes in one call
constexpr size_t kFirstRead = 4096;               // where the size is not known
constexpr int kNameAttempts = 100;

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

Result<Path> to_path(std::string_view text) {
  Path path;
  MICA_CHECK(!text.empty(), kIo, "the file name is empty");
  MICA_CHECK(text.find('\0') == std::string_view::npos, kIo, "the file name contains a zero byte");
  if (!path.assign(text))
    return error(Code::kIo, "the file name has {} bytes, over the limit of {}", text.size(), kMaxPath - 1);
  return path;
}

Status open_for_reading(const Path& path, Descriptor& file, struct stat& about) {
  do {
    file.fd = ::open(path.chars, O_RDONLY | O_CLOEXEC);
  } while (file.fd < 0 && errno == EINTR);
  if (file.fd < 0) return io_error("open", path, errno);
  if (fstat(file.fd, &about) != 0) return io_error("read the properties", path, errno);
  if (S_ISDIR(about.st_mode)) return io_error("read", path, EISDIR);
  return {};
}

// Reads to the end; the size in `about` is a hint only, because a pipe has none and a file may be growing.
Result<Vector<std::byte>> read_all(const Path& path, int fd, const struct stat& about, size_t limit) {
  const auto too_large = [&] {
    return error(Code::kLimit, "the file is larger than the limit of {} bytes", limit).at(path);
  };
  const size_t hint = S_ISREG(about.st_mode) && about.st_size > 0 ? static_cast<size_t>(about.st_size) : 0;
  if (hint > limit) return too_large();
  Vector<std::byte> bytes;
  size_t size = 0;
  for (;;) {
    // One byte beyond the limit tells that there is more.
    if (size == bytes.size())
      MICA_TRY_STATUS(bytes.resize(std::min(size == 0 ? std::max(hint + 1, kFirstRead) : size * 2, limit + 1)));
    const ssize_t got = ::read(fd, bytes.data() + size, std::min(bytes.size() - size, kLargestCall));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("read", path, errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
    if (size > limit) return too_large();
  }
  MICA_TRY_STATUS(bytes.resize(size));
  return bytes;
}

// The file that a write replaces: links resolved, and what is no regular file refused. `mode` becomes its permissions.
Status resolve_target(Path& path, mode_t& mode, bool& exists) {
  struct stat about {};
  exists = stat(path.chars, &about) == 0;
  if (!exists) return {};
  if (!S_ISREG(about.st_mode)) return error(Code::kIo, "cannot replace what is not a regular file").at(path);
  if (faccessat(AT_FDCWD, path.chars, W_OK, AT_EACCESS) != 0) return io_error("replace", path, errno);
  mode = about.st_mode & 07777;
  char resolved[PATH_MAX];
  if (!realpath(path.chars, resolved)) return io_error("resolve", path, errno);
  if (!path.assign(resolved)) return io_error("resolve", path, ENAMETOOLONG);
  return {};
}

// A rename is durable only when the folder is written too. Some file systems cannot sync folders: no reason to fail.
void sync_folder(const Path& path) {
  const std::string_view text = path.view();
  const size_t slash = text.rfind('/');
  Path folder;
  folder.assign(slash == std::string_view::npos ? "." : slash == 0 ? "/" : text.substr(0, slash));
  Descriptor file{::open(folder.chars, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (file.fd >= 0) fsync(file.fd);
}

}  // namespace

Result<MappedFile> MappedFile::open(std::string_view name, size_t most_read) {
  MICA_TRY(const Path path, to_path(name));
  Descriptor file;
  struct stat about {};
  MICA_TRY_STATUS(open_for_reading(path, file, about));
  MappedFile made;
  if (S_ISREG(about.st_mode) && about.st_size > 0 && static_cast<uint64_t>(about.st_size) <= PTRDIFF_MAX) {
    void* mapping = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (mapping != MAP_FAILED) {
      made.mapping_ = static_cast<const std::byte*>(mapping);
      made.size_ = static_cast<size_t>(about.st_size);
      return made;
    }
  }
  MICA_TRY(made.copy_, read_all(path, file.fd, about, S_ISREG(about.st_mode) ? PTRDIFF_MAX : most_read));
  return made;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)), size_(other.size_), copy_(std::move(other.copy_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(size_, other.size_);
  copy_.swap(other.copy_);
  return *this;
}

MappedFile::~MappedFile() {
  if (mapping_) munmap(const_cast<std::byte*>(mapping_), size_);
}

Result<Vector<std::byte>> read_file(std::string_view name, size_t limit) {
  MICA_TRY(const Path path, to_path(name));
  Descriptor file;
  struct stat about {};
  MICA_TRY_STATUS(open_for_reading(path, file, about));
  return read_all(path, file.fd, about, limit);
}

Result<FileWriter> FileWriter::create(std::string_view name) {
  FileWriter made;
  mode_t mode = 0666;
  bool exists = false;
  { MICA_TRY(made.target_, to_path(name)); }
  MICA_TRY_STATUS(resolve_target(made.target_, mode, exists));
  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    char text[kMaxPath + 64];
    const size_t length = format_to(text, sizeof text, "{}.part-{}-{}", made.target_, getpid(), now_ns() % 1000000007);
    if (!made.temporary_.assign({text, length})) return io_error("create", made.target_, ENAMETOOLONG);
    made.file_ = ::open(made.temporary_.chars, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (made.file_ >= 0 || (errno != EEXIST && errno != EINTR)) break;
  }
  if (made.file_ < 0) return io_error("create", made.target_, errno);
  if (exists) fchmod(made.file_, mode);  // the umask took bits away; where it cannot be set, the default has to do
  return made;
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : file_(std::exchange(other.file_, -1)), target_(other.target_), temporary_(other.temporary_) {}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  close(file_);
  unlink(temporary_.chars);
}

Status FileWriter::write(Bytes bytes) {
  MICA_CHECK(file_ >= 0, kState, "the file is already committed");
  while (!bytes.empty()) {
    const ssize_t done = ::write(file_, bytes.data(), std::min(bytes.size(), kLargestCall));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return io_error("write", target_, errno);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

Status FileWriter::commit() {
  MICA_CHECK(file_ >= 0, kState, "the file is already committed");
  if (fsync(file_) != 0 && errno != EINVAL)
    return io_error("write", target_, errno);  // EINVAL: cannot be synced at all
  const int closed = close(std::exchange(file_, -1));
  const int close_error = errno;
  if (closed == 0 && rename(temporary_.chars, target_.chars) == 0) {
    sync_folder(target_);
    return {};
  }
  Error failure = closed != 0 ? io_error("write", target_, close_error) : io_error("replace", target_, errno);
  unlink(temporary_.chars);
  return failure;
}

Status write_file(std::string_view path, Bytes bytes) {
  MICA_TRY(FileWriter file, FileWriter::create(path));
  MICA_TRY_STATUS(file.write(bytes));
  return file.commit();
}

}  // namespace mica
