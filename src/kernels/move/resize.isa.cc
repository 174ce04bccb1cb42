#include "kernels/move/resize.h"

#include "simd/simd.h"

namespace mica::MICA_ISA {
namespace {

// to[i] = Σ weight[k]·rows[k][i], over the taps of output row r.
void blend_rows(const ResampleProblem& p, const float* plane, int64_t r, float* to) {
  const int64_t n = (p.columns.in - 1) * p.pixel_in + p.channels, out = p.rows.out;
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

// row[index], out of few vectors where neighbours have neighbours. A vector may be read behind the row.
MICA_INLINE F32 take(const float* row, const int32_t* index) {
  constexpr int kMostReach = 4 * kLanes;
  const I32 place = load(index), near = sub(place, set1(index[0])), lane = bit_and(near, set1(kLanes - 1));
  if (!kHasPermute || !all(eq(bit_and(near, set1(kMostReach - 1)), near))) return gather(row, place);
  row += index[0];
  F32 x = permute(load(row), lane);
  for (int at = kLanes; at < kMostReach; at += kLanes) {
    const Mask beyond = gt(near, set1(at - 1));
    if (!any(beyond)) break;
    x = select(beyond, permute(load(row + at), lane), x);
  }
  return x;
}

// One channel: vectors over output pixels, the last of which makes some of its neighbour's once more. A line shorter
// than a vector goes through the same operations one lane at a time, so that a pixel's value does not depend on its
// place.
void blend_columns(const ResampleAxis& c, const float* row, float* to, int64_t pixel_out) {
  const int64_t step = c.out < kLanes ? 1 : kLanes;
  for (int64_t next = 0; next < c.out; next += step) {
    const int64_t i = next + step <= c.out ? next : c.out - step;
    F32 sum = set1(-0.0f);  // which adds nothing, not even a sign
    for (int64_t k = 0; k < c.taps; ++k) {
      const float* weight = c.weight + k * c.out + i;
      const int32_t* index = c.index + k * c.out + i;
      sum = step == 1 ? fma(set1(*weight), set1(row[*index]), sum) : fma(load(weight), take(row, index), sum);
    }
    float* out = to + i * pixel_out;
    if (step == 1)
      store_partial(out, sum, 1);
    else if (pixel_out == 1)
      store(out, sum);
    else
      store_strided(out, static_cast<ptrdiff_t>(pixel_out), sum);
  }
}

// kLanes channels from c on of output pixel i. What is read behind the last channel is not looked at.
MICA_INLINE F32 blend_pixel(const ResampleAxis& a, int64_t pixel_in, const float* row, int64_t i, int64_t c) {
  F32 sum = mul(set1(a.weight[i]), load(row + a.index[i] * pixel_in + c));
  for (int64_t k = 1; k < a.taps; ++k)
    sum = fma(set1(a.weight[k * a.out + i]), load(row + a.index[k * a.out + i] * pixel_in + c), sum);
  return sum;
}

// Many channels: vectors over the channels of each output pixel. Where pixels lie one behind the other, the last vector
// of one reaches into the next, which is made afterwards: parts of vectors take several times as long to store.
void blend_pixels(const ResampleProblem& p, const float* row, float* to) {
  const ResampleAxis& a = p.columns;
  const int rest = static_cast<int>(p.channels % kLanes);
  const bool reaches = p.pixel_out == p.channels && p.channels >= kLanes - rest;
  for (int64_t i = 0; i < a.out; ++i, to += p.pixel_out) {
    int64_t c = 0;
    for (; c + kLanes <= p.channels; c += kLanes) store(to + c, blend_pixel(a, p.pixel_in, row, i, c));
    if (rest == 0) continue;
    const F32 last = blend_pixel(a, p.pixel_in, row, i, c);
    if (reaches && i + 1 < a.out)
      store(to + c, last);
    else
      store_partial(to + c, last, rest);
  }
}

// The same into planes: kLanes pixels by kLanes channels at a time, turned in registers. A row is read while it is
// near; turning the whole image would read it from memory once more.
void blend_planes(const ResampleProblem& p, const float* row, float* to) {
  const ResampleAxis& a = p.columns;
  for (int64_t i = 0; i < a.out; i += kLanes) {
    const int pixels = a.out - i < kLanes ? static_cast<int>(a.out - i) : kLanes;
    for (int64_t c = 0; c < p.channels; c += kLanes) {
      F32 block[kLanes];
      for (int k = 0; k < kLanes; ++k) block[k] = blend_pixel(a, p.pixel_in, row, i + (k < pixels ? k : pixels - 1), c);
      transpose(block);
      const int64_t channels = p.channels - c < kLanes ? p.channels - c : kLanes;
      for (int64_t k = 0; k < channels; ++k) {
        float* out = to + (c + k) * p.channel_out + i;
        if (pixels == kLanes)
          store(out, block[k]);
        else
          store_partial(out, block[k], pixels);
      }
    }
  }
}

void linear(const ResampleProblem& p, const float* x, float* y, float* scratch, int64_t task_begin, int64_t task_end) {
  for (int64_t task = task_begin; task < task_end; ++task) {
    const int64_t r = task % p.rows.out, plane = task / p.rows.out % p.planes, group = task / p.rows.out / p.planes;
    const float* from = x + group * p.group_in + plane * p.plane_in;
    float* to = y + group * p.group_out + plane * p.plane_out + r * p.row_out;
    blend_rows(p, from, r, scratch);
    if (p.channels > 1 && p.channel_out != 1)
      blend_planes(p, scratch, to);
    else if (p.channels > 1)
      blend_pixels(p, scratch, to);
    else
      blend_columns(p.columns, scratch, to, p.pixel_out);
  }
}

}  // namespace

extern const ResampleKernels resample_kernels;
const ResampleKernels resample_kernels = {.linear = linear};

}  // namespace mica::MICA_ISA
