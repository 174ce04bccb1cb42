// What all register tiles share: their size, where their columns begin, and pointers to their rows. Included by
// tile.inl and plain.inl.
#pragma once
#include "kernels/gemm/tile.h"
#include "kernels/pack/pack.h"
#include "simd/simd.h"

namespace mica::MICA_ISA {

inline constexpr int kPanelVectors = kPanel / kLanes;

// Panels and rows of the main tile: sums, one row of B, and two registers for values of A fit the register file
// (avx512 14 x 32, avx2 6 x 16, neon 6 x 16, sse2 2 x 16). A multiply-add takes 4 cycles and two start in each, so that
// 8 sums in flight are the least; few rows therefore take more panels at a time.
inline constexpr int kMainPanels = kLanes == kPanel ? 2 : 1;
inline constexpr int kMaxRows = (kRegisters - kMainPanels * kPanelVectors - 2) / (kMainPanels * kPanelVectors);
static_assert(kMaxRows <= kMostRows);

// The j-th vector of panels side by side, at the step of k that `panel` stands at.
MICA_INLINE F32 panel_vector(const float* panel, int64_t panel_stride, int j) {
  return load(panel + j / kPanelVectors * panel_stride + j % kPanelVectors * kLanes);
}

// Asks for the lines of P panels 4 KiB ahead, 64 steps of k, but for none behind `last_line`.
inline constexpr int64_t kAhead = 64 * kPanel;
template <int P>
MICA_INLINE void prefetch_panels(const float* panel, int64_t panel_stride, const float* last_line) {
  const float* const ahead = panel + kAhead < last_line ? panel + kAhead : last_line;
  MICA_UNROLL for (int p = 0; p < P; ++p) prefetch(ahead + p * panel_stride);
}

// What the tile needs beside the block: where its columns begin.
struct TilePlace {
  MICA_INLINE static const float* end_of(const RowBlock& block) {
    const int64_t depth = block.segment_count * block.segment_k;
    if (block.b_end) return block.b_end + block.panel_stride - kPanel;
    return depth > 0 ? block.b + block.panel_end * block.panel_stride + (depth - 1) * kPanel : block.b;
  }

  MICA_INLINE static TilePlace first_of(const RowBlock& block) {
    const int64_t first = block.panel_begin * kPanel;
    const float* const bias = block.epilogue->bias;
    return {block.b + block.panel_begin * block.panel_stride,
            block.c + first,
            block.c_stride,
            bias ? bias + first : nullptr,
            block.residual ? block.residual + first : nullptr,
            end_of(block),
            block.n - first};
  }

  // On to the columns beside `width` of them, whose panels of B the caller passes.
  MICA_INLINE void pass_columns(int64_t width) {
    c += width;
    columns -= width;
    if (bias) bias += width;
    if (residual) residual += width;
  }

  const float* b;
  float* c;
  int64_t c_stride;
  const float* bias;      // P * 16 floats, or null
  const float* residual;  // at the tile's first element, or null
  // The last line of the panel that would be next behind the weights. As many panels before it as a tile has is as far
  // as a tile looks ahead, since pages behind the weights may be gone (what Winograd's layers have replaced is given
  // back): asking for a line of such a page takes hundreds of cycles each time, for the processor looks for it and
  // keeps nothing of what it did not find.
  const float* end;
  int64_t columns;               // of C from the tile's first on; fewer than the tile's where it may_reach_beyond
  const float* fetch = nullptr;  // to fetch, a line at every fetch_period-th step of k; or null
  int64_t fetch_period = INT64_MAX;
  bool fetch_near = false;
};

// What a tile fetches between its multiply-adds.
struct TileFetch {
  MICA_INLINE explicit TileFetch(const TilePlace& at) : next(at.fetch), wait(at.fetch_period - 1) {}

  MICA_INLINE void step(const TilePlace& at, int64_t steps = 1) {
    for (wait -= steps; wait < 0; wait += at.fetch_period) {
      if (at.fetch_near)
        prefetch(next);
      else
        prefetch_far(next);
      next += kPanel;
    }
  }

  const float* next;
  int64_t wait;  // steps before the next one
};

// One pointer for each three rows of A: so many registers suffice for 14 rows, since x86 adds one and two strides to an
// address for nothing. The empty statements keep the compiler from another set of pointers that would not fit.
template <int R>
struct RowPointers {
  static constexpr int kRows = 3, kCount = (R + kRows - 1) / kRows;

  MICA_INLINE RowPointers(const float* a, int64_t row_stride) : stride(row_stride) {
    at[0] = a;
    MICA_UNROLL for (int g = 1; g < kCount; ++g) {
      at[g] = at[g - 1] + kRows * stride;
      asm("" : "+r"(at[g]));
    }
  }
  MICA_INLINE const float* row(int i) const { return at[i / kRows] + i % kRows * stride; }
  MICA_INLINE void advance(int steps = 1) {
    MICA_UNROLL for (int g = 0; g < kCount; ++g) {
      at[g] += steps;
      asm("" : "+r"(at[g]));
    }
  }

  const float* at[kCount];
  int64_t stride;
};

}  // namespace mica::MICA_ISA
