// Which forms of weights are worth their memory. A transformed form may take four times the room of the weights
// themselves. As long as all weights stay below a goal, each stage takes its fastest; beyond it, those that save the
// fewest cycles for each byte are given up, one stage after the other, but none that saves more than kMostBytePrice.
#pragma once
#include <span>

#include "base/vector.h"
#include "step/run.h"

namespace mica {

inline constexpr double kMostBytePrice = 0.12;  // cycles: 31 us a MiB at 4 GHz

// By stage, what a stage can choose from; `bytes` of all weights where each has its least form. `prices`, by stage:
// what a byte of its form has to save (BindScope::byte_price); empty when nothing is given up. Pure.
Status price_forms(std::span<const FormOptions> forms, double bytes, double goal, Vector<double>& prices);

}  // namespace mica
