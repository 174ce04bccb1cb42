#include "runtime/bind.h"

#include <algorithm>
#include <new>

#include "runtime/bind_rows.h"

namespace mica {

Result<bool> SegmentBinder::run() {
  MICA_TRY(bool moved, infer());
  if (!moved) return false;
  MICA_TRY_STATUS(find_live_out());
  if constexpr (kWithForms) MICA_TRY_STATUS(find_byte_prices());
  MICA_TRY_STATUS(find_chains());
  MICA_TRY_STATUS(find_residuals());
  for (;;) {
    MICA_TRY_STATUS(place());
    MICA_TRY_STATUS(check_cap());
    MICA_TRY(const bool bound, bind_stages());
    if (bound) break;
  }
  MICA_TRY_STATUS(copy_known_outputs());
  MICA_TRY_STATUS(lay_out());
  return fill_values();
}

// Another number of a bounded dimension is bound without asking for memory: what depends on the sizes in other ways
// than by growing with them is not done then.
bool SegmentBinder::has_bounds() const {
  for (size_t i = 0; i < plan_.dims.symbols(); ++i)
    if (plan_.dims.symbol_info(i).kind == SymbolKind::kBounded) return true;
  return false;
}

Status SegmentBinder::find_chains() {
  scratch_.chains.clear();
  if (context_.reference_only || context_.row_chains == RowChainMode::kNever || has_bounds()) return {};
  MICA_TRY_STATUS(RowFinder(*this).describe(scratch_.row_stages));
  return choose_row_chains(scratch_.row_stages,
                           {static_cast<int64_t>(context_.machine->l2), context_.workers, context_.row_chains},
                           scratch_.chains);
}

Status SegmentBinder::place() {
  return place_values(function_, types_,
                      {segment_.first_stage, segment_.end_stage, segment_.live_out, context_.views, context_.in_place,
                       context_.compose, scratch_.chains, scratch_.shares_residual, spreads()},
                      placement_);
}

// False when a chain or a shared place cannot be bound after all: it is taken out, and values are to be placed anew.
Result<bool> SegmentBinder::bind_stages() {
  segment_.steps.clear();
  temporaries_.clear();
  scratch_.parted = false;
  MICA_TRY_STATUS(find_row_means());
  Vector<RowChain>& chains = scratch_.chains;
  size_t next = 0;
  for (uint32_t s = segment_.first_stage; s < segment_.end_stage; ++s) {
    const uint32_t i = s - segment_.first_stage;
    if (next < chains.size() && chains[next].first == i) {
      MICA_TRY(const bool bound, RowBinder(*this, scratch_.row_stages, chains[next]).run());
      if (!bound) {
        std::copy(chains.begin() + next + 1, chains.end(), chains.begin() + next);
        chains.pop_back();
        return false;
      }
      s = segment_.first_stage + chains[next++].last;
    } else if (!placement_.skipped[i]) {
      MICA_TRY_STATUS(bind_stage(s));
    }
  }
  for (const RowMeans& means : scratch_.row_means)
    if (!means.made) temporaries_[means.temporary].bytes = 0;
  return !scratch_.parted;
}

TensorView SegmentBinder::ordered_view(uint32_t v) const {
  const Type& type = types_.value(v).type;
  TensorView view;
  view.dtype = type.dtype;
  view.rank = type.shape.rank;
  for (int i = 0; i < view.rank; ++i) view.dims[static_cast<size_t>(i)] = type.shape[i].value();
  set_order(view, function_.values[v].channels_last);
  return view;
}

TensorView SegmentBinder::window_view(uint32_t v) const {
  TensorView view = ordered_view(v);
  if (spreads()) spread_rows(view, function_.values[v].channels_last);
  return view;
}

// A copy that lives as long as the segment: the memory that the contents were read from may not.
Result<const TensorView*> SegmentBinder::own_contents(const TensorView& contents) {
  const int64_t bytes = dense_bytes(contents.dtype, contents.shape());
  void* data = segment_.memory.take(static_cast<size_t>(bytes), kCacheLine);
  void* place = segment_.memory.take(sizeof(TensorView));
  if (!data || !place) return out_of_memory();
  const TensorView copy = dense_view(data, contents.dtype, contents.shape());
  if (!contents.empty()) copy_elements(contents, copy);
  return new (place) TensorView(copy);
}

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

bool SegmentBinder::has_fixed_inputs(uint32_t s) const {
  if (!types_.settled(s)) return false;
  for (uint32_t v : function_.stages[s].inputs)
    if (v != kNoIndex && (!types_.value(v).type.is_tensor() || !types_.value(v).type.shape.fixed())) return false;
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

// Live values whose contents are known at bind still have to stand in their slots: before all steps, since references
// read them there.
Status SegmentBinder::copy_known_outputs() {
  const auto others = static_cast<std::ptrdiff_t>(segment_.steps.size());
  for (uint32_t v : segment_.live_out) {
    Placed& placed = placement_.values[v];
    if (placed.kind != Placed::Kind::kConstant || !placed.view.data) continue;
    TensorView dense = placed.view;
    set_dense_strides(dense);
    MICA_TRY_STATUS(add_copy(segment_.first_stage, placed.view, place_of(v), dense, {kBaseFirstSlot + v, 0}));
    placed.kind = Placed::Kind::kSlot;
    placed.slot = v;
    placed.view = dense;
    placed.view.data = nullptr;
  }
  std::rotate(segment_.steps.begin(), segment_.steps.begin() + others, segment_.steps.end());
  return {};
}

namespace {

// Blocks as they were planned for the bounds hold those of any smaller numbers, when they live as long.
bool fit_as_planned(std::span<const MemoryBlock> blocks, std::span<const MemoryBlock> planned) {
  return std::ranges::equal(blocks, planned, [](const MemoryBlock& block, const MemoryBlock& plan) {
    return block.bytes <= plan.bytes && block.first == plan.first && block.last == plan.last;
  });
}

}  // namespace

// The values that the arena is to hold.
Status SegmentBinder::list_values(Vector<MemoryBlock>& blocks) const {
  blocks.clear();
  for (const Block& block : placement_.blocks) {
    MICA_CHECK(block.bytes >= 0, kBadShape, "a tensor is larger than the address space");
    MemoryBlock memory;
    memory.bytes = static_cast<size_t>(block.bytes);
    memory.first = block.first;
    memory.last = block.last;
    MICA_TRY_STATUS(blocks.push_back(memory));
  }
  return {};
}

Status SegmentBinder::check_cap() {
  if (context_.memory_cap == SIZE_MAX) return {};
  MICA_TRY_STATUS(list_values(scratch_.blocks));
  size_t least = live_bound(scratch_.blocks);
  for (const MemoryBlock& block : scratch_.blocks) least = std::max(least, block.bytes);  // sums may go round
  MICA_CHECK(least <= context_.memory_cap, kMemoryCap, "the session needs {} bytes for its values and its cap is {}",
             least, context_.memory_cap);
  return {};
}

Status SegmentBinder::lay_out() {
  Vector<MemoryBlock>& blocks = scratch_.blocks;
  MICA_TRY_STATUS(list_values(blocks));
  for (const MemoryBlock& block : temporaries_) MICA_TRY_STATUS(blocks.push_back(block));
  if (request_.again && fit_as_planned(blocks, segment_.blocks)) {
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i].offset = segment_.blocks[i].offset;
  } else {
    planned_ = true;
    MICA_TRY(const size_t arena, plan_memory(blocks, context_.workers));
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
