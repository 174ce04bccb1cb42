// The C library's allocation functions, which stand before its own in a program that links heap.cc: they count, fail on
// demand and cap what is held. Under a sanitizer, which brings an allocator of its own, they only cap.
#pragma once

namespace mica::heap {

// Counts requests from here on, without failing any.
void count_requests();
// The `n`-th request from here on (from 1) fails, and with `and_after` all that follow.
void fail_at(long n, bool and_after);
// No request is counted or fails any more. Returns how many there were.
long stop_counting();
long held_blocks();  // by the whole program

inline constexpr int kTooMuchMemory = 77;
// One request or a sum from here on above so many bytes ends the program with kTooMuchMemory (under a sanitizer: with
// an abort that names the place).
void cap_at(long bytes);
void uncap();
long most_held_bytes();  // since cap_at

// Memory that nothing refers to any more; false where no sanitizer looks for it.
bool find_leaks();

}  // namespace mica::heap
