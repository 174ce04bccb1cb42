#include "kernels/pool/pool.h"

#include "simd/simd.h"

namespace mica::MICA_ISA {
namespace {

// The taps [first, last) of one axis whose pixels lie inside the input, and the divisor's count along it.
struct Window {
  int64_t begin, first, last, count;
};

Window window_of(const PoolProblem& p, int axis, int64_t o) {
  const int64_t d = p.dilation[axis], taps = p.kernel[axis], begin = o * p.stride[axis] - p.pad[axis];
  if (begin >= 0 && begin + (taps - 1) * d < p.in[axis]) return {begin, 0, taps, taps};  // most are: no division
  const auto taps_below = [&](int64_t end) {                                             // taps with begin + t·d < end
    const int64_t t = end <= begin ? 0 : (end - begin + d - 1) / d;
    return t < p.kernel[axis] ? t : p.kernel[axis];
  };
  Window w{begin, taps_below(0), taps_below(p.in[axis]), 0};
  if (w.last < w.first) w.last = w.first;
  w.count = p.count_padding ? taps_below(p.in[axis] + p.pad_after[axis]) : w.last - w.first;
  return w;
}

// One output pixel's window: rows of taps.
struct Windows {
  const float* x;               // the input pixel under the first tap inside
  int64_t counts[3], steps[3];  // taps and floats between them, by axis
  float scale;                  // of an average
};

template <PoolKind kKind>
MICA_INLINE F32 start() {
  return kKind == PoolKind::kMax ? set1(-__builtin_inff()) : zero();
}
template <PoolKind kKind>
MICA_INLINE F32 take(F32 sum, F32 x) {
  if constexpr (kKind == PoolKind::kMax) return max_nan(sum, x);
  if constexpr (kKind == PoolKind::kL1) return add(sum, abs(x));
  if constexpr (kKind == PoolKind::kL2) return fma(x, x, sum);
  return add(sum, x);
}
template <PoolKind kKind>
MICA_INLINE F32 join(F32 sum, F32 part) {
  return kKind == PoolKind::kMax ? max_nan(sum, part) : add(sum, part);
}

// kVectors vectors of channels; the last one has `lanes`.
template <PoolKind kKind, int kVectors, bool kFull>
MICA_INLINE void pool_channels(const Windows& w, int64_t channel, float* out, int lanes) {
  F32 total[kVectors];
  MICA_UNROLL for (int v = 0; v < kVectors; ++v) total[v] = start<kKind>();
  for (int64_t z = 0; z < w.counts[0]; ++z)
    for (int64_t y = 0; y < w.counts[1]; ++y) {
      const float* in = w.x + z * w.steps[0] + y * w.steps[1] + channel;
      F32 row[kVectors];
      MICA_UNROLL for (int v = 0; v < kVectors; ++v) row[v] = start<kKind>();
      for (int64_t t = 0; t < w.counts[2]; ++t, in += w.steps[2])
        MICA_UNROLL for (int v = 0; v < kVectors; ++v) row[v] =
            take<kKind>(row[v], kFull ? load(in + v * kLanes) : load_partial(in, lanes));
      MICA_UNROLL for (int v = 0; v < kVectors; ++v) total[v] = join<kKind>(total[v], row[v]);
    }
  MICA_UNROLL for (int v = 0; v < kVectors; ++v) {
    F32 y = total[v];
    if constexpr (kKind == PoolKind::kAverage) y = mul(y, set1(w.scale));
    if constexpr (kKind == PoolKind::kL2) y = sqrt(y);
    if (kFull)
      store(out + channel + v * kLanes, y);
    else
      store_partial(out + channel, y, lanes);
  }
}

// Large windows: columns first, once for all outputs that share them, then neighbouring columns.
constexpr int64_t kColumns = 128;  // that are kept at a time
constexpr int64_t kWiden = 8;      // fewer taps are as fast one by one as by windows of half their length
template <PoolKind kKind>
constexpr bool kSharesColumns = kWithWindows && (kKind == PoolKind::kMax || kKind == PoolKind::kAverage);
// Whether neighbouring windows touch, and columns of some of them can be kept.
MICA_INLINE bool keeps_columns(const PoolProblem& p) {
  return p.out[2] > 1 && reach_of(p) <= kColumns / 2 && p.stride[2] <= reach_of(p);
}
MICA_INLINE bool shares_columns(const PoolProblem& p) {
  const int64_t rows = p.kernel[0] * p.kernel[1], apart = rows * p.kernel[2];
  const int64_t joined = p.kind == PoolKind::kMax && p.kernel[2] >= kWiden ? 6 : p.kernel[2];
  return keeps_columns(p) && 3 * apart >= 5 * (rows * p.stride[2] + joined);
}

// Each number of a line becomes the maximum of taps from it on, `step` floats apart: as many as `taps` has in its
// largest power of two, which is returned. Windows of 2, 4, 8 ... come of two of half that length. A vector behind the
// line can be read.
MICA_INLINE int64_t widen_maxima(float* line, int64_t floats, int64_t step, int64_t taps) {
  int64_t width = 1;
  for (; taps >= kWiden && 2 * width <= taps; width *= 2)
    for (int64_t i = 0; i < floats - width * step; i += kLanes)
      store(line + i, max_nan(load(line + i), load(line + i + width * step)));
  return width;
}

// kVectors vectors of columns; the last one has `lanes`.
template <PoolKind kKind, int kVectors, bool kFull>
MICA_INLINE void take_columns(const Windows& w, const float* from, float* to, int lanes) {
  F32 sum[kVectors];
  MICA_UNROLL for (int v = 0; v < kVectors; ++v) sum[v] = start<kKind>();
  for (int64_t z = 0; z < w.counts[0]; ++z, from += w.steps[0]) {
    const float* in = from;
    for (int64_t y = 0; y < w.counts[1]; ++y, in += w.steps[1])
      MICA_UNROLL for (int v = 0; v < kVectors; ++v) sum[v] =
          take<kKind>(sum[v], kFull ? load(in + v * kLanes) : load_partial(in, lanes));
  }
  MICA_UNROLL for (int v = 0; v < kVectors; ++v) store(to + v * kLanes, sum[v]);
}

// Windows of taps `step` floats apart, of which each stands for `width`; sums times the factor.
template <PoolKind kKind, int kVectors, bool kFull>
MICA_INLINE void join_windows(const float* line, int64_t step, int64_t taps, int64_t width, F32 factor, float* out,
                              int lanes) {
  F32 sum[kVectors];
  MICA_UNROLL for (int v = 0; v < kVectors; ++v) sum[v] = load(line + v * kLanes);
  for (int64_t t = width; t < taps; t += width) {
    const float* at = line + (t + width <= taps ? t : taps - width) * step;
    MICA_UNROLL for (int v = 0; v < kVectors; ++v) sum[v] = join<kKind>(sum[v], load(at + v * kLanes));
  }
  MICA_UNROLL for (int v = 0; v < kVectors; ++v) {
    const F32 y = kKind == PoolKind::kAverage ? mul(sum[v], factor) : sum[v];
    if (kFull)
      store(out + v * kLanes, y);
    else
      store_partial(out, y, lanes);
  }
}

// Outputs [ox, ox + count) of a row in one vector of channels; w.x: column 0 of the input, w.counts[2] of them; scale:
// of each output's average.
template <PoolKind kKind, bool kFull>
MICA_INLINE void pool_columns(const PoolProblem& p, const Windows& w, const float* scale, float* out, int64_t ox,
                              int64_t count, int lanes) {
  alignas(64) float columns[(kColumns + 1) * kLanes];
  const int64_t first = ox * p.stride[2] - p.pad[2], reach = (count - 1) * p.stride[2] + reach_of(p);
  for (int64_t i = 0; i < reach; ++i) {
    if (first + i >= 0 && first + i < w.counts[2])
      take_columns<kKind, 1, kFull>(w, w.x + (first + i) * w.steps[2], columns + i * kLanes, lanes);
    else
      store(columns + i * kLanes, start<kKind>());
  }
  int64_t width = 1;
  if constexpr (kKind == PoolKind::kMax)
    width = widen_maxima(columns, reach * kLanes, p.dilation[2] * kLanes, p.kernel[2]);
  for (int64_t i = 0; i < count; ++i) {
    const F32 factor = kKind == PoolKind::kAverage ? set1(scale[i]) : zero();
    join_windows<kKind, 1, kFull>(columns + i * p.stride[2] * kLanes, p.dilation[2] * kLanes, p.kernel[2], width,
                                  factor, out + (ox + i) * p.out_view.pixel, lanes);
  }
}

// A row; w as above, from channel 0 on; w.scale: pixels of a column in an average's divisor.
template <PoolKind kKind>
void pool_row(const PoolProblem& p, const Windows& w, float* out, int64_t channel_begin, int64_t channel_end) {
  const int64_t most = (kColumns - reach_of(p)) / p.stride[2] + 1;
  for (int64_t ox = 0; ox < p.out[2]; ox += most) {
    const int64_t count = p.out[2] - ox < most ? p.out[2] - ox : most;
    float scale[kColumns];
    for (int64_t i = 0; kKind == PoolKind::kAverage && i < count; ++i) {
      const float pixels = w.scale * static_cast<float>(window_of(p, 2, ox + i).count);
      scale[i] = pixels > 0 ? 1.0f / pixels : 0.0f;
    }
    Windows at = w;
    at.x += channel_begin;
    for (int64_t channel = channel_begin; channel < channel_end; channel += kLanes, at.x += kLanes) {
      const int64_t left = channel_end - channel;
      if (left >= kLanes)
        pool_columns<kKind, true>(p, at, scale, out + channel, ox, count, kLanes);
      else
        pool_columns<kKind, false>(p, at, scale, out + channel, ox, count, static_cast<int>(left));
    }
  }
}

// Few channels: a row is one line of numbers, whose neighbours are `channels` apart. Windows begin at every pixel, of
// which the outputs' are kept.
constexpr int64_t kLineRoom = kMostLine + 2 * kLanes;  // vectors may reach behind a line
constexpr int kTogether = kLanes >= 8 ? 4 : 1;         // vectors, so that loops over taps cost little

// The columns of pixels [begin, end) behind `before` floats of padding, and padding up to `floats`.
template <PoolKind kKind>
MICA_INLINE void fill_line(const Windows& w, const float* in, float* line, int64_t before, int64_t inside,
                           int64_t floats) {
  for (int64_t i = 0; i < before; i += kLanes) store(line + i, start<kKind>());
  int64_t i = 0;
  for (; i + kTogether * kLanes <= inside; i += kTogether * kLanes)
    take_columns<kKind, kTogether, true>(w, in + i, line + before + i, kLanes);
  for (; i + kLanes <= inside; i += kLanes) take_columns<kKind, 1, true>(w, in + i, line + before + i, kLanes);
  if (i < inside) take_columns<kKind, 1, false>(w, in + i, line + before + i, static_cast<int>(inside - i));
  for (i = before + inside; i < floats + kLanes; i += kLanes) store(line + i, start<kKind>());
}

// The windows that begin at each of `floats` numbers of a line; sums times the factor.
template <PoolKind kKind>
MICA_INLINE void windows_of_line(const float* line, int64_t step, int64_t taps, int64_t width, F32 factor, float* out,
                                 int64_t floats) {
  int64_t i = 0;
  for (; i + kTogether * kLanes <= floats; i += kTogether * kLanes)
    join_windows<kKind, kTogether, true>(line + i, step, taps, width, factor, out + i, kLanes);
  for (; i + kLanes <= floats; i += kLanes)
    join_windows<kKind, 1, true>(line + i, step, taps, width, factor, out + i, kLanes);
  if (i < floats)
    join_windows<kKind, 1, false>(line + i, step, taps, width, factor, out + i, static_cast<int>(floats - i));
}

// Sums of the outputs [ox, ox + count) of a row were divided by whole windows: those that lack columns get theirs.
[[gnu::noinline]] void mend_edges(const PoolProblem& p, int64_t ox, int64_t count, float* out) {
  const int64_t taps = p.kernel[2];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = (ox + i) * p.stride[2] - p.pad[2], room = p.in[2] - reach_of(p) - begin;
    if (begin >= 0 && room >= 0) {  // on to the first window that reaches beyond the end
      i += room / p.stride[2];
      continue;
    }
    const int64_t columns = window_of(p, 2, ox + i).count;
    const float factor = columns > 0 ? static_cast<float>(taps) / static_cast<float>(columns) : 0.0f;
    for (int64_t c = 0; columns != taps && c < p.channels; ++c) out[i * p.channels + c] *= factor;
  }
}

// Those of each stride-th pixel alone. Whole vectors are written in order: what reaches behind a pixel is overwritten
// by the next one.
template <PoolKind kKind>
MICA_INLINE void windows_of_pixels(const PoolProblem& p, const float* line, int64_t width, F32 factor, float* out,
                                   int64_t count) {
  const int64_t c = p.channels, step = p.dilation[2] * c, by = p.stride[2] * c;
  for (int64_t i = 0; i < count; ++i, line += by, out += c)
    for (int64_t j = 0; j < c; j += kLanes) {
      if (i + 1 < count || j + kLanes <= c)
        join_windows<kKind, 1, true>(line + j, step, p.kernel[2], width, factor, out + j, kLanes);
      else
        join_windows<kKind, 1, false>(line + j, step, p.kernel[2], width, factor, out + j, static_cast<int>(c - j));
    }
}

// Each stride-th pixel of a line.
[[gnu::noinline]] void keep_pixels(const float* line, int64_t stride, int64_t channels, int64_t count, float* out) {
  if (channels == 1 && stride == 2)
    for (int64_t i = 0; i < count; ++i) out[i] = line[2 * i];
  else
    for (int64_t i = 0; i < count; ++i)
      for (int64_t c = 0; c < channels; ++c) out[i * channels + c] = line[i * stride * channels + c];
}

// A row; w: as of pool_row. Windows of some pixels may be written over the line: those before them are not read again.
template <PoolKind kKind>
void pool_line(const PoolProblem& p, const Windows& w, float* out) {
  alignas(64) float line[kLineRoom];
  const float pixels = w.scale * static_cast<float>(p.kernel[2]);
  const F32 factor = set1(pixels > 0 ? 1.0f / pixels : 0.0f);
  const int64_t c = p.channels, most = (kMostLine / c - reach_of(p)) / p.stride[2] + 1;
  for (int64_t ox = 0; ox < p.out[2]; ox += most) {
    const int64_t count = p.out[2] - ox < most ? p.out[2] - ox : most, first = ox * p.stride[2] - p.pad[2];
    const int64_t reach = (count - 1) * p.stride[2] + reach_of(p);
    const int64_t begin = first < 0 ? 0 : first, end = first + reach < p.in[2] ? first + reach : p.in[2];
    const int64_t before = begin - first < reach ? begin - first : reach;
    fill_line<kKind>(w, w.x + begin * c, line, before * c, end > begin ? (end - begin) * c : 0, reach * c);
    int64_t width = 1;
    if constexpr (kKind == PoolKind::kMax) width = widen_maxima(line, reach * c, p.dilation[2] * c, p.kernel[2]);
    if (p.stride[2] > 1 && 2 * c >= kLanes) {
      windows_of_pixels<kKind>(p, line, width, factor, out, count);
    } else {
      const bool all = p.stride[2] == 1;
      windows_of_line<kKind>(line, p.dilation[2] * c, p.kernel[2], width, factor, all ? out : line,
                             ((count - 1) * p.stride[2] + 1) * c);
      if (!all) keep_pixels(line, p.stride[2], c, count, out);
    }
    if constexpr (kKind == PoolKind::kAverage) mend_edges(p, ox, count, out);
    out += count * c;
  }
}

template <PoolKind kKind>
void pool_rows(const PoolArgs& args, int64_t row_begin, int64_t row_end, int64_t channel_begin, int64_t channel_end) {
  const PoolProblem& p = args.problem;
  constexpr int kVectors = kKind == PoolKind::kMax || kKind == PoolKind::kAverage ? 4 : 1;  // norms are rare
  for (int64_t row = row_begin; row < row_end; ++row) {
    const int64_t plane = row / p.out[1], oy = row % p.out[1], oz = plane % p.out[0], image = plane / p.out[0];
    const Window z = window_of(p, 0, oz), y = window_of(p, 1, oy);
    const float* x = args.x + image * p.in_view.image + (z.begin + z.first * p.dilation[0]) * p.in_view.depth +
                     (y.begin + y.first * p.dilation[1]) * p.in_view.row;
    float* out = args.y + image * p.out_view.image + oz * p.out_view.depth + oy * p.out_view.row;
    const int64_t steps[3] = {p.dilation[0] * p.in_view.depth, p.dilation[1] * p.in_view.row, p.in_view.pixel};
    if constexpr (kSharesColumns<kKind>) {
      if (args.choice.lines || shares_columns(p)) {
        const Windows w{x,
                        {z.last - z.first, y.last - y.first, p.in[2]},
                        {steps[0], steps[1], steps[2]},
                        static_cast<float>(z.count * y.count)};
        if (args.choice.lines)
          pool_line<kKind>(p, w, out);
        else
          pool_row<kKind>(p, w, out, channel_begin, channel_end);
        continue;
      }
    }
    for (int64_t ox = 0; ox < p.out[2]; ++ox, out += p.out_view.pixel) {
      const Window c = window_of(p, 2, ox);
      const int64_t pixels = z.count * y.count * c.count;
      const Windows w{x + (c.begin + c.first * p.dilation[2]) * p.in_view.pixel,
                      {z.last - z.first, y.last - y.first, c.last - c.first},
                      {steps[0], steps[1], p.dilation[2] * steps[2]},
                      pixels > 0 ? 1.0f / static_cast<float>(pixels) : 0.0f};
      int64_t channel = channel_begin;
      for (; channel + kVectors * kLanes <= channel_end; channel += kVectors * kLanes)
        pool_channels<kKind, kVectors, true>(w, channel, out, kLanes);
      for (; channel + kLanes <= channel_end; channel += kLanes) pool_channels<kKind, 1, true>(w, channel, out, kLanes);
      if (channel < channel_end)
        pool_channels<kKind, 1, false>(w, channel, out, static_cast<int>(channel_end - channel));
    }
  }
}

using PoolRowsFn = void (*)(const PoolArgs& args, int64_t row_begin, int64_t row_end, int64_t channel_begin,
                            int64_t channel_end);
template <PoolKind kKind>
constexpr PoolRowsFn pool_rows_fn() {
  if constexpr (has_pool(kKind)) return pool_rows<kKind>;
  return nullptr;
}
constexpr PoolRowsFn kPoolRows[] = {pool_rows_fn<PoolKind::kMax>(), pool_rows_fn<PoolKind::kAverage>(),
                                    pool_rows_fn<PoolKind::kL1>(), pool_rows_fn<PoolKind::kL2>()};

void run(const PoolArgs& args, int64_t task_begin, int64_t task_end) {
  const PoolProblem& p = args.problem;
  const PoolChoice& c = args.choice;
  const auto least = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t rows = p.images * p.out[0] * p.out[1];
  for (int64_t task = task_begin; task < task_end; ++task) {
    const int64_t row_tasks = (rows + c.row_block - 1) / c.row_block;
    const int64_t row = task % row_tasks * c.row_block, channel = task / row_tasks * c.channel_block;
    const int64_t row_end = least(rows, row + c.row_block), channel_end = least(p.channels, channel + c.channel_block);
    kPoolRows[static_cast<int>(p.kind)](args, row, row_end, channel, channel_end);
  }
}

}  // namespace

extern const PoolKernels pool_kernels;
const PoolKernels pool_kernels = {.run = run};

}  // namespace mica::MICA_ISA
