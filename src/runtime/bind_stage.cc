// How one stage of a segment becomes steps: by its operator's kernels, as copies into the parts of a whole, or on the
// reference.
#include <algorithm>
#include <new>

#include "runtime/binder.h"
#include "runtime/packing.h"
#include "step/chain.h"

namespace mica {

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
  MICA_TRY_STATUS(make_packed(bound[static_cast<size_t>(input)].view, PackKey(), request, to, owner_.context_.threads));
  return static_cast<const void*>(to);
}

Result<int> StageScope::temporary(size_t bytes) {
  MICA_TRY(Place place, owner_.temporary(index_, bytes));
  MICA_TRY_STATUS(places.push_back(place));
  return static_cast<int>(places.size() - 1);
}

Status StageScope::add(const StepSpec& step) { return owner_.add_step(index_, step, places); }

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
  step.stage = step.first_stage = s;
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
  give_row_means(scope);
  for (uint32_t v : stage.outputs) MICA_TRY_STATUS(add(v));
  describe_stage(stage, scope);
  scope.shared_residual = shared_residual_of(stage, scope);
  return ask_row_means(scope);
}

// The operands as they will lie, before they have places.
Status SegmentBinder::describe_unplaced(const Stage& stage, StageScope& scope) const {
  for (size_t k = 0; k < stage.inputs.size() + stage.outputs.size(); ++k) {
    const uint32_t v = k < stage.inputs.size() ? stage.inputs[k] : stage.outputs[k - stage.inputs.size()];
    BoundOperand operand{.present = v != kNoIndex};
    if (operand.present) {
      const InferValue& known = types_.value(v);
      operand.constant = known.constant || function_.values[v].kind == ValueKind::kConstant;
      operand.view = known.constant ? *known.constant : ordered_view(v);
    }
    MICA_TRY_STATUS(scope.bound.push_back(operand));
  }
  describe_stage(stage, scope);
  return {};
}

// All but the operands.
void SegmentBinder::describe_stage(const Stage& stage, StageScope& scope) const {
  scope.input_count = stage.inputs.size();
  scope.inputs = {scope.bound.data(), scope.input_count};
  scope.outputs = {scope.bound.data() + scope.input_count, stage.outputs.size()};
  scope.op = stage.op;
  scope.attributes_blob = stage.attributes.data();
  scope.epilogue = stage.epilogue;
  scope.machine = context_.machine;
  scope.exact = context_.exact;
  scope.low_memory = context_.low_memory;
  scope.sizes_vary = has_bounds();
  if (kWithForms && !scratch_.byte_prices.empty())
    scope.byte_price = scratch_.byte_prices[scope.index() - segment_.first_stage];
  scope.tuning = context_.tuning;
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
  if (scope.row_means >= 0) scratch_.row_means[static_cast<size_t>(row_means_of(s).makes)].made = scope.row_means_done;
  MICA_TRY_STATUS(add_post_ops(stage, s, scope.epilogue_done, scope));
  return true;
}

namespace {

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
  return i == 0 || i >= own_input_count(stage);
}

}  // namespace

// Kernels that do not take an operand's order or pitch may take a dense copy of it.
Result<bool> SegmentBinder::retry_dense(const Stage& stage, uint32_t s, const StageScope& first) {
  WholeScope scope(*this, stage, s, scratch_.second);
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

// A concatenation copies those of its inputs that do not stand in their place already. Where there is more to do, the
// operator's own hook does it.
Result<bool> SegmentBinder::bind_composition(const Stage& stage, uint32_t s, StageScope& scope) {
  if (stage.epilogue.count || !types_.value(stage.outputs[0]).type.shape.fixed()) return false;
  const TensorView& whole = scope.output(0).view;
  if (is_sub_byte(whole.dtype)) return false;
  Vector<TensorView>&sizes = scratch_.sizes, &parts = scratch_.parts;
  sizes.clear();
  parts.clear();
  for (const BoundOperand& input : scope.inputs)
    MICA_TRY_STATUS(sizes.push_back(input.present ? input.view : TensorView()));
  MICA_TRY_STATUS(parts.resize(sizes.size()));
  const Place to = scope.places[scope.input_count];
  const auto place_of = [&](uint32_t i) -> Place {
    return {to.base, to.offset + static_cast<int64_t>(reinterpret_cast<intptr_t>(parts[i].data))};
  };
  const auto stands = [&](uint32_t i) {
    const Place part = place_of(i), from = scope.places[i];
    return from.base == part.base && from.offset == part.offset && to.base != kBaseAbsolute;
  };
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    const BoundOperand& input = scope.inputs[i];
    if (input.constant && !input.view.data && !input.view.empty()) return false;
    if (part_of(stage, sizes, whole, parts[i], i)) continue;
    scope.stands_in_output = i > 0 && stands(0);
    return false;
  }
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    if (parts[i].empty() || stands(i)) continue;
    const Place part = place_of(i);
    parts[i].data = nullptr;
    MICA_TRY_STATUS(add_copy(s, sizes[i], scope.places[i], parts[i], part));
  }
  return true;
}

Status SegmentBinder::bind_stage(uint32_t s) {
  const Stage& stage = function_.stages[s];
  WholeScope scope(*this, stage, s, scratch_.first);
  MICA_TRY_STATUS(gather_operands(stage, scope));
  if (stage.op->compose && !context_.reference_only) {
    MICA_TRY(bool composed, bind_composition(stage, s, scope));
    if (composed) return {};
  }
  MICA_TRY(bool handled, try_hook(stage, s, scope));
  scope.stands_in_output = false;
  if (scope.shared_residual >= 0 && !(handled && scope.shared_residual_done)) part_residual(s);
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
  *args = {stage.op,
           stage.attributes.data(),
           stage.inputs.data(),
           own_input_count(stage),
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

}  // namespace mica
