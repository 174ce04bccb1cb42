#include "plan/memory.h"

#include <algorithm>

namespace mica {
namespace {

bool overlap(const MemoryBlock& a, const MemoryBlock& b) { return a.first <= b.last && b.first <= a.last; }

// The lowest gap between already placed neighbours (sorted by offset) that holds `bytes`.
size_t lowest_gap(std::span<const MemoryBlock* const> neighbours, size_t bytes) {
  size_t at = 0;
  for (const MemoryBlock* n : neighbours) {
    if (n->offset >= at + bytes) break;
    at = std::max(at, n->offset + round_up(n->bytes, kBlockAlign));
  }
  return at;
}

}  // namespace

Result<size_t> plan_memory(std::span<MemoryBlock> blocks) {
  Vector<MemoryBlock*> order;
  Vector<const MemoryBlock*> placed, neighbours;
  MICA_TRY_STATUS(order.reserve(blocks.size()));
  MICA_TRY_STATUS(placed.reserve(blocks.size()));
  MICA_TRY_STATUS(neighbours.reserve(blocks.size()));
  for (MemoryBlock& block : blocks) {
    block.offset = 0;
    if (block.bytes) MICA_TRY_STATUS(order.push_back(&block));
  }
  std::sort(order.begin(), order.end(), [](const MemoryBlock* a, const MemoryBlock* b) {
    if (a->bytes != b->bytes) return a->bytes > b->bytes;
    return a->first != b->first ? a->first < b->first : a < b;
  });
  size_t total = 0;
  for (MemoryBlock* block : order) {
    neighbours.clear();
    for (const MemoryBlock* other : placed)   // `placed` stays sorted by offset
      if (overlap(*block, *other)) MICA_TRY_STATUS(neighbours.push_back(other));
    const size_t bytes = round_up(block->bytes, kBlockAlign);
    block->offset = lowest_gap({neighbours.data(), neighbours.size()}, bytes);
    MICA_CHECK(block->offset <= SIZE_MAX - bytes, kLimit, "the arena is larger than the address space");
    total = std::max(total, block->offset + bytes);
    MICA_TRY_STATUS(placed.push_back(block));
    std::rotate(std::upper_bound(placed.begin(), placed.end() - 1, block,
                                 [](const MemoryBlock* a, const MemoryBlock* b) { return a->offset < b->offset; }),
                placed.end() - 1, placed.end());
  }
  return total;
}

size_t live_bound(std::span<const MemoryBlock> blocks) {
  size_t bound = 0;
  for (const MemoryBlock& at : blocks) {   // the maximum is reached where some block begins
    size_t sum = 0;
    for (const MemoryBlock& b : blocks)
      if (b.first <= at.first && at.first <= b.last) sum += round_up(b.bytes, kBlockAlign);
    bound = std::max(bound, sum);
  }
  return bound;
}

}  // namespace mica
