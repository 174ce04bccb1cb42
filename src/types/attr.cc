// The form of attributes in memory and files, and what follows from it: equality, hashes, defaults.
#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "types/attr_bytes.h"

namespace mica {
namespace {

// Appends fields to a fixed place; `full` when there was no room.
class Writer final : public AttrVisitor {
 public:
  explicit Writer(AttrBytes& out) : out_(out) {}
  void field(std::string_view, bool& v, std::string_view) override {
    begin(AttrKind::kBool);
    put(v, 1);
  }
  void field(std::string_view, int64_t& v, std::string_view) override {
    begin(AttrKind::kInt);
    put(static_cast<uint64_t>(v), 8);
  }
  void field(std::string_view, float& v, std::string_view) override {
    begin(AttrKind::kFloat);
    put(__builtin_bit_cast(uint32_t, v), 4);
  }
  void field(std::string_view, DType& v, std::string_view) override {
    begin(AttrKind::kDType);
    put(static_cast<uint64_t>(v), 1);
  }
  void field(std::string_view, Ints& v, std::string_view) override {
    begin(AttrKind::kInts);
    put(v.count, 1);
    for (int64_t i : v) put(static_cast<uint64_t>(i), 8);
  }
  void field(std::string_view, Floats& v, std::string_view) override {
    begin(AttrKind::kFloats);
    put(v.count, 1);
    for (float f : v) put(__builtin_bit_cast(uint32_t, f), 4);
  }
  void field(std::string_view, Dims& v, std::string_view) override {
    begin(AttrKind::kDims);
    put(v.count, 1);
    for (Dim d : v) put(static_cast<uint64_t>(d.raw()), 8);
  }
  void field(std::string_view, Name& v, std::string_view) override {
    begin(AttrKind::kName);
    put(v.view().size(), 1);
    for (char c : v.view()) put(static_cast<unsigned char>(c), 1);
  }
  void choice(std::string_view, int64_t& v, std::span<const std::string_view>, std::string_view) override {
    begin(AttrKind::kChoice);
    put(static_cast<uint64_t>(v), 2);
  }

 private:
  void begin(AttrKind kind) {
    if (out_.fields < AttrBytes::kMaxFields) out_.starts[out_.fields++] = static_cast<uint32_t>(out_.size);
    put(static_cast<uint64_t>(kind), 1);
  }
  void put(uint64_t value, int bytes) {
    for (int i = 0; i < bytes && out_.size < sizeof out_.data; ++i)
      out_.data[out_.size++] = static_cast<char>(value >> (8 * i));
  }
  AttrBytes& out_;
};

// Takes fields from the front of bytes; the first thing that is wrong is kept and the rest left alone.
class Reader final : public AttrVisitor {
 public:
  Reader(std::span<const char> in, size_t expressions) : in_(in), expressions_(expressions) {}
  void field(std::string_view name, bool& v, std::string_view) override {
    const uint64_t bits = begin(name, AttrKind::kBool) ? get(1) : 0;
    if (check(bits <= 1, name)) v = bits != 0;
  }
  void field(std::string_view name, int64_t& v, std::string_view) override {
    if (begin(name, AttrKind::kInt)) v = static_cast<int64_t>(get(8));
  }
  void field(std::string_view name, float& v, std::string_view) override {
    if (begin(name, AttrKind::kFloat)) v = __builtin_bit_cast(float, static_cast<uint32_t>(get(4)));
  }
  void field(std::string_view name, DType& v, std::string_view) override {
    const uint64_t code = begin(name, AttrKind::kDType) ? get(1) : 0;
    if (check(code < static_cast<uint64_t>(kDTypeCount), name)) v = static_cast<DType>(code);
  }
  void field(std::string_view name, Ints& v, std::string_view) override {
    const uint64_t n = list(name, AttrKind::kInts, v.items.size(), 8);
    v = {};
    for (uint64_t i = 0; i < n; ++i) v.push(static_cast<int64_t>(get(8)));
  }
  void field(std::string_view name, Floats& v, std::string_view) override {
    const uint64_t n = list(name, AttrKind::kFloats, v.items.size(), 4);
    v = {};
    for (uint64_t i = 0; i < n; ++i) v.push(__builtin_bit_cast(float, static_cast<uint32_t>(get(4))));
  }
  void field(std::string_view name, Dims& v, std::string_view) override {
    const uint64_t n = list(name, AttrKind::kDims, v.items.size(), 8);
    v = {};
    for (uint64_t i = 0; i < n; ++i) {
      const Dim d = Dim::from_raw(static_cast<int64_t>(get(8)));
      if (check(d.is_fixed() || d.id() < expressions_, name)) v.push(d);
    }
  }
  void field(std::string_view name, Name& v, std::string_view) override {
    const uint64_t n = list(name, AttrKind::kName, sizeof v.chars - 1, 1);
    const std::string_view text(in_.data(), ok() ? n : 0);
    if (!check(text.find('\0') == std::string_view::npos, name)) return;
    v.assign(text);
    in_ = in_.subspan(text.size());
  }
  void choice(std::string_view name, int64_t& v, std::span<const std::string_view> names, std::string_view) override {
    const uint64_t index = begin(name, AttrKind::kChoice) ? get(2) : 0;
    if (check(index < names.size(), name)) v = static_cast<int64_t>(index);
  }

  bool ok() const { return status_.ok(); }
  Status take_status() { return std::move(status_); }
  std::span<const char> rest() const { return in_; }
  uint32_t fields() const { return fields_; }
  uint64_t get(int bytes) {
    uint64_t value = 0;
    if (!check(in_.size() >= static_cast<size_t>(bytes), "attributes")) return 0;
    for (int i = 0; i < bytes; ++i)
      value |= uint64_t{static_cast<unsigned char>(in_[static_cast<size_t>(i)])} << (8 * i);
    in_ = in_.subspan(static_cast<size_t>(bytes));
    return value;
  }

 private:
  bool check(bool good, std::string_view name) {
    if (!good && status_.ok()) status_ = error(Code::kBadFile, "the stored attribute `{}` is damaged", name);
    return status_.ok();
  }
  bool begin(std::string_view name, AttrKind kind) {
    ++fields_;
    return ok() && check(get(1) == static_cast<uint64_t>(kind), name);
  }
  // The length of a list whose items are all there, or 0.
  uint64_t list(std::string_view name, AttrKind kind, size_t most, size_t item_bytes) {
    const uint64_t n = begin(name, kind) ? get(1) : 0;
    return check(n <= most && in_.size() >= n * item_bytes, name) ? n : 0;
  }
  std::span<const char> in_;
  size_t expressions_;
  uint32_t fields_ = 0;
  Status status_;
};

}  // namespace

AttrBytes bytes_of_attributes(const AttrClass& cls, const void* attributes) {
  AttrBytes out;
  if (!cls.visit) return out;
  alignas(16) char copy[kMaxAttrBytes];
  std::memcpy(copy, attributes, cls.bytes);  // visitors take fields to change; this one does not
  Writer writer(out);
  cls.visit(copy, writer);
  return out;
}

bool equal_attributes(const AttrClass& cls, const void* a, const void* b) {
  if (!cls.visit) return true;
  return std::ranges::equal(bytes_of_attributes(cls, a).view(), bytes_of_attributes(cls, b).view());
}

uint64_t hash_attributes(const AttrClass& cls, const void* attributes) {
  if (!cls.visit) return 0;
  return hash_bytes(std::as_bytes(bytes_of_attributes(cls, attributes).view()));
}

Status write_attributes(const AttrClass& cls, const void* attributes, Vector<char>& out) {
  const AttrBytes bytes = bytes_of_attributes(cls, attributes);
  MICA_TRY_STATUS(out.push_back(static_cast<char>(bytes.fields)));
  return out.append(bytes.view());
}

Status read_attributes(const AttrClass& cls, void* attributes, std::span<const char>& in, size_t expressions) {
  Reader reader(in, expressions);
  const uint64_t fields = reader.get(1);
  MICA_TRY_STATUS(reader.take_status());
  if (cls.visit) {
    cls.init(attributes);
    cls.visit(attributes, reader);
  }
  MICA_TRY_STATUS(reader.take_status());
  MICA_CHECK(fields == reader.fields(), kBadFile, "{} attributes are stored where the operator has {}", fields,
             reader.fields());
  in = reader.rest();
  return {};
}

}  // namespace mica
