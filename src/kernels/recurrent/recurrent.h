// The element-wise part of recurrent cells, fp32: from sums of gates to the next state.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace mica {

enum class Isa : uint8_t;

// Any `count` adjacent units of a cell that has `hidden`, which is how far sums of one gate lie from the next one's.
struct RecurrentKernels {
  // gates: input, output, forget, cell. c = σ(f)·c + σ(i)·tanh(g); h = σ(o)·tanh(c).
  void (*lstm)(const float* gates, int64_t hidden, float* c, float* h, int64_t count);
  // x: update, reset, hidden sums of the input; r: those of the state, of which the hidden one is multiplied by the
  // reset gate. h = (1 - z)·tanh(x_h + σ(x_r + r_r)·r_h) + z·old, which may be h.
  void (*gru)(const float* x, const float* r, int64_t hidden, const float* old, float* h, int64_t count);
  // The same where the reset gate comes before the product, in two parts. First update and reset sums: the former
  // become σ(z) in place, reset_h = σ(r)·h.
  void (*gru_reset)(float* gates, const float* h, float* reset_h, int64_t hidden);
  // h = (1 - update)·tanh(sums) + update·h
  void (*gru_blend)(const float* update, const float* sums, float* h, int64_t hidden);
  // h = tanh(sums)
  void (*tanh)(const float* sums, float* h, int64_t count);
};
const RecurrentKernels& recurrent_kernels(Isa isa);

}  // namespace mica
