// The element-wise part of recurrent cells with any functions, clipped sums and peepholes: from sums of gates to the
// next state. T: double in the references, float where the products ran on the kernels; functions are computed in
// double.
#pragma once
#include "ops/rnn/recurrent.h"

namespace mica::rnn {

// What an application has beside the default functions.
struct CellRules {
  const Activation* functions;  // of the direction
  int64_t hidden;
  double clip = 0;  // 0: sums are not clipped
  bool input_forget = false;
  template <class T>
  T operator()(int function, T sum) const {
    const auto v = static_cast<double>(sum);
    return static_cast<T>(functions[function](clip > 0 ? (v < -clip ? -clip : v > clip ? clip : v) : v));
  }
};

// gates: sums of input, output, forget, cell, each `hidden`; p: peepholes of input, output, forget, or null.
template <class T>
void lstm_cell(const CellRules& f, const T* gates, const T* p, T* c, T* h) {
  const auto peephole = [&](int gate, int64_t i) { return p ? p[gate * f.hidden + i] * c[i] : T(0); };
  for (int64_t i = 0; i < f.hidden; ++i) {
    const T input = f(0, gates[i] + peephole(0, i));
    const T forget = f.input_forget ? 1 - input : f(0, gates[2 * f.hidden + i] + peephole(2, i));
    c[i] = forget * c[i] + input * f(1, gates[3 * f.hidden + i]);
    const T output = f(0, gates[f.hidden + i] + peephole(1, i));
    h[i] = output * f(2, c[i]);
  }
}

// sums: of update and reset, which become the gates.
template <class T>
void gru_gates(const CellRules& f, T* sums) {
  for (int64_t i = 0; i < 2 * f.hidden; ++i) sums[i] = f(0, sums[i]);
}

// candidates: sums of the hidden gate, behind the reset.
template <class T>
void gru_blend(const CellRules& f, const T* update, const T* candidates, T* h) {
  for (int64_t i = 0; i < f.hidden; ++i) h[i] = (1 - update[i]) * f(1, candidates[i]) + update[i] * h[i];
}

template <class T>
void simple_cell(const CellRules& f, const T* sums, T* h) {
  for (int64_t i = 0; i < f.hidden; ++i) h[i] = f(0, sums[i]);
}

}  // namespace mica::rnn
