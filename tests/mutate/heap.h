// Memory that the program holds: one request or a sum above 1 GiB ends it with kTooMuchMemory.
#pragma once
namespace mica::mutate {
inline constexpr int kTooMuchMemory = 77;
void watch_memory();  // counts from here on
}  // namespace mica::mutate
