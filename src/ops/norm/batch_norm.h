#pragma once
#include "types/attr.h"

namespace mica {

// Inputs: x, scale, bias, mean, variance: one number per channel (axis 1), or per element of the axes from 1 on.
// Outputs: y, and in training the running mean and variance.
struct BatchNorm {
  float epsilon = 1e-5f;
  float momentum = 0.9f;
  bool training = false;
  template <class V>
  void visit(V&& v) {
    v("epsilon", epsilon, "added to the variance");
    v("momentum", momentum, "share that the running mean and variance keep (training)");
    v("training", training, "normalise by the batch's own mean and variance");
  }
};

}  // namespace mica
