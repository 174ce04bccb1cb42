#include "kernels/recurrent/recurrent.h"

#include "kernels/gemm/activation.inl"

namespace mica::MICA_ISA {
namespace {

MICA_INLINE F32 get(const float* p, int n) { return n == kLanes ? load(p) : load_partial(p, n); }
MICA_INLINE void put(float* p, F32 v, int n) {
  if (n == kLanes)
    store(p, v);
  else
    store_partial(p, v, n);
}
MICA_INLINE int lanes_at(int64_t i, int64_t count) { return count - i < kLanes ? static_cast<int>(count - i) : kLanes; }

void lstm(const float* gates, int64_t hidden, float* c, float* h, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int n = lanes_at(i, count);
    const F32 input = sigmoid_vector(get(gates + i, n)), output = sigmoid_vector(get(gates + hidden + i, n));
    const F32 forget = sigmoid_vector(get(gates + 2 * hidden + i, n)),
              cell = tanh_vector(get(gates + 3 * hidden + i, n));
    const F32 next = fma(forget, get(c + i, n), mul(input, cell));
    put(c + i, next, n);
    put(h + i, mul(output, tanh_vector(next)), n);
  }
}

void gru(const float* x, const float* r, int64_t hidden, const float* old, float* h, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int n = lanes_at(i, count);
    const F32 update = sigmoid_vector(add(get(x + i, n), get(r + i, n)));
    const F32 reset = sigmoid_vector(add(get(x + hidden + i, n), get(r + hidden + i, n)));
    const F32 next = tanh_vector(fma(reset, get(r + 2 * hidden + i, n), get(x + 2 * hidden + i, n)));
    put(h + i, fma(update, sub(get(old + i, n), next), next), n);
  }
}

void gru_reset(float* gates, const float* h, float* reset_h, int64_t hidden) {
  for (int64_t i = 0; i < hidden; i += kLanes) {
    const int n = lanes_at(i, hidden);
    put(gates + i, sigmoid_vector(get(gates + i, n)), n);
    put(reset_h + i, mul(sigmoid_vector(get(gates + hidden + i, n)), get(h + i, n)), n);
  }
}

void gru_blend(const float* update, const float* sums, float* h, int64_t hidden) {
  for (int64_t i = 0; i < hidden; i += kLanes) {
    const int n = lanes_at(i, hidden);
    const F32 next = tanh_vector(get(sums + i, n));
    put(h + i, fma(get(update + i, n), sub(get(h + i, n), next), next), n);
  }
}

void tanh_row(const float* sums, float* h, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int n = lanes_at(i, count);
    put(h + i, tanh_vector(get(sums + i, n)), n);
  }
}

}  // namespace

extern const RecurrentKernels recurrent_kernels;
const RecurrentKernels recurrent_kernels = {
    .lstm = lstm, .gru = gru, .gru_reset = gru_reset, .gru_blend = gru_blend, .tanh = tanh_row};

}  // namespace mica::MICA_ISA
