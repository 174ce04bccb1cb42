// Decides in which block of memory each value of a segment stands, and with which strides.
//
// Goals: views (reshape, slice, …) cost nothing, transposes neither where the reader is a product; concatenation is
// written in place by its producers; an element-wise result takes its dying operand's memory, a convolution's or a
// product's that of its dying residual. Non-goals: offsets (plan/memory.h gives those afterwards). Cost: linear in
// operands.
#pragma once
#include "runtime/infer.h"
#include "runtime/row_chains.h"

namespace mica {

inline constexpr int32_t kNoBlock = -1;

// A value stands in a block of the arena, at its own slot of the frame, at an absolute address (constants), or nowhere
// yet.
struct Placed {
  enum class Kind : uint8_t { kNone, kBlock, kSlot, kConstant, kObject, kDynamic } kind = Kind::kNone;
  int32_t block = kNoBlock;  // kBlock
  uint32_t slot = 0;   // kSlot, kDynamic: the value whose slot it is (a view of an input stands in the input's slot)
  int64_t offset = 0;  // bytes from the block's or slot's start
  TensorView view;     // dims and strides; data for constants only
};

struct Block {
  int64_t bytes = 0;
  uint32_t first = 0, last = 0;      // stages
  bool composed = false;             // a concatenation's: written part by part
  int64_t latest = -1, second = -1;  // of the last reading stages of its values, the two latest
};

struct PlaceOptions {
  uint32_t first_stage, end_stage;
  std::span<const uint32_t> live_out;                  // values that need a frame slot
  bool views = true, in_place = true, compose = true;  // each can be switched off, for tests
  // Stages (from first_stage) that run as one, at the place of the last: what the others make gets no place here.
  std::span<const RowChain> chains = {};
  // By stage from first_stage, or empty: a post-operation's operand may stand where the result does.
  std::span<const bool> shares_residual = {};
  bool spread = false;  // rows that collide in caches, see spread_rows
};

struct Placement {
  void clear();  // keeps the memory
  Vector<Placed> values;
  Vector<Block> blocks;
  Vector<bool> skipped;  // by stage - first_stage: all outputs known or views: nothing to run
  Vector<uint32_t> last_use, uses, producer, reader;  // what placing works with, by value; reader: the last one
  Vector<bool> wanted, viewed;                        // live on; are read by a stage that gives views of them
};

Status place_values(const PlanFunction& function, const FunctionTypes& types, const PlaceOptions& options,
                    Placement& out);

// Input `i` of a composing stage (OpDef::compose) as a part of `whole`; `part.data` is relative to a null base.
// `sizes`: a view of each input with its dims.
bool part_of(const Stage& stage, std::span<const TensorView> sizes, const TensorView& whole, TensorView& part,
             uint32_t i);
// Strides of a tensor in the physical order: source, or channels last (rank >= 3: axis 1 innermost).
void set_order(TensorView& view, bool channels_last);
// Rows whose distance is a multiple of 512 bytes share the sets of a first-level cache, whose ways have 4 KiB, with
// every eighth of them or more: those that a kernel reads side by side (fourteen of a product, two lines of each pixel
// of four rows of a depthwise convolution) throw each other out. They stand a line of memory further apart. For a view
// with strides by set_order, of the same order.
void spread_rows(TensorView& view, bool channels_last);
// Bytes from the first to behind the last element of a view without negative strides.
int64_t extent_bytes(const TensorView& view);

}  // namespace mica
