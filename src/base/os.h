// What the runtime asks of the operating system, apart from threads: clocks, memory, processors and the environment.
// Thread-safe; nothing is cached. Files are in `base/file.h`.
#pragma once
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace mica {

// Nanoseconds of a clock that never goes back; its zero is arbitrary.
int64_t now_ns();
// Processor time that was used by the whole process, and by the calling thread.
int64_t process_cpu_ns();
int64_t thread_cpu_ns();

size_t page_size();
// Memory of this process that is in RAM; 0 when the system does not tell.
size_t current_rss_bytes();
size_t peak_rss_bytes();

// The value of a variable, or an empty text when it is not set. It stays valid until the environment is changed.
std::string_view environment(const char* name);

// Zeroed memory straight from the system, page-aligned; null when memory is short. `huge` asks for huge pages where the
// system has them and `bytes` reaches one (2 MiB); the address is then aligned to them. Released with the same `bytes`.
void* map_memory(size_t bytes, bool huge);
void unmap_memory(void* memory, size_t bytes);
inline constexpr size_t kHugePage = size_t{2} << 20;
// Much memory, of which every byte will be used: in huge pages, since the system makes one of them as fast as 70 small
// ones, and the processor finds addresses in them sooner. Half of one gets a whole one; less comes from `allocate`. Not
// initialised. Released with the same `bytes`.
void* take_memory(size_t bytes);
void release_memory(void* memory, size_t bytes);
// Lets the pages that lie wholly inside a mapped file's bytes leave RAM; who reads them gets them back from the file,
// small ones: with a huge one all of its neighbours would come.
void forget_pages(const void* bytes, size_t count);

// Size of a processor's data cache of level 1, 2 or 3; 0 when the system does not tell, or there is none. `root` goes
// before the system's paths, and then these alone are asked: for tests.
size_t cache_bytes(int level, std::string_view root = {});

// Processors that the calling thread may be scheduled on; at least 1.
int usable_cpus();
// The processor that the calling thread is on; -1 when the system does not tell.
int current_processor();
// Moves a thread that is on this processor, or waits for it, to another one that it may use; from then on it may be
// scheduled on all of them as before. Where it cannot be done, nothing happens.
void move_off_processor(pthread_t thread, int processor);
// Processors' worth of time that control groups (v1 or v2, the tightest on the way to the root) grant; 0 without a
// limit. `root` goes before the system's paths, for tests.
double cpu_quota(std::string_view root = {});
// min(usable_cpus, quota rounded up), at least 1.
int default_threads();

// An Error of kIo for a failed call: "cannot <verb>: <the system's text for error_number>", where: the path.
Error io_error(std::string_view verb, std::string_view path, int error_number);

}  // namespace mica
