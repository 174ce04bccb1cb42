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

using Before = bool (*)(const MemoryBlock*, const MemoryBlock*);

// Orders in which blocks are placed. By size reaches the bound on most networks; the others help where long-lived small
// blocks split the arena.
constexpr Before kOrders[] = {
    [](const MemoryBlock* a, const MemoryBlock* b) {
      if (a->bytes != b->bytes) return a->bytes > b->bytes;
      return a->first != b->first ? a->first < b->first : a < b;
    },
    [](const MemoryBlock* a, const MemoryBlock* b) {
      const uint32_t x = a->last - a->first, y = b->last - b->first;
      if (x != y) return x > y;
      return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
    },
    [](const MemoryBlock* a, const MemoryBlock* b) {
      const double x = static_cast<double>(a->bytes) * (a->last - a->first + 1),
                   y = static_cast<double>(b->bytes) * (b->last - b->first + 1);
      return x != y ? x > y : a < b;
    },
    [](const MemoryBlock* a, const MemoryBlock* b) {
      if (a->first != b->first) return a->first < b->first;
      return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
    },
};

struct Lists {
  Vector<MemoryBlock*> order;
  Vector<const MemoryBlock*> placed, neighbours;
};

Result<size_t> place_in_order(Lists& lists) {
  lists.placed.clear();
  size_t total = 0;
  for (MemoryBlock* block : lists.order) {
    lists.neighbours.clear();
    for (const MemoryBlock* other : lists.placed)  // `placed` stays sorted by offset
      if (overlap(*block, *other)) MICA_TRY_STATUS(lists.neighbours.push_back(other));
    const size_t bytes = round_up(block->bytes, kBlockAlign);
    block->offset = lowest_gap({lists.neighbours.data(), lists.neighbours.size()}, bytes);
    MICA_CHECK(block->offset <= SIZE_MAX - bytes, kLimit, "the arena is larger than the address space");
    total = std::max(total, block->offset + bytes);
    MICA_TRY_STATUS(lists.placed.push_back(block));
    std::rotate(std::upper_bound(lists.placed.begin(), lists.placed.end() - 1, block,
                                 [](const MemoryBlock* a, const MemoryBlock* b) { return a->offset < b->offset; }),
                lists.placed.end() - 1, lists.placed.end());
  }
  return total;
}

// Repairs an order: the block that sticks out furthest is placed first, then all are placed again. Ends at the bound,
// or with the best order of a fixed number of attempts (the result must not depend on anything else).
Result<size_t> improve(Lists& lists, size_t bound, size_t best) {
  constexpr size_t kAttempts = 48, kMostBlocks = 2000;
  Vector<MemoryBlock*> best_order;
  MICA_TRY_STATUS(best_order.assign(lists.order));
  MICA_TRY(size_t total, place_in_order(lists));
  for (size_t attempt = 0; attempt < kAttempts && total > bound && lists.order.size() <= kMostBlocks; ++attempt) {
    const auto top = std::max_element(
        lists.order.begin(), lists.order.end(),
        [](const MemoryBlock* a, const MemoryBlock* b) { return a->offset + a->bytes < b->offset + b->bytes; });
    std::rotate(lists.order.begin(), top, top + 1);
    MICA_TRY(total, place_in_order(lists));
    if (total >= best) continue;
    best = total;
    std::copy(lists.order.begin(), lists.order.end(), best_order.begin());
  }
  if (total == best) return total;
  std::copy(best_order.begin(), best_order.end(), lists.order.begin());
  return place_in_order(lists);
}

}  // namespace

Result<size_t> plan_memory(std::span<MemoryBlock> blocks) {
  Lists lists;
  MICA_TRY_STATUS(lists.order.reserve(blocks.size()));
  MICA_TRY_STATUS(lists.placed.reserve(blocks.size()));
  MICA_TRY_STATUS(lists.neighbours.reserve(blocks.size()));
  for (MemoryBlock& block : blocks) {
    block.offset = 0;
    if (block.bytes) MICA_TRY_STATUS(lists.order.push_back(&block));
  }
  const size_t bound = live_bound(blocks);
  size_t best = SIZE_MAX;
  Before best_order = kOrders[0];
  for (const Before before : kOrders) {
    std::sort(lists.order.begin(), lists.order.end(), before);
    MICA_TRY(const size_t total, place_in_order(lists));
    if (total == bound) return total;
    if (total < best) {
      best = total;
      best_order = before;
    }
  }
  std::sort(lists.order.begin(), lists.order.end(), best_order);
  return improve(lists, bound, best);
}

size_t live_bound(std::span<const MemoryBlock> blocks) {
  size_t bound = 0;
  for (const MemoryBlock& at : blocks) {  // the maximum is reached where some block begins
    size_t sum = 0;
    for (const MemoryBlock& b : blocks)
      if (b.first <= at.first && at.first <= b.last) sum += round_up(b.bytes, kBlockAlign);
    bound = std::max(bound, sum);
  }
  return bound;
}

}  // namespace mica
