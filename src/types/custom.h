// Operators that an application hands over at run time: how source models spell them, and what of their attributes a
// plan keeps.
#pragma once
#include "types/op.h"

namespace mica {

// `def.name` is "app/<domain>/<name>"; `def.user` leads back to whoever made it.
struct CustomOperator {
  std::string_view domain, name;  // as source models spell it; "" is a format's own domain
  OpDef def;
};

// All attributes of a node as one text, cut into parts: "alpha=f:0.5;pads=i:1,1;mode=s:linear". In texts, `%`, `;` and
// bytes below blank stand as `%` and two hexadecimal digits.
struct CustomAttributes {
  Name parts[3];
  template <class V>
  void visit(V&& v) {
    v("attributes", parts[0], "name=kind:values, separated by semicolons");
    v("attributes2", parts[1], "continued");
    v("attributes3", parts[2], "continued");
  }
};

// One attribute: kind 'i' (integers), 'f' (floats), 's' (a text) or 'S' (texts, each ended by a zero within `text`).
struct CustomAttribute {
  std::string_view name;
  char kind = 0;
  std::span<const int64_t> integers;
  std::span<const float> floats;
  std::string_view text;
};

// Errors: kLimit when it does not fit into a CustomAttributes (about 760 bytes as text), kBadAttribute for a name with
// `=` or `;`.
Result<CustomAttributes> write_custom(std::span<const CustomAttribute> list);

// The inverse. Everything that the result points to, names and texts ended by a zero, stands in `memory`.
class CustomMemory {
 public:
  virtual void* take(size_t bytes) = 0;  // 16-byte aligned; null when memory is short

 protected:
  ~CustomMemory() = default;
};
// Errors: kBadFile for a text that `write_custom` does not make, kOutOfMemory.
Result<std::span<const CustomAttribute>> read_custom(const CustomAttributes& attributes, CustomMemory& memory);

}  // namespace mica
