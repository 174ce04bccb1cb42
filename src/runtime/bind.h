// Plan + machine + shapes → steps. Pure: the same inputs give the same steps; nothing of a session enters.
#pragma once
#include "runtime/place.h"

namespace mica {

class Threads;

// Packed forms of the plan's constants, made once and shared by all sessions of a model.
class PackCache {
 public:
  // Constant `index` in the requested form. Thread-safe.
  virtual Result<const void*> packed(uint32_t index, const PackRequest& request) = 0;
  // Its plain, dense form, whatever the plan stores.
  virtual Result<const void*> plain(uint32_t index) = 0;

 protected:
  ~PackCache() = default;
};

struct BoundOperandLists {
  Vector<BoundOperand> bound;
  Vector<Place> places;
};

// Means of a value's lines along its last axis, which its maker tells while it writes them. Averages of the value
// start from these (RunDef::takes_row_means) instead of reading all of it again.
struct RowMeans {
  uint32_t temporary = 0;
  TensorView view;    // the value's dims but for the last, which is 1; channels last, dense
  bool made = false;  // the maker does tell them
};
struct RowMeansUse {
  int32_t makes = -1, takes = -1;  // of BindScratch::row_means
};

// Memory that binding works in and that the next binding uses again.
struct BindScratch {
  Vector<InferValue> types;
  Placement placement;
  Vector<MemoryBlock> temporaries, blocks;
  Vector<bool> made, wanted;
  BoundOperandLists first, second;  // of a stage as it stands, and with dense copies
  Vector<std::pair<size_t, TensorView>> results;
  Vector<TensorView> sizes, parts;  // of a composition
  Vector<RowStage> row_stages;
  Vector<RowChain> chains;
  Vector<bool> shares_residual;  // by stage of the segment; empty when there are none
  Vector<FormOptions> forms;     // by stage of the segment; empty when all weights have one form
  Vector<double> byte_prices;    // likewise: BindScope::byte_price; empty when no form costs anything
  bool parted = false;           // a stage cannot have its residual where its result stands
  Vector<RowMeans> row_means;
  Vector<RowMeansUse> row_means_uses;  // by stage of the segment; empty when there are none
};

struct BindContext {
  const Plan* plan = nullptr;
  const Machine* machine = nullptr;
  PackCache* packs = nullptr;
  Threads* threads = nullptr;     // for work that binding itself has to do
  int workers = 1;                // threads that may take tasks of a step
  size_t memory_cap = SIZE_MAX;   // values that need more are refused before any stage makes tables for them
  size_t weight_goal = SIZE_MAX;  // what weights in all their forms should not take
  bool exact = false;
  bool low_memory = false;
  const Tuning* tuning = nullptr;  // measured choices; null: none
  bool reference_only = false;     // no hooks: what `compare` holds kernels against
  bool views = true, in_place = true, compose = true, row_means = true, spread = true;
  RowChainMode row_chains = RowChainMode::kChoose;
  // The hook of an operator; operators handed to a Context come before built-in ones.
  const RunDef* (*find_run)(const void* self, const OpDef& op) = nullptr;
  const void* self = nullptr;
};

// How the first stage of a segment gets its results' shapes.
enum class SegmentMode : uint8_t {
  kShapes,    // from its operands' shapes
  kContents,  // from its operands' contents, which are part of the key
  kDynamic,   // nobody knows before it ran
};

struct SegmentRequest {
  uint32_t function = 0, first_stage = 0;
  SegmentMode mode = SegmentMode::kShapes;
  // By value of the function: type (fixed shape), and contents for kContents; not present where not available yet.
  std::span<const InferValue> live;
  // A segment to be bound again in its own memory: bounded dimensions have other numbers now. Its arena stays as it was
  // planned when all blocks fit.
  BoundSegment* again = nullptr;
};

struct SegmentResult {
  BoundSegment* segment = nullptr;  // owned by the caller (release with destroy_segment); null when `stalled`
  bool planned = true;              // the arena was planned anew
  bool stalled = false;             // the mode is not enough for the first stage: ask again with the next one
};
Result<SegmentResult> bind_segment(const BindContext& context, const SegmentRequest& request, BindScratch& scratch);
void destroy_segment(BoundSegment* segment);

}  // namespace mica
