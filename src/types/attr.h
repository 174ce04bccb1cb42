// Attributes of operators. An attribute struct is trivially copyable and lists its fields once:
//
//   struct Conv { Ints strides; int64_t groups = 1; AutoPad auto_pad = AutoPad::kNotSet;
//     template <class V> void visit(V&& v) { v("strides", strides, "step per spatial axis"); v("groups", groups,
//     "..."); } };
//
// Printing, parsing, hashing, comparing, the file and the docs are AttrVisitors. Field types: bool, int64_t, float,
// DType, Ints, Floats, Name, Dims, and enums for which `constexpr std::span<const std::string_view> names_of(E)` is
// found by argument lookup. Long lists (a tree ensemble's, a lookup table's) are constant inputs instead.
#pragma once
#include <span>
#include <string_view>

#include "types/type.h"

namespace mica {

// At most N items, held in place.
template <class T, size_t N>
struct FixedList {
  uint32_t count = 0;
  std::array<T, N> items{};
  FixedList() = default;
  FixedList(std::initializer_list<T> list) {
    for (T v : list) items[count++] = v;
  }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T operator[](size_t i) const { return items[i]; }
  T& operator[](size_t i) { return items[i]; }
  const T* begin() const { return items.data(); }
  const T* end() const { return items.data() + count; }
  std::span<const T> span() const { return {items.data(), count}; }
  bool push(T v) { return count < N && (items[count++] = v, true); }
  bool assign(std::span<const T> list) {
    count = 0;
    for (T v : list)
      if (!push(v)) return false;
    return true;
  }
  // Item i, or `otherwise` when the list is shorter: lists that a model leaves out are empty.
  T get(size_t i, T otherwise) const { return i < count ? items[i] : otherwise; }
  bool operator==(const FixedList& o) const {
    bool same = count == o.count;
    for (uint32_t i = 0; same && i < count; ++i) same = items[i] == o.items[i];
    return same;
  }
};
using Ints = FixedList<int64_t, 2 * kMaxRank>;
using Floats = FixedList<float, 2 * kMaxRank>;
using Dims = FixedList<Dim, kMaxRank>;  // a shape as an attribute: may hold expressions of the graph's table
using Name = Text<256>;                 // a short text, such as an Einsum equation

class AttrVisitor {
 public:
  virtual void field(std::string_view name, bool& value, std::string_view doc) = 0;
  virtual void field(std::string_view name, int64_t& value, std::string_view doc) = 0;
  virtual void field(std::string_view name, float& value, std::string_view doc) = 0;
  virtual void field(std::string_view name, DType& value, std::string_view doc) = 0;
  virtual void field(std::string_view name, Ints& value, std::string_view doc) = 0;
  virtual void field(std::string_view name, Floats& value, std::string_view doc) = 0;
  virtual void field(std::string_view name, Dims& value, std::string_view doc) = 0;
  virtual void field(std::string_view name, Name& value, std::string_view doc) = 0;
  virtual void choice(std::string_view name, int64_t& index, std::span<const std::string_view> names,
                      std::string_view doc) = 0;

 protected:
  ~AttrVisitor() = default;
};

template <class A>
void visit_attributes(void* attributes, AttrVisitor& visitor) {
  static_cast<A*>(attributes)->visit([&](std::string_view name, auto& field, std::string_view doc) {
    using F = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_enum_v<F> && !std::is_same_v<F, DType>) {
      int64_t index = static_cast<int64_t>(field);
      visitor.choice(name, index, names_of(F{}), doc);
      field = static_cast<F>(index);
    } else {
      visitor.field(name, field, doc);
    }
  });
}

// The type-erased face of an attribute struct; empty for an operator without attributes.
struct AttrClass {
  uint32_t bytes = 0;
  void (*init)(void* place) = nullptr;  // default values
  void (*visit)(void* attributes, AttrVisitor&) = nullptr;
};
inline constexpr uint32_t kMaxAttrBytes = 1024;

template <class A>
constexpr AttrClass attr_class() {
  static_assert(std::is_trivially_copyable_v<A> && sizeof(A) <= kMaxAttrBytes && alignof(A) <= 16);
  return {sizeof(A), [](void* place) { new (place) A(); }, [](void* a, AttrVisitor& v) { visit_attributes<A>(a, v); }};
}

// Field by field; floats by their bits, so that equal structs have equal hashes and a NaN equals itself.
bool equal_attributes(const AttrClass& cls, const void* a, const void* b);
uint64_t hash_attributes(const AttrClass& cls, const void* attributes);

// "strides=[1,1], groups=2, mode=linear, equation=\"ij->ji\"": fields that have their default value are left out.
Status print_attributes(const AttrClass& cls, const void* attributes, const DimTable& dims, String& out);
// The inverse; fields not named get their default. Errors: kBadText for what does not parse, kBadAttribute (with the
// nearest name as a hint) for unknown fields and choices; the struct is then left with some fields set.
Status parse_attributes(const AttrClass& cls, void* attributes, std::string_view text, DimTable& dims);

// The form in a file: a count, then each field as its kind and its value, little-endian; dimensions as their raw
// numbers.
Status write_attributes(const AttrClass& cls, const void* attributes, Vector<char>& out);
// Reads from the front of `in`, which is moved on. Everything is checked: kinds, lengths, choices, element types, text
// without zero bytes; expressions in dimensions must have an id below `expressions`. Errors: kBadFile.
Status read_attributes(const AttrClass& cls, void* attributes, std::span<const char>& in, size_t expressions);

}  // namespace mica
