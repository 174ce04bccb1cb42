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
    if (v != kNoIndex && rows && parted() && lacking <= 3 &&
        (slot.windowed || output || (view.dim(3 - lacking) == row.out_columns && row.out_columns > 1)))
      slot.column_axis = 3 - lacking;
    MICA_TRY_STATUS(slots_.push_back(slot));
  }
  if (scope.row_means < 0) return {};
  Slot means{.operand = static_cast<uint32_t>(places_.size()), .row_axis = 2};
  means.bound.view = binder_.scratch_.row_means[static_cast<size_t>(binder_.row_means_of(scope.index()).makes)].view;
  if (row.images > 1) means.image_axis = 0;
  MICA_TRY_STATUS(places_.push_back(scope.places[static_cast<size_t>(scope.row_means)]));
  return slots_.push_back(means);
}

// Which columns each part makes and reads.
Status RowBinder::find_parts() {
  const uint32_t n = chain_.last - chain_.first;
  MICA_TRY_STATUS(parts_.resize(static_cast<size_t>(chain_.parts)));
  for (size_t i = 0; parted() && i < parts_.size(); ++i) {
    Part& part = parts_[i];
    columns_of_part(stages_, chain_, static_cast<int64_t>(i), part.made);
    for (uint32_t k = 0; k <= n; ++k) {
      const RowStage& row = stages_[chain_.first + k];
      const Reach& w = row.window.columns;
      part.read[k] = columns_read(row, !row.window.elementwise, part.made[k]);
      if (!row.window.elementwise) part.pad[k] = part.read[k].begin + w.pad - part.made[k].begin * w.stride;
    }
    const auto alike = [&](const Part& other) {
      for (uint32_t k = 0; k <= n; ++k)
        if (part.made[k].size() != other.made[k].size() || part.read[k].size() != other.read[k].size() ||
            part.pad[k] != other.pad[k])
          return false;
      return true;
    };
    while (!alike(parts_[part.shape])) ++part.shape;
  }
  return {};
}

// In a window: what keeps rows apart that collide in caches stays.
int64_t RowBinder::row_bytes_of(uint32_t i, const Part& part) const {
  const RowStage& row = stages_[chain_.first + i];
  return parted() ? row.row_bytes - (row.out_columns - part.made[i].size()) * row.column_bytes : row.row_bytes;
}

// Windows behind each other, each with room for the widest part.
void RowBinder::place_windows() {
  for (uint32_t i = 0; i < schedule_.window_rows.size(); ++i) {
    windows_[i].offset = window_bytes_;
    int64_t most = 0;
    for (const Part& part : parts_) most = std::max(most, row_bytes_of(i, part));
    window_bytes_ += static_cast<int64_t>(round_up(static_cast<size_t>(schedule_.window_rows[i] * most), kCacheLine));
  }
}

// The rows and columns of one image of an operand.
void RowBinder::cut(const Slot& slot, const Piece& piece, BoundOperand& operand) const {
  operand = slot.bound;
  const auto take = [&](int axis, int64_t count) {
    if (axis >= 0) operand.view.dims[static_cast<size_t>(axis)] = count;
  };
  take(slot.row_axis, slot.windowed ? piece.in.size() : piece.out.size());
  take(slot.column_axis, (slot.windowed ? part().read : part().made)[piece.stage].size());
  take(slot.image_axis, 1);
  if (parted() && slot.maker >= 0) operand.view.strides[2] = windows_[static_cast<size_t>(slot.maker)].row_bytes;
  if (slot.row_axis < 0 && slot.column_axis < 0 && slot.image_axis < 0) return;
  operand.constant = false;  // its contents depend on the place
  operand.view.data = nullptr;
}

RowCallOperand RowBinder::place(const Slot& slot, const Piece& piece) const {
  const int64_t row = slot.windowed ? piece.in.begin : piece.out.begin;
  const int64_t column = (slot.windowed ? part().read : part().made)[piece.stage].begin;
  if (slot.maker >= 0) {
    const auto maker = static_cast<uint32_t>(slot.maker);
    const Window& window = windows_[maker];
    const int64_t columns = (column - part().made[maker].begin) * stages_[chain_.first + maker].column_bytes;
    return {kRowWindows, window.offset + (row - window.base) * window.row_bytes + columns, 0};
  }
  RowCallOperand operand{slot.operand, 0, 0};
  if (slot.row_axis >= 0) operand.offset = row * slot.bound.view.stride(slot.row_axis);
  if (slot.column_axis >= 0) operand.offset += column * slot.bound.view.stride(slot.column_axis);
  if (slot.image_axis >= 0) operand.image = slot.bound.view.stride(slot.image_axis);
  return operand;
}

Result<bool> RowBinder::bind_band(const Piece& piece, Band& band) {
  const uint32_t i = piece.stage;
  const Stage& stage = this->stage(i);
  const RowStage& row = stages_[chain_.first + i];
  BandScope scope(binder_, stage, stage_index(i), lists_);
  MICA_TRY_STATUS(binder_.gather_operands(stage, scope));
  for (size_t k = 0; k < scope.bound.size(); ++k) cut(slots_[slot_begin_[i] + k], piece, scope.bound[k]);
  const RowBand rows{.images = row.images,
                     .rows = {row.in_rows, band.pad},
                     .columns = {row.in_columns, parted() ? part().pad[i] : row.window.columns.pad}};
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

Result<bool> RowBinder::band_of(const Piece& piece, const Band*& found) {
  const RowWindow& w = stages_[chain_.first + piece.stage].window;
  const int64_t pad = w.elementwise ? 0 : piece.in.begin + w.rows.pad - piece.out.begin * w.rows.stride;
  for (const Band& band : bands_)
    if (band.stage == piece.stage && band.shape == part().shape && band.in_rows == piece.in.size() &&
        band.out_rows == piece.out.size() && band.pad == pad) {
      found = &band;
      return true;
    }
  Band band{piece.stage, part().shape, piece.in.size(), piece.out.size(), pad};
  MICA_TRY(const bool bound, bind_band(piece, band));
  if (!bound) return false;
  MICA_TRY_STATUS(bands_.push_back(band));
  found = &bands_.back();
  return true;
}

Status RowBinder::add_call(uint32_t stage, const StepSpec& step, std::span<const RowCallOperand> operands) {
  RowCall call{.kernel = step.kernel, .arguments = step.arguments, .tasks = step.tasks, .stage = stage};
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
  return add_call(action.stage, {.kernel = slide_rows, .arguments = bytes}, operands);
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
  const Piece piece{i, rows_read(row, !row.window.elementwise, action.rows), action.rows};
  const Band* band = nullptr;
  MICA_TRY(const bool bound, band_of(piece, band));
  if (!bound) return false;
  RowCallOperand operands[kMostCallOperands];
  for (uint32_t t = band->first_call; t < band->end_call; ++t) {
    const Template& call = templates_[t];
    for (uint32_t k = 0; k < call.operands; ++k) operands[k] = place(slots_[slot_begin_[i] + k], piece);
    for (uint32_t k = 0; k < call.temporaries; ++k)
      operands[call.operands + k] = {kRowWindows, window_bytes_ + temporaries_[call.first_temporary + k], 0};
    MICA_TRY_STATUS(add_call(i, call.step, {operands, call.operands + call.temporaries}));
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
  const int64_t pieces = chain_.strips * chain_.parts;
  *program = {calls, strips, pieces, window_bytes_ + temporary_bytes_};
  const auto workers = static_cast<size_t>(std::max(1, binder_.context_.workers));
  const uint32_t s = stage_index(chain_.last - chain_.first);
  MICA_TRY(places_[kRowWindows], binder_.temporary(s, static_cast<size_t>(program->worker_bytes) * workers));
  const int64_t images = stages_[chain_.last].images;
  MICA_TRY_STATUS(binder_.add_step(s,
                                   {.kernel = run_rows,
                                    .arguments = program,
                                    .tasks = images * pieces,
                                    .work = work_ * static_cast<double>(images),
                                    .scratch_bytes = scratch_bytes_,
                                    .name = "row_chain"},
                                   places_));
  binder_.segment_.steps.back().first_stage = stage_index(0);
  return {};
}

// The calls of a strip in the part at hand.
Result<bool> RowBinder::add_strip(int64_t strip) {
  MICA_TRY_STATUS(strip_begin_.push_back(static_cast<uint32_t>(calls_.size())));
  for (uint32_t i = 0; i < windows_.size(); ++i) {
    windows_[i].begun = false;
    windows_[i].row_bytes = row_bytes_of(i, part());
  }
  for (uint32_t a = schedule_.strip_begin[static_cast<size_t>(strip)];
       a < schedule_.strip_begin[static_cast<size_t>(strip) + 1]; ++a) {
    MICA_TRY(const bool added, add_action(schedule_.actions[a]));
    if (!added) return false;
  }
  return true;
}

Result<bool> RowBinder::run() {
  MICA_TRY_STATUS(schedule_rows(stages_, chain_, schedule_));
  MICA_TRY_STATUS(gather());
  MICA_TRY_STATUS(find_parts());
  one_ = *binder_.context_.machine;
  one_.threads = 1;
  MICA_TRY_STATUS(windows_.resize(chain_.last - chain_.first + 1));
  place_windows();
  for (int64_t strip = 0; strip < chain_.strips; ++strip)
    for (at_part_ = 0; at_part_ < parts_.size(); ++at_part_) {
      MICA_TRY(const bool added, add_strip(strip));
      if (!added) return false;
    }
  MICA_TRY_STATUS(strip_begin_.push_back(static_cast<uint32_t>(calls_.size())));
  MICA_TRY_STATUS(finish());
  for (uint32_t i = 0; i <= chain_.last - chain_.first; ++i)
    if (const int32_t makes = binder_.row_means_of(stage_index(i)).makes; makes >= 0)
      binder_.scratch_.row_means[static_cast<size_t>(makes)].made = !means_lack_;
  return true;
}

}  // namespace mica
