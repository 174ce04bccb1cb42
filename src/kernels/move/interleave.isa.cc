#include "kernels/move/interleave.h"

#include "simd/simd.h"

namespace mica::MICA_ISA {
namespace {

// Plain loops of a fixed stride: what compilers turn into shuffles. Elements may lie at any address.
template <class T>
MICA_INLINE T at(const char* p, int64_t i) {
  T v;
  __builtin_memcpy(&v, p + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return v;
}
template <class T>
MICA_INLINE void put(char* p, int64_t i, T v) {
  __builtin_memcpy(p + i * static_cast<int64_t>(sizeof(T)), &v, sizeof(T));
}

template <class T, int kParts>
void interleave_row(const char* const* from, char* __restrict to, int64_t n) {
  const char* parts[kParts];
  for (int j = 0; j < kParts; ++j) parts[j] = from[j];
  for (int64_t i = 0; i < n; ++i)
    for (int j = 0; j < kParts; ++j) put<T>(to, i * kParts + j, at<T>(parts[j], i));
}

template <class T>
void interleave_any(const char* const* from, int parts, char* to, int64_t n) {
  for (int j = 0; j < parts; ++j)
    for (int64_t i = 0; i < n; ++i) put<T>(to, i * parts + j, at<T>(from[j], i));
}

template <class T>
void run_rows(const InterleaveArgs& args, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const char* from[kMostInterleaved];
    for (int j = 0; j < args.parts; ++j) from[j] = args.from[j] + row * args.pitch[j];
    char* to = args.to + row * args.out;
    switch (args.parts) {
      case 2: interleave_row<T, 2>(from, to, args.row); break;
      case 3: interleave_row<T, 3>(from, to, args.row); break;
      case 4: interleave_row<T, 4>(from, to, args.row); break;
      default: interleave_any<T>(from, args.parts, to, args.row);
    }
  }
}

void run(const InterleaveArgs& args, int64_t task_begin, int64_t task_end) {
  const int64_t begin = task_begin * args.row_block, last = task_end * args.row_block;
  const int64_t end = last < args.rows ? last : args.rows;
  switch (args.element) {
    case 1: return run_rows<uint8_t>(args, begin, end);
    case 2: return run_rows<uint16_t>(args, begin, end);
    case 4: return run_rows<uint32_t>(args, begin, end);
    default: return run_rows<uint64_t>(args, begin, end);
  }
}

}  // namespace

extern const InterleaveKernels interleave_kernels;
const InterleaveKernels interleave_kernels = {.run = run};

}  // namespace mica::MICA_ISA
