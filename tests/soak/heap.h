// How often memory is asked for.
#pragma once

namespace mica::soak {

void count_allocations();  // from here on, by all threads
long allocations();        // since then; counting ends

}  // namespace mica::soak
