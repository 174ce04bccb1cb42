#include "kernels/eltwise/eltwise.h"

#include "kernels/eltwise/functions.inl"
#include "kernels/math/bytes.inl"
#include "types/pointwise_parts.h"

namespace mica::MICA_ISA {
namespace {

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

using UnaryFn = void (*)(const float* x, float* out, int64_t n, float a, float b);
using BinaryFn = void (*)(const float* x, const float* y, float* out, int64_t n);

template <Pointwise kF>
void unary(const float* x, float* out, int64_t n, float a, float b) {
  const F32 va = set1(a), vb = set1(b);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, function_of<kF>(load(x + i), va, vb));
  const int rest = static_cast<int>(n - i);
  if (rest) store_partial(out + i, function_of<kF>(load_partial(x + i, rest), va, vb), rest);
}

// Which argument is one number for the whole run.
enum class One { kNone, kSecond, kFirst };
template <Pointwise kF, One kOne>
void binary(const float* x, const float* y, float* out, int64_t n) {
  const F32 x0 = kOne == One::kFirst ? set1(*x) : zero(), y0 = kOne == One::kSecond ? set1(*y) : zero();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F32 u = kOne == One::kFirst ? x0 : load(x + i), v = kOne == One::kSecond ? y0 : load(y + i);
    store(out + i, function_of_two<kF>(u, v));
  }
  const int rest = static_cast<int>(n - i);
  if (rest == 0) return;
  const F32 u = kOne == One::kFirst ? x0 : load_partial(x + i, rest),
            v = kOne == One::kSecond ? y0 : load_partial(y + i, rest);
  store_partial(out + i, function_of_two<kF>(u, v), rest);
}

struct Tables {
  UnaryFn unary[kPointwiseCount];
  BinaryFn binary[kPointwiseCount][3];
};
template <int kIndex>
constexpr void fill(Tables& t) {
  constexpr auto kF = static_cast<Pointwise>(kIndex);
  if constexpr (!has_function(kF)) {
    // Hooks ask before they make a chain of it.
  } else if constexpr (kF < Pointwise::kAdd) {
    t.unary[kIndex] = unary<kF>;
  } else {
    t.binary[kIndex][0] = binary<kF, One::kNone>;
    t.binary[kIndex][1] = binary<kF, One::kSecond>;
    t.binary[kIndex][2] = binary<kF, One::kFirst>;
  }
  if constexpr (kIndex + 1 < kPointwiseCount) fill<kIndex + 1>(t);
}
constexpr Tables make_tables() {
  Tables t{};
  fill<0>(t);
  return t;
}
constexpr Tables kTables = make_tables();

// An operand's place in the current row, or in the first of several.
struct Cursor {
  const void* data;
  int64_t stride, step;  // from element to element, from row to row
  ChainType type;
  int64_t period = 0;
  const float* repeated = nullptr;  // a tile of periods, where there is one
};

// Elements of a few adjacent rows, from so many in on.
struct Block {
  int64_t rows, begin, columns;
};

bool is_f32(ChainType type) { return (!kWithHalfChains && !kWithByteChains) || type == ChainType::kF32; }

// Rows of a few elements, pairs of coordinates and the like: by columns, not row by row.
bool is_narrow(const Block& block) { return block.columns <= 4 && block.rows > 1; }

const void* offset_of(const void* data, ChainType type, int64_t elements) {
  const int64_t bytes = is_f32(type) ? 4 : !kWithByteChains || type < ChainType::kU8 ? 2 : 1;
  return static_cast<const char*>(data) + elements * bytes;
}

// kLanes or fewer bytes as floats.
MICA_INLINE F32 load_bytes(const uint8_t* p, ChainType type, int n) {
  const auto* codes = reinterpret_cast<const int8_t*>(p);
  if (type == ChainType::kU8) return to_f32(n == kLanes ? load_u8(p) : load_u8_partial(p, n));
  return to_f32(n == kLanes ? load_i8(codes) : load_i8_partial(codes, n));
}

// kLanes or fewer halves, as floats and back.
MICA_INLINE F32 load_halves(const uint16_t* p, ChainType type, int n) {
  if (type == ChainType::kF16) return n == kLanes ? load_f16(p) : load_f16_partial(p, n);
  return n == kLanes ? load_bf16(p) : load_bf16_partial(p, n);
}
MICA_INLINE void store_halves(uint16_t* p, ChainType type, F32 v, int n) {
  if (type == ChainType::kF16)
    n == kLanes ? store_f16(p, v) : store_f16_partial(p, v, n);
  else
    n == kLanes ? store_bf16(p, v) : store_bf16_partial(p, v, n);
}

// n elements side by side as floats.
void widen(const void* from, ChainType type, int64_t n, float* tile) {
  const auto* code = static_cast<const uint16_t*>(from);
  const auto* bytes = static_cast<const uint8_t*>(from);
  for (int64_t k = 0; k < n; k += kLanes) {
    const int left = static_cast<int>(least(kLanes, n - k));
    const bool halves = !kWithByteChains || type < ChainType::kU8;
    const F32 v = halves ? load_halves(code + k, type, left) : load_bytes(bytes + k, type, left);
    store_partial(tile + k, v, left);
  }
}

float number_at(const void* p, ChainType type) {
  if (is_f32(type)) return *static_cast<const float*>(p);
  float number;
  widen(p, type, 1, &number);
  return number;
}

// n floats side by side, all of them `one` where that is not null.
void copy_row(const float* from, const float* one, int64_t n, float* to) {
  const F32 same = one ? set1(*one) : zero();
  for (int64_t k = 0; k < n; k += kLanes) {
    const int left = static_cast<int>(least(kLanes, n - k));
    if (left == kLanes)
      store(to + k, one ? same : load(from + k));
    else
      store_partial(to + k, one ? same : load_partial(from + k, left), left);
  }
}

// A block of another layout, whose rows are adjacent: the last squares overlap.
void turn(const float* from, int64_t stride, const Block& block, float* tile) {
  const auto begin = [](int64_t at, int64_t end) { return at + kLanes < end ? at : end - kLanes; };
  for (int64_t k = 0; k < block.columns; k += kLanes)
    for (int64_t r = 0; r < block.rows; r += kLanes) {
      const int64_t column = begin(k, block.columns), row = begin(r, block.rows);
      F32 square[kLanes];
      MICA_UNROLL for (int i = 0; i < kLanes; ++i) square[i] = load(from + row + (column + i) * stride);
      transpose(square);
      MICA_UNROLL for (int i = 0; i < kLanes; ++i) store(tile + (row + i) * block.columns + column, square[i]);
    }
}

// Rows of kColumns floats. Of operands that repeat them, one number for each row or one row for all, the loads are few.
template <int kColumns>
void copy_narrow(const float* from, int64_t step, int64_t stride, int64_t rows, float* tile) {
  if (stride == 0)
    for (int64_t r = 0; r < rows; ++r)
      for (int k = 0; k < kColumns; ++k) tile[r * kColumns + k] = from[r * step];
  else if (stride == 1)
    for (int64_t r = 0; r < rows; ++r)
      for (int k = 0; k < kColumns; ++k) tile[r * kColumns + k] = from[r * step + k];
  else
    for (int64_t r = 0; r < rows; ++r)
      for (int k = 0; k < kColumns; ++k) tile[r * kColumns + k] = from[r * step + k * stride];
}

// A block as floats, row by row: in place where they are, else in `tile`.
const float* gathered(const Cursor& c, const Block& block, float* tile) {
  const int64_t n = block.columns;
  const void* p = offset_of(c.data, c.type, block.begin * c.stride);
  const auto* floats = static_cast<const float*>(p);
  const bool plain = is_f32(c.type);
  if (plain && c.stride == 1 && (block.rows == 1 || c.step == n)) return floats;
  if ((c.stride == 1 || c.stride == 0) && !is_narrow(block)) {
    for (int64_t r = 0; r < block.rows; ++r) {
      const void* row = offset_of(p, c.type, r * c.step);
      const float one = c.stride == 0 ? number_at(row, c.type) : 0;
      if (plain || c.stride == 0)
        copy_row(static_cast<const float*>(row), c.stride == 0 ? &one : nullptr, n, tile + r * n);
      else
        widen(row, c.type, n, tile + r * n);
    }
    return tile;
  }
  if (plain && c.step == 1 && !is_narrow(block) && n >= kLanes && block.rows >= kLanes) {
    turn(floats, c.stride, block, tile);
    return tile;
  }
  if (plain && is_narrow(block) && n > 1) {
    (n == 2 ? copy_narrow<2> : n == 3 ? copy_narrow<3> : copy_narrow<4>)(floats, c.step, c.stride, block.rows, tile);
    return tile;
  }
  for (int64_t k = 0; k < n; ++k)
    for (int64_t r = 0; r < block.rows; ++r) {
      const int64_t place = r * c.step + k * c.stride;
      tile[r * n + k] = plain ? floats[place] : number_at(offset_of(p, c.type, place), c.type);
    }
  return tile;
}

template <class To>
void scatter_bytes(const float* tile, To* to, int64_t stride, int64_t n) {
  int64_t k = 0;
  for (; stride == 1 && k + kBytesTogether <= n; k += kBytesTogether) bytes_of(tile + k, to + k);
  for (; k < n; ++k) to[k * stride] = from_float<To>(tile[k]);
}

void scatter_row(const float* tile, void* to, ChainType type, int64_t stride, int64_t n) {
  if (is_f32(type)) {
    auto* out = static_cast<float*>(to);
    if (stride == 1) return copy_row(tile, nullptr, n, out);
    for (int64_t k = 0; k < n; ++k) out[k * stride] = tile[k];
    return;
  }
  if (kWithByteChains && type == ChainType::kU8) return scatter_bytes(tile, static_cast<uint8_t*>(to), stride, n);
  if (kWithByteChains && type == ChainType::kI8) return scatter_bytes(tile, static_cast<int8_t*>(to), stride, n);
  auto* code = static_cast<uint16_t*>(to);
  const int64_t step = stride == 1 ? kLanes : 1;
  for (int64_t k = 0; k < n; k += step) {
    const int left = static_cast<int>(least(step, n - k));
    store_halves(code + k * stride, type, load_partial(tile + k, left), left);
  }
}

void apply_step(const ChainStep& step, const Cursor& operand, const Block& block, const float* value, float* to) {
  const int64_t n = block.rows * block.columns;
  const auto f = static_cast<int>(step.function);
  if (kTables.unary[f]) return kTables.unary[f](value, to, n, step.a, step.b);
  alignas(64) float tile[kChainTile];
  const BinaryFn* forms = kTables.binary[f];
  if (operand.stride == 0 && (operand.step == 0 || !is_narrow(block))) {  // one number for each row, or for all
    const int64_t together = block.rows == 1 || operand.step == 0 ? n : block.columns;
    const void* place = operand.data;
    for (int64_t i = 0; i < n; i += together, place = offset_of(place, operand.type, operand.step)) {
      const float one = number_at(place, operand.type);
      if (step.swapped)
        forms[2](&one, value + i, to + i, together);
      else
        forms[1](value + i, &one, to + i, together);
    }
    return;
  }
  const float* other = operand.repeated ? operand.repeated : gathered(operand, block, tile);
  if (step.swapped)
    forms[0](other, value, to, n);
  else
    forms[0](value, other, to, n);
}

// What normalisation leaves of itself, x · y + z, and a ReLU behind it: one pass of the chain instead of three.
constexpr bool kWithAffine = has_function(Pointwise::kMul) && has_function(Pointwise::kAdd);

template <bool kRelu>
void affine(const float* x, const float* y, const float* z, float* out, int64_t n) {
  const auto of = [](F32 u, F32 v, F32 w) {
    const F32 sum = function_of_two<Pointwise::kAdd>(function_of_two<Pointwise::kMul>(u, v), w);
    if constexpr (kRelu) return function_of<Pointwise::kRelu>(sum, zero(), zero());
    return sum;
  };
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, of(load(x + i), load(y + i), load(z + i)));
  const int rest = static_cast<int>(n - i);
  if (rest == 0) return;
  store_partial(out + i, of(load_partial(x + i, rest), load_partial(y + i, rest), load_partial(z + i, rest)), rest);
}

// An operand's elements where they lie side by side; else null.
const float* adjacent(const Cursor& c, const Block& block) {
  if (c.repeated) return c.repeated;
  const bool lies = is_f32(c.type) && c.stride == 1 && (block.rows == 1 || c.step == block.columns);
  return lies ? static_cast<const float*>(offset_of(c.data, c.type, block.begin)) : nullptr;
}

struct Rows {
  Cursor in, operands[kMaxChainSteps] = {}, out;
};

// How many steps from the first on are one pass: 2 or 3 of `affine`, or 1.
int steps_together(const ChainArgs& args, const Rows& rows, int first, const Block& block) {
  if (!kWithAffine || first + 1 >= args.count) return 1;
  const ChainStep* step = args.steps + first;
  if (step[0].function != Pointwise::kMul || step[1].function != Pointwise::kAdd) return 1;
  if (!adjacent(rows.operands[first], block) || !adjacent(rows.operands[first + 1], block)) return 1;
  return first + 2 < args.count && step[2].function == Pointwise::kRelu ? 3 : 2;
}

// A tile of whole periods, at least one, from the cursor's first element on; returns its length.
int64_t repeat(const Cursor& c, int64_t most, float* tile) {
  const float* from = gathered(c, {1, 0, c.period}, tile);
  int64_t n = 0;
  for (; n + c.period <= most; n += c.period)
    if (from != tile || n > 0) copy_row(from, nullptr, c.period, tile + n);
  return n;
}

// Elements `begin` to `end` of adjacent rows; `begin` is at the start of a period.
void run_rows(const ChainArgs& args, Rows& rows, int64_t count, int64_t begin, int64_t end) {
  // All periods together fill half of a first-level cache at most.
  alignas(64) float tile[kChainTile], periods[2 * kChainTile];
  int64_t length = args.columns, repeated = 0;
  for (int s = 0; s < args.count; ++s) repeated += args.steps[s].operand.period > 0;
  const int64_t room = repeated > 2 ? 2 * kChainTile / repeated / 16 * 16 : kChainTile;
  for (int s = 0, p = 0; s < args.count; ++s) {
    if (args.steps[s].operand.period == 0) continue;
    float* to = periods + room * p++;
    length = repeat(rows.operands[s], least(room, end - begin), to);
    rows.operands[s].repeated = to;
  }
  const Cursor& to = rows.out;
  for (int64_t i = begin; i < end; i += length) {
    const Block block{count, i, least(length, end - i)};
    auto* out = const_cast<void*>(offset_of(to.data, to.type, i * to.stride));
    const bool direct = is_f32(to.type) && to.stride == 1 && (count == 1 || to.step == block.columns);
    const float* value = gathered(rows.in, block, tile);
    for (int s = 0, steps; s < args.count; s += steps) {
      steps = steps_together(args, rows, s, block);
      float* result = direct && s + steps == args.count ? static_cast<float*>(out) : tile;
      if (!kWithAffine || steps == 1)
        apply_step(args.steps[s], rows.operands[s], block, value, result);
      else
        (steps == 3 ? affine<true> : affine<false>)(value, adjacent(rows.operands[s], block),
                                                    adjacent(rows.operands[s + 1], block), result,
                                                    count * block.columns);
      value = result;
    }
    if (args.count > 0 && direct) continue;
    for (int64_t r = 0; r < count; ++r)
      scatter_row(value + r * block.columns, const_cast<void*>(offset_of(out, to.type, r * to.step)), to.type,
                  to.stride, block.columns);
  }
}

Cursor cursor_of(const ChainArgs& args, const ChainOperand& operand, void* const* operands, const int64_t* index) {
  int64_t offset = 0;
  for (int i = 0; i + 1 < args.loops; ++i) offset += index[i] * operand.strides[i];
  return {offset_of(operands[operand.slot], operand.type, offset), operand.strides[args.loops - 1],
          args.loops > 1 ? operand.strides[args.loops - 2] : 0, operand.type, operand.period};
}

// On to the rows behind so many.
void pass(const ChainArgs& args, Rows& rows, int64_t count) {
  const auto on = [&](Cursor& c) { c.data = offset_of(c.data, c.type, count * c.step); };
  on(rows.in);
  on(rows.out);
  for (int s = 0; s < args.count; ++s) on(rows.operands[s]);
}

void run(const ChainArgs& args, void* const* operands, int64_t begin, int64_t end) {
  const int64_t inner = args.dims[args.loops - 1];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t first = task % args.chunks * args.chunk, last = least(inner, first + args.chunk);
    int64_t row = task / args.chunks * args.row_block;
    const int64_t row_end = least(args.all_rows, row + args.row_block);
    while (row < row_end) {
      int64_t index[kMaxChainLoops] = {}, rest = row;
      for (int i = args.loops - 1; i-- > 0;) {
        index[i] = rest % args.dims[i];
        rest /= args.dims[i];
      }
      Rows rows;
      rows.in = cursor_of(args, args.in, operands, index);
      rows.out = cursor_of(args, args.out, operands, index);
      for (int s = 0; s < args.count; ++s)
        if (!kTables.unary[static_cast<int>(args.steps[s].function)])
          rows.operands[s] = cursor_of(args, args.steps[s].operand, operands, index);
      const int outer = args.loops - 2;
      const int64_t left = outer >= 0 ? args.dims[outer] - index[outer] : 1;
      for (const int64_t stop = row + least(left, row_end - row); row < stop;) {
        const int64_t count = least(args.rows, stop - row);
        run_rows(args, rows, count, first, last);
        row += count;
        pass(args, rows, count);
      }
    }
  }
}

void apply(Pointwise f, const float* x, const float* y, float* out, int64_t n, float a, float b) {
  const auto i = static_cast<int>(f);
  if (kTables.unary[i])
    kTables.unary[i](x, out, n, a, b);
  else
    kTables.binary[i][0](x, y, out, n);
}

}  // namespace

extern const EltwiseKernels eltwise_kernels;
const EltwiseKernels eltwise_kernels = {.run = run, .apply = apply};

}  // namespace mica::MICA_ISA
