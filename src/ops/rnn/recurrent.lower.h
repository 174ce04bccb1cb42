// The packed forms of a recurrent layer's weights.
#pragma once
#include "ir/lower.h"
#include "ops/rnn/recurrent_step.h"

namespace mica::rnn {

inline std::vector<PackWish> pack_wishes(const Node&) { return {{kW, weights_key()}, {kR, weights_key()}}; }

}  // namespace mica::rnn
