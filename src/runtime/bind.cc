#include "runtime/bind.h"

#include <algorithm>
#include <new>

#include "plan/memory.h"
#include "runtime/generic_steps.h"
#include "step/chain.h"

namespace mica {
namespace {

struct Operand {
  BoundOperand bound;
  Place place;
};

// Temporaries stand at kTemporary + index until the arena is planned.
constexpr uint32_t kTemporary = 0x80000000u;
constexpr uint32_t kBlockPlace = 0x40000000u;  // likewise blocks

class SegmentBinder;

// What one stage's hook sees.
class StageScope final : public BindScope {
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

 private:
  SegmentBinder& owner_;
  const Stage& stage_;
  uint32_t index_;
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

  Result<bool> run() {  // false: stalled
    MICA_TRY(bool moved, infer());
    if (!moved) return false;
    MICA_TRY_STATUS(find_live_out());
    MICA_TRY_STATUS(place_values(function_, types_,
                                 {segment_.first_stage, segment_.end_stage, segment_.live_out, context_.views,
                                  context_.in_place, context_.compose},
                                 placement_));
    for (uint32_t s = segment_.first_stage; s < segment_.end_stage; ++s)
      if (!placement_.skipped[s - segment_.first_stage]) MICA_TRY_STATUS(bind_stage(s));
    MICA_TRY_STATUS(copy_known_outputs());
    MICA_TRY_STATUS(lay_out());
    return fill_values();
  }

 private:
  friend class StageScope;
  Result<bool> infer();
  // A copy that lives as long as the segment: the memory that the contents were read from may not.
  Result<const TensorView*> own_contents(const TensorView& contents) {
    const int64_t bytes = dense_bytes(contents.dtype, contents.shape());
    void* data = segment_.memory.take(static_cast<size_t>(bytes), kCacheLine);
    void* place = segment_.memory.take(sizeof(TensorView));
    if (!data || !place) return out_of_memory();
    const TensorView copy = dense_view(data, contents.dtype, contents.shape());
    if (!contents.empty()) copy_elements(contents, copy);
    return new (place) TensorView(copy);
  }
  Status find_live_out();
  Status bind_stage(uint32_t s);
  Status gather_operands(const Stage& stage, StageScope& scope);
  Result<bool> try_hook(const Stage& stage, uint32_t s, StageScope& scope);
  Result<bool> retry_dense(const Stage& stage, uint32_t s, const StageScope& first);
  Result<bool> bind_composition(const Stage& stage, uint32_t s, const StageScope& scope);
  Status add_reference(const Stage& stage, uint32_t s);
  Status add_post_ops(const Stage& stage, uint32_t s, int done, StageScope& scope);
  Status copy_known_outputs();
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

Result<void*> StageScope::memory(size_t bytes) {
  void* place = owner_.segment_.memory.take(bytes, kCacheLine);
  if (!place) return out_of_memory();
  return place;
}

Result<const void*> StageScope::packed(int input, const PackRequest& request) {
  MICA_CHECK(has(input) && bound[static_cast<size_t>(input)].constant, kInternal, "operand {} has no contents to pack",
             input);
  const uint32_t v = stage_.inputs[static_cast<size_t>(input)];
  if (owner_.function_.values[v].kind == ValueKind::kConstant)
    return owner_.context_.packs->packed(owner_.function_.values[v].constant, request);
  MICA_TRY(void* to, memory(request.bytes));
  request.pack(bound[static_cast<size_t>(input)].view, to, request.context);
  return static_cast<const void*>(to);
}

Result<int> StageScope::temporary(size_t bytes) {
  MICA_TRY(Place place, owner_.temporary(index_, bytes));
  MICA_TRY_STATUS(places.push_back(place));
  return static_cast<int>(places.size() - 1);
}

Status StageScope::add(const StepSpec& step) { return owner_.add_step(index_, step, places); }

Result<bool> SegmentBinder::infer() {
  MICA_TRY_STATUS(types_.begin());
  for (uint32_t v = 0; v < request_.live.size(); ++v)
    if (request_.live[v].present) {
      types_.value(v) = request_.live[v];
      if (request_.live[v].constant) {
        MICA_TRY(types_.value(v).constant, own_contents(*request_.live[v].constant));
      }
    }
  segment_.first_stage = request_.first_stage;
  uint32_t s = request_.first_stage;
  for (; s < function_.stages.size(); ++s) {
    const bool first = s == request_.first_stage;
    MICA_TRY_STATUS(types_.infer_stage(s, !first || request_.mode == SegmentMode::kShapes));
    if (types_.settled(s)) continue;
    if (first && request_.mode != SegmentMode::kDynamic) return false;
    if (first) ++s;  // this stage's reference finds the shape
    break;
  }
  segment_.end_stage = s;
  segment_.ends_function = s == function_.stages.size();
  return true;
}

Status SegmentBinder::find_live_out() {
  Vector<bool>&made = scratch_.made, &wanted = scratch_.wanted;
  made.clear();
  wanted.clear();
  MICA_TRY_STATUS(made.resize(function_.values.size()));
  MICA_TRY_STATUS(wanted.resize(function_.values.size()));
  for (uint32_t s = segment_.first_stage; s < segment_.end_stage; ++s)
    for (uint32_t v : function_.stages[s].outputs)
      if (v != kNoIndex) made[v] = true;
  for (uint32_t s = segment_.end_stage; s < function_.stages.size(); ++s)
    for (uint32_t v : function_.stages[s].inputs)
      if (v != kNoIndex) wanted[v] = true;
  for (uint32_t v : function_.outputs) wanted[v] = true;
  for (uint32_t v = 0; v < made.size(); ++v)
    if (made[v] && wanted[v]) MICA_TRY_STATUS(segment_.live_out.push_back(v));
  return {};
}

Place SegmentBinder::place_of(uint32_t v) const {
  const Placed& placed = placement_.values[v];
  switch (placed.kind) {
    case Placed::Kind::kBlock: return {kBlockPlace + static_cast<uint32_t>(placed.block), placed.offset};
    case Placed::Kind::kSlot: return {kBaseFirstSlot + placed.slot, placed.offset};
    case Placed::Kind::kDynamic: return {kBaseFirstSlot + v, 0};
    default: return {kBaseAbsolute, static_cast<int64_t>(reinterpret_cast<intptr_t>(placed.view.data))};
  }
}

Result<Place> SegmentBinder::temporary(uint32_t s, size_t bytes) {
  MemoryBlock block;
  block.bytes = bytes;
  block.first = block.last = s;
  MICA_TRY_STATUS(temporaries_.push_back(block));
  return Place{kTemporary + static_cast<uint32_t>(temporaries_.size() - 1), 0};
}

Status SegmentBinder::add_step(uint32_t s, const StepSpec& spec, std::span<const Place> operands) {
  BoundStep step;
  step.kernel = spec.kernel;
  step.arguments = spec.arguments;
  step.check = spec.check;
  step.tasks = spec.tasks;
  step.work = spec.work;
  step.scratch_bytes = round_up(spec.scratch_bytes, kCacheLine);
  step.stage = s;
  step.name = spec.name;
  MICA_TRY(Place * places, take<Place>(operands.size()));
  std::copy(operands.begin(), operands.end(), places);
  step.operands = places;
  step.operand_count = static_cast<uint32_t>(operands.size());
  segment_.max_operands = std::max(segment_.max_operands, step.operand_count);
  segment_.scratch_bytes = std::max(segment_.scratch_bytes, step.scratch_bytes);
  return segment_.steps.push_back(step);
}

Status SegmentBinder::gather_operands(const Stage& stage, StageScope& scope) {
  const auto add = [&](uint32_t v) -> Status {
    BoundOperand operand;
    Place place;
    if (v != kNoIndex) {
      const Placed& placed = placement_.values[v];
      operand.present = true;
      operand.constant = placed.kind == Placed::Kind::kConstant;
      operand.view = placed.view;
      place = place_of(v);
    }
    MICA_TRY_STATUS(scope.bound.push_back(operand));
    return scope.places.push_back(place);
  };
  for (uint32_t v : stage.inputs) MICA_TRY_STATUS(add(v));
  for (uint32_t v : stage.outputs) MICA_TRY_STATUS(add(v));
  scope.input_count = stage.inputs.size();
  scope.inputs = {scope.bound.data(), scope.input_count};
  scope.outputs = {scope.bound.data() + scope.input_count, stage.outputs.size()};
  scope.op = stage.op;
  scope.attributes_blob = stage.attributes.data();
  scope.epilogue = stage.epilogue;
  scope.machine = context_.machine;
  scope.exact = context_.exact;
  scope.low_memory = context_.low_memory;
  return {};
}

Result<bool> SegmentBinder::try_hook(const Stage& stage, uint32_t s, StageScope& scope) {
  const RunDef* hook = hook_of(*stage.op);
  if (!hook) return false;
  for (uint32_t v : stage.inputs)
    if (v != kNoIndex && !types_.value(v).type.is_tensor()) return false;
  for (uint32_t v : stage.outputs)
    if (v != kNoIndex && (!types_.value(v).type.is_tensor() || !types_.value(v).type.shape.fixed())) return false;
  const size_t steps = segment_.steps.size();
  MICA_TRY(bool handled, hook->bind(scope));
  if (!handled) {
    while (segment_.steps.size() > steps) segment_.steps.pop_back();
    return false;
  }
  MICA_TRY_STATUS(add_post_ops(stage, s, scope.epilogue_done, scope));
  return true;
}

// Whether a view is dense in the given order; axes of one element do not matter.
bool is_dense(const TensorView& view, bool channels_last) {
  TensorView dense = view;
  set_order(dense, channels_last);
  for (int i = 0; i < view.rank; ++i)
    if (view.dim(i) > 1 && view.stride(i) != dense.stride(i)) return false;
  return true;
}

// The order in which an operator's kernels want operand i: channels last for image operands of image operators.
bool wants_channels_last(const Stage& stage, const StageScope& scope, size_t i) {
  const int rank = scope.bound[scope.input_count].view.rank;
  if (stage.op->layout != LayoutRule::kChannelsLast || rank < 3 || scope.bound[i].view.rank != rank) return false;
  size_t own = scope.input_count;
  for (int k = 0; k < stage.epilogue.count; ++k) own -= stage.epilogue.ops[k].operand >= 0;
  return i == 0 || i >= own;
}

// Kernels that do not take an operand's order or pitch may take a dense copy of it.
Result<bool> SegmentBinder::retry_dense(const Stage& stage, uint32_t s, const StageScope& first) {
  StageScope scope(*this, stage, s, scratch_.second);
  MICA_TRY_STATUS(gather_operands(stage, scope));
  bool any = false;
  auto& results = scratch_.results;  // outputs to be copied back
  results.clear();
  const size_t steps = segment_.steps.size();
  for (size_t i = 0; i < scope.bound.size(); ++i) {
    BoundOperand& operand = scope.bound[i];
    const bool channels_last = wants_channels_last(stage, scope, i);
    if (!operand.present || is_dense(operand.view, channels_last) || (operand.constant && !operand.view.data)) continue;
    any = true;
    TensorView dense = operand.view;
    set_order(dense, channels_last);
    MICA_TRY(Place place, temporary(s, static_cast<size_t>(dense_bytes(dense.dtype, dense.shape()))));
    if (i < scope.input_count)
      MICA_TRY_STATUS(add_copy(s, operand.view, scope.places[i], dense, place));
    else
      MICA_TRY_STATUS(results.push_back({i, operand.view}));
    dense.data = nullptr;
    operand.constant = false;
    operand.view = dense;
    scope.places[i] = place;
  }
  if (!any) return false;
  const StageScope& original = first;
  MICA_TRY(bool handled, try_hook(stage, s, scope));
  if (!handled) {
    while (segment_.steps.size() > steps) segment_.steps.pop_back();
    return false;
  }
  for (const auto& [i, view] : results)
    MICA_TRY_STATUS(add_copy(s, scope.bound[i].view, scope.places[i], view, original.places[i]));
  return true;
}

Status SegmentBinder::add_copy(uint32_t s, const TensorView& from, Place from_place, const TensorView& to,
                               Place to_place) {
  MICA_TRY(CopyArguments * args, take<CopyArguments>());
  new (args) CopyArguments();
  const Place operands[] = {from_place, to_place};
  return add_step(s, copy_step(*args, from, to, context_.machine->isa), operands);
}

// A concatenation copies those of its inputs that do not stand in their place already.
Result<bool> SegmentBinder::bind_composition(const Stage& stage, uint32_t s, const StageScope& scope) {
  if (stage.epilogue.count || !types_.value(stage.outputs[0]).type.shape.fixed()) return false;
  const TensorView& whole = scope.output(0).view;
  if (is_sub_byte(whole.dtype)) return false;
  Vector<TensorView> sizes, parts;
  for (const BoundOperand& input : scope.inputs) {
    if (!input.present || (input.constant && !input.view.data && !input.view.empty())) return false;
    MICA_TRY_STATUS(sizes.push_back(input.view));
  }
  MICA_TRY_STATUS(parts.resize(sizes.size()));
  for (uint32_t i = 0; i < sizes.size(); ++i)
    if (!part_of(stage, sizes, whole, parts[i], i)) return false;
  const Place to = scope.places[scope.input_count];
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    const Place part{to.base, to.offset + static_cast<int64_t>(reinterpret_cast<intptr_t>(parts[i].data))};
    const Place from = scope.places[i];
    if (parts[i].empty() || (from.base == part.base && from.offset == part.offset && to.base != kBaseAbsolute))
      continue;
    parts[i].data = nullptr;
    MICA_TRY_STATUS(add_copy(s, sizes[i], from, parts[i], part));
  }
  return true;
}

Status SegmentBinder::bind_stage(uint32_t s) {
  const Stage& stage = function_.stages[s];
  StageScope scope(*this, stage, s, scratch_.first);
  MICA_TRY_STATUS(gather_operands(stage, scope));
  if (stage.op->compose && !context_.reference_only) {
    MICA_TRY(bool composed, bind_composition(stage, s, scope));
    if (composed) return {};
  }
  MICA_TRY(bool handled, try_hook(stage, s, scope));
  if (handled) return {};
  if (!context_.reference_only) {
    MICA_TRY(bool again, retry_dense(stage, s, scope));
    if (again) return {};
  }
  MICA_TRY_STATUS(add_reference(stage, s));
  return add_post_ops(stage, s, 0, scope);
}

Status SegmentBinder::add_reference(const Stage& stage, uint32_t s) {
  MICA_CHECK(stage.op->reference, kUnsupportedOperator,
             "operator `{}` has no kernel for these operands and no reference", stage.op->name);
  for (uint32_t v : stage.inputs)  // packed weights are needed plain
    if (v != kNoIndex && function_.values[v].kind == ValueKind::kConstant && !placement_.values[v].view.data) {
      MICA_TRY(const void* plain, context_.packs->plain(function_.values[v].constant));
      placement_.values[v].view.data = const_cast<void*>(plain);
    }
  MICA_TRY(ReferenceArguments * args, take<ReferenceArguments>());
  size_t own = stage.inputs.size();
  for (int i = 0; i < stage.epilogue.count; ++i) own -= stage.epilogue.ops[i].operand >= 0;
  *args = {stage.op,
           stage.attributes.data(),
           stage.inputs.data(),
           static_cast<uint32_t>(own),
           stage.outputs.data(),
           static_cast<uint32_t>(stage.outputs.size()),
           stage.functions.data(),
           static_cast<uint32_t>(stage.functions.size())};
  MICA_TRY_STATUS(add_step(s, {.name = "reference"}, {}));
  segment_.steps.back().reference = args;
  return {};
}

Status SegmentBinder::add_post_ops(const Stage& stage, uint32_t s, int done, StageScope& scope) {
  MICA_TRY(const int chained, bind_epilogue(scope, done));
  done += chained;
  for (int i = done; i < stage.epilogue.count; ++i) {
    const PostOp& op = stage.epilogue.ops[i];
    MICA_TRY(PostOpArguments * args, take<PostOpArguments>());
    new (args) PostOpArguments();
    args->op = op;
    args->result = scope.output(0).view;
    Place operands[2] = {scope.places[scope.input_count], {}};
    if (op.operand >= 0) {
      args->second = scope.inputs[static_cast<size_t>(op.operand)].view;
      operands[1] = scope.places[static_cast<size_t>(op.operand)];
    }
    MICA_TRY_STATUS(add_step(s,
                             {.kernel = run_post_op,
                              .arguments = args,
                              .work = static_cast<double>(args->result.count()),
                              .name = "post_op"},
                             operands));
  }
  return {};
}

// Live values whose contents are known at bind still have to stand in their slots.
Status SegmentBinder::copy_known_outputs() {
  for (uint32_t v : segment_.live_out) {
    Placed& placed = placement_.values[v];
    if (placed.kind != Placed::Kind::kConstant || !placed.view.data) continue;
    TensorView dense = placed.view;
    set_dense_strides(dense);
    const uint32_t s = segment_.end_stage ? segment_.end_stage - 1 : 0;
    MICA_TRY_STATUS(add_copy(s, placed.view, place_of(v), dense, {kBaseFirstSlot + v, 0}));
    placed.kind = Placed::Kind::kSlot;
    placed.slot = v;
    placed.view = dense;
    placed.view.data = nullptr;
  }
  return {};
}

// Blocks as they were planned for the bounds hold those of any smaller numbers, when they live as long.
bool fit_as_planned(std::span<const MemoryBlock> blocks, std::span<const MemoryBlock> planned) {
  return std::ranges::equal(blocks, planned, [](const MemoryBlock& block, const MemoryBlock& plan) {
    return block.bytes <= plan.bytes && block.first == plan.first && block.last == plan.last;
  });
}

Status SegmentBinder::lay_out() {
  Vector<MemoryBlock>& blocks = scratch_.blocks;
  blocks.clear();
  for (const Block& block : placement_.blocks) {
    MICA_CHECK(block.bytes >= 0, kBadShape, "a tensor is larger than the address space");
    MemoryBlock memory;
    memory.bytes = static_cast<size_t>(block.bytes);
    memory.first = block.first;
    memory.last = block.last;
    MICA_TRY_STATUS(blocks.push_back(memory));
  }
  for (const MemoryBlock& block : temporaries_) MICA_TRY_STATUS(blocks.push_back(block));
  if (request_.again && fit_as_planned(blocks, segment_.blocks)) {
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i].offset = segment_.blocks[i].offset;
  } else {
    planned_ = true;
    MICA_TRY(const size_t arena, plan_memory(blocks));
    segment_.arena_bytes = request_.again ? std::max(segment_.arena_bytes, arena) : arena;
    if (!request_.again) {  // the plan for the bounds stays: most numbers fit it
      segment_.arena_bound = live_bound(blocks);
      MICA_TRY_STATUS(segment_.blocks.assign(blocks));
    }
  }
  const auto resolve = [&](Place& place) {
    if (place.base < kBlockPlace) return;
    const size_t index =
        place.base >= kTemporary ? placement_.blocks.size() + (place.base - kTemporary) : place.base - kBlockPlace;
    place = {kBaseArena, place.offset + static_cast<int64_t>(blocks[index].offset)};
  };
  for (BoundStep& step : segment_.steps)
    for (uint32_t i = 0; i < step.operand_count; ++i) resolve(const_cast<Place*>(step.operands)[i]);
  MICA_TRY_STATUS(segment_.values.resize(function_.values.size()));
  for (uint32_t v = 0; v < function_.values.size(); ++v) {
    segment_.values[v].place = place_of(v);
    resolve(segment_.values[v].place);
  }
  return {};
}

Result<bool> SegmentBinder::fill_values() {
  for (uint32_t v = 0; v < function_.values.size(); ++v) {
    const Placed& placed = placement_.values[v];
    BoundValue& value = segment_.values[v];
    value.present = placed.kind != Placed::Kind::kNone;
    value.constant = placed.kind == Placed::Kind::kConstant;
    value.object = placed.kind == Placed::Kind::kObject;
    value.dynamic = placed.kind == Placed::Kind::kDynamic;
    value.type = types_.value(v).type;
    value.view = placed.view;
  }
  return true;
}

}  // namespace

namespace {

// Empties a segment and keeps its memory and the plan of its arena.
void begin_again(BoundSegment& segment) {
  segment.steps.clear();
  segment.live_out.clear();
  segment.memory.reset();
  segment.scratch_bytes = 0;
  segment.max_operands = 0;
}

}  // namespace

Result<SegmentResult> bind_segment(const BindContext& context, const SegmentRequest& request, BindScratch& scratch) {
  BoundSegment* segment = request.again;
  if (segment) {
    begin_again(*segment);
  } else {
    void* place = allocate(sizeof(BoundSegment));
    if (!place) return out_of_memory();
    segment = new (place) BoundSegment();
  }
  SegmentBinder binder(context, request, *segment, scratch);
  Result<bool> done = binder.run();
  if (done.ok() && *done) return SegmentResult{segment, binder.planned(), false};
  if (!request.again) destroy_segment(segment);
  if (!done.ok()) return done.take_error();
  return SegmentResult{nullptr, false, true};
}

void destroy_segment(BoundSegment* segment) {
  if (!segment) return;
  segment->~BoundSegment();
  deallocate(segment);
}

}  // namespace mica
