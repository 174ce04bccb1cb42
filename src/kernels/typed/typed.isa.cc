#include "kernels/typed/typed.h"

#include "kernels/math/bytes.inl"
#include "simd/several.h"

namespace mica::MICA_ISA {
namespace {

// Elements go by blocks of a fixed number where an operand is neighbours or one element for the whole row, and one by
// one behind the last block and where elements stand apart. The compiler makes vectors of a block alone: for rows of
// any length it would write what is around the vectors too, five times their code.
constexpr int kBlockBytes = 64;
// Elements of a block: a vector of the narrowest type, or half of one, since what is behind the last block goes singly.
template <class X, class Out>
constexpr int kBlockOf = (sizeof(X) < sizeof(Out) ? sizeof(X) : sizeof(Out)) == 1
                             ? kBlockBytes / 2
                             : kBlockBytes / (sizeof(X) < sizeof(Out) ? sizeof(X) : sizeof(Out));

// How many elements of a row whole blocks have. An operand is neighbours, or one element that stands for all.
int64_t in_blocks(const TypedRow& row, int64_t n, int inputs, int size, int out_size, int block) {
  bool fits = row.out_stride == out_size;
  for (int i = 0; i < inputs; ++i) fits = fits && (row.in_stride[i] == size || row.in_stride[i] == 0);
  return fits ? n / block * block : 0;
}

// An operand block by block; one element for the whole row stands in `repeated`.
template <class X, int kBlock>
struct BlockReader {
  const X* at;
  int64_t step;
  MICA_INLINE BlockReader(const char* data, int64_t stride, X (&repeated)[kBlock])
      : at(reinterpret_cast<const X*>(data)), step(stride == 0 ? 0 : kBlock) {
    if (step != 0) return;
    const X first = *at;
    for (int i = 0; i < kBlock; ++i) repeated[i] = first;
    at = repeated;
  }
};

template <class X, class Out, class F>
MICA_INLINE void each_one(const TypedRow& row, int64_t n, F f) {
  constexpr int kBlock = kBlockOf<X, Out>;
  const int64_t whole = row.in_stride[0] == 0 ? 0 : in_blocks(row, n, 1, sizeof(X), sizeof(Out), kBlock);
  for (int64_t b = 0; b < whole; b += kBlock) {
    const auto* x = reinterpret_cast<const X*>(row.in[0]) + b;
    auto* out = reinterpret_cast<Out*>(row.out) + b;
    MICA_INDEPENDENT for (int i = 0; i < kBlock; ++i) out[i] = f(x[i]);
  }
  for (int64_t i = whole; i < n; ++i)
    *reinterpret_cast<Out*>(row.out + i * row.out_stride) =
        f(*reinterpret_cast<const X*>(row.in[0] + i * row.in_stride[0]));
}
template <class X, class Out, class F>
MICA_INLINE void any_two(const TypedRow& row, int64_t n, F f) {
  constexpr int kBlock = kBlockOf<X, Out>;
  const int64_t whole = in_blocks(row, n, 2, sizeof(X), sizeof(Out), kBlock);
  if (whole > 0) {
    X repeated[2][kBlock];
    BlockReader<X, kBlock> x(row.in[0], row.in_stride[0], repeated[0]), y(row.in[1], row.in_stride[1], repeated[1]);
    auto* out = reinterpret_cast<Out*>(row.out);
    for (int64_t b = 0; b < whole; b += kBlock, x.at += x.step, y.at += y.step, out += kBlock)
      MICA_INDEPENDENT for (int i = 0; i < kBlock; ++i) out[i] = f(x.at[i], y.at[i]);
  }
  for (int64_t i = whole; i < n; ++i)
    *reinterpret_cast<Out*>(row.out + i * row.out_stride) =
        f(*reinterpret_cast<const X*>(row.in[0] + i * row.in_stride[0]),
          *reinterpret_cast<const X*>(row.in[1] + i * row.in_stride[1]));
}

template <TypedFunction kF, class T>
void compare_row(const TypedRow& row, int64_t n) {
  any_two<T, uint8_t>(row, n, [](T x, T y) -> uint8_t {
    if constexpr (kF == TypedFunction::kEqual) return x == y;
    if constexpr (kF == TypedFunction::kGreater) return x > y;
    if constexpr (kF == TypedFunction::kLess) return x < y;
    if constexpr (kF == TypedFunction::kGreaterOrEqual) return x >= y;
    return x <= y;
  });
}

// Sums and products of signed numbers wrap, as those of unsigned ones do.
template <class T>
struct Unsigned;
template <>
struct Unsigned<int32_t> {
  using Type = uint32_t;
};
template <>
struct Unsigned<int64_t> {
  using Type = uint64_t;
};
template <>
struct Unsigned<uint8_t> {
  using Type = uint32_t;
};
template <>
struct Unsigned<int8_t> {
  using Type = uint32_t;
};
template <TypedFunction kF, class T>
void arithmetic_row(const TypedRow& row, int64_t n) {
  using U = typename Unsigned<T>::Type;
  any_two<T, T>(row, n, [](T x, T y) -> T {
    const auto u = static_cast<U>(x), v = static_cast<U>(y);
    if constexpr (kF == TypedFunction::kAdd) return static_cast<T>(u + v);
    if constexpr (kF == TypedFunction::kSub) return static_cast<T>(u - v);
    if constexpr (kF == TypedFunction::kMul) return static_cast<T>(u * v);
    if constexpr (kF == TypedFunction::kMin) return y < x ? y : x;
    if constexpr (kF == TypedFunction::kMax) return y > x ? y : x;
    if constexpr (kF == TypedFunction::kAnd) return static_cast<T>(u & v);
    if constexpr (kF == TypedFunction::kOr) return static_cast<T>(u | v);
    return static_cast<T>(u ^ v);
  });
}

// Quotients and remainders, one by one: there are no vectors of them. The least number by -1 wraps.
template <TypedFunction kF, class T>
MICA_INLINE T quotient(T x, T y) {
  using U = typename Unsigned<T>::Type;
  if (y == 0) return 0;
  if (y == -1) return kF == TypedFunction::kDiv ? static_cast<T>(U{0} - static_cast<U>(x)) : 0;
  if constexpr (kF == TypedFunction::kDiv) return x / y;
  const T r = x % y;
  if constexpr (kF == TypedFunction::kFmod) return r;
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
template <TypedFunction kF, class T>
void quotient_row(const TypedRow& row, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    *reinterpret_cast<T*>(row.out + i * row.out_stride) =
        quotient<kF>(*reinterpret_cast<const T*>(row.in[0] + i * row.in_stride[0]),
                     *reinterpret_cast<const T*>(row.in[1] + i * row.in_stride[1]));
}

template <TypedFunction kF>
void double_row(const TypedRow& row, int64_t n) {
  any_two<double, double>(row, n, [](double x, double y) {
    if constexpr (kF == TypedFunction::kAdd) return x + y;
    if constexpr (kF == TypedFunction::kSub) return x - y;
    if constexpr (kF == TypedFunction::kMul) return x * y;
    return x / y;
  });
}

// Elements of one width, whatever their type. Blocks are loaded as a whole: a compiler would turn the choice into loads
// under masks, each of which takes a trap while the page that it leaves out has never been read.
template <class T>
void where_row(const TypedRow& row, int64_t n) {
  constexpr int kBlock = kBlockOf<uint8_t, T>, kSize = sizeof(T);
  const TypedRow choices{.in = {row.in[1], row.in[2]},
                         .in_stride = {row.in_stride[1], row.in_stride[2]},
                         .out = row.out,
                         .out_stride = row.out_stride};
  const int64_t whole = row.in_stride[0] == 1 ? in_blocks(choices, n, 2, kSize, kSize, kBlock) : 0;
  T of_x[kBlock], of_y[kBlock];
  BlockReader<T, kBlock> x(row.in[1], row.in_stride[1], of_x), y(row.in[2], row.in_stride[2], of_y);
  for (int64_t b = 0; b < whole; b += kBlock, x.at += x.step, y.at += y.step) {
    if (x.step) __builtin_memcpy(of_x, x.at, sizeof(of_x));
    if (y.step) __builtin_memcpy(of_y, y.at, sizeof(of_y));
    __asm__("" : "+m"(of_x), "+m"(of_y));
    const auto* condition = reinterpret_cast<const uint8_t*>(row.in[0]) + b;
    T* out = reinterpret_cast<T*>(row.out) + b;
    MICA_INDEPENDENT for (int i = 0; i < kBlock; ++i) out[i] = condition[i] ? of_x[i] : of_y[i];
  }
  for (int64_t i = whole; i < n; ++i)
    *reinterpret_cast<T*>(row.out + i * row.out_stride) = *reinterpret_cast<const T*>(
        row.in[0][i * row.in_stride[0]] ? row.in[1] + i * row.in_stride[1] : row.in[2] + i * row.in_stride[2]);
}

// A bool byte is 0 or 1.
struct Bool {
  uint8_t value;
};
template <class T>
constexpr bool kIsFloat = __is_same(T, float) || __is_same(T, double);
template <class From, class To>
MICA_INLINE To converted(From x) {
  if constexpr (__is_same(To, Bool)) {
    if constexpr (__is_same(From, Bool))
      return {x.value != 0};
    else
      return {x != 0};
  } else if constexpr (__is_same(From, Bool)) {
    return static_cast<To>(x.value != 0);
  } else if constexpr (kIsFloat<From> && !kIsFloat<To>) {
    return from_float<To, From>(x);
  } else {
    return static_cast<To>(x);
  }
}
template <class From, class To>
void convert_row(const TypedRow& row, int64_t n) {
  each_one<From, To>(row, n, converted<From, To>);
}

// Single precision to a narrow type.
template <class To>
void convert_to_bytes(const TypedRow& row, int64_t n) {
  constexpr int kBlock = kBytesTogether;
  const int64_t whole = row.in_stride[0] == 0 ? 0 : in_blocks(row, n, 1, sizeof(float), 1, kBlock);
  TypedRow rest = row;
  for (int64_t left = whole; left > 0; left -= kBlock, rest.in[0] += kBlock * sizeof(float), rest.out += kBlock)
    bytes_of(reinterpret_cast<const float*>(rest.in[0]), reinterpret_cast<To*>(rest.out));
  convert_row<float, To>(rest, n - whole);
}

// Halves and single precision. Rows that are no run of neighbours go element by element.
struct F16 {
  static F32 load(const uint16_t* p, int n) { return n == kLanes ? load_f16(p) : load_f16_partial(p, n); }
  static void store(uint16_t* p, F32 v, int n) { n == kLanes ? store_f16(p, v) : store_f16_partial(p, v, n); }
};
struct BF16 {
  static F32 load(const uint16_t* p, int n) { return n == kLanes ? load_bf16(p) : load_bf16_partial(p, n); }
  static void store(uint16_t* p, F32 v, int n) { n == kLanes ? store_bf16(p, v) : store_bf16_partial(p, v, n); }
};
template <class Half>
void from_half_row(const TypedRow& row, int64_t n) {
  const bool dense = row.in_stride[0] == 2 && row.out_stride == 4;
  for (int64_t i = 0; i < n; i += dense ? kLanes : 1) {
    const int width = dense && n - i >= kLanes ? kLanes : dense ? static_cast<int>(n - i) : 1;
    store_partial(reinterpret_cast<float*>(row.out + i * row.out_stride),
                  Half::load(reinterpret_cast<const uint16_t*>(row.in[0] + i * row.in_stride[0]), width), width);
  }
}
template <class Half>
void to_half_row(const TypedRow& row, int64_t n) {
  const bool dense = row.in_stride[0] == 4 && row.out_stride == 2;
  for (int64_t i = 0; i < n; i += dense ? kLanes : 1) {
    const int width = dense && n - i >= kLanes ? kLanes : dense ? static_cast<int>(n - i) : 1;
    Half::store(reinterpret_cast<uint16_t*>(row.out + i * row.out_stride),
                load_partial(reinterpret_cast<const float*>(row.in[0] + i * row.in_stride[0]), width), width);
  }
}

// Whole vectors where there are: masks cost as much as the rest.
MICA_INLINE I32 load_code(const uint8_t* p, int n) { return n == kLanes ? load_u8(p) : load_u8_partial(p, n); }
MICA_INLINE I32 load_code(const int8_t* p, int n) { return n == kLanes ? load_i8(p) : load_i8_partial(p, n); }
MICA_INLINE I32 load_code(const int32_t* p, int n) { return n == kLanes ? load(p) : load_partial(p, n); }
MICA_INLINE void store_code(uint8_t* p, I32 v, int n) { n == kLanes ? store_u8(p, v) : store_u8_partial(p, v, n); }
MICA_INLINE void store_code(int8_t* p, I32 v, int n) { n == kLanes ? store_i8(p, v) : store_i8_partial(p, v, n); }

// The scales and zero points of a row: one, or one for each element. No zero point is 0.
template <class T>
struct Linear {
  explicit Linear(const TypedRow& row)
      : each_scale(row.in_stride[1] != 0),
        each_zero(row.in[2] && row.in_stride[2] != 0),
        scale(reinterpret_cast<const float*>(row.in[1])),
        zero(reinterpret_cast<const T*>(row.in[2])),
        one_scale(set1(*scale)),
        one_zero(zero ? set1(static_cast<int32_t>(*zero)) : zero_i32()) {}
  MICA_INLINE F32 scales(int64_t i, int n) const { return each_scale ? load_some(scale + i, n) : one_scale; }
  MICA_INLINE I32 zeros(int64_t i, int n) const { return each_zero ? load_code(zero + i, n) : one_zero; }

  bool each_scale, each_zero;
  const float* scale;
  const T* zero;
  F32 one_scale;
  I32 one_zero;
};

template <class F>
MICA_INLINE void each_vector(int64_t n, F f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) f(i, kLanes);
  if (i < n) f(i, static_cast<int>(n - i));
}

// Rows are dense, scales and zero points dense or one. A quotient beyond +-512 saturates whatever the zero point; NaN
// is the lowest.
template <class T>
void quantize_row(const TypedRow& row, int64_t n) {
  const auto* in = reinterpret_cast<const float*>(row.in[0]);
  auto* out = reinterpret_cast<T*>(row.out);
  const Linear<T> linear(row);
  each_vector(
      n, [&](int64_t i, int width) __attribute__((always_inline)) {
        F32 q = div(load_some(in + i, width), linear.scales(i, width));
        q = select(gt(q, set1(-512.0f)), q, set1(-512.0f));
        q = select(lt(q, set1(512.0f)), q, set1(512.0f));
        store_code(out + i, add(to_i32(q), linear.zeros(i, width)), width);
      });
}
template <class T>
void dequantize_row(const TypedRow& row, int64_t n) {
  const auto* in = reinterpret_cast<const T*>(row.in[0]);
  auto* out = reinterpret_cast<float*>(row.out);
  const Linear<T> linear(row);
  each_vector(
      n, [&](int64_t i, int width) __attribute__((always_inline)) {
        const I32 code = sub(load_code(in + i, width), linear.zeros(i, width));
        store_some(out + i, mul(to_f32(code), linear.scales(i, width)), width);
      });
}

using E = TypedElement;
template <TypedFunction kF>
TypedRowFn find_compare(E type) {
  switch (type) {
    case E::kF32: return compare_row<kF, float>;
    case E::kI32: return compare_row<kF, int32_t>;
    case E::kI64: return compare_row<kF, int64_t>;
    case E::kI8: return compare_row<kF, int8_t>;
    case E::kU8: return compare_row<kF, uint8_t>;
    case E::kBool: return kF == TypedFunction::kEqual ? compare_row<kF, uint8_t> : nullptr;
    default: return nullptr;
  }
}
template <TypedFunction kF>
TypedRowFn find_arithmetic(E type) {
  switch (type) {
    case E::kI32: return arithmetic_row<kF, int32_t>;
    case E::kI64: return arithmetic_row<kF, int64_t>;
    case E::kI8: return arithmetic_row<kF, int8_t>;
    case E::kU8: return arithmetic_row<kF, uint8_t>;
    case E::kBool: return kF >= TypedFunction::kAnd ? arithmetic_row<kF, uint8_t> : nullptr;
    case E::kF64:
      if constexpr (kF <= TypedFunction::kMul) return double_row<kF>;
      return nullptr;
    default: return nullptr;
  }
}
template <TypedFunction kF>
TypedRowFn find_quotient(E type) {
  return type == E::kI32 ? quotient_row<kF, int32_t> : type == E::kI64 ? quotient_row<kF, int64_t> : nullptr;
}
template <class From>
TypedRowFn find_convert_to(E to) {
  switch (to) {
    case E::kF32: return convert_row<From, float>;
    case E::kI32: return convert_row<From, int32_t>;
    case E::kI64: return convert_row<From, int64_t>;
    case E::kI8: return convert_row<From, int8_t>;
    case E::kU8: return convert_row<From, uint8_t>;
    case E::kBool: return convert_row<From, Bool>;
    default: return nullptr;
  }
}
TypedRowFn find_convert(E from, E to) {
  if (from == E::kF32 && to == E::kF16) return to_half_row<F16>;
  if (from == E::kF32 && to == E::kBF16) return to_half_row<BF16>;
  if (from == E::kF16 || from == E::kBF16)
    return to != E::kF32 ? nullptr : from == E::kF16 ? from_half_row<F16> : from_half_row<BF16>;
  if (from == E::kF64)
    return to == E::kF32   ? convert_row<double, float>
           : to == E::kI32 ? convert_row<double, int32_t>
           : to == E::kI64 ? convert_row<double, int64_t>
                           : nullptr;
  if (to == E::kF64)
    return from == E::kF32   ? convert_row<float, double>
           : from == E::kI32 ? convert_row<int32_t, double>
           : from == E::kI64 ? convert_row<int64_t, double>
                             : nullptr;
  if (from == E::kI16)
    return to == E::kF32   ? convert_row<int16_t, float>
           : to == E::kI32 ? convert_row<int16_t, int32_t>
           : to == E::kI64 ? convert_row<int16_t, int64_t>
                           : nullptr;
  if (to == E::kI16)
    return from == E::kF32   ? convert_row<float, int16_t>
           : from == E::kI32 ? convert_row<int32_t, int16_t>
           : from == E::kI64 ? convert_row<int64_t, int16_t>
                             : nullptr;
  if (from == E::kU16) return to == E::kF32 ? convert_row<uint16_t, float> : nullptr;
  if (to == E::kU16) return from == E::kF32 ? convert_row<float, uint16_t> : nullptr;
  if (from == E::kF32 && to == E::kU8) return convert_to_bytes<uint8_t>;
  if (from == E::kF32 && to == E::kI8) return convert_to_bytes<int8_t>;
  switch (from) {
    case E::kF32: return find_convert_to<float>(to);
    case E::kI32: return find_convert_to<int32_t>(to);
    case E::kI64: return find_convert_to<int64_t>(to);
    case E::kI8: return find_convert_to<int8_t>(to);
    case E::kU8: return find_convert_to<uint8_t>(to);
    case E::kBool: return find_convert_to<Bool>(to);
    default: return nullptr;
  }
}
TypedRowFn find_where(E type) {
  switch (type) {
    case E::kF32:
    case E::kI32: return where_row<uint32_t>;
    case E::kI64:
    case E::kF64: return where_row<uint64_t>;
    case E::kU8:
    case E::kI8:
    case E::kBool: return where_row<uint8_t>;
    default: return nullptr;
  }
}

TypedRowFn find(TypedFunction f, E from, E to) {
  using enum TypedFunction;
  switch (f) {
    case kEqual: return find_compare<kEqual>(from);
    case kGreater: return find_compare<kGreater>(from);
    case kLess: return find_compare<kLess>(from);
    case kGreaterOrEqual: return find_compare<kGreaterOrEqual>(from);
    case kLessOrEqual: return find_compare<kLessOrEqual>(from);
    case kAdd: return find_arithmetic<kAdd>(from);
    case kSub: return find_arithmetic<kSub>(from);
    case kMul: return find_arithmetic<kMul>(from);
    case kMin: return find_arithmetic<kMin>(from);
    case kMax: return find_arithmetic<kMax>(from);
    case kAnd: return find_arithmetic<kAnd>(from);
    case kOr: return find_arithmetic<kOr>(from);
    case kXor: return find_arithmetic<kXor>(from);
    case kDiv: return from == E::kF64 ? double_row<kDiv> : find_quotient<kDiv>(from);
    case kMod: return find_quotient<kMod>(from);
    case kFmod: return find_quotient<kFmod>(from);
    case kWhere: return find_where(from);
    case kConvert: return find_convert(from, to);
    case kQuantize: return to == E::kU8 ? quantize_row<uint8_t> : to == E::kI8 ? quantize_row<int8_t> : nullptr;
    case kDequantize:
      return from == E::kU8    ? dequantize_row<uint8_t>
             : from == E::kI8  ? dequantize_row<int8_t>
             : from == E::kI32 ? dequantize_row<int32_t>
                               : nullptr;
  }
  return nullptr;
}

}  // namespace

extern const TypedKernels typed_kernels;
const TypedKernels typed_kernels = {.find = find};

}  // namespace mica::MICA_ISA
