#pragma once
// Binds one segment of a function; internal to bind.cc, which sees the segment, and bind_stage.cc, which sees one
// stage.
#include <new>

#include "plan/memory.h"
#include "runtime/bind.h"
#include "runtime/generic_steps.h"

namespace mica {

// Temporaries stand at kTemporary + index until the arena is planned.
inline constexpr uint32_t kTemporary = 0x80000000u;
inline constexpr uint32_t kBlockPlace = 0x40000000u;  // likewise blocks

class SegmentBinder;
class RowFinder;
class RowBinder;

// What one stage's hook sees.
class StageScope : public BindScope {
 public:
  StageScope(SegmentBinder& owner, const Stage& stage, uint32_t index, BoundOperandLists& lists)
      : bound(lists.bound), places(lists.places), owner_(owner), stage_(stage), index_(index) {
    bound.clear();
    places.clear();
  }
  Result<void*> memory(size_t bytes) override;
  Result<const void*> packed(int input, const PackRequest& request) override;
  Result<int> temporary(size_t bytes) override;
  Status add(const StepSpec& step) override;

  Vector<BoundOperand>& bound;  // inputs, then outputs
  Vector<Place>& places;        // the same order, then temporaries
  size_t input_count = 0;
  uint32_t index() const { return index_; }

 protected:
  ~StageScope() = default;

 private:
  SegmentBinder& owner_;
  const Stage& stage_;
  uint32_t index_;
};

class WholeScope final : public StageScope {
 public:
  using StageScope::StageScope;
};

class SegmentBinder {
 public:
  SegmentBinder(const BindContext& context, const SegmentRequest& request, BoundSegment& segment, BindScratch& scratch)
      : scratch_(scratch),
        context_(context),
        plan_(*context.plan),
        request_(request),
        function_(plan_.functions[request.function]),
        segment_(segment),
        types_(plan_, request.function, segment.memory) {
    types_.swap_storage(scratch_.types);
    temporaries_.clear();
  }
  ~SegmentBinder() { types_.swap_storage(scratch_.types); }
  bool planned() const { return planned_; }

  Result<bool> run();  // false: stalled

 private:
  friend class StageScope;
  friend class RowFinder;
  friend class RowBinder;
  Result<bool> infer();
  // A copy that lives as long as the segment: the memory that the contents were read from may not.
  Result<const TensorView*> own_contents(const TensorView& contents);
  Status find_live_out();
  bool has_bounds() const;
  Status find_chains();
  Status place();
  Status find_row_means();
  Status add_row_means(uint32_t s);
  RowMeansUse row_means_of(uint32_t s) const;
  void give_row_means(StageScope& scope);
  Status ask_row_means(StageScope& scope);
  Result<bool> bind_stages();
  Status bind_stage(uint32_t s);
  // A view of value v in the order that the plan chose for it.
  TensorView ordered_view(uint32_t v) const;
  // Whether rows that collide in caches stand apart (spread_rows).
  bool spreads() const { return context_.spread && !has_bounds(); }
  // How value v stands in a window of rows.
  TensorView window_view(uint32_t v) const;
  Status gather_operands(const Stage& stage, StageScope& scope);
  void describe_stage(const Stage& stage, StageScope& scope) const;
  Status describe_unplaced(const Stage& stage, StageScope& scope) const;
  Status find_byte_prices();
  Status list_forms();
  // Whether the stage's shapes are known and all its inputs are tensors.
  bool has_fixed_inputs(uint32_t s) const;
  Status find_residuals();
  int shared_residual_of(const Stage& stage, const StageScope& scope) const;
  void part_residual(uint32_t s);
  Result<bool> try_hook(const Stage& stage, uint32_t s, StageScope& scope);
  Result<bool> retry_dense(const Stage& stage, uint32_t s, const StageScope& first);
  Result<bool> bind_composition(const Stage& stage, uint32_t s, StageScope& scope);
  Status add_reference(const Stage& stage, uint32_t s);
  Status add_post_ops(const Stage& stage, uint32_t s, int done, StageScope& scope);
  Status copy_known_outputs();
  Status list_values(Vector<MemoryBlock>& blocks) const;
  Status check_cap();
  Status lay_out();
  Result<bool> fill_values();
  Place place_of(uint32_t v) const;
  Status add_copy(uint32_t s, const TensorView& from, Place from_place, const TensorView& to, Place to_place);
  Status add_step(uint32_t s, const StepSpec& spec, std::span<const Place> operands);
  Result<Place> temporary(uint32_t s, size_t bytes);
  const RunDef* hook_of(const OpDef& op) const {
    if (context_.reference_only) return nullptr;
    return context_.find_run ? context_.find_run(context_.self, op) : mica::find_run(op);
  }
  template <class T>
  Result<T*> take(size_t count = 1) {
    void* place = segment_.memory.take(sizeof(T) * count, alignof(T) < 16 ? 16 : alignof(T));
    if (!place) return out_of_memory();
    return static_cast<T*>(place);
  }

  BindScratch& scratch_;
  const BindContext& context_;
  const Plan& plan_;
  const SegmentRequest& request_;
  const PlanFunction& function_;
  BoundSegment& segment_;
  FunctionTypes types_;
  Placement& placement_ = scratch_.placement;
  Vector<MemoryBlock>& temporaries_ = scratch_.temporaries;
  bool planned_ = false;
};

}  // namespace mica
