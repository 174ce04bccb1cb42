#include "types/tensor.h"

#include <cmath>
#include <cstring>

namespace mica {
namespace {

// Loops of a copy, outermost first, after dropping dimensions of 1 and merging those that both sides run through
// evenly.
struct CopyLoops {
  int rank = 0;
  int64_t dims[kMaxRank], from[kMaxRank], to[kMaxRank];

  void swap(int i, int j) {
    std::swap(dims[i], dims[j]);
    std::swap(from[i], from[j]);
    std::swap(to[i], to[j]);
  }
};

// `axes`: how many leading axes are looped over.
CopyLoops loops_of(const TensorView& from, const TensorView& to, int axes) {
  CopyLoops loops;
  for (int i = 0; i < axes; ++i) {
    if (to.dim(i) == 1) continue;
    const int n = loops.rank++;
    loops.dims[n] = to.dim(i);
    loops.from[n] = from.stride(i);
    loops.to[n] = to.stride(i);
  }
  // The destination is written in the order of its addresses.
  for (int i = 1; i < loops.rank; ++i)
    for (int j = i; j > 0 && loops.to[j - 1] < loops.to[j]; --j) loops.swap(j - 1, j);
  int kept = 0;
  for (int i = 1; i < loops.rank; ++i) {
    const bool even =
        loops.from[kept] == loops.from[i] * loops.dims[i] && loops.to[kept] == loops.to[i] * loops.dims[i];
    const int64_t merged = even ? loops.dims[kept] : 1;
    kept += !even;
    loops.dims[kept] = merged * loops.dims[i];
    loops.from[kept] = loops.from[i];
    loops.to[kept] = loops.to[i];
  }
  if (loops.rank) loops.rank = kept + 1;
  return loops;
}

template <class T>
void copy_strided(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(T));
}
struct Wide {
  uint64_t half[2];
};

using CopyRow = void (*)(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t count);
CopyRow strided_copy(int64_t bytes) {
  switch (bytes) {
    case 1: return copy_strided<uint8_t>;
    case 2: return copy_strided<uint16_t>;
    case 4: return copy_strided<uint32_t>;
    case 8: return copy_strided<uint64_t>;
    default: return copy_strided<Wide>;
  }
}

// Runs `body(from, to)` for every combination of the loops.
template <class Body>
void for_each(const CopyLoops& loops, const char* from, char* to, const Body& body) {
  int64_t index[kMaxRank] = {};
  for (;;) {
    body(from, to);
    int i = loops.rank - 1;
    for (; i >= 0; --i) {
      from += loops.from[i];
      to += loops.to[i];
      if (++index[i] < loops.dims[i]) break;
      index[i] = 0;
      from -= loops.from[i] * loops.dims[i];
      to -= loops.to[i] * loops.dims[i];
    }
    if (i < 0) return;
  }
}

// A transposition of the two innermost loops goes by tiles, so that the cache lines read are used whole: 32 rows of 64
// bytes on each side fit a first-level cache many times over.
constexpr int64_t kTile = 32;
void copy_plane(const CopyLoops& plane, CopyRow row, const char* from, char* to) {
  for (int64_t i = 0; i < plane.dims[0]; i += kTile)
    for (int64_t j = 0; j < plane.dims[1]; j += kTile) {
      const int64_t rows = std::min(kTile, plane.dims[0] - i), columns = std::min(kTile, plane.dims[1] - j);
      for (int64_t r = i; r < i + rows; ++r)
        row(from + r * plane.from[0] + j * plane.from[1], plane.from[1], to + r * plane.to[0] + j * plane.to[1],
            plane.to[1], columns);
    }
}

void copy_bytes(const TensorView& from, const TensorView& to, int64_t bytes) {
  CopyLoops loops = loops_of(from, to, to.rank);
  const auto* source = static_cast<const char*>(from.data);
  auto* target = static_cast<char*>(to.data);
  if (loops.rank == 0) return strided_copy(bytes)(source, 0, target, 0, 1);
  const int last = loops.rank - 1;
  const int64_t count = loops.dims[last], from_stride = loops.from[last], to_stride = loops.to[last];
  if (from_stride == bytes && to_stride == bytes) {
    loops.rank = last;
    return for_each(loops, source, target,
                    [&](const char* f, char* t) { std::memcpy(t, f, static_cast<size_t>(count * bytes)); });
  }
  const CopyRow row = strided_copy(bytes);
  int dense = -1;  // the loop along which the source is read evenly
  for (int i = 0; i < last; ++i)
    if (loops.from[i] == bytes) dense = i;
  if (dense < 0) {
    loops.rank = last;
    return for_each(loops, source, target, [&](const char* f, char* t) { row(f, from_stride, t, to_stride, count); });
  }
  CopyLoops plane;
  plane.rank = 2;
  plane.dims[0] = loops.dims[dense], plane.from[0] = loops.from[dense], plane.to[0] = loops.to[dense];
  plane.dims[1] = count, plane.from[1] = from_stride, plane.to[1] = to_stride;
  for (int i = dense; i + 1 < last; ++i) loops.swap(i, i + 1);
  loops.rank = last - 1;
  for_each(loops, source, target, [&](const char* f, char* t) { copy_plane(plane, row, f, t); });
}

}  // namespace

bool TensorView::contiguous() const {
  if (empty()) return true;
  int64_t step = element_bytes(dtype);
  int last = rank;
  if (is_sub_byte(dtype) && rank > 0) {
    last = rank - 1;
    step = row_bytes(dtype, dim(last));
  }
  for (int i = last; i-- > 0;) {
    if (dim(i) == 1) continue;
    if (stride(i) != step) return false;
    step *= dim(i);
  }
  return true;
}

void set_dense_strides(TensorView& view) {
  view.strides = {};
  int last = view.rank;
  int64_t step = element_bytes(view.dtype);
  if (is_sub_byte(view.dtype) && view.rank > 0) {
    last = view.rank - 1;
    step = row_bytes(view.dtype, view.dim(last));
  }
  for (int i = last; i-- > 0;) {
    view.strides[static_cast<size_t>(i)] = step;
    // Of an empty tensor the other dimensions may be anything.
    if (__builtin_mul_overflow(step, view.dim(i), &step)) step = 0;
  }
}

TensorView dense_view(void* data, DType dtype, std::span<const int64_t> dims) {
  TensorView view;
  view.data = data;
  view.dtype = dtype;
  view.rank = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), view.dims.begin());
  set_dense_strides(view);
  return view;
}

int64_t dense_bytes(DType dtype, std::span<const int64_t> dims) {
  int64_t rows = 1;
  if (!is_sub_byte(dtype)) {
    for (int64_t d : dims) rows *= d;
    return rows * element_bytes(dtype);
  }
  if (dims.empty()) return 1;
  for (int64_t d : dims.first(dims.size() - 1)) rows *= d;
  return rows * row_bytes(dtype, dims.back());
}

Elements::Place Elements::place(int64_t linear) const {
  auto* data = static_cast<char*>(view_.data);
  if (dense_ && !is_sub_byte(view_.dtype)) return {data + linear * bytes_, 0};
  int64_t index[kMaxRank];
  for (int i = view_.rank; i-- > 0;) {
    index[i] = linear % view_.dim(i);
    linear /= view_.dim(i);
  }
  return place_at(index);
}

Elements::Place Elements::place_at(const int64_t* index) const {
  auto* at = static_cast<char*>(view_.data);
  const int whole = is_sub_byte(view_.dtype) ? view_.rank - 1 : view_.rank;
  for (int i = 0; i < whole; ++i) at += index[i] * view_.stride(i);
  if (whole == view_.rank || view_.rank == 0) return {at, 0};
  const int64_t bit = index[whole] * bits_of(view_.dtype);
  return {at + bit / 8, static_cast<int>(bit % 8)};
}

namespace {

// A sub-byte element is moved to the low bits of a byte of its own for loading and storing.
template <class Load>
auto loaded(DType dtype, const char* byte, int shift, Load load) {
  if (shift == 0) return load(dtype, byte);
  const auto moved = static_cast<uint8_t>(static_cast<uint8_t>(*byte) >> shift);
  return load(dtype, reinterpret_cast<const char*>(&moved));
}

template <class Store, class Value>
void stored(DType dtype, char* byte, int shift, Store store, Value value) {
  if (shift == 0) return store(dtype, byte, value);
  uint8_t moved = 0;
  store(dtype, &moved, value);
  const unsigned mask = ((1u << bits_of(dtype)) - 1u) << shift;
  *byte = static_cast<char>((static_cast<uint8_t>(*byte) & ~mask) | static_cast<unsigned>(moved) << shift);
}

}  // namespace

double Elements::number(int64_t linear) const {
  const Place p = place(linear);
  return loaded(view_.dtype, p.byte, p.shift, [](DType t, const void* e) { return load_number(t, e); });
}
int64_t Elements::integer(int64_t linear) const {
  const Place p = place(linear);
  return loaded(view_.dtype, p.byte, p.shift, [](DType t, const void* e) { return load_int(t, e); });
}
void Elements::set_number(int64_t linear, double value) const {
  const Place p = place(linear);
  stored(view_.dtype, p.byte, p.shift, store_number, value);
}
void Elements::set_integer(int64_t linear, int64_t value) const {
  const Place p = place(linear);
  stored(view_.dtype, p.byte, p.shift, store_int, value);
}
double Elements::number_at(const int64_t* index) const {
  const Place p = place_at(index);
  return loaded(view_.dtype, p.byte, p.shift, [](DType t, const void* e) { return load_number(t, e); });
}
int64_t Elements::integer_at(const int64_t* index) const {
  const Place p = place_at(index);
  return loaded(view_.dtype, p.byte, p.shift, [](DType t, const void* e) { return load_int(t, e); });
}
void Elements::set_number_at(const int64_t* index, double value) const {
  const Place p = place_at(index);
  stored(view_.dtype, p.byte, p.shift, store_number, value);
}
void Elements::set_integer_at(const int64_t* index, int64_t value) const {
  const Place p = place_at(index);
  stored(view_.dtype, p.byte, p.shift, store_int, value);
}
void Elements::set_truncated_at(const int64_t* index, double value) const {
  if (bits_of(view_.dtype) < 32 && std::fabs(value) < 0x1p62)
    set_integer_at(index, static_cast<int64_t>(value));
  else
    set_number_at(index, value);
}
char* Elements::address(int64_t linear) const { return place(linear).byte; }
char* Elements::address_at(const int64_t* index) const { return place_at(index).byte; }

void copy_elements(const TensorView& from, const TensorView& to) {
  if (to.empty()) return;
  if (!is_sub_byte(to.dtype)) return copy_bytes(from, to, element_bytes(to.dtype));
  const int axes = to.rank > 0 ? to.rank - 1 : 0;
  const auto bytes = static_cast<size_t>(to.rank > 0 ? row_bytes(to.dtype, to.dim(axes)) : 1);
  for_each(loops_of(from, to, axes), static_cast<const char*>(from.data), static_cast<char*>(to.data),
           [&](const char* f, char* t) { std::memcpy(t, f, bytes); });
}

}  // namespace mica
