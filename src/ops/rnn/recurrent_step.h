// Recurrent layers on the kernels: the inputs of all time steps are multiplied at once, then each direction walks
// through time with one product of the state per step (two where a reset gate comes before the product). For fp32 and
// constant weights; cells of the default functions have kernels of their own, others take cells.h.
#pragma once
#include "kernels/pack/form.h"
#include "ops/rnn/recurrent.h"
#include "step/run.h"

namespace mica::rnn {

enum class Cell : uint8_t { kLstm, kGru, kGruResetFirst, kTanh };

// The packed form that W and R are read in.
inline PackKey weights_key() { return key_of({PackKind::kPanels16, PackLayout::kTransposed, 1}); }

// The hook of the recurrent operators; `name` of their kernel. False for what is left to the reference.
Result<bool> bind_recurrent(BindScope& scope, const Recurrent& a, Cell cell, std::string_view name,
                            bool input_forget = false);

}  // namespace mica::rnn
