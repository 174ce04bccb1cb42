// Chains of stages that run depth-first by rows, at bind. Internal to the binder.
#pragma once
#include "runtime/binder.h"
#include "runtime/row_program.h"

namespace mica {

// What choose_row_chains has to know of the segment's stages.
class RowFinder {
 public:
  explicit RowFinder(SegmentBinder& binder) : binder_(binder) {}
  Status describe(Vector<RowStage>& stages);

 private:
  Status describe_stage(uint32_t s, RowStage& out);
  Status ask_hook(const Stage& stage, uint32_t s, RowStage& out);
  bool suits(uint32_t v) const;
  bool may_want_means(const Stage& stage) const;
  void link(const Stage& stage, uint32_t index, Vector<RowStage>& stages);

  SegmentBinder& binder_;
  Vector<int32_t> maker_;  // by value: the stage's index in the list
  BoundOperandLists lists_;
};

// The steps that a hook adds for some rows: calls, whose temporaries lie in the worker's memory.
class BandScope final : public StageScope {
 public:
  using StageScope::StageScope;
  Result<int> temporary(size_t bytes) override;
  Status add(const StepSpec& step) override;

  Vector<StepSpec> steps;
  Vector<int64_t> temporaries;  // offsets from where temporaries begin
  int64_t temporary_bytes = 0;
  bool refused = false;
};

// Makes the one step of a chain. False when a hook does not make rows after all.
class RowBinder {
 public:
  RowBinder(SegmentBinder& binder, std::span<const RowStage> stages, const RowChain& chain)
      : binder_(binder), stages_(stages), chain_(chain) {}
  Result<bool> run();

 private:
  // An operand of a stage of the chain.
  struct Slot {
    int32_t maker = -1;             // a stage of the chain: stands in its window
    uint32_t operand = kNoOperand;  // else: of the step
    int row_axis = -1, column_axis = -1, image_axis = -1;
    bool windowed = false;
    BoundOperand bound;
  };
  // A part of a strip: the columns of each stage's result and of what it reads there, and how far its first window
  // begins before these.
  struct Part {
    RowRange made[kMostChainStages], read[kMostChainStages];
    int64_t pad[kMostChainStages] = {};
    uint32_t shape = 0;  // the same for all parts with the same numbers of columns
  };
  // Rows of a stage's result in the part at hand, and the rows that they read.
  struct Piece {
    uint32_t stage = 0;
    RowRange in, out;
  };
  // The calls for some rows of a stage: the same for all places with the same numbers.
  struct Band {
    uint32_t stage = 0, shape = 0;
    int64_t in_rows = 0, out_rows = 0, pad = 0;
    uint32_t first_call = 0, end_call = 0;  // of templates_
  };
  struct Template {
    StepSpec step;
    uint32_t operands = 0;  // of the stage; temporaries follow
    uint32_t first_temporary = 0, temporaries = 0;
  };
  struct Window {
    int64_t offset = 0, row_bytes = 0, base = 0;  // row_bytes: of the part at hand
    bool begun = false;
  };

  Status gather();
  Status gather_stage(uint32_t i);
  Result<bool> add_action(const RowAction& action);
  Status add_slide(const RowAction& action);
  Status find_parts();
  void place_windows();
  int64_t row_bytes_of(uint32_t i, const Part& part) const;
  Result<bool> add_strip(int64_t strip);
  Result<bool> band_of(const Piece& piece, const Band*& band);
  Result<bool> bind_band(const Piece& piece, Band& band);
  void cut(const Slot& slot, const Piece& piece, BoundOperand& operand) const;
  RowCallOperand place(const Slot& slot, const Piece& piece) const;
  Status add_call(uint32_t stage, const StepSpec& step, std::span<const RowCallOperand> operands);
  Status finish();
  bool parted() const { return chain_.parts > 1; }
  const Part& part() const { return parts_[at_part_]; }
  const Stage& stage(uint32_t i) const;
  uint32_t stage_index(uint32_t i) const;

  SegmentBinder& binder_;
  std::span<const RowStage> stages_;
  const RowChain& chain_;
  RowSchedule schedule_;
  Machine one_;                  // the machine as a strip sees it: one thread
  Vector<Slot> slots_;           // stage after stage
  Vector<uint32_t> slot_begin_;  // by stage
  Vector<Place> places_;         // operands of the step
  Vector<Part> parts_;
  size_t at_part_ = 0;
  Vector<Window> windows_;
  Vector<Band> bands_;
  Vector<Template> templates_;
  Vector<int64_t> temporaries_;
  Vector<RowCall> calls_;
  Vector<RowCallOperand> operands_;
  Vector<uint32_t> strip_begin_;
  BoundOperandLists lists_;
  int64_t window_bytes_ = 0, temporary_bytes_ = 0;
  size_t scratch_bytes_ = 0;
  double work_ = 0;
  bool means_lack_ = false;  // somebody asked for means of rows, and some band does not tell them
};

}  // namespace mica
