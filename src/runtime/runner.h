// Runs bound segments over frames. Not thread-safe: one per session.
#pragma once
#include <atomic>

#include "runtime/frame.h"
#include "runtime/model.h"

namespace mica {

// What stops a run early.
struct RunControl {
  const std::atomic<bool>* cancel = nullptr;
  int64_t deadline_ns = 0;            // of the monotonic clock; 0: none
  int (*stop)(void* user) = nullptr;  // another number than 0 ends the run as cancelled
  void* stop_user = nullptr;
};

// Called behind each stage of the main function. Tensors are readable during the call only.
struct StageEvent {
  std::string_view name, op, kernel;
  std::span<const TensorView> outputs;
  std::span<const std::string_view> output_names;
  int64_t begin_ns, end_ns;
  // Of the main function: the stage, and the first of those that ran as one with it.
  uint32_t stage = 0, first_stage = 0;
};
using StageFn = bool (*)(void* user, const StageEvent& event);  // false stops the run as cancelled

struct RunnerOptions {
  size_t memory_cap = SIZE_MAX;  // bytes of arenas, slots, scratch, and forms of weights that the session has made
  // Forms that save little for their size are not made where all weights would take more.
  size_t weight_goal = 146'000'000;
  int cached_segments = 32;  // per place in a function
  bool exact = false, low_memory = false, reference_only = false;
  bool views = true, in_place = true, compose = true, row_means = true, spread = true;
  RowChainMode row_chains = RowChainMode::kChoose;
  const char* isa = nullptr;
};

class Runner final : PackCache {
 public:
  Runner(Model& model, const RunnerOptions& options) : model_(model), options_(options) {}
  Runner(const Runner&) = delete;
  ~Runner();

  Result<Frame*> main_frame();
  // Operands of a call stand in the frame: views[v] and bases of input values, object_at for objects. Output values
  // whose base is set (`caller_out`) are written there; the others get slots.
  Status run(Frame& frame, int depth, const RunControl& control);
  // Binds what can be bound from the input shapes in the frame and reserves memory, without running.
  Status prepare(Frame& frame);
  // `values`: the callback looks at every stage's results, so that stages do not run as chains of rows.
  void set_stage_callback(StageFn fn, void* user, bool values = true) {
    stage_fn_ = fn;
    stage_user_ = user;
    stage_values_ = values && fn;
  }
  // Measured choices in place of the model's; before anything is bound. They outlive the runner.
  void set_tuning(const Tuning* tuning) { tuning_ = tuning; }
  // Counts memory that somebody else holds for the session's runs. Errors: kMemoryCap.
  Status charge(size_t more);
  void begin_run() { text_.reset(); }

  size_t memory_bytes() const;  // arenas, slots, scratch of all frames now held
  size_t arena_bytes() const { return arena_bytes_; }
  size_t arena_bound() const { return arena_bound_; }
  uint64_t binds() const { return binds_; }  // segments bound so far
  // How often a bounded dimension got another number: the same segment, in the memory planned at its bounds.
  uint64_t refreshes() const { return refreshes_; }
  // The bound segments of the main function for the shapes last used; for inspection.
  const BoundSegment* last_segment() const { return last_segment_; }

 private:
  friend class ReferenceRun;
  struct Site {  // a place where segments of a function begin
    uint32_t function = 0, first_stage = 0;
    SegmentMode mode = SegmentMode::kShapes;
    bool bounded = false;  // bounded dimensions are among the operands'
    Vector<uint32_t> live_in;
    Vector<BoundSegment*> segments;
  };
  Result<Site*> site(uint32_t function, uint32_t first_stage);
  Result<BoundSegment*> segment_for(Frame& frame, Site& site);
  Status make_key(const Frame& frame, const Site& site, Vector<int64_t>& key);
  Result<BoundSegment*> bind(Frame& frame, Site& site);
  BindContext bind_context();
  // The model's, after what is not there yet has been charged.
  Result<const void*> packed(uint32_t index, const PackRequest& request) override;
  Result<const void*> plain(uint32_t index) override;
  Status describe(const Frame& frame, const Site& site, bool at_bounds);
  Result<bool> set_bounds(const Frame& frame, const Site& site);
  Status refresh(Frame& frame, Site& site, BoundSegment& segment);
  Status reserve(Frame& frame, const BoundSegment& segment);
  Status ready(Frame& frame, const BoundSegment& segment);
  Status run_segment(Frame& frame, const BoundSegment& segment, int depth, const RunControl& control);
  void launch(const BoundStep& step, void* const* operands);
  Status run_reference(Frame& frame, const BoundSegment& segment, const BoundStep& step, int depth,
                       const RunControl& control);
  Status report(Frame& frame, const BoundSegment& segment, const BoundStep& step, int64_t begin_ns);
  Result<Frame*> frame_for(uint32_t function, int depth);

  Model& model_;
  RunnerOptions options_;
  const Tuning* tuning_ = nullptr;
  Vector<Site*> sites_;
  Vector<Frame*> frames_;  // by depth, one per function used there
  Vector<int> frame_depths_;
  Vector<void*> operands_;
  Vector<int64_t> key_, bounded_;  // as BoundSegment's
  Vector<int64_t> symbols_;        // numbers with which bounded dimensions are at their bounds
  Vector<InferValue> live_;
  BindScratch bind_scratch_;
  Buffer scratch_;
  ReusablePool temporary_;  // of one reference call
  ReusablePool text_;       // string elements of one run
  StageFn stage_fn_ = nullptr;
  void* stage_user_ = nullptr;
  bool stage_values_ = false;
  size_t arena_bytes_ = 0, arena_bound_ = 0, held_ = 0;
  uint64_t binds_ = 0, refreshes_ = 0, clock_ = 0;
  const BoundSegment* last_segment_ = nullptr;
};

// Errors kCancelled and kDeadline when `control` says so.
Status check_stop(const RunControl& control);

}  // namespace mica
