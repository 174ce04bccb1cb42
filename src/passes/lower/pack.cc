#include "passes/lower/pack.h"

#include <map>
#include <tuple>

#include "ir/graph.h"
#include "kernels/pack/form.h"

namespace mica {
namespace {

// Padding may cost a quarter, or a page for small ones.
constexpr int64_t kSpareBytes = 4096;
bool is_small_enough(int64_t packed_bytes, int64_t plain_bytes) {
  return packed_bytes <= plain_bytes + plain_bytes / 4 + kSpareBytes;
}

// What the readers of one constant want.
struct Demand {
  bool any = false, agreed = true;
  PackKey key;
  void add(const PackKey& wanted) {
    agreed = agreed && (!any || key == wanted);
    key = wanted;
    any = true;
  }
};

std::vector<Demand> demands(const Plan& plan, const std::vector<StageWish>& wishes) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, PackKey> wished;
  for (const StageWish& wish : wishes) wished[{wish.function, wish.stage, wish.input}] = wish.key;
  std::vector<Demand> list(plan.constants.size());
  for (uint32_t f = 0; f < plan.functions.size(); ++f) {
    const PlanFunction& function = plan.functions[f];
    const auto constant_of = [&](uint32_t v) { return v == kNoIndex ? kNoIndex : function.values[v].constant; };
    for (uint32_t s = 0; s < function.stages.size(); ++s)
      for (uint32_t i = 0; i < function.stages[s].inputs.size(); ++i) {
        const uint32_t constant = constant_of(function.stages[s].inputs[i]);
        if (constant == kNoIndex) continue;
        const auto wish = wished.find({f, s, i});
        list[constant].add(wish == wished.end() ? PackKey() : wish->second);
      }
    for (uint32_t v : function.outputs)
      if (constant_of(v) != kNoIndex) list[constant_of(v)].add(PackKey());
  }
  return list;
}

// False when the form does not suit the constant.
bool pack_constant(PlanConstant& constant, const PackKey& key) {
  if (constant.dtype != DType::kF32 || constant.packing.kind != 0) return false;
  std::vector<int64_t> dims;
  for (Dim d : constant.shape.span()) dims.push_back(d.value());
  const int64_t floats = packed_floats(key, dims);
  if (floats <= 0 || !is_small_enough(floats * 4, static_cast<int64_t>(constant.bytes))) return false;
  OwnedTensor packed = value_or_throw(OwnedTensor::make(DType::kF32, std::span(&floats, 1)));
  pack_by_key(key, dims, static_cast<const float*>(constant.data), packed.view().as<float>());
  constant.packing = key;
  constant.data = packed.view().data;
  constant.bytes = static_cast<size_t>(floats) * 4;
  constant.owned = std::move(packed);
  return true;
}

}  // namespace

void pack_constants(Plan& plan, const std::vector<StageWish>& wishes,
                    const std::function<void(uint32_t constant)>& replaced) {
  if (wishes.empty()) return;
  const std::vector<Demand> wanted = demands(plan, wishes);
  for (uint32_t c = 0; c < plan.constants.size(); ++c)
    if (wanted[c].any && wanted[c].agreed && wanted[c].key.kind != 0 && pack_constant(plan.constants[c], wanted[c].key))
      replaced(c);
}

}  // namespace mica
