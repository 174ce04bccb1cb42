// Reductions of 32- and 64-bit integers: loops of plain code, for all instruction sets.
#include "kernels/reduce/reduce.h"

namespace mica {
namespace {

template <class T, ReduceFunction kF>
T joined(T a, T b) {
  if constexpr (kF == ReduceFunction::kMax) return b > a ? b : a;
  if constexpr (kF == ReduceFunction::kMin) return b < a ? b : a;
  const auto u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);  // modulo the width
  return static_cast<T>(kF == ReduceFunction::kProd ? u * v : u + v);
}

template <class T, ReduceFunction kF>
constexpr T start() {
  constexpr T kTop = static_cast<T>(~uint64_t{0} >> (65 - 8 * sizeof(T)));
  return kF == ReduceFunction::kMax    ? -kTop - 1
         : kF == ReduceFunction::kMin  ? kTop
         : kF == ReduceFunction::kProd ? 1
                                       : 0;
}

// All reduced elements of `lanes` neighbours from `in` on.
template <class T, ReduceFunction kF>
void reduce_block(const ReduceArgs& args, const T* in, int64_t lanes, T* sums) {
  const int last = args.inner_loops - 1;
  const int64_t n = args.inner[last], step = args.in_inner[last];
  int64_t rows = 1, index[kMaxReduceLoops] = {};
  for (int i = 0; i < last; ++i) rows *= args.inner[i];
  for (int64_t l = 0; l < lanes; ++l) sums[l] = start<T, kF>();
  for (int64_t row = 0; row < rows; ++row) {
    const T* from = in;
    for (int i = 0; i < last; ++i) from += index[i] * args.in_inner[i];
    if (lanes == 1 && step == 1) {
      T sum = sums[0];
      for (int64_t k = 0; k < n; ++k) sum = joined<T, kF>(sum, from[k]);
      sums[0] = sum;
    } else {
      for (int64_t k = 0; k < n; ++k, from += step)
        for (int64_t l = 0; l < lanes; ++l) sums[l] = joined<T, kF>(sums[l], from[l]);
    }
    for (int i = last; i-- > 0 && ++index[i] == args.inner[i];) index[i] = 0;
  }
}

template <class T, ReduceFunction kF>
void reduce(const ReduceArgs& args, const void* in, void* out, int64_t begin, int64_t end) {
  for (int64_t task = begin; task < end; ++task) {
    const int64_t lane = task % args.lane_blocks * kLaneBlock;
    const auto* from = static_cast<const T*>(in) + lane;
    auto* to = static_cast<T*>(out) + lane * args.out_lane;
    int64_t rest = task / args.lane_blocks;
    for (int i = args.outer_loops; i-- > 0; rest /= args.outer[i]) {
      from += rest % args.outer[i] * args.in_outer[i];
      to += rest % args.outer[i] * args.out_outer[i];
    }
    T sums[kLaneBlock];
    const int64_t left = args.lanes - lane, lanes = left < kLaneBlock ? left : kLaneBlock;
    reduce_block<T, kF>(args, from, lanes, sums);
    for (int64_t l = 0; l < lanes; ++l) to[l * args.out_lane] = sums[l];
  }
}

template <class T>
IntegerReduceFn find(ReduceFunction function) {
  using enum ReduceFunction;
  switch (function) {
    case kSum: return reduce<T, kSum>;
    case kMax: return reduce<T, kMax>;
    case kMin: return reduce<T, kMin>;
    case kProd: return reduce<T, kProd>;
    default: return nullptr;
  }
}

}  // namespace

IntegerReduceFn integer_reduce(ReduceFunction function, int bits) {
  return bits == 32 ? find<int32_t>(function) : bits == 64 ? find<int64_t>(function) : nullptr;
}

}  // namespace mica
