// Types and small contents through a function of a plan, with the numbers of one binding.
#pragma once
#include "runtime/bound.h"

namespace mica {

inline constexpr int kMaxCallDepth = 64;

// What is known of every value of one function; grows as stages are inferred.
class FunctionTypes {
 public:
  FunctionTypes(const Plan& plan, uint32_t function, Pool& pool)
      : plan_(plan), function_(plan.functions[function]), pool_(pool), depth_(0), symbols_(own_symbols_) {}
  // Memory to work in, of earlier times; given back by another call.
  void swap_storage(Vector<InferValue>& storage) { values_.swap(storage); }
  // Constants get their contents; everything else is unknown.
  Status begin();
  InferValue& value(uint32_t v) { return values_[v]; }
  const InferValue& value(uint32_t v) const { return values_[v]; }
  // `contents`: small results may be computed too.
  Status infer_stage(uint32_t stage, bool contents = true);
  // True when every wanted tensor output of the stage has a fixed shape.
  bool settled(uint32_t stage) const;
  // Infers all stages and returns the outputs' types; values whose shape stays unknown are left so.
  Status infer_all(std::span<const InferValue> in, std::span<InferValue> out);

 private:
  class Scope;
  FunctionTypes(const FunctionTypes& caller, uint32_t function)
      : plan_(caller.plan_),
        function_(plan_.functions[function]),
        pool_(caller.pool_),
        depth_(caller.depth_ + 1),
        symbols_(caller.symbols_) {}
  const Plan& plan_;
  const PlanFunction& function_;
  Pool& pool_;
  int depth_;
  DimTable own_symbols_;
  DimTable& symbols_;  // for dimensions that stay unknown; the caller's in a called function
  Vector<InferValue> values_;
};

// The dense view of a constant's contents; `pool` keeps the view.
Result<const TensorView*> constant_view(const PlanConstant& constant, Pool& pool);

}  // namespace mica
