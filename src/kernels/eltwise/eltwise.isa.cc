#include "kernels/eltwise/eltwise.h"

#include "kernels/eltwise/functions.inl"
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

// An operand's place in the current row.
struct Cursor {
  const void* data;
  int64_t stride;
  ChainType type;
  int64_t period = 0;
  const float* repeated = nullptr;  // a tile of periods, where there is one
};

const void* offset_of(const void* data, ChainType type, int64_t elements) {
  const int64_t bytes = type == ChainType::kF32 ? 4 : !kWithByteChains || type < ChainType::kU8 ? 2 : 1;
  return static_cast<const char*>(data) + elements * bytes;
}

// kLanes or fewer bytes as floats.
MICA_INLINE F32 load_bytes(const uint8_t* p, ChainType type, int n) {
  const auto* codes = reinterpret_cast<const int8_t*>(p);
  if (type == ChainType::kU8) return to_f32(n == kLanes ? load_u8(p) : load_u8_partial(p, n));
  return to_f32(n == kLanes ? load_i8(codes) : load_i8_partial(codes, n));
}

// n elements side by side as floats.
void widen(const void* from, ChainType type, int64_t n, float* tile) {
  const auto* code = static_cast<const uint16_t*>(from);
  const auto* bytes = static_cast<const uint8_t*>(from);
  for (int64_t k = 0; k < n; k += kLanes) {
    const int left = static_cast<int>(least(kLanes, n - k));
    if (kWithByteChains && type >= ChainType::kU8)
      store_partial(tile + k, load_bytes(bytes + k, type, left), left);
    else
      store_partial(tile + k,
                    type == ChainType::kF16 ? load_f16_partial(code + k, left) : load_bf16_partial(code + k, left),
                    left);
  }
}

float number_at(const Cursor& c, int64_t i) {
  const void* p = offset_of(c.data, c.type, i * c.stride);
  if (c.type == ChainType::kF32) return *static_cast<const float*>(p);
  float number;
  widen(p, c.type, 1, &number);
  return number;
}

// n elements from the i-th on as floats: in place where they are, else in `tile`.
const float* gathered(const Cursor& c, int64_t i, int64_t n, float* tile) {
  const void* p = offset_of(c.data, c.type, i * c.stride);
  if (c.type == ChainType::kF32) {
    const auto* from = static_cast<const float*>(p);
    if (c.stride == 1) return from;
    for (int64_t k = 0; k < n; ++k) tile[k] = from[k * c.stride];
    return tile;
  }
  if (c.stride != 1) {
    for (int64_t k = 0; k < n; ++k) tile[k] = number_at(c, i + k);
    return tile;
  }
  widen(p, c.type, n, tile);
  return tile;
}

void scatter(const float* tile, void* to, ChainType type, int64_t stride, int64_t n) {
  if (type == ChainType::kF32) {
    auto* out = static_cast<float*>(to);
    for (int64_t k = 0; k < n; ++k) out[k * stride] = tile[k];
    return;
  }
  auto* code = static_cast<uint16_t*>(to);
  const int64_t step = stride == 1 ? kLanes : 1;
  for (int64_t k = 0; k < n; k += step) {
    const int left = static_cast<int>(least(step, n - k));
    const F32 v = load_partial(tile + k, left);
    if (type == ChainType::kF16)
      store_f16_partial(code + k * stride, v, left);
    else
      store_bf16_partial(code + k * stride, v, left);
  }
}

void apply_step(const ChainStep& step, const Cursor& operand, int64_t i, const float* value, float* to, int64_t n) {
  const auto f = static_cast<int>(step.function);
  if (kTables.unary[f]) return kTables.unary[f](value, to, n, step.a, step.b);
  alignas(64) float tile[kChainTile];
  const BinaryFn* forms = kTables.binary[f];
  if (operand.stride == 0) {
    const float one = number_at(operand, 0);
    return step.swapped ? forms[2](&one, value, to, n) : forms[1](value, &one, to, n);
  }
  const float* other = operand.repeated ? operand.repeated : gathered(operand, i, n, tile);
  if (step.swapped)
    forms[0](other, value, to, n);
  else
    forms[0](value, other, to, n);
}

struct Row {
  Cursor in, operands[kMaxChainSteps];
  void* out;
};

// A tile of whole periods, from the cursor's first element on; returns its length.
int64_t repeat(const Cursor& c, int64_t most, float* tile) {
  const float* from = gathered(c, 0, c.period, tile);
  int64_t n = 0;
  for (; n + c.period <= least(kChainTile, most); n += c.period)
    for (int64_t k = from == tile && n == 0 ? c.period : 0; k < c.period; k += kLanes) {
      const int left = static_cast<int>(least(kLanes, c.period - k));
      store_partial(tile + n + k, load_partial(from + k, left), left);
    }
  return n;
}

// `begin` is at the start of a period.
void run_row(const ChainArgs& args, Row& row, int64_t begin, int64_t end) {
  alignas(64) float tile[kChainTile], periods[kMaxChainPeriods][kChainTile];
  int64_t length = kChainTile;
  for (int s = 0, p = 0; s < args.count; ++s) {
    if (args.steps[s].operand.period == 0) continue;
    length = repeat(row.operands[s], end - begin, periods[p]);
    row.operands[s].repeated = periods[p++];
  }
  const int64_t out_stride = args.out.strides[args.loops - 1];
  const bool direct = args.out.type == ChainType::kF32 && out_stride == 1;
  for (int64_t i = begin; i < end; i += length) {
    const int64_t n = least(length, end - i);
    auto* out = static_cast<char*>(row.out) + i * out_stride * (args.out.type == ChainType::kF32 ? 4 : 2);
    const float* value = gathered(row.in, i, n, tile);
    for (int s = 0; s < args.count; ++s) {
      float* to = direct && s + 1 == args.count ? reinterpret_cast<float*>(out) : tile;
      apply_step(args.steps[s], row.operands[s], i, value, to, n);
      value = to;
    }
    if (args.count == 0 && direct)
      kTables.unary[static_cast<int>(Pointwise::kIdentity)](value, reinterpret_cast<float*>(out), n, 0, 0);
    else if (!direct)
      scatter(value, out, args.out.type, out_stride, n);
  }
}

Cursor cursor_of(const ChainArgs& args, const ChainOperand& operand, void* const* operands, const int64_t* index) {
  int64_t offset = 0;
  for (int i = 0; i + 1 < args.loops; ++i) offset += index[i] * operand.strides[i];
  return {offset_of(operands[operand.slot], operand.type, offset), operand.strides[args.loops - 1], operand.type,
          operand.period};
}

void run(const ChainArgs& args, void* const* operands, int64_t begin, int64_t end) {
  const int64_t inner = args.dims[args.loops - 1];
  int64_t rows = 1;
  for (int i = 0; i + 1 < args.loops; ++i) rows *= args.dims[i];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t first = task % args.chunks * args.chunk, last = least(inner, first + args.chunk);
    const int64_t row_begin = task / args.chunks * args.row_block, row_end = least(rows, row_begin + args.row_block);
    for (int64_t r = row_begin; r < row_end; ++r) {
      int64_t index[kMaxChainLoops], rest = r;
      for (int i = args.loops - 1; i-- > 0;) {
        index[i] = rest % args.dims[i];
        rest /= args.dims[i];
      }
      Row row;
      row.in = cursor_of(args, args.in, operands, index);
      row.out = const_cast<void*>(cursor_of(args, args.out, operands, index).data);
      for (int s = 0; s < args.count; ++s)
        if (!kTables.unary[static_cast<int>(args.steps[s].function)])
          row.operands[s] = cursor_of(args, args.steps[s].operand, operands, index);
      run_row(args, row, first, last);
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
