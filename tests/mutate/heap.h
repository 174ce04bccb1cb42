// Memory that the program holds: one request or a sum above 1 GiB ends it with kTooMuchMemory (under a sanitizer: with
// an abort that names the place).
#pragma once
namespace mica::mutate {
inline constexpr int kTooMuchMemory = 77;
void watch_memory();  // counts from here on
void unwatch_memory();
long most_held_bytes();  // since watch_memory
// Memory that nothing refers to any more; false where no sanitizer looks for it.
bool find_leaks();
}  // namespace mica::mutate
