// What an operator's `.lower.cc` says: what its stage may absorb and how its weights are packed in the file.
#pragma once
#include "ir/graph.h"
#include "types/epilogue.h"
#include "types/packing.h"

namespace mica {

// Input `input`, when it is a constant, is wanted in the form that the key names (kernels/pack/form.h).
struct PackWish {
  int input;
  PackKey key;
};

struct LowerDef {
  // True when the stage can do `f` on output 0 itself. `per_channel`: the second operand is one number per channel;
  // otherwise it has the output's shape (a residual).
  bool (*absorbs)(const Node&, Pointwise f, bool per_channel) = nullptr;
  // True when the operator, which otherwise wants channels last, is better off with planes where its input has them.
  bool (*keeps_planes)(const Node&) = nullptr;
  // Packed forms of constant inputs, for the file: what the operator's `.run.cc` asks for on most machines.
  std::vector<PackWish> (*pack)(const Node&) = nullptr;
};
std::span<const TableRow<LowerDef>> all_lower();
#define MICA_LOWER(id)                      \
  extern const ::mica::LowerDef lower_##id; \
  constinit const ::mica::LowerDef lower_##id

}  // namespace mica
