#include "passes/lower/pack.h"

#include <map>
#include <tuple>

#include "base/os.h"
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

std::vector<int64_t> extents(const PlanConstant& constant) {
  std::vector<int64_t> dims;
  for (Dim d : constant.shape.span()) dims.push_back(d.value());
  return dims;
}

// 0 when the form does not suit the constant.
size_t packed_bytes(const PlanConstant& constant, const Demand& demand) {
  if (!demand.any || !demand.agreed || demand.key.kind == 0) return 0;
  if (constant.dtype != DType::kF32 || constant.packing.kind != 0) return 0;
  const int64_t floats = packed_floats(demand.key, extents(constant));
  const bool suits = floats > 0 && is_small_enough(floats * 4, static_cast<int64_t>(constant.bytes));
  return suits ? static_cast<size_t>(floats) * 4 : 0;
}

std::shared_ptr<std::byte> block_of(size_t bytes) {
  void* memory = take_memory(bytes);
  if (!memory) ok_or_throw(out_of_memory());
  return {static_cast<std::byte*>(memory), [bytes](std::byte* block) { release_memory(block, bytes); }};
}

}  // namespace

std::shared_ptr<const void> pack_constants(Plan& plan, const std::vector<StageWish>& wishes,
                                           const std::function<void(uint32_t constant)>& replaced) {
  if (wishes.empty()) return nullptr;
  const std::vector<Demand> wanted = demands(plan, wishes);
  std::vector<size_t> sizes;
  size_t total = 0;
  for (uint32_t c = 0; c < plan.constants.size(); ++c) {
    sizes.push_back(packed_bytes(plan.constants[c], wanted[c]));
    total += round_up(sizes.back(), kCacheLine);
  }
  if (total == 0) return nullptr;
  const std::shared_ptr<std::byte> block = block_of(total);
  std::byte* next = block.get();
  for (uint32_t c = 0; c < plan.constants.size(); ++c) {
    if (sizes[c] == 0) continue;
    PlanConstant& constant = plan.constants[c];
    pack_by_key(wanted[c].key, extents(constant), static_cast<const float*>(constant.data),
                reinterpret_cast<float*>(next));
    constant.packing = wanted[c].key;
    constant.data = next;
    constant.bytes = sizes[c];
    next += round_up(sizes[c], kCacheLine);
    replaced(c);
  }
  return block;
}

}  // namespace mica
