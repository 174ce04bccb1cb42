// Weights in the form that their stages read.
//
// Goal: a file holds each weight once, packed as the kernels of most machines want it, so that loading maps it and
// nothing more. A constant is packed when all that read it want the same form and the form is not much larger; one that
// somebody reads plain stays plain. Packed constants stand side by side in one block, in huge pages where the system
// has them: a model that runs where it was compiled finds its weights as fast as from a file. Non-goals: forms that
// suit one machine (those are made at load). Cost: one pass over each packed constant; besides the plan, one constant
// is in memory at a time.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "plan/plan.h"

namespace mica {

// Input `input` of a stage is wanted in the form `key`.
struct StageWish {
  uint32_t function, stage, input;
  PackKey key;
};

// Calls `replaced(constant)` when the plain contents of a constant are no longer needed. What it returns owns the
// packed ones and must outlive the plan; null when there are none. Throws Failure.
std::shared_ptr<const void> pack_constants(Plan& plan, const std::vector<StageWish>& wishes,
                                           const std::function<void(uint32_t constant)>& replaced);

}  // namespace mica
