// Views of tensors in memory: type-erased, strided, not owning.
#pragma once
#include "types/type.h"

namespace mica {

// Element (i0, i1, …) stands at data + Σ i·strides (bytes). Sub-byte types: the last axis is dense (its stride entry is
// 0) and starts at a byte boundary, the others have byte strides.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kNone;
  int rank = 0;
  std::array<int64_t, kMaxRank> dims{};
  std::array<int64_t, kMaxRank> strides{};

  int64_t dim(int i) const { return dims[static_cast<size_t>(i)]; }
  int64_t stride(int i) const { return strides[static_cast<size_t>(i)]; }
  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dim(i);
    return n;
  }
  bool empty() const { return count() == 0; }
  std::span<const int64_t> shape() const { return {dims.data(), static_cast<size_t>(rank)}; }
  Shape to_shape() const {
    Shape s = Shape::of_rank(rank);
    for (int i = 0; i < rank; ++i) s[i] = dim(i);
    return s;
  }
  bool contiguous() const;  // source order, no gaps
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// A contiguous view in source order. Bytes it spans: `dense_bytes`.
TensorView dense_view(void* data, DType dtype, std::span<const int64_t> dims);
int64_t dense_bytes(DType dtype, std::span<const int64_t> dims);
void set_dense_strides(TensorView& view);

// One element as a number, whatever the type. `load_int` and `store_int` are exact for every integer type (u64 by its
// bits; stores keep the low bits). Floats are stored rounded once, to nearest even, float8 and float4 saturating; a
// float becomes an integer by truncation, saturating, NaN as 0, and a bool by != 0. Complex types use their real part.
// An element of a sub-byte type is in the low bits of its byte; stores leave the other bits as they are. Strings are 0.
double load_number(DType dtype, const void* element);
int64_t load_int(DType dtype, const void* element);
void store_number(DType dtype, void* element, double value);
void store_int(DType dtype, void* element, int64_t value);

// Random access to the elements of a view by multi-index or by linear index in source order; handles sub-byte types.
class Elements {
 public:
  explicit Elements(const TensorView& view)
      : view_(view), dense_(view.contiguous()), bytes_(element_bytes(view.dtype)) {}
  DType dtype() const { return view_.dtype; }
  double number(int64_t linear) const;
  int64_t integer(int64_t linear) const;
  void set_number(int64_t linear, double value) const;
  void set_integer(int64_t linear, int64_t value) const;
  double number_at(const int64_t* index) const;
  int64_t integer_at(const int64_t* index) const;
  void set_number_at(const int64_t* index, double value) const;
  void set_integer_at(const int64_t* index, int64_t value) const;
  // Of integer types, as a cast converts: beyond a narrow one numbers lose their high bits, as integers do; the wide
  // ones take the nearest number that they have.
  void set_truncated_at(const int64_t* index, double value) const;
  // The byte address of an element; for types of whole bytes.
  char* address(int64_t linear) const;
  char* address_at(const int64_t* index) const;
  StringRef& text(int64_t linear) const { return *reinterpret_cast<StringRef*>(address(linear)); }

 private:
  struct Place {
    char* byte;
    int shift;
  };
  Place place(int64_t linear) const;
  Place place_at(const int64_t* index) const;

  TensorView view_;
  bool dense_;
  int64_t bytes_;
};

// Steps a multi-index through `dims` in source order; false after the last element. Start at all zeros, with no dim 0.
inline bool next_index(int64_t* index, std::span<const int64_t> dims) {
  for (size_t i = dims.size(); i-- > 0;) {
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
  }
  return false;
}

// Copies elements between views of equal shape and dtype, whatever their strides.
void copy_elements(const TensorView& from, const TensorView& to);

}  // namespace mica
