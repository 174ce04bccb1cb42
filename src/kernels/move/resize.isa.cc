#include "kernels/move/resize.h"

#include "simd/simd.h"

namespace mica::MICA_ISA {
namespace {

// to[i] = Σ weight[k]·rows[k][i], over the taps of output row r.
void blend_rows(const ResampleProblem& p, const float* plane, int64_t r, float* to) {
  const int64_t n = p.columns.in * p.channels, out = p.rows.out;
  const float* first = plane + p.rows.index[r] * p.row_in;
  const F32 w0 = set1(p.rows.weight[r]);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    F32 sum = mul(w0, load(first + i));
    for (int64_t k = 1; k < p.rows.taps; ++k)
      sum = fma(set1(p.rows.weight[k * out + r]), load(plane + p.rows.index[k * out + r] * p.row_in + i), sum);
    store(to + i, sum);
  }
  if (i == n) return;
  const int rest = static_cast<int>(n - i);
  F32 sum = mul(w0, load_partial(first + i, rest));
  for (int64_t k = 1; k < p.rows.taps; ++k)
    sum = fma(set1(p.rows.weight[k * out + r]), load_partial(plane + p.rows.index[k * out + r] * p.row_in + i, rest),
              sum);
  store_partial(to + i, sum, rest);
}

// One channel: vectors over output pixels, whose taps are gathered.
void blend_columns(const ResampleAxis& c, const float* row, float* to, int64_t pixel_out) {
  int64_t i = 0;
  for (; i + kLanes <= c.out; i += kLanes) {
    F32 sum = mul(load(c.weight + i), gather(row, load(c.index + i)));
    for (int64_t k = 1; k < c.taps; ++k)
      sum = fma(load(c.weight + k * c.out + i), gather(row, load(c.index + k * c.out + i)), sum);
    if (pixel_out == 1)
      store(to + i, sum);
    else
      store_strided(to + i * pixel_out, static_cast<ptrdiff_t>(pixel_out), sum);
  }
  // The tail goes through the same operations, one lane at a time, so that a pixel's value does not depend on its
  // place.
  for (; i < c.out; ++i) {
    F32 sum = mul(set1(c.weight[i]), set1(row[c.index[i]]));
    for (int64_t k = 1; k < c.taps; ++k)
      sum = fma(set1(c.weight[k * c.out + i]), set1(row[c.index[k * c.out + i]]), sum);
    store_partial(to + i * pixel_out, sum, 1);
  }
}

// Many channels: vectors over the channels of each output pixel.
void blend_pixels(const ResampleProblem& p, const float* row, float* to) {
  const ResampleAxis& a = p.columns;
  for (int64_t i = 0; i < a.out; ++i, to += p.pixel_out) {
    const float* first = row + a.index[i] * p.channels;
    int64_t c = 0;
    for (; c + kLanes <= p.channels; c += kLanes) {
      F32 sum = mul(set1(a.weight[i]), load(first + c));
      for (int64_t k = 1; k < a.taps; ++k)
        sum = fma(set1(a.weight[k * a.out + i]), load(row + a.index[k * a.out + i] * p.channels + c), sum);
      store(to + c, sum);
    }
    if (c == p.channels) continue;
    const int rest = static_cast<int>(p.channels - c);
    F32 sum = mul(set1(a.weight[i]), load_partial(first + c, rest));
    for (int64_t k = 1; k < a.taps; ++k)
      sum = fma(set1(a.weight[k * a.out + i]), load_partial(row + a.index[k * a.out + i] * p.channels + c, rest), sum);
    store_partial(to + c, sum, rest);
  }
}

void linear(const ResampleProblem& p, const float* x, float* y, float* scratch, int64_t task_begin, int64_t task_end) {
  for (int64_t task = task_begin; task < task_end; ++task) {
    const int64_t r = task % p.rows.out, plane = task / p.rows.out % p.planes, group = task / p.rows.out / p.planes;
    const float* from = x + group * p.group_in + plane * p.plane_in;
    float* to = y + group * p.group_out + plane * p.plane_out + r * p.row_out;
    blend_rows(p, from, r, scratch);
    if (p.channels > 1)
      blend_pixels(p, scratch, to);
    else
      blend_columns(p.columns, scratch, to, p.pixel_out);
  }
}

}  // namespace

extern const ResampleKernels resample_kernels;
const ResampleKernels resample_kernels = {.linear = linear};

}  // namespace mica::MICA_ISA
