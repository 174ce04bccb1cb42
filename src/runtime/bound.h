// A function of a plan bound to shapes and a machine: steps over addresses relative to a frame. Immutable once made.
//
// A function runs as a row of segments. Mostly there is one; a stage whose result's shape depends on data ends a
// segment, and the next is bound when that shape is known. Segments are kept by the shapes (and contents, where those
// steer shapes) of what they read.
#pragma once
#include "base/vector.h"
#include "plan/memory.h"
#include "plan/plan.h"
#include "step/run.h"

namespace mica {

// Where an operand's first byte is: frame base `base` plus `offset`.
enum : uint32_t { kBaseAbsolute = 0, kBaseArena = 1, kBaseFirstSlot = 2 };
struct Place {
  uint32_t base = kBaseAbsolute;
  int64_t offset = 0;  // an address for kBaseAbsolute
};

// A value as a segment sees it.
struct BoundValue {
  bool present = false;
  bool constant = false;  // contents known at bind: view.data points to them
  bool object = false;    // sequence, optional or map: lives in the frame's object slot of the same index
  bool dynamic = false;   // shape unknown until its producer ran
  Type type;
  TensorView view;  // dims and strides; data only for constants
  Place place;
};

struct ReferenceArguments;  // an operator's reference as a step

struct BoundStep {
  KernelFn kernel = nullptr;  // null: `reference`
  const void* arguments = nullptr;
  const ReferenceArguments* reference = nullptr;
  Status (*check)(const void* arguments, void* const* operands) = nullptr;
  int64_t tasks = 1;
  double work = 0;
  size_t scratch_bytes = 0;
  const Place* operands = nullptr;
  uint32_t operand_count = 0;
  uint32_t stage = 0, first_stage = 0;  // the last and the first of those that it computes
  std::string_view name;
};

struct ReferenceArguments {
  const OpDef* op;
  const void* attributes;
  const uint32_t* inputs;  // values of the function, kNoIndex where left out
  uint32_t input_count;
  const uint32_t* outputs;
  uint32_t output_count;
  const uint32_t* functions;  // what regions became
  uint32_t function_count;
};

// Zeroed blocks of memory that live and die together.
class Pool {
 public:
  Pool() = default;
  Pool(Pool&&) = default;
  Pool& operator=(Pool&&) = default;
  ~Pool();
  void* take(size_t bytes, size_t align = 16);  // null when memory is short
  void reset();                                 // what was taken is free again; blocks stay
  size_t bytes() const { return total_; }

 private:
  struct Block {
    char* data;
    size_t size, used;
  };
  Vector<Block> blocks_;
  size_t current_ = 0;  // those behind it are empty
  size_t total_ = 0;
};

struct BoundSegment {
  uint32_t first_stage = 0, end_stage = 0;
  Vector<BoundValue> values;  // by value index of the function; absent where the segment does not touch it
  Vector<BoundStep> steps;
  Vector<uint32_t> live_out;  // values that later segments or the caller read from frame slots
  Vector<size_t> slot_bytes;  // of live_out, at the bounds of bounded dimensions; empty without any
  size_t arena_bytes = 0;     // and the bound that no plan can beat:
  size_t arena_bound = 0;
  size_t scratch_bytes = 0;  // per worker, the largest of all steps
  uint32_t max_operands = 0;
  bool ends_function = false;
  uint64_t last_use = 0;
  Vector<int64_t> key;         // what it was bound for; bounded dimensions as such
  Vector<int64_t> bounded;     // and the numbers that those have now
  Vector<MemoryBlock> blocks;  // as the arena was planned
  Pool memory;                 // arguments, small constants, names
};

}  // namespace mica
