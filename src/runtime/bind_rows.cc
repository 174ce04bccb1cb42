#include "runtime/bind_rows.h"

#include <algorithm>

#include "step/chain.h"

namespace mica {

Result<int> BandScope::temporary(size_t bytes) {
  MICA_TRY_STATUS(temporaries.push_back(temporary_bytes));
  temporary_bytes += static_cast<int64_t>(round_up(bytes, kCacheLine));
  MICA_TRY_STATUS(places.push_back({}));
  return static_cast<int>(places.size() - 1);
}

Status BandScope::add(const StepSpec& step) {
  refused = refused || step.check || !step.kernel;
  return steps.push_back(step);
}

const Stage& RowBinder::stage(uint32_t i) const { return binder_.function_.stages[stage_index(i)]; }
uint32_t RowBinder::stage_index(uint32_t i) const { return binder_.segment_.first_stage + chain_.first + i; }

// The operands of all stages of the chain: which stand in windows, and those of the step.
Status RowBinder::gather() {
  MICA_TRY_STATUS(places_.push_back({}));  // kRowWindows
  for (uint32_t i = 0; i <= chain_.last - chain_.first; ++i) {
    MICA_TRY_STATUS(slot_begin_.push_back(static_cast<uint32_t>(slots_.size())));
    MICA_TRY_STATUS(gather_stage(i));
  }
  return {};
}

Status RowBinder::gather_stage(uint32_t i) {
  const Stage& stage = this->stage(i);
  const RowStage& row = stages_[chain_.first + i];
  WholeScope scope(binder_, stage, stage_index(i), lists_);
  MICA_TRY_STATUS(binder_.gather_operands(stage, scope));
  const size_t own = own_input_count(stage);
  const TensorView out = binder_.ordered_view(stage.outputs[0]);
  for (size_t k = 0; k < scope.bound.size(); ++k) {
    Slot slot{.bound = scope.bound[k]};
    const bool output = k >= stage.inputs.size();
    const uint32_t v = output ? stage.outputs[k - stage.inputs.size()] : stage.inputs[k];
    if (v != kNoIndex && binder_.placement_.values[v].kind == Placed::Kind::kNone) {
      for (uint32_t m = 0; m <= chain_.last - chain_.first; ++m)
        if (this->stage(m).outputs[0] == v) slot.maker = static_cast<int32_t>(m);
      slot.bound.present = true;
      slot.bound.view = binder_.window_view(v);
    } else if (v != kNoIndex) {
      slot.operand = static_cast<uint32_t>(places_.size());
      MICA_TRY_STATUS(places_.push_back(scope.places[k]));
    }
    slot.windowed = k == 0 && !row.window.elementwise;
    const TensorView& view = slot.bound.view;
    const int lacking = out.rank - view.rank;
    const bool rows = slot.windowed || output || row.window.elementwise || k >= own;
    if (v != kNoIndex && rows && lacking <= 2) {
      if (slot.windowed || (view.dim(2 - lacking) == row.out_rows && row.out_rows > 1)) slot.row_axis = 2 - lacking;
      if (lacking == 0 && row.images > 1 && view.dim(0) == row.images) slot.image_axis = 0;
      if (output) slot.row_axis = 2;
    }
    MICA_TRY_STATUS(slots_.push_back(slot));
  }
  if (scope.row_means < 0) return {};
  Slot means{.operand = static_cast<uint32_t>(places_.size()), .row_axis = 2};
  means.bound.view = binder_.scratch_.row_means[static_cast<size_t>(binder_.row_means_of(scope.index()).makes)].view;
  if (row.images > 1) means.image_axis = 0;
  MICA_TRY_STATUS(places_.push_back(scope.places[static_cast<size_t>(scope.row_means)]));
  return slots_.push_back(means);
}

// The rows of one image of an operand.
void RowBinder::cut(const Slot& slot, RowRange in, RowRange out, BoundOperand& operand) const {
  operand = slot.bound;
  const auto take = [&](int axis, int64_t count) { operand.view.dims[static_cast<size_t>(axis)] = count; };
  if (slot.row_axis >= 0) take(slot.row_axis, slot.windowed ? in.size() : out.size());
  if (slot.image_axis >= 0) take(slot.image_axis, 1);
  if (slot.row_axis < 0 && slot.image_axis < 0) return;
  operand.constant = false;  // its contents depend on the place
  operand.view.data = nullptr;
}

RowCallOperand RowBinder::place(const Slot& slot, RowRange in, RowRange out) const {
  const int64_t row = slot.windowed ? in.begin : out.begin;
  if (slot.maker >= 0) {
    const Window& window = windows_[static_cast<size_t>(slot.maker)];
    return {kRowWindows, window.offset + (row - window.base) * window.row_bytes, 0};
  }
  RowCallOperand operand{slot.operand, 0, 0};
  if (slot.row_axis >= 0) operand.offset = row * slot.bound.view.stride(slot.row_axis);
  if (slot.image_axis >= 0) operand.image = slot.bound.view.stride(slot.image_axis);
  return operand;
}

Result<bool> RowBinder::bind_band(uint32_t i, RowRange in, RowRange out, Band& band) {
  const Stage& stage = this->stage(i);
  const RowStage& row = stages_[chain_.first + i];
  BandScope scope(binder_, stage, stage_index(i), lists_);
  MICA_TRY_STATUS(binder_.gather_operands(stage, scope));
  for (size_t k = 0; k < scope.bound.size(); ++k) cut(slots_[slot_begin_[i] + k], in, out, scope.bound[k]);
  const RowBand rows{row.images, row.in_rows, band.pad};
  scope.band = &rows;
  scope.machine = &one_;
  MICA_TRY(bool handled, binder_.hook_of(*stage.op)->bind(scope));
  if (!handled) return false;
  MICA_TRY(const int chained, bind_epilogue(scope, scope.epilogue_done));
  if (scope.refused || scope.places.size() > kMostCallOperands || scope.epilogue_done + chained < stage.epilogue.count)
    return false;
  const bool means = scope.row_means >= 0;
  means_lack_ = means_lack_ || (means && !scope.row_means_done);
  band.first_call = static_cast<uint32_t>(templates_.size());
  for (const StepSpec& step : scope.steps) {
    MICA_TRY_STATUS(templates_.push_back({step, static_cast<uint32_t>(scope.bound.size() + means),
                                          static_cast<uint32_t>(temporaries_.size()),
                                          static_cast<uint32_t>(scope.temporaries.size())}));
    scratch_bytes_ = std::max(scratch_bytes_, round_up(step.scratch_bytes, kCacheLine));
  }
  band.end_call = static_cast<uint32_t>(templates_.size());
  MICA_TRY_STATUS(temporaries_.append(scope.temporaries));
  temporary_bytes_ = std::max(temporary_bytes_, scope.temporary_bytes);
  return true;
}

Result<bool> RowBinder::band_of(uint32_t i, RowRange in, RowRange out, const Band*& found) {
  const RowWindow& w = stages_[chain_.first + i].window;
  const int64_t pad = w.elementwise ? 0 : in.begin + w.pad - out.begin * w.stride;
  for (const Band& band : bands_)
    if (band.stage == i && band.in_rows == in.size() && band.out_rows == out.size() && band.pad == pad) {
      found = &band;
      return true;
    }
  Band band{i, in.size(), out.size(), pad};
  MICA_TRY(const bool bound, bind_band(i, in, out, band));
  if (!bound) return false;
  MICA_TRY_STATUS(bands_.push_back(band));
  found = &bands_.back();
  return true;
}

Status RowBinder::add_call(const StepSpec& step, std::span<const RowCallOperand> operands) {
  RowCall call{.kernel = step.kernel, .arguments = step.arguments, .tasks = step.tasks};
  call.operand_count = static_cast<uint32_t>(operands.size());
  work_ += step.work;
  MICA_TRY_STATUS(calls_.push_back(call));
  return operands_.append(operands);
}

Status RowBinder::add_slide(const RowAction& action) {
  Window& window = windows_[action.stage];
  const int64_t from = window.offset + (action.rows.begin - window.base) * window.row_bytes;
  window.base = action.rows.begin;
  if (action.rows.size() == 0) return {};
  MICA_TRY(int64_t * bytes, binder_.take<int64_t>());
  *bytes = action.rows.size() * window.row_bytes;
  const RowCallOperand operands[] = {{kRowWindows, window.offset, 0}, {kRowWindows, from, 0}};
  return add_call({.kernel = slide_rows, .arguments = bytes}, operands);
}

Result<bool> RowBinder::add_action(const RowAction& action) {
  const uint32_t i = action.stage;
  if (!windows_[i].begun) windows_[i].base = action.rows.begin;
  windows_[i].begun = true;
  if (action.slide) {
    MICA_TRY_STATUS(add_slide(action));
    return true;
  }
  const RowStage& row = stages_[chain_.first + i];
  const RowRange in = rows_read(row, !row.window.elementwise, action.rows);
  const Band* band = nullptr;
  MICA_TRY(const bool bound, band_of(i, in, action.rows, band));
  if (!bound) return false;
  RowCallOperand operands[kMostCallOperands];
  for (uint32_t t = band->first_call; t < band->end_call; ++t) {
    const Template& call = templates_[t];
    for (uint32_t k = 0; k < call.operands; ++k) operands[k] = place(slots_[slot_begin_[i] + k], in, action.rows);
    for (uint32_t k = 0; k < call.temporaries; ++k)
      operands[call.operands + k] = {kRowWindows, window_bytes_ + temporaries_[call.first_temporary + k], 0};
    MICA_TRY_STATUS(add_call(call.step, {operands, call.operands + call.temporaries}));
  }
  return true;
}

// Copies what was gathered to where it lives as long as the segment, and adds the step.
Status RowBinder::finish() {
  MICA_TRY(RowProgram * program, binder_.take<RowProgram>());
  MICA_TRY(RowCall * calls, binder_.take<RowCall>(calls_.size()));
  MICA_TRY(RowCallOperand * operands, binder_.take<RowCallOperand>(operands_.size()));
  MICA_TRY(uint32_t * strips, binder_.take<uint32_t>(strip_begin_.size()));
  std::copy(operands_.begin(), operands_.end(), operands);
  std::copy(strip_begin_.begin(), strip_begin_.end(), strips);
  for (size_t i = 0; i < calls_.size(); ++i) {
    calls[i] = calls_[i];
    calls[i].operands = operands;
    operands += calls_[i].operand_count;
  }
  *program = {calls, strips, chain_.strips, window_bytes_ + temporary_bytes_};
  const auto workers = static_cast<size_t>(std::max(1, binder_.context_.workers));
  const uint32_t s = stage_index(chain_.last - chain_.first);
  MICA_TRY(places_[kRowWindows], binder_.temporary(s, static_cast<size_t>(program->worker_bytes) * workers));
  const int64_t images = stages_[chain_.last].images;
  MICA_TRY_STATUS(binder_.add_step(s,
                                   {.kernel = run_rows,
                                    .arguments = program,
                                    .tasks = images * chain_.strips,
                                    .work = work_ * static_cast<double>(images),
                                    .scratch_bytes = scratch_bytes_,
                                    .name = "row_chain"},
                                   places_));
  binder_.segment_.steps.back().first_stage = stage_index(0);
  return {};
}

Result<bool> RowBinder::run() {
  MICA_TRY_STATUS(schedule_rows(stages_, chain_, schedule_));
  MICA_TRY_STATUS(gather());
  one_ = *binder_.context_.machine;
  one_.threads = 1;
  MICA_TRY_STATUS(windows_.resize(chain_.last - chain_.first + 1));
  for (uint32_t i = 0; i < schedule_.window_rows.size(); ++i) {
    windows_[i].offset = window_bytes_;
    windows_[i].row_bytes = stages_[chain_.first + i].row_bytes;
    window_bytes_ += static_cast<int64_t>(
        round_up(static_cast<size_t>(schedule_.window_rows[i] * windows_[i].row_bytes), kCacheLine));
  }
  for (int64_t strip = 0; strip < chain_.strips; ++strip) {
    MICA_TRY_STATUS(strip_begin_.push_back(static_cast<uint32_t>(calls_.size())));
    for (Window& window : windows_) window.begun = false;
    for (uint32_t a = schedule_.strip_begin[static_cast<size_t>(strip)];
         a < schedule_.strip_begin[static_cast<size_t>(strip) + 1]; ++a) {
      MICA_TRY(const bool added, add_action(schedule_.actions[a]));
      if (!added) return false;
    }
  }
  MICA_TRY_STATUS(strip_begin_.push_back(static_cast<uint32_t>(calls_.size())));
  MICA_TRY_STATUS(finish());
  for (uint32_t i = 0; i <= chain_.last - chain_.first; ++i)
    if (const int32_t makes = binder_.row_means_of(stage_index(i)).makes; makes >= 0)
      binder_.scratch_.row_means[static_cast<size_t>(makes)].made = !means_lack_;
  return true;
}

}  // namespace mica
