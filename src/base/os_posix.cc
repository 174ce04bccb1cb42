#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/os.h"
#include "base/string.h"

namespace mica {
namespace {

int64_t read_clock(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

// The start of a small system file; empty when there is none. The buffers are large enough for what is asked of them.
template <size_t N>
std::string_view read_small(const char* path, char (&buffer)[N]) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  size_t size = 0;
  while (size < N) {
    const ssize_t got = read(file, buffer + size, N - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  close(file);
  return {buffer, size};
}

// Takes the text up to `separator` off the front.
std::string_view split(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view part = slice(text, 0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

double to_number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double tighter(double a, double b) { return a <= 0 ? b : b <= 0 ? a : std::min(a, b); }

// Quota of one group's folder: v2 "cpu.max" holds "quota period" or "max period", v1 has a file for each and -1 for
// none.
double folder_quota(std::string_view folder, bool v2) {
  char path[4096], first[128], second[128];
  if (v2) {
    format_to(path, sizeof path, "{}/cpu.max", folder);
    std::string_view text = read_small(path, first);
    const double quota = to_number(split(text, ' ')), period = to_number(text);
    return quota > 0 && period > 0 ? quota / period : 0;
  }
  format_to(path, sizeof path, "{}/cpu.cfs_quota_us", folder);
  const double quota = to_number(read_small(path, first));
  format_to(path, sizeof path, "{}/cpu.cfs_period_us", folder);
  const double period = to_number(read_small(path, second));
  return quota > 0 && period > 0 ? quota / period : 0;
}

// The tightest quota of the group and its ancestors. Inside a container the group's path may name folders that only the
// host has; those have no files here, and the walk ends at the mount point, which is the container's own group.
double mounted_quota(std::string_view mount, std::string_view group, bool v2) {
  double quota = 0;
  for (;;) {
    char folder[4096];
    const size_t length = format_to(folder, sizeof folder, "{}{}", mount, group == "/" ? std::string_view() : group);
    quota = tighter(quota, folder_quota({folder, length}, v2));
    if (group.empty() || group == "/") return quota;
    const size_t slash = group.rfind('/');
    group = slice(group, 0, slash == std::string_view::npos ? 0 : slash);
  }
}

bool lists_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    if (split(controllers, ',') == "cpu") return true;
  }
  return false;
}

size_t status_kib(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + key.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return static_cast<size_t>(to_number(text));
}

}  // namespace

int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }
int64_t process_cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
int64_t thread_cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

size_t page_size() {
  const long size = sysconf(_SC_PAGESIZE);
  return size > 0 ? static_cast<size_t>(size) : 4096;
}

size_t current_rss_bytes() {
  char buffer[4096];
  return status_kib(read_small("/proc/self/status", buffer), "VmRSS:") * 1024;
}

size_t peak_rss_bytes() {
  char buffer[4096];
  if (const size_t kib = status_kib(read_small("/proc/self/status", buffer), "VmHWM:")) return kib * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::string_view(value) : std::string_view();
}

void* map_memory(size_t bytes, bool huge) {
  const size_t page = page_size();
  if (bytes == 0 || bytes > static_cast<size_t>(PTRDIFF_MAX) - kHugePage) return nullptr;
  bytes = round_up(bytes, page);
  huge = huge && bytes >= kHugePage;
  const size_t extra = huge ? kHugePage - page : 0;
  void* mapping = mmap(nullptr, bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  if (!huge) return mapping;
  char* start = static_cast<char*>(mapping);
  const size_t before = round_up(reinterpret_cast<uintptr_t>(start), kHugePage) - reinterpret_cast<uintptr_t>(start);
  if (before > 0) munmap(start, before);
  if (extra > before) munmap(start + before + bytes, extra - before);
#ifdef MADV_HUGEPAGE
  madvise(start + before, bytes, MADV_HUGEPAGE);  // a wish: a system without huge pages may decline it
#endif
  return start + before;
}

void unmap_memory(void* memory, size_t bytes) {
  if (memory) munmap(memory, round_up(bytes, page_size()));
}

namespace {

// From half of a huge page on, what is left of it costs less than the small pages that it stands for.
size_t huge_size(size_t bytes) { return bytes < kHugePage / 2 ? 0 : std::max(bytes, kHugePage); }

}  // namespace

void* take_memory(size_t bytes) {
  const size_t size = huge_size(bytes);
  return size ? map_memory(size, true) : allocate(bytes, kCacheLine);
}

void release_memory(void* memory, size_t bytes) {
  if (const size_t size = huge_size(bytes))
    unmap_memory(memory, size);
  else
    deallocate(memory);
}

void forget_pages(const void* bytes, size_t count) {
  const size_t page = page_size();
  const auto begin = reinterpret_cast<uintptr_t>(bytes);
  const uintptr_t from = round_up(begin, page), to = (begin + count) / page * page;
  if (to <= from) return;
  auto* const start = reinterpret_cast<void*>(from);
#ifdef MADV_NOHUGEPAGE
  madvise(start, to - from, MADV_NOHUGEPAGE);  // else who reads a neighbour would get a whole huge page back
#endif
  madvise(start, to - from, MADV_DONTNEED);
}

namespace {

// What the C library knows without reading a file; 0 when it knows nothing.
size_t cache_bytes_of_libc(int level) {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  if (level >= 1 && level <= 3) return static_cast<size_t>(std::max(0l, sysconf(names[level - 1])));
#endif
  return 0;
}

size_t cache_bytes_of_kernel(int level, std::string_view root) {
  for (int index = 0; index < 8; ++index) {
    char path[4096], buffer[32];
    const auto field = [&](std::string_view name) {
      format_to(path, sizeof path, "{}/sys/devices/system/cpu/cpu0/cache/index{}/{}", root, index, name);
      std::string_view text = read_small(path, buffer);
      return split(text, '\n');
    };
    if (to_number(field("level")) != level || field("type") == "Instruction") continue;
    const std::string_view size = field("size");  // "48K"
    const double unit = size.empty() ? 1 : size.back() == 'K' ? 1 << 10 : size.back() == 'M' ? 1 << 20 : 1;
    return static_cast<size_t>(to_number(size) * unit);
  }
  return 0;
}

}  // namespace

size_t cache_bytes(int level, std::string_view root) {
  if (!root.empty()) return cache_bytes_of_kernel(level, root);
  // The C library is quicker, but in a virtual machine it may tell the whole host's third level.
  const size_t known = level < 3 ? cache_bytes_of_libc(level) : cache_bytes_of_kernel(level, root);
  if (known > 0) return known;
  return level < 3 ? cache_bytes_of_kernel(level, root) : cache_bytes_of_libc(level);
}

#ifdef __linux__
namespace {

// The processors that a thread may use. The kernel refuses masks shorter than its own.
class ProcessorMask {
 public:
  static constexpr int kMost = 8192;

  // Empty when the system does not tell.
  static ProcessorMask of(pthread_t thread) {
    ProcessorMask made;
    auto* set = reinterpret_cast<cpu_set_t*>(made.words_);
#ifdef __ANDROID__
    const bool told = sched_getaffinity(pthread_gettid_np(thread), sizeof made.words_, set) == 0;
#else
    const bool told = pthread_getaffinity_np(thread, sizeof made.words_, set) == 0;
#endif
    return told ? made : ProcessorMask();
  }
  int count() const {
    int sum = 0;
    for (const unsigned long word : words_) sum += __builtin_popcountl(word);
    return sum;
  }
  void remove(int processor) { words_[processor / kBits] &= ~(1ul << (processor % kBits)); }
  void give_to(pthread_t thread) const {
    const auto* set = reinterpret_cast<const cpu_set_t*>(words_);
#ifdef __ANDROID__
    sched_setaffinity(pthread_gettid_np(thread), sizeof words_, set);
#else
    pthread_setaffinity_np(thread, sizeof words_, set);
#endif
  }

 private:
  static constexpr int kBits = 8 * sizeof(unsigned long);
  unsigned long words_[kMost / kBits] = {};
};

}  // namespace

int current_processor() { return sched_getcpu(); }

void move_off_processor(pthread_t thread, int processor) {
  if (processor < 0 || processor >= ProcessorMask::kMost) return;
  const ProcessorMask usable = ProcessorMask::of(thread);
  ProcessorMask others = usable;
  others.remove(processor);
  if (others.count() == 0) return;
  others.give_to(thread);
  usable.give_to(thread);
}

#else
int current_processor() { return -1; }
void move_off_processor(pthread_t, int) {}
#endif

int usable_cpus() {
#ifdef __linux__
  if (const int count = ProcessorMask::of(pthread_self()).count(); count > 0) return count;
#endif
  return static_cast<int>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
}

double cpu_quota(std::string_view root) {
  char path[4096], buffer[8192];
  format_to(path, sizeof path, "{}/proc/self/cgroup", root);
  std::string_view groups = read_small(path, buffer);
  double quota = 0;
  while (!groups.empty()) {  // lines "id:controllers:path"; v2 has no controllers there
    std::string_view group = split(groups, '\n');
    split(group, ':');
    const std::string_view controllers = split(group, ':');
    const bool v2 = controllers.empty();
    if (!v2 && !lists_cpu(controllers)) continue;
    const auto at = [&](std::string_view mount, std::string_view name) {
      const size_t length = format_to(path, sizeof path, "{}{}{}", root, mount, name);
      quota = tighter(quota, mounted_quota({path, length}, group, v2));
    };
    at("/sys/fs/cgroup", v2 ? std::string_view() : "/cpu");
    at(v2 ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup/", v2 ? std::string_view() : controllers);
  }
  return quota;
}

int default_threads() {
  const double quota = cpu_quota();
  const int cpus = usable_cpus();
  return quota > 0 && quota < cpus ? std::max(1, static_cast<int>(std::ceil(quota))) : cpus;
}

Error io_error(std::string_view verb, std::string_view path, int error_number) {
  char buffer[256];
  const char* text = nullptr;
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
  text = strerror_r(error_number, buffer, sizeof buffer);
#else
  text = strerror_r(error_number, buffer, sizeof buffer) == 0 ? buffer : "unknown error";
#endif
  return error(Code::kIo, "cannot {}: {}", verb, text).at(path);
}

}  // namespace mica
