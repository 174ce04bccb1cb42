#include "plan/memory.h"

#include <algorithm>
#include <cmath>

namespace mica {
namespace {

bool overlap(const MemoryBlock& a, const MemoryBlock& b) { return a.first <= b.last && b.first <= a.last; }

size_t room_of(const MemoryBlock& block) { return round_up(block.bytes, kBlockAlign); }

// Memory from `begin` to `end` that is free while some block is alive, and holds it.
struct Gap {
  size_t begin, end;
};

// Calls use(gap) for the gaps of `block` between those in `placed` (sorted by offset), from the lowest on, while it
// returns true.
template <class Use>
void for_each_gap(std::span<MemoryBlock* const> placed, const MemoryBlock& block, size_t end, const Use& use) {
  size_t at = 0;
  for (const MemoryBlock* other : placed) {
    if (other == &block || !overlap(block, *other)) continue;
    if (other->offset >= at && other->offset - at >= room_of(block) && !use(Gap{at, other->offset})) return;
    at = std::max(at, other->offset + room_of(*other));
  }
  if (at <= end && end - at >= room_of(block)) use(Gap{at, end});
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
  Vector<MemoryBlock*> order, placed;  // placed: sorted by offset
};

void sort_order(Lists& lists, Before before) {  // by a heap: half the code of std::sort
  std::partial_sort(lists.order.begin(), lists.order.end(), lists.order.end(), before);
}

// The block `at` goes to its place among the others, which are sorted.
void sort_in(std::span<MemoryBlock*> placed, size_t at) {
  for (; at > 0 && placed[at - 1]->offset > placed[at]->offset; --at) std::swap(placed[at - 1], placed[at]);
  for (; at + 1 < placed.size() && placed[at + 1]->offset < placed[at]->offset; ++at)
    std::swap(placed[at + 1], placed[at]);
}

// Where blocks stand so that memory stays with its thread. Threads share a block by equal parts of adjacent rows: of
// two blocks that have the same memory at different times, what is between their middles changes hands, and has to come
// from another processor's caches (with two threads; with more, middles that agree keep more than others).
class Owners {
 public:
  Owners(const Vector<MemoryBlock*>& placed, size_t arena) : placed_(placed), arena_(arena) {}

  // Sets `offset` to where least changes hands, weighed by how soon it does. False: nowhere is room.
  bool settle(MemoryBlock& block);

 private:
  struct Neighbour {
    float begin, end, middle, weight;
  };
  static constexpr int kMostNeighbours = 128, kMostAims = 32;
  static constexpr int64_t kFarthest = 64, kFarthestAim = 16;  // steps
  static constexpr size_t kLeastBytes = 4096;                  // below, a block is one thread's

  void look_around(const MemoryBlock& block);
  float cost(const MemoryBlock& block, size_t at, float most) const;

  const Vector<MemoryBlock*>& placed_;
  size_t arena_;
  int neighbours_ = 0, aims_ = 0;
  Neighbour neighbour_[kMostNeighbours];
  size_t aim_[kMostAims];  // middles: its own, and those of the nearest
};

void Owners::look_around(const MemoryBlock& block) {
  neighbours_ = 0;
  aims_ = 1;
  aim_[0] = block.offset + block.bytes / 2;  // where it is
  if (block.bytes < kLeastBytes) return;
  for (const MemoryBlock* other : placed_) {
    const int64_t steps =
        block.first > other->last ? int64_t{block.first} - other->last : int64_t{other->first} - block.last;
    if (steps < 1 || steps > kFarthest || other->bytes < kLeastBytes || neighbours_ == kMostNeighbours) continue;
    const float at = static_cast<float>(other->offset), bytes = static_cast<float>(other->bytes);
    neighbour_[neighbours_++] = {at, at + bytes, at + bytes / 2, 1 / static_cast<float>(steps)};
    const size_t middle = other->offset + other->bytes / 2;
    if (steps > kFarthestAim || aims_ == kMostAims || std::find(aim_, aim_ + aims_, middle) != aim_ + aims_) continue;
    aim_[aims_++] = middle;
  }
}

// Of `block` at the offset `at`; the sum ends when it reaches `most`.
float Owners::cost(const MemoryBlock& block, size_t at, float most) const {
  const float begin = static_cast<float>(at), end = begin + static_cast<float>(block.bytes), middle = (begin + end) / 2;
  float sum = 0;
  for (int i = 0; i < neighbours_ && sum < most; ++i) {
    const Neighbour& other = neighbour_[i];
    const float from = std::max({std::min(middle, other.middle), begin, other.begin});
    const float to = std::min({std::max(middle, other.middle), end, other.end});
    sum += std::max(to - from, 0.0f) * other.weight;
  }
  return sum;
}

bool Owners::settle(MemoryBlock& block) {
  look_around(block);
  size_t best = SIZE_MAX;
  float least = INFINITY;
  const auto consider = [&](size_t at) {
    const float sum = cost(block, at, least);
    if (sum < least) least = sum, best = at;
  };
  for_each_gap(placed_, block, arena_, [&](Gap gap) {
    const size_t last = gap.end - room_of(block);
    consider(gap.begin);
    consider(last);
    for (int i = 0; i < aims_; ++i) {
      const size_t at = (aim_[i] - std::min(aim_[i], block.bytes / 2)) / kBlockAlign * kBlockAlign;
      if (gap.begin < at && at < last) consider(at);
    }
    return true;
  });
  if (best != SIZE_MAX) block.offset = best;
  return best != SIZE_MAX;
}

// Places the blocks one by one where the lowest gap is, or where `owners` would have them; returns the size of the
// arena, SIZE_MAX when it is too small for owners.
Result<size_t> place_in_order(Lists& lists, Owners* owners = nullptr) {
  lists.placed.clear();
  size_t total = 0;
  for (MemoryBlock* block : lists.order) {
    if (owners) {
      if (!owners->settle(*block)) return SIZE_MAX;
    } else {
      block->offset = SIZE_MAX;
      for_each_gap(lists.placed, *block, SIZE_MAX, [&](Gap gap) {
        block->offset = gap.begin;
        return false;
      });
    }
    MICA_CHECK(block->offset <= SIZE_MAX - room_of(*block), kLimit, "the arena is larger than the address space");
    total = std::max(total, block->offset + room_of(*block));
    MICA_TRY_STATUS(lists.placed.push_back(block));
    sort_in(lists.placed, lists.placed.size() - 1);
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
    auto top = std::max_element(lists.order.begin(), lists.order.end(), [](const MemoryBlock* a, const MemoryBlock* b) {
      return a->offset + a->bytes < b->offset + b->bytes;
    });
    for (; top > lists.order.begin(); --top) std::swap(top[-1], top[0]);
    MICA_TRY(total, place_in_order(lists));
    if (total >= best) continue;
    best = total;
    std::copy(lists.order.begin(), lists.order.end(), best_order.begin());
  }
  if (total == best) return total;
  std::copy(best_order.begin(), best_order.end(), lists.order.begin());
  return place_in_order(lists);
}

// A plan that is as small as can be found. Of `lists`, the order becomes the one that gave it.
Result<size_t> smallest(Lists& lists, size_t bound) {
  size_t best = SIZE_MAX;
  Before best_order = kOrders[0];
  for (const Before before : kOrders) {
    sort_order(lists, before);
    MICA_TRY(const size_t total, place_in_order(lists));
    if (total == bound) return total;
    if (total < best) {
      best = total;
      best_order = before;
    }
  }
  sort_order(lists, best_order);
  return improve(lists, bound, best);
}

// Moves the blocks of a plan within its arena: all are placed anew, unless they need more then, and go on from there.
Status keep_owners(Lists& lists, size_t arena) {
  constexpr int kRounds = 2;  // a third gains a tenth of the second
  Owners owners(lists.placed, arena);
  MICA_TRY(size_t placed, place_in_order(lists, &owners));
  if (placed > arena) {
    MICA_TRY(placed, place_in_order(lists));
  }
  sort_order(lists, kOrders[2]);
  for (int round = 0; round < kRounds; ++round) {
    for (MemoryBlock* block : lists.order) {
      owners.settle(*block);
      sort_in(lists.placed,
              static_cast<size_t>(std::find(lists.placed.begin(), lists.placed.end(), block) - lists.placed.begin()));
    }
  }
  return {};
}

}  // namespace

Result<size_t> plan_memory(std::span<MemoryBlock> blocks, int threads) {
  Lists lists;
  MICA_TRY_STATUS(lists.order.reserve(blocks.size()));
  MICA_TRY_STATUS(lists.placed.reserve(blocks.size()));
  for (MemoryBlock& block : blocks) {
    block.offset = 0;
    if (block.bytes) MICA_TRY_STATUS(lists.order.push_back(&block));
  }
  MICA_TRY(const size_t arena, smallest(lists, live_bound(blocks)));
  if (threads > 1) MICA_TRY_STATUS(keep_owners(lists, arena));
  return arena;
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
