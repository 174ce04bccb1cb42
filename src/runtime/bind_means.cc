// Averages of an image start from the means of its rows, where the stage that makes the image can tell these while it
// writes it: the image is not read again.
#include <algorithm>

#include "base/parts.h"
#include "runtime/binder.h"

namespace mica {

// Which stages tell means, and which start from them. Placement is done.
Status SegmentBinder::find_row_means() {
  scratch_.row_means.clear();
  scratch_.row_means_uses.clear();
  if constexpr (!has_part("means", "rows")) return {};
  if (context_.reference_only || !context_.row_means) return {};
  for (uint32_t s = segment_.first_stage; s < segment_.end_stage; ++s) {
    const Stage& stage = function_.stages[s];
    const RunDef* hook = hook_of(*stage.op);
    if (!hook || !hook->takes_row_means || placement_.skipped[s - segment_.first_stage]) continue;
    if (!stage.inputs.empty() && stage.inputs[0] != kNoIndex) MICA_TRY_STATUS(add_row_means(s));
  }
  return {};
}

namespace {

// One of the rows has to be longer than its mean, or nothing is gained.
bool has_rows(const Type& type) {
  if (!type.is_tensor() || type.dtype != DType::kF32 || !type.shape.fixed() || type.shape.rank < 4) return false;
  return std::ranges::all_of(type.shape.span(), [](Dim d) { return d.value() > 0; }) &&
         type.shape[type.shape.rank - 1].value() > 1;
}

}  // namespace

// Stage `s` is one that may take them.
Status SegmentBinder::add_row_means(uint32_t s) {
  const Stage& stage = function_.stages[s];
  const uint32_t v = stage.inputs[0], maker = placement_.producer[v];
  if (maker == kNoIndex || maker < segment_.first_stage || maker >= s || !has_rows(types_.value(v).type)) return {};
  const RunDef* from = hook_of(*function_.stages[maker].op);
  if (!from || !from->makes_row_means || function_.stages[maker].outputs[0] != v) return {};
  WholeScope scope(*this, stage, s, scratch_.first);
  MICA_TRY_STATUS(gather_operands(stage, scope));
  if (!hook_of(*stage.op)->takes_row_means(scope)) return {};
  MICA_TRY_STATUS(scratch_.row_means_uses.resize(segment_.end_stage - segment_.first_stage));
  int32_t& made = scratch_.row_means_uses[maker - segment_.first_stage].makes;
  if (made < 0) {
    RowMeans means;
    means.view = ordered_view(v);
    means.view.dims[static_cast<size_t>(means.view.rank - 1)] = 1;
    set_order(means.view, true);
    means.temporary = static_cast<uint32_t>(temporaries_.size());
    made = static_cast<int32_t>(scratch_.row_means.size());
    MICA_TRY_STATUS(scratch_.row_means.push_back(means));
    MICA_TRY_STATUS(temporary(maker, static_cast<size_t>(dense_bytes(means.view.dtype, means.view.shape()))));
  }
  temporaries_[scratch_.row_means[static_cast<size_t>(made)].temporary].last = s;
  scratch_.row_means_uses[s - segment_.first_stage].takes = made;
  return {};
}

RowMeansUse SegmentBinder::row_means_of(uint32_t s) const {
  if (scratch_.row_means_uses.empty()) return {};
  return scratch_.row_means_uses[s - segment_.first_stage];
}

// The scope has its inputs: means take the place of the first one.
void SegmentBinder::give_row_means(StageScope& scope) {
  const int32_t takes = row_means_of(scope.index()).takes;
  if (takes < 0) return;
  const RowMeans& means = scratch_.row_means[static_cast<size_t>(takes)];
  if (!means.made) return;
  scope.bound[0] = {.present = true, .view = means.view};
  scope.places[0] = {kTemporary + means.temporary, 0};
}

// The scope has all its operands: behind them a place for means.
Status SegmentBinder::ask_row_means(StageScope& scope) {
  const int32_t makes = row_means_of(scope.index()).makes;
  if (makes < 0) return {};
  scope.row_means = static_cast<int>(scope.places.size());
  return scope.places.push_back({kTemporary + scratch_.row_means[static_cast<size_t>(makes)].temporary, 0});
}

}  // namespace mica
