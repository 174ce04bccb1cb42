// Where blocks of memory with known lifetimes go in one arena.
//
// Goal: the arena is as large as the largest set of blocks alive at one time, which greedy placement by size reaches on
// the networks measured; within that size, memory stays with the thread that used it last. Non-goals: recomputation,
// reordering. Cost: O(n²) in the number of blocks.
#pragma once
#include "base/vector.h"

namespace mica {

struct MemoryBlock {
  size_t bytes = 0;
  uint32_t first = 0, last = 0;  // steps between which the block is alive, both inclusive
  size_t offset = 0;             // the result
};

inline constexpr size_t kBlockAlign = 64;

// Fills offsets (multiples of kBlockAlign) and returns the arena's size, which does not depend on the number of threads
// that share each block by equal parts of adjacent rows. Blocks of 0 bytes get offset 0.
Result<size_t> plan_memory(std::span<MemoryBlock> blocks, int threads = 1);
// The largest sum of (aligned) bytes alive at one step: no plan can be smaller.
size_t live_bound(std::span<const MemoryBlock> blocks);

}  // namespace mica
