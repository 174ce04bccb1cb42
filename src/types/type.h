// Shapes and types of values.
#pragma once
#include <array>
#include <initializer_list>

#include "types/dim.h"
#include "types/dtype.h"

namespace mica {

inline constexpr int kMaxRank = 10;

// A list of at most kMaxRank dimensions, or of unknown length.
struct Shape {
  int8_t rank = -1;  // -1: unknown
  std::array<Dim, kMaxRank> dims{};

  Shape() = default;
  Shape(std::initializer_list<Dim> list) : rank(0) {
    for (Dim d : list) dims[static_cast<size_t>(rank++)] = d;
  }
  explicit Shape(std::span<const Dim> list) : rank(0) {
    for (Dim d : list) dims[static_cast<size_t>(rank++)] = d;
  }
  static Shape of_rank(int rank) {
    Shape s;
    s.rank = static_cast<int8_t>(rank);
    return s;
  }  // all dims 0: to be filled

  bool known() const { return rank >= 0; }
  bool fixed() const {
    for (int i = 0; i < rank; ++i)
      if (!dims[static_cast<size_t>(i)].is_fixed()) return false;
    return known();
  }
  Dim& operator[](int i) { return dims[static_cast<size_t>(i)]; }
  Dim operator[](int i) const { return dims[static_cast<size_t>(i)]; }
  Dim back() const { return (*this)[rank - 1]; }
  std::span<const Dim> span() const { return {dims.data(), static_cast<size_t>(rank < 0 ? 0 : rank)}; }
  void push(Dim d) { dims[static_cast<size_t>(rank++)] = d; }
  bool operator==(const Shape& o) const {
    return rank == o.rank && std::equal(dims.begin(), dims.begin() + (rank < 0 ? 0 : rank), o.dims.begin());
  }
};

// What holds tensors: the outer kind and, for an optional or a sequence, what is inside.
enum class Kind : uint8_t { kTensor, kSequence, kOptional, kMap };

struct Type {
  Kind kind = Kind::kTensor;
  Kind of = Kind::kTensor;     // optional of sequence, sequence of map
  DType dtype = DType::kNone;  // of the innermost tensor, or of a map's values
  DType key = DType::kNone;    // of a map
  Shape shape;                 // of the innermost tensor

  static Type tensor(DType dtype, Shape shape = {}) {
    Type t;
    t.dtype = dtype;
    t.shape = shape;
    return t;
  }
  static Type sequence(DType dtype, Shape shape = {}) {
    Type t = tensor(dtype, shape);
    t.kind = Kind::kSequence;
    return t;
  }
  static Type optional(const Type& inner) {
    Type t = inner;
    t.of = inner.kind;
    t.kind = Kind::kOptional;
    return t;
  }
  bool is_tensor() const { return kind == Kind::kTensor; }
  bool operator==(const Type&) const = default;
};

// "f32[N,3,224,224]", "seq(f32[?])", "opt(seq(i64))", "map(i64,f32)": `?` stands for an unknown rank.
Status print(const Type& type, const DimTable& dims, String& out);
Status print(const Shape& shape, const DimTable& dims, String& out);
Result<Type> parse_type(std::string_view text, DimTable& dims);

// Elements of a fixed shape; an error when the product overflows or the shape is not fixed.
Result<int64_t> element_count(const Shape& shape);

}  // namespace mica
