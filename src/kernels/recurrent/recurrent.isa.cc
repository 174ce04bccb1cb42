#include "kernels/recurrent/recurrent.h"

#include "kernels/gemm/activation.inl"

namespace mica::MICA_ISA {
namespace {

MICA_INLINE int lanes_at(int64_t i, int64_t count) { return count - i < kLanes ? static_cast<int>(count - i) : kLanes; }

void lstm(const float* gates, int64_t hidden, float* c, float* h, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int n = lanes_at(i, count);
    const F32 input = sigmoid_vector(load_some(gates + i, n)),
              output = sigmoid_vector(load_some(gates + hidden + i, n));
    const F32 forget = sigmoid_vector(load_some(gates + 2 * hidden + i, n)),
              cell = tanh_of(load_some(gates + 3 * hidden + i, n));
    const F32 next = fma(forget, load_some(c + i, n), mul(input, cell));
    store_some(c + i, next, n);
    store_some(h + i, mul(output, tanh_of(next)), n);
  }
}

void gru(const float* x, const float* r, int64_t hidden, const float* old, float* h, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int n = lanes_at(i, count);
    const F32 update = sigmoid_vector(add(load_some(x + i, n), load_some(r + i, n)));
    const F32 reset = sigmoid_vector(add(load_some(x + hidden + i, n), load_some(r + hidden + i, n)));
    const F32 next = tanh_of(fma(reset, load_some(r + 2 * hidden + i, n), load_some(x + 2 * hidden + i, n)));
    store_some(h + i, fma(update, sub(load_some(old + i, n), next), next), n);
  }
}

void gru_reset(float* gates, const float* h, float* reset_h, int64_t hidden) {
  for (int64_t i = 0; i < hidden; i += kLanes) {
    const int n = lanes_at(i, hidden);
    store_some(gates + i, sigmoid_vector(load_some(gates + i, n)), n);
    store_some(reset_h + i, mul(sigmoid_vector(load_some(gates + hidden + i, n)), load_some(h + i, n)), n);
  }
}

void gru_blend(const float* update, const float* sums, float* h, int64_t hidden) {
  for (int64_t i = 0; i < hidden; i += kLanes) {
    const int n = lanes_at(i, hidden);
    const F32 next = tanh_of(load_some(sums + i, n));
    store_some(h + i, fma(load_some(update + i, n), sub(load_some(h + i, n), next), next), n);
  }
}

void tanh_row(const float* sums, float* h, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int n = lanes_at(i, count);
    store_some(h + i, tanh_of(load_some(sums + i, n)), n);
  }
}

}  // namespace

extern const RecurrentKernels recurrent_kernels;
const RecurrentKernels recurrent_kernels = {
    .lstm = lstm, .gru = gru, .gru_reset = gru_reset, .gru_blend = gru_blend, .tanh = tanh_row};

}  // namespace mica::MICA_ISA
