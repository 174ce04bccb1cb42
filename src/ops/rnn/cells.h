// The element-wise part of recurrent cells with any functions, clipped sums and peepholes: from sums of gates to the
// next state, row by row; sums are changed on the way. T: double in the references, float where the products ran on the
// kernels, which then have most of the functions too.
#pragma once
#include "kernels/eltwise/eltwise.h"
#include "ops/rnn/recurrent.h"

namespace mica::rnn {

// `count` floats become the function of themselves; false where the kernels do not have it.
bool apply_on_kernels(const EltwiseKernels& kernels, const Activation& activation, float* values, int64_t count);

// What an application has beside the default functions.
struct CellRules {
  const Activation* functions;  // of the direction
  int64_t hidden;
  double clip = 0;  // 0: sums are not clipped
  bool input_forget = false;
  const EltwiseKernels* kernels = nullptr;  // null: each number by itself, in double

  // `count` sums become the function of themselves.
  template <class T>
  void apply(int function, T* sums, int64_t count) const {
    const T most = static_cast<T>(clip);
    for (int64_t i = 0; clip > 0 && i < count; ++i) sums[i] = sums[i] < -most ? -most : sums[i] > most ? most : sums[i];
    if constexpr (sizeof(T) == sizeof(float))
      if (kernels && apply_on_kernels(*kernels, functions[function], sums, count)) return;
    for (int64_t i = 0; i < count; ++i) sums[i] = static_cast<T>(functions[function](static_cast<double>(sums[i])));
  }
};

// sums + weights · c.
template <class T>
void add_peephole(const T* weights, const T* c, T* sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += weights[i] * c[i];
}

// gates: sums of input, output, forget, cell, each `hidden`; p: peepholes of input, output, forget, or null.
template <class T>
void lstm_cell(const CellRules& f, T* gates, const T* p, T* c, T* h) {
  const int64_t n = f.hidden;
  T *input = gates, *output = gates + n, *forget = gates + 2 * n, *cell = gates + 3 * n;
  if (p) {
    add_peephole(p, c, input, n);
    add_peephole(p + 2 * n, c, forget, n);
  }
  f.apply(0, input, n);
  if (f.input_forget)
    for (int64_t i = 0; i < n; ++i) forget[i] = 1 - input[i];
  else
    f.apply(0, forget, n);
  f.apply(1, cell, n);
  for (int64_t i = 0; i < n; ++i) h[i] = c[i] = forget[i] * c[i] + input[i] * cell[i];
  if (p) add_peephole(p + n, c, output, n);
  f.apply(0, output, n);
  f.apply(2, h, n);
  for (int64_t i = 0; i < n; ++i) h[i] *= output[i];
}

// sums: of update and reset, which become the gates.
template <class T>
void gru_gates(const CellRules& f, T* sums) {
  f.apply(0, sums, 2 * f.hidden);
}

// candidates: sums of the hidden gate, behind the reset.
template <class T>
void gru_blend(const CellRules& f, const T* update, T* candidates, T* h) {
  f.apply(1, candidates, f.hidden);
  for (int64_t i = 0; i < f.hidden; ++i) h[i] = (1 - update[i]) * candidates[i] + update[i] * h[i];
}

template <class T>
void simple_cell(const CellRules& f, const T* sums, T* h) {
  for (int64_t i = 0; i < f.hidden; ++i) h[i] = sums[i];
  f.apply(0, h, f.hidden);
}

}  // namespace mica::rnn
