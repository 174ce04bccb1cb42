#include "runtime/runner.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/os.h"
#include "base/threads.h"
#include "runtime/reference_run.h"

namespace mica {
namespace {

// Below this many multiply-adds (a few microseconds) waking another worker costs more than it gives.
constexpr double kInlineWork = 40000;

const RunDef* find_built_in_run(const void* self, const OpDef& op) {
  const auto& context = *static_cast<const Context*>(self);
  for (const CustomOperator* custom : context.operators)
    if (&custom->def == &op) return nullptr;  // a caller's operator brings its own computation
  return mica::find_run(op);
}

size_t slot_bytes_of(const BoundValue& value) {
  if (value.object || value.dynamic) return 0;
  return static_cast<size_t>(dense_bytes(value.view.dtype, value.view.shape()));
}

}  // namespace

Status check_stop(const RunControl& control) {
  if ((control.cancel && control.cancel->load(std::memory_order_relaxed)) ||
      (control.stop && control.stop(control.stop_user) != 0))
    return error(Code::kCancelled, "the run was cancelled");
  if (control.deadline_ns && now_ns() > control.deadline_ns)
    return error(Code::kDeadline, "the run missed its deadline");
  return {};
}

Runner::~Runner() {
  for (Site* site : sites_) {
    for (BoundSegment* segment : site->segments) destroy_segment(segment);
    site->~Site();
    deallocate(site);
  }
  for (Frame* frame : frames_) Frame::destroy(frame);
}

Status Runner::charge(size_t more) {
  MICA_CHECK(more <= options_.memory_cap && held_ <= options_.memory_cap - more, kMemoryCap,
             "the session needs {} bytes more than it holds ({}) and its cap is {}", more, held_, options_.memory_cap);
  held_ += more;
  return {};
}

Result<Frame*> Runner::frame_for(uint32_t function, int depth) {
  for (size_t i = 0; i < frames_.size(); ++i)
    if (frames_[i]->function == function && frame_depths_[i] == depth) return frames_[i];
  MICA_TRY(Frame * frame, Frame::create(model_.plan().functions[function], function));
  Status status = frames_.push_back(frame);
  if (!status.ok()) {
    Frame::destroy(frame);
    return status.take_error();
  }
  MICA_TRY_STATUS(frame_depths_.push_back(depth));
  return frame;
}

Result<Frame*> Runner::main_frame() { return frame_for(0, 0); }

Result<Runner::Site*> Runner::site(uint32_t function, uint32_t first_stage) {
  for (Site* site : sites_)
    if (site->function == function && site->first_stage == first_stage) return site;
  void* place = allocate(sizeof(Site));
  if (!place) return out_of_memory();
  auto* made = new (place) Site();
  made->function = function;
  made->first_stage = first_stage;
  if (Status status = sites_.push_back(made); !status.ok()) {
    made->~Site();
    deallocate(made);
    return status.take_error();
  }
  // What later stages read and nobody from here on makes.
  const PlanFunction& plan = model_.plan().functions[function];
  Vector<bool> seen;
  MICA_TRY_STATUS(seen.resize(plan.values.size()));
  for (uint32_t s = first_stage; s < plan.stages.size(); ++s) {
    for (uint32_t v : plan.stages[s].inputs)
      if (v != kNoIndex && !seen[v] && plan.values[v].kind != ValueKind::kConstant) {
        seen[v] = true;
        MICA_TRY_STATUS(made->live_in.push_back(v));
      }
    for (uint32_t v : plan.stages[s].outputs)
      if (v != kNoIndex) seen[v] = true;
  }
  for (uint32_t v : made->live_in)
    if (plan.values[v].type.is_tensor() && plan.values[v].type.shape.known())
      for (Dim d : plan.values[v].type.shape.span())
        made->bounded = made->bounded || model_.plan().dims.depends_on(d, SymbolKind::kBounded);
  return made;
}

// Bounded dimensions count as such where the memory can be planned at their bounds.
Status Runner::make_key(const Frame& frame, const Site& site, Vector<int64_t>& key) {
  const Plan& whole = model_.plan();
  const PlanFunction& plan = whole.functions[site.function];
  key.clear();
  bounded_.clear();
  MICA_TRY_STATUS(key.push_back(stage_values_));  // bound otherwise
  for (uint32_t v : site.live_in) {
    if (!plan.values[v].type.is_tensor()) continue;
    const Shape& planned = plan.values[v].type.shape;
    MICA_TRY_STATUS(key.push_back(frame.views[v].rank));
    for (int i = 0; i < frame.views[v].rank; ++i) {
      const bool open = site.bounded && site.mode == SegmentMode::kShapes && planned.known() &&
                        whole.dims.depends_on(planned[i], SymbolKind::kBounded);
      MICA_TRY_STATUS(key.push_back(open ? planned[i].raw() : frame.views[v].dim(i)));
      if (open) MICA_TRY_STATUS(bounded_.push_back(frame.views[v].dim(i)));
    }
  }
  if (site.mode != SegmentMode::kContents) return {};
  for (uint32_t v : plan.stages[site.first_stage].inputs) {
    if (v == kNoIndex || plan.values[v].kind == ValueKind::kConstant || !plan.values[v].type.is_tensor()) continue;
    const TensorView& view = frame.views[v];
    if (view.count() > kMaxKnownElements || view.dtype == DType::kString) continue;
    const Elements elements(view);
    const bool integers = is_integer(view.dtype) || view.dtype == DType::kBool;
    for (int64_t i = 0, n = view.count(); i < n; ++i) {
      int64_t bits = integers ? elements.integer(i) : 0;
      if (!integers) {
        const double number = elements.number(i);
        std::memcpy(&bits, &number, sizeof bits);
      }
      MICA_TRY_STATUS(key.push_back(bits));
    }
  }
  return {};
}

Result<BoundSegment*> Runner::segment_for(Frame& frame, Site& site) {
  for (;;) {
    MICA_TRY_STATUS(make_key(frame, site, key_));
    for (BoundSegment* segment : site.segments)
      if (std::ranges::equal(segment->key, key_)) {
        if (!std::ranges::equal(segment->bounded, bounded_)) MICA_TRY_STATUS(refresh(frame, site, *segment));
        segment->last_use = ++clock_;
        return segment;
      }
    MICA_TRY(BoundSegment * segment, bind(frame, site));
    if (segment) return segment;
    // The mode is not enough here: the next one, for good (segments of other modes would never be found again).
    MICA_CHECK(site.mode != SegmentMode::kDynamic, kInternal, "a stage cannot be bound");
    site.mode = site.mode == SegmentMode::kShapes ? SegmentMode::kContents : SegmentMode::kDynamic;
    for (BoundSegment* old : site.segments) destroy_segment(old);
    site.segments.clear();
  }
}

Result<const void*> Runner::packed(uint32_t index, const PackRequest& request) {
  const size_t before = held_;
  if (!model_.has_form(index, request.key)) MICA_TRY_STATUS(charge(request.bytes));
  auto made = model_.packed(index, request);
  if (!made.ok()) held_ = before;
  return made;
}

Result<const void*> Runner::plain(uint32_t index) {
  const size_t before = held_;
  if (!model_.has_form(index, PackKey())) MICA_TRY_STATUS(charge(model_.plain_bytes(index)));
  auto made = model_.plain(index);
  if (!made.ok()) held_ = before;
  return made;
}

BindContext Runner::bind_context() {
  BindContext context;
  context.plan = &model_.plan();
  context.machine = &model_.context().machine;
  context.packs = this;
  context.threads = model_.context().threads;
  context.workers = model_.context().threads ? model_.context().threads->concurrency() : 1;
  context.memory_cap = options_.memory_cap;
  context.weight_goal = options_.weight_goal;
  context.exact = options_.exact;
  context.low_memory = options_.low_memory;
  context.tuning = tuning_ ? tuning_ : &model_.tuning();
  context.reference_only = options_.reference_only;
  context.views = options_.views;
  context.in_place = options_.in_place;
  context.compose = options_.compose;
  context.row_means = options_.row_means;
  context.spread = options_.spread && !options_.reference_only;
  context.row_chains = stage_values_ ? RowChainMode::kNever : options_.row_chains;
  context.find_run = find_built_in_run;
  context.self = &model_.context();
  return context;
}

// The numbers of all symbols that the operands tell, and bounded ones at their bounds. False when there is one without.
Result<bool> Runner::set_bounds(const Frame& frame, const Site& site) {
  const Plan& plan = model_.plan();
  symbols_.clear();
  MICA_TRY_STATUS(symbols_.resize(plan.dims.symbols()));
  std::ranges::fill(symbols_, -1);
  for (uint32_t v : site.live_in) {
    const Type& type = plan.functions[site.function].values[v].type;
    if (!type.is_tensor() || !type.shape.known()) continue;
    for (int i = 0; i < type.shape.rank; ++i)
      if (!plan.dims.solve(type.shape[i], frame.views[v].dim(i), symbols_)) return false;
  }
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const SymbolInfo& info = plan.dims.symbol_info(i);
    if (info.kind == SymbolKind::kBounded && info.bound < INT64_MAX) symbols_[i] = info.bound;
  }
  return true;
}

// What is known of each value before the site's first stage.
Status Runner::describe(const Frame& frame, const Site& site, bool at_bounds) {
  const Plan& whole = model_.plan();
  const PlanFunction& plan = whole.functions[site.function];
  live_.clear();
  MICA_TRY_STATUS(live_.resize(plan.values.size()));
  for (uint32_t v : site.live_in) {
    InferValue& known = live_[v];
    known.present = true;
    known.type = plan.values[v].type;
    if (!known.type.is_tensor()) {
      known.type.shape = Shape();
      continue;
    }
    const Shape planned = known.type.shape;
    known.type.shape = frame.views[v].to_shape();  // not the plan's symbols
    for (int i = 0; at_bounds && planned.known() && i < planned.rank; ++i) {
      if (!whole.dims.depends_on(planned[i], SymbolKind::kBounded)) continue;
      const int64_t bound = whole.dims.evaluate(planned[i], symbols_);
      if (bound >= frame.views[v].dim(i)) known.type.shape[i] = bound;
    }
  }
  return {};
}

Result<BoundSegment*> Runner::bind(Frame& frame, Site& site) {
  const PlanFunction& plan = model_.plan().functions[site.function];
  const BindContext context = bind_context();
  bool at_bounds = false;
  if (!bounded_.empty()) {
    MICA_TRY(at_bounds, set_bounds(frame, site));
  }
  MICA_TRY_STATUS(describe(frame, site, at_bounds));
  if (site.mode == SegmentMode::kContents)
    for (uint32_t v : plan.stages[site.first_stage].inputs)
      if (v != kNoIndex && live_[v].present && live_[v].type.is_tensor() && frame.views[v].dtype != DType::kString &&
          frame.views[v].count() <= kMaxKnownElements)
        live_[v].constant = &frame.views[v];
  Result<SegmentResult> tried =
      bind_segment(context, {site.function, site.first_stage, site.mode, live_}, bind_scratch_);
  if (!tried.ok() && at_bounds &&
      tried.error().code() != Code::kMemoryCap) {  // bounds that fit no tensor together say nothing of these numbers
    at_bounds = false;
    MICA_TRY_STATUS(describe(frame, site, false));
    tried = bind_segment(context, {site.function, site.first_stage, site.mode, live_}, bind_scratch_);
  }
  MICA_TRY(const SegmentResult result, std::move(tried));
  if (result.stalled) return static_cast<BoundSegment*>(nullptr);
  ++binds_;
  result.segment->last_use = ++clock_;
  Status status = result.segment->key.assign(key_);
  if (status.ok() && at_bounds) {  // all memory that any run may need, before the first
    for (uint32_t v : result.segment->live_out)
      if (status.ok()) status = result.segment->slot_bytes.push_back(slot_bytes_of(result.segment->values[v]));
    if (status.ok()) status = reserve(frame, *result.segment);
    if (status.ok()) status = refresh(frame, site, *result.segment);
  } else if (status.ok()) {
    status = result.segment->bounded.assign(bounded_);
  }
  if (status.ok() && static_cast<int>(site.segments.size()) >= options_.cached_segments) {
    auto oldest = std::ranges::min_element(site.segments, {}, &BoundSegment::last_use);
    destroy_segment(*oldest);
    *oldest = result.segment;
  } else if (status.ok()) {
    status = site.segments.push_back(result.segment);
  }
  if (!status.ok()) {
    destroy_segment(result.segment);
    return status.take_error();
  }
  return result.segment;
}

// Other numbers of bounded dimensions: strides, sizes and arguments anew, in the memory that the segment has.
Status Runner::refresh(Frame& frame, Site& site, BoundSegment& segment) {
  ++refreshes_;
  segment.bounded.clear();  // fits nothing until it is done
  MICA_TRY_STATUS(describe(frame, site, false));
  SegmentRequest request{site.function, site.first_stage, site.mode, live_};
  request.again = &segment;
  MICA_TRY(const SegmentResult result, bind_segment(bind_context(), request, bind_scratch_));
  MICA_CHECK(!result.stalled, kInternal, "a stage cannot be bound again");
  return segment.bounded.assign(bounded_);
}

// Memory for a segment: arena, scratch, and slots of what it leaves behind.
Status Runner::reserve(Frame& frame, const BoundSegment& segment) {
  const auto grow = [&](Buffer& buffer, size_t bytes) -> Status {
    if (bytes <= buffer.size()) return {};
    MICA_TRY_STATUS(charge(bytes - buffer.size()));
    return buffer.ensure(bytes);
  };
  MICA_TRY_STATUS(grow(frame.arena, segment.arena_bytes));
  for (size_t i = 0; i < segment.live_out.size(); ++i) {
    const uint32_t v = segment.live_out[i];
    const BoundValue& value = segment.values[v];
    if (value.object || value.dynamic || frame.given[v].data) continue;
    const size_t least = i < segment.slot_bytes.size() ? segment.slot_bytes[i] : 0;
    MICA_TRY_STATUS(grow(frame.slots[v], std::max(least, slot_bytes_of(value))));
  }
  const int workers = model_.context().threads ? model_.context().threads->concurrency() : 1;
  MICA_TRY_STATUS(grow(scratch_, segment.scratch_bytes * static_cast<size_t>(workers)));
  if (operands_.size() < segment.max_operands) MICA_TRY_STATUS(operands_.resize(segment.max_operands));
  return {};
}

// Reserves, and says where everything stands.
Status Runner::ready(Frame& frame, const BoundSegment& segment) {
  MICA_TRY_STATUS(reserve(frame, segment));
  frame.bases[kBaseArena] = frame.arena.data();
  for (uint32_t v : segment.live_out) {
    const BoundValue& value = segment.values[v];
    if (value.object || value.dynamic) continue;
    const TensorView& given = frame.given[v];
    if (given.data)
      MICA_CHECK(given.dtype == value.view.dtype && std::ranges::equal(given.shape(), value.view.shape()), kBadShape,
                 "the memory given for an output has another type or shape than the result");
    frame.views[v] = value.view;
    frame.views[v].data = frame.bases[kBaseFirstSlot + v] = given.data ? given.data : frame.slots[v].data();
  }
  return {};
}

Status Runner::prepare(Frame& frame) {
  MICA_TRY(Site * first, site(frame.function, 0));
  MICA_TRY(BoundSegment * segment, segment_for(frame, *first));
  arena_bytes_ = segment->arena_bytes;
  arena_bound_ = segment->arena_bound;
  last_segment_ = segment;
  return ready(frame, *segment);
}

Status Runner::run(Frame& frame, int depth, const RunControl& control) {
  MICA_CHECK(depth < kMaxCallDepth, kDepth, "functions call each other deeper than {}", kMaxCallDepth);
  uint32_t stage = 0;
  const auto stages = static_cast<uint32_t>(model_.plan().functions[frame.function].stages.size());
  do {
    MICA_TRY(Site * place, site(frame.function, stage));
    MICA_TRY(BoundSegment * segment, segment_for(frame, *place));
    MICA_TRY_STATUS(ready(frame, *segment));
    if (depth == 0 && stage == 0) {
      arena_bytes_ = segment->arena_bytes;
      arena_bound_ = segment->arena_bound;
      last_segment_ = segment;
    }
    MICA_TRY_STATUS(run_segment(frame, *segment, depth, control));
    MICA_CHECK(segment->end_stage > stage || stages == 0 || segment->ends_function, kInternal,
               "a segment makes no progress");
    stage = segment->end_stage;
  } while (stage < stages);
  return {};
}

Status Runner::run_segment(Frame& frame, const BoundSegment& segment, int depth, const RunControl& control) {
  const bool watch = depth == 0 && stage_fn_ != nullptr;
  int64_t begin = watch ? now_ns() : 0;
  const BoundStep* main_step = nullptr;  // of the stage: the one with the most work
  for (size_t i = 0; i < segment.steps.size(); ++i) {
    const BoundStep& step = segment.steps[i];
    if (!main_step || main_step->stage != step.stage || main_step->work < step.work) main_step = &step;
    MICA_TRY_STATUS(check_stop(control));
    if (step.reference) {
      if (Status status = run_reference(frame, segment, step, depth, control); !status.ok())
        return status.take_error().at(
            model_.plan().name(model_.plan().functions[frame.function].stages[step.stage].name));
    } else {
      for (uint32_t k = 0; k < step.operand_count; ++k) operands_[k] = frame.address(step.operands[k]);
      if (step.check) MICA_TRY_STATUS(step.check(step.arguments, operands_.data()));
      launch(step, operands_.data());
    }
    if (watch && (i + 1 == segment.steps.size() || segment.steps[i + 1].stage != step.stage)) {
      MICA_TRY_STATUS(report(frame, segment, *main_step, begin));
      begin = now_ns();
    }
  }
  return {};
}

void Runner::launch(const BoundStep& step, void* const* operands) {
  struct Launch {
    const BoundStep* step;
    void* const* operands;
    char* scratch;
    Threads* threads;
  };
  Threads* threads = model_.context().threads;
  const Launch context{&step, operands, static_cast<char*>(scratch_.data()), step.tasks == 1 ? threads : nullptr};
  const auto run = [](const void* c, int64_t begin, int64_t end, int worker) {
    const auto& l = *static_cast<const Launch*>(c);
    l.step->kernel(l.step->arguments, l.operands,
                   {begin, end, worker, l.scratch + static_cast<size_t>(worker) * l.step->scratch_bytes, l.threads});
  };
  if (!threads || threads->concurrency() == 1 || step.tasks <= 1 || step.work < kInlineWork) {
    if (step.tasks > 0) run(&context, 0, step.tasks, 0);
  } else {
    threads->run(run, &context, step.tasks);
  }
}

Status Runner::report(Frame& frame, const BoundSegment& segment, const BoundStep& step, int64_t begin_ns) {
  const Plan& plan = model_.plan();
  const Stage& stage = plan.functions[frame.function].stages[step.stage];
  constexpr size_t kMost = 64;
  TensorView views[kMost];
  std::string_view names[kMost];
  size_t n = 0;
  for (uint32_t v : stage.outputs) {
    if (v == kNoIndex || n == kMost || segment.values[v].object) continue;
    views[n] = segment.values[v].dynamic ? frame.views[v] : segment.values[v].view;
    views[n].data = frame.address(segment.values[v].place);
    names[n++] = plan.name(plan.functions[frame.function].values[v].name);
  }
  const StageEvent event{
      plan.name(stage.name), stage.op->name, step.name, {views, n}, {names, n}, begin_ns, now_ns(), step.stage,
      step.first_stage};
  if (!stage_fn_(stage_user_, event)) return error(Code::kCancelled, "the stage callback stopped the run");
  return {};
}

Status Runner::run_reference(Frame& frame, const BoundSegment& segment, const BoundStep& step, int depth,
                             const RunControl& control) {
  ReferenceRun run(*this, frame, segment, *step.reference, {depth, control});
  MICA_TRY_STATUS(run.begin());
  Status status = step.reference->op->reference(run);
  return status.ok() ? Status() : status.take_error().at(step.reference->op->name);
}

size_t Runner::memory_bytes() const {
  size_t sum = scratch_.size() + temporary_.bytes() + text_.bytes();
  for (const Frame* frame : frames_) {
    sum += frame->arena.size();
    for (const Buffer& slot : frame->slots) sum += slot.size();
  }
  return sum;
}

}  // namespace mica
