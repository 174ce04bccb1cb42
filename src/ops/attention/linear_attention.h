// Attributes of linear attention.
#pragma once
#include "types/attr.h"

namespace mica {

enum class UpdateRule : uint8_t { kLinear, kGated, kDelta, kGatedDelta };
inline constexpr std::string_view kUpdateRuleNames[] = {"linear", "gated", "delta", "gated_delta"};
constexpr std::span<const std::string_view> names_of(UpdateRule) { return kUpdateRuleNames; }

struct LinearAttention {
  int64_t q_heads = 0, kv_heads = 0;
  float scale = 0;
  UpdateRule update_rule = UpdateRule::kGatedDelta;
  template <class V>
  void visit(V&& v) {
    v("q_heads", q_heads, "heads of the queries");
    v("kv_heads", kv_heads, "heads of keys and values; a divisor of q_heads");
    v("scale", scale, "factor of the results; 0: 1 / sqrt(size of a key)");
    v("update_rule", update_rule, "how a key and a value change the state");
  }
};

}  // namespace mica
