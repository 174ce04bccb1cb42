// Attribute structs filled from a problem's list.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>

#include "problem.h"

namespace mica::suite {

// Writes attributes into fields by name and notes which were found.
class AttributeWriter final : public AttrVisitor {
 public:
  explicit AttributeWriter(const std::vector<Attribute>& list) : list_(list) {}
  void field(std::string_view name, bool& value, std::string_view) override {
    if (const auto* v = find<bool>(name))
      value = *v;
    else if (const auto* i = find<int64_t>(name))
      value = *i != 0;
  }
  void field(std::string_view name, int64_t& value, std::string_view) override {
    if (const auto* v = find<int64_t>(name)) value = *v;
  }
  void field(std::string_view name, float& value, std::string_view) override {
    if (const auto* v = find<double>(name)) value = static_cast<float>(*v);
  }
  void field(std::string_view name, DType& value, std::string_view) override {
    if (const auto* v = find<DType>(name)) value = *v;
  }
  void field(std::string_view name, Ints& value, std::string_view) override {
    if (const auto* v = find<std::vector<int64_t>>(name)) value.assign(*v);
  }
  void field(std::string_view name, Floats& value, std::string_view) override {
    if (const auto* v = find<std::vector<double>>(name))
      for (double d : *v) value.push(static_cast<float>(d));
  }
  void field(std::string_view name, Dims& value, std::string_view) override {
    if (const auto* v = find<std::vector<int64_t>>(name))
      for (int64_t d : *v) value.push(d);
  }
  void field(std::string_view name, Name& value, std::string_view) override {
    if (const auto* v = find<std::string>(name)) value.assign(*v);
  }
  void choice(std::string_view name, int64_t& index, std::span<const std::string_view> names,
              std::string_view) override {
    const auto* v = find<std::string>(name);
    if (!v) return;
    const auto hit = std::ranges::find(names, std::string_view(*v));
    EXPECT_NE(hit, names.end()) << "attribute " << name << " has no value " << *v;
    index = hit - names.begin();
  }
  size_t found() const { return found_; }

 private:
  template <class T>
  const T* find(std::string_view name) {
    for (const Attribute& a : list_) {
      if (a.name != name) continue;
      const T* value = std::get_if<T>(&a.value);
      found_ += value != nullptr;
      return value;
    }
    return nullptr;
  }
  const std::vector<Attribute>& list_;
  size_t found_ = 0;
};

}  // namespace mica::suite
