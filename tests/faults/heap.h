// The C library's allocation functions, made to fail on demand. They stand before the library's own in the program.
#pragma once

namespace mica::faults {

// The `n`-th request from here on (from 1) fails, and with `and_after` all that follow.
void fail_at(long n, bool and_after);
// No request fails any more. Returns how many there were.
long stop_failing();
long held_blocks();  // by the whole program

}  // namespace mica::faults
