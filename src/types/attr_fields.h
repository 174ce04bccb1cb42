// For visitors that treat fields of every type alike.
#pragma once
#include "types/attr.h"

namespace mica {

// Hands each field to `Self::each(name, value, doc)`, a template or a set of overloads; `choice` is the visitor's own.
template <class Self>
class EachField : public AttrVisitor {
 public:
  void field(std::string_view name, bool& v, std::string_view doc) final { self().each(name, v, doc); }
  void field(std::string_view name, int64_t& v, std::string_view doc) final { self().each(name, v, doc); }
  void field(std::string_view name, float& v, std::string_view doc) final { self().each(name, v, doc); }
  void field(std::string_view name, DType& v, std::string_view doc) final { self().each(name, v, doc); }
  void field(std::string_view name, Ints& v, std::string_view doc) final { self().each(name, v, doc); }
  void field(std::string_view name, Floats& v, std::string_view doc) final { self().each(name, v, doc); }
  void field(std::string_view name, Dims& v, std::string_view doc) final { self().each(name, v, doc); }
  void field(std::string_view name, Name& v, std::string_view doc) final { self().each(name, v, doc); }

 protected:
  ~EachField() = default;

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

}  // namespace mica
