#include "kernels/move/move.h"

#include "base/parts.h"
#include "simd/simd.h"

namespace mica::MICA_ISA {
namespace {

template <int kBytes>
struct Element {
  char bytes[kBytes];
};

template <int kBytes>
MICA_INLINE void move(const char* from, char* to) {
  __builtin_memcpy(to, from, kBytes);
}

// Short rows by overlapping moves, long ones by the C library.
MICA_INLINE void copy_row(const char* from, char* to, int64_t n) {
  if (n > 64) {
    __builtin_memcpy(to, from, static_cast<size_t>(n));
    return;
  }
  if (n >= 16) {
    for (int64_t i = 0; i + 16 < n; i += 16) move<16>(from + i, to + i);
    move<16>(from + n - 16, to + n - 16);
  } else if (n >= 8) {
    move<8>(from, to);
    move<8>(from + n - 8, to + n - 8);
  } else if (n >= 4) {
    move<4>(from, to);
    move<4>(from + n - 4, to + n - 4);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

template <int kBytes>
void fill_row(const char* from, char* to, int64_t n) {
  Element<kBytes> e;
  __builtin_memcpy(&e, from, kBytes);
  for (int64_t i = 0; i < n; ++i) __builtin_memcpy(to + i * kBytes, &e, kBytes);
}

// Every second element, as pictures are parted: with the steps known, compilers move vectors.
template <int kBytes>
void copy_alternate(const char* __restrict from, char* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) move<kBytes>(from + i * 2 * kBytes, to + i * kBytes);
}

template <int kBytes>
void copy_strided(const char* from, char* to, const CopyAxis& axis, int64_t n) {
  if (kBytes <= 8 && axis.from == 2 * kBytes && axis.to == kBytes) return copy_alternate<kBytes>(from, to, n);
  for (int64_t i = 0; i < n; ++i) move<kBytes>(from + i * axis.from, to + i * axis.to);
}

// --- Transposition: element (r, c) goes from `from + r·from_pitch + c·e` to `to + c·to_pitch + r·e`. ---

// `load` and `store` take any alignment; through an array of words a vector would be split on its way.
MICA_INLINE I32 load_words(const char* p) { return load(reinterpret_cast<const int32_t*>(p)); }
MICA_INLINE void store_words(char* p, I32 v) { store(reinterpret_cast<int32_t*>(p), v); }

// A square of kLanes words.
MICA_INLINE void transpose_words(I32 (&rows)[kLanes], char* to, int64_t to_pitch) {
  F32 v[kLanes];
  MICA_UNROLL for (int i = 0; i < kLanes; ++i) v[i] = as_f32(rows[i]);
  transpose(v);
  MICA_UNROLL for (int i = 0; i < kLanes; ++i) store_words(to + i * to_pitch, as_i32(v[i]));
}

// kVectors: in vectors, which only elements of 1, 2 and 4 bytes are; trimmed builds may do without (base/parts.h).
template <int kBytes, bool kVectors>
struct Tile;

template <>
struct Tile<4, true> {
  static constexpr int kSide = kLanes;
  static MICA_INLINE void run(const char* from, int64_t from_pitch, char* to, int64_t to_pitch) {
    I32 rows[kLanes];
    MICA_UNROLL for (int i = 0; i < kLanes; ++i) rows[i] = load_words(from + i * from_pitch);
    transpose_words(rows, to, to_pitch);
  }
};

// Two rows of halves become words that hold a column's pair each; then words are transposed.
template <>
struct Tile<2, true> {
  [[maybe_unused]] static constexpr int kSide = 2 * kLanes;
  static MICA_INLINE void run(const char* from, int64_t from_pitch, char* to, int64_t to_pitch) {
    const I32 low = set1(0xffff), high = shift_left<16>(low);
    I32 even[kLanes], odd[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      const I32 a = load_words(from + 2 * i * from_pitch), b = load_words(from + (2 * i + 1) * from_pitch);
      even[i] = bit_or(bit_and(a, low), shift_left<16>(b));
      odd[i] = bit_or(shift_right<16>(a), bit_and(b, high));
    }
    transpose_words(even, to, 2 * to_pitch);
    transpose_words(odd, to + to_pitch, 2 * to_pitch);
  }
};

// Four rows of bytes become words that hold four rows of one column each.
template <>
struct Tile<1, true> {
  [[maybe_unused]] static constexpr int kSide = 4 * kLanes;
  static MICA_INLINE void run(const char* from, int64_t from_pitch, char* to, int64_t to_pitch) {
    const I32 even = set1(0x00ff00ff), odd = shift_left<8>(even), low = set1(0xffff), high = shift_left<16>(low);
    I32 columns[4][kLanes];
    for (int i = 0; i < kLanes; ++i) {
      const char* row = from + 4 * i * from_pitch;
      const I32 a = load_words(row), b = load_words(row + from_pitch), c = load_words(row + 2 * from_pitch),
                d = load_words(row + 3 * from_pitch);
      const I32 ab_even = bit_or(bit_and(a, even), shift_left<8>(bit_and(b, even)));
      const I32 ab_odd = bit_or(bit_and(shift_right<8>(a), even), bit_and(b, odd));
      const I32 cd_even = bit_or(bit_and(c, even), shift_left<8>(bit_and(d, even)));
      const I32 cd_odd = bit_or(bit_and(shift_right<8>(c), even), bit_and(d, odd));
      columns[0][i] = bit_or(bit_and(ab_even, low), shift_left<16>(cd_even));
      columns[1][i] = bit_or(bit_and(ab_odd, low), shift_left<16>(cd_odd));
      columns[2][i] = bit_or(shift_right<16>(ab_even), bit_and(cd_even, high));
      columns[3][i] = bit_or(shift_right<16>(ab_odd), bit_and(cd_odd, high));
    }
    for (int k = 0; k < 4; ++k) transpose_words(columns[k], to + k * to_pitch, 4 * to_pitch);
  }
};

template <int kBytes>
constexpr bool in_vectors() {
  return (kBytes == 1 && has_part("bytes", "1")) || (kBytes == 2 && has_part("bytes", "2")) ||
         (kBytes == 4 && has_part("bytes", "4"));
}

// Elements of 8 and 16 bytes fill half or all of a move: squares of 8 keep both sides within few cache lines.
template <int kBytes>
struct Tile<kBytes, false> {
  static constexpr int kSide = 8;
  static MICA_INLINE void run(const char* from, int64_t from_pitch, char* to, int64_t to_pitch) {
    for (int c = 0; c < kSide; ++c)
      for (int r = 0; r < kSide; ++r) move<kBytes>(from + r * from_pitch + c * kBytes, to + c * to_pitch + r * kBytes);
  }
};

// The words of a square that lie within rows and columns.
MICA_INLINE void transpose_part(const char* from, int64_t from_pitch, char* to, int64_t to_pitch, int rows,
                                int columns) {
  F32 v[kLanes];
  MICA_UNROLL for (int i = 0; i < kLanes; ++i) v[i] =
      i < rows ? as_f32(load_partial(reinterpret_cast<const int32_t*>(from + i * from_pitch), columns)) : zero();
  transpose(v);
  MICA_UNROLL for (int i = 0; i < kLanes; ++i) if (i < columns) {
    auto* p = reinterpret_cast<int32_t*>(to + i * to_pitch);
    if (rows == kLanes)
      store(p, as_i32(v[i]));
    else
      store_partial(p, as_i32(v[i]), rows);
  }
}

// The last squares of both sides begin where they still lie within the block, and move some elements again; blocks too
// small for that go by parts of squares, where there are any and enough elements.
template <int kBytes>
void transpose_block(const char* from, int64_t from_pitch, char* to, int64_t to_pitch, int64_t rows, int64_t columns) {
  using Square = Tile<kBytes, in_vectors<kBytes>()>;
  constexpr int64_t kSide = Square::kSide, kFew = 2 * kSide;
  constexpr bool kParts = kBytes == 4 && in_vectors<kBytes>() && has_part("operator", "transpose");
  const bool whole = rows >= kSide && columns >= kSide;
  if (whole || (kParts && rows * columns >= kFew)) {
    for (int64_t r = 0; r < rows; r += kSide)
      for (int64_t c = 0; c < columns; c += kSide) {
        const int64_t y = whole && r + kSide > rows ? rows - kSide : r;
        const int64_t x = whole && c + kSide > columns ? columns - kSide : c;
        const char* in = from + y * from_pitch + x * kBytes;
        char* out = to + x * to_pitch + y * kBytes;
        const int64_t height = rows - y < kSide ? rows - y : kSide, width = columns - x < kSide ? columns - x : kSide;
        if (whole)
          Square::run(in, from_pitch, out, to_pitch);
        else if constexpr (kParts)
          transpose_part(in, from_pitch, out, to_pitch, static_cast<int>(height), static_cast<int>(width));
      }
    return;
  }
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t k = 0; k < rows; ++k) move<kBytes>(from + k * from_pitch + c * kBytes, to + c * to_pitch + k * kBytes);
}

template <int kBytes>
void copy_piece(const CopyPlan& plan, const char* from, char* to, int64_t inner, int64_t cross) {
  const int64_t rest = plan.inner.size - inner, n = rest < plan.inner_block ? rest : plan.inner_block;
  from += inner * plan.inner.from;
  to += inner * plan.inner.to;
  if (plan.kind == CopyKind::kFill) return fill_row<kBytes>(from, to, n);
  if (plan.kind == CopyKind::kStrided) return copy_strided<kBytes>(from, to, plan.inner, n);
  const int64_t left = plan.cross.size - cross, columns = left < plan.cross_block ? left : plan.cross_block;
  transpose_block<kBytes>(from + cross * plan.cross.from, plan.inner.from, to + cross * plan.cross.to, plan.cross.to, n,
                          columns);
}

void copy_one(const CopyPlan& plan, const char* from, char* to, int64_t inner, int64_t cross) {
  switch (plan.element) {
    case 1: return copy_piece<1>(plan, from, to, inner, cross);
    case 2: return copy_piece<2>(plan, from, to, inner, cross);
    case 4: return copy_piece<4>(plan, from, to, inner, cross);
    case 8: return copy_piece<8>(plan, from, to, inner, cross);
    default: return copy_piece<16>(plan, from, to, inner, cross);
  }
}

// Where a copy stands among its outer axes, which are walked like an odometer.
struct Odometer {
  const char* from;
  char* to;
  int64_t at[kMaxCopyAxes];

  Odometer(const CopyPlan& plan, const char* begin, char* end, int64_t place) : from(begin), to(end) {
    for (int i = plan.outer; i-- > 0; place /= plan.axes[i].size) {
      at[i] = place % plan.axes[i].size;
      from += at[i] * plan.axes[i].from;
      to += at[i] * plan.axes[i].to;
    }
  }

  // On by so many places of the last axis, up to its end.
  void pass(const CopyPlan& plan, int64_t places) {
    for (int i = plan.outer; i-- > 0; places = 1) {
      const CopyAxis& axis = plan.axes[i];
      from += places * axis.from;
      to += places * axis.to;
      if ((at[i] += places) < axis.size) return;
      at[i] = 0;
      from -= axis.from * axis.size;
      to -= axis.to * axis.size;
    }
  }
};

// Task t: block t % blocks of the inner piece at outer place t / blocks. Whole rows along the last axis go together.
void copy(const CopyPlan& plan, const char* from, char* to, int64_t task_begin, int64_t task_end) {
  if (task_begin >= task_end) return;
  const int64_t blocks = plan.inner_blocks * plan.cross_blocks, last = plan.outer - 1;
  int64_t block = task_begin % blocks;
  Odometer o(plan, from, to, task_begin / blocks);
  for (int64_t task = task_begin; task < task_end;) {
    const int64_t inner = block % plan.inner_blocks * plan.inner_block;
    int64_t rows = 1;
    if (plan.kind == CopyKind::kRows) {
      const int64_t rest = plan.inner.size - inner, n = rest < plan.inner_block ? rest : plan.inner_block;
      const CopyAxis axis = last < 0 ? CopyAxis() : plan.axes[last];
      if (blocks == 1 && last >= 0)
        rows = axis.size - o.at[last] < task_end - task ? axis.size - o.at[last] : task_end - task;
      for (int64_t r = 0; r < rows; ++r) copy_row(o.from + inner + r * axis.from, o.to + inner + r * axis.to, n);
    } else {
      copy_one(plan, o.from, o.to, inner, block / plan.inner_blocks * plan.cross_block);
    }
    task += rows;
    if (++block < blocks) continue;
    block = 0;
    o.pass(plan, rows);
  }
}

}  // namespace

extern const MoveKernels move_kernels;
const MoveKernels move_kernels = {.copy = copy};

}  // namespace mica::MICA_ISA
