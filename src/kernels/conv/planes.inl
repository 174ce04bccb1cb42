// Convolution of an input whose pixels are adjacent and whose channels are planes, such as a picture's three: each step
// of k reads its own plane and place, nothing is turned or gathered. Included by conv.isa.cc.
//
// The steps of k are in the order of the packed weights, as everywhere in kImplicit: the bits are the same.
#pragma once
#include "kernels/conv/implicit.inl"
#include "kernels/gemm/activation.inl"

namespace mica::MICA_ISA {

inline constexpr int kPlaneVectors = kPanel / kLanes;
// Sums, a row of weights and a value fill the registers: rows of one panel, and of two where a panel is a vector.
inline constexpr int kPlaneRows = kLanes == kPanel ? 28 : (kRegisters - kPlaneVectors - 1) / kPlaneVectors;
inline constexpr int kPlanePairs = kLanes == kPanel ? 2 : 1;
static_assert(kPlaneRows <= kMostPlaneRows);

struct PlaneTile {
  const float* base;       // the input under the first pixel's tap 0
  const int64_t* offsets;  // of each step of k from there
  int64_t depth, step;     // steps of k; floats from pixel to pixel
  const float* w;
  int64_t panel_stride;
  const float* bias;  // or null
  float* out;
  int64_t out_pixel, columns;
  int count;  // pixels that are stored
  LaneFinish finish;
};

// kStep: floats from pixel to pixel, or 0 for any number. There is at least one step of k; in the last one each row is
// finished and stored between the multiply-adds (gemm/plain.inl has why).
template <int kRows, int kPanels, int kStep>
__attribute__((noinline)) void plane_tile(const PlaneTile& t) {
  constexpr int kVectors = kPanels * kPlaneVectors;
  const bool full = kLanes < kPanel && t.columns >= kVectors * kLanes;  // where masks cost something
  const auto lanes = [&](int j) {
    const int64_t left = t.columns - j * kLanes;
    return left >= kLanes ? kLanes : left > 0 ? static_cast<int>(left) : 0;
  };
  const auto load_row = [&](const float* w, F32(&row)[kVectors]) __attribute__((always_inline)) {
    MICA_UNROLL for (int p = 0; p < kPanels; ++p) MICA_UNROLL for (int j = 0; j < kPlaneVectors; ++j)
        row[p * kPlaneVectors + j] = load(w + p * t.panel_stride + j * kLanes);
  };
  F32 sum[kRows][kVectors], row[kVectors];
  MICA_UNROLL for (int j = 0; j < kVectors; ++j) sum[0][j] = !t.bias ? zero()
                                                             : full  ? load(t.bias + j * kLanes)
                                                                     : load_partial(t.bias + j * kLanes, lanes(j));
  MICA_UNROLL for (int i = 1; i < kRows; ++i) MICA_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] = sum[0][j];
  const int64_t step = kStep ? kStep : t.step;
  const float* w = t.w;
  const int64_t *offset = t.offsets, *last = offset + t.depth - 1;
  for (; offset < last; ++offset, w += kPanel) {
    const float* x = t.base + *offset;
    load_row(w, row);
    MICA_UNROLL for (int i = 0; i < kRows; ++i) {
      const F32 value = set1(x[i * step]);
      MICA_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] = fma(value, row[j], sum[i][j]);
    }
  }
  const float* x = t.base + *last;
  load_row(w, row);
  const LaneFinish finish = t.finish;
  float* out = t.out;
  MICA_UNROLL for (int i = 0; i < kRows; ++i) {
    if (i >= t.count) return;
    const F32 value = set1(x[i * step]);
    MICA_UNROLL for (int j = 0; j < kVectors; ++j) {
      const F32 y = finish(fma(value, row[j], sum[i][j]));
      if (full)
        store(out + j * kLanes, y);
      else
        store_partial(out + j * kLanes, y, lanes(j));
    }
    out += t.out_pixel;
    asm volatile("" : "+r"(out) : : "memory");  // keeps rows apart
  }
}

using PlaneTileFn = void (*)(const PlaneTile&);
template <int kRows, int kPanels, int kStep>
MICA_INLINE PlaneTileFn plane_tile_of() {
  if constexpr (kWithPlanes[kStep]) return plane_tile<kRows, kPanels, kStep>;
  return nullptr;
}
template <int kRows, int kPanels>
MICA_INLINE PlaneTileFn plane_tile_fn(int64_t step) {
  return step == 1   ? plane_tile_of<kRows, kPanels, 1>()
         : step == 2 ? plane_tile_of<kRows, kPanels, 2>()
                     : plane_tile_of<kRows, kPanels, 0>();
}

// The worker's scratch: offsets of each step of k within the input and within the copy of an edge, and that copy.
struct PlaneScratch {
  int64_t *offsets, *edge_offsets;
  float* edge;
  int64_t span;  // floats of a row of the copy
};

MICA_INLINE PlaneScratch plane_scratch(const ConvProblem& p, const ConvChoice& c, float* scratch) {
  const int64_t depth = p.kernel[0] * p.kernel[1] * p.kernel[2] * p.in_channels;
  auto* offsets = reinterpret_cast<int64_t*>(scratch);
  PlaneScratch s{offsets, offsets + depth, scratch + 4 * depth, c.segment_k};
  const ConvView& v = p.in_view;
  int64_t k = 0;
  for (int64_t z = 0; z < p.kernel[0]; ++z)
    for (int64_t y = 0; y < p.kernel[1]; ++y)
      for (int64_t x = 0; x < p.kernel[2]; ++x)
        for (int64_t channel = 0; channel < p.in_channels; ++channel, ++k) {
          s.offsets[k] = z * p.dilation[0] * v.depth + y * p.dilation[1] * v.row + x * p.dilation[2] * v.pixel +
                         channel * v.channel;
          s.edge_offsets[k] = ((z * p.kernel[1] + y) * p.in_channels + channel) * s.span + x * p.dilation[2];
        }
  return s;
}

// Copies what lies under a tile, with zeros outside of the input.
__attribute__((noinline)) void copy_edge(const ConvArgs& args, const Pixel& corner, const PlaneScratch& s) {
  const ConvProblem& p = args.problem;
  const auto within = [](int64_t i, int64_t end) { return i < 0 ? 0 : i > end ? end : i; };
  const int64_t begin = within(-corner.x, s.span), end = within(p.in[2] - corner.x, s.span);
  float* out = s.edge;
  for (int64_t z = 0; z < p.kernel[0]; ++z)
    for (int64_t y = 0; y < p.kernel[1]; ++y) {
      const Pixel from{corner.image, corner.z + z * p.dilation[0], corner.y + y * p.dilation[1], corner.x};
      const bool there = inside(from.z, p.in[0]) && inside(from.y, p.in[1]) && begin < end;
      for (int64_t channel = 0; channel < p.in_channels; ++channel, out += s.span) {
        if (!there) {
          zero_floats(out, s.span);
          continue;
        }
        zero_floats(out, begin);
        copy_floats(args.x + at(p.in_view, from) + channel * p.in_view.channel + begin, out + begin, end - begin);
        zero_floats(out + end, s.span - end);
      }
    }
}

// The pixels from `o` on of one tile, and `width` after `width` of the channels from `column` to `end`.
__attribute__((noinline)) void plane_pixels(const ConvArgs& args, PlaneTile& t, PlaneTileFn fn, int64_t width,
                                            const Pixel& o, int64_t line, int64_t column, int64_t end) {
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  float* out = args.y + at(p.out_view, o);
  for (; column < end; column += width) {
    t.w = args.w + column * t.depth;
    t.bias = e.bias ? e.bias + column : nullptr;
    t.columns = end - column < width ? end - column : width;
    t.out = out + column;
    fn(t);
    if (!LaneFinish::suffices(e)) {
      const float* residual = e.residual ? e.residual + at(p.residual_view, o) + column : nullptr;
      kActivateRows[static_cast<int>(e.activation)]({t.out, t.out_pixel, t.out, t.out_pixel, residual,
                                                     p.residual_view.pixel, e.residual_last, t.count, t.columns, e.a,
                                                     e.b});
    }
    if (e.finish) e.finish(e.finish_context, t.out, t.out_pixel, line * p.out[2] + o.x, column, t.count, t.columns);
  }
}

// One output line of the channels from `column` to `end`, tile by tile, so that an edge is copied once for all of them.
template <int kPanels>
MICA_INLINE void plane_line(const ConvArgs& args, const PlaneScratch& s, int64_t line, int64_t column, int64_t end) {
  constexpr int kRows = kPlaneRows / kPanels, kHalf = (kRows + 1) / 2;
  const ConvProblem& p = args.problem;
  const int64_t depth = p.kernel[0] * p.kernel[1] * p.kernel[2] * p.in_channels, plane = line / p.out[1];
  PlaneTile t{.depth = depth,
              .step = p.stride[2] * p.in_view.pixel,
              .panel_stride = depth * kPanel,
              .out_pixel = p.out_view.pixel,
              .finish = LaneFinish(args.epilogue)};
  // What is stored twice must be the same both times: the last tile may then begin before the one in front of it ends,
  // and needs no copy of what lies behind the line.
  const bool again = LaneFinish::suffices(args.epilogue) && !args.epilogue.finish;
  Pixel o{plane / p.out[0], plane % p.out[0], line % p.out[1], 0};
  while (o.x < p.out[2]) {
    const int64_t rest = p.out[2] - o.x;
    const int rows = rest > kHalf ? kRows : kHalf;
    if (again && rest < rows && p.out[2] >= rows) o.x = p.out[2] - rows;
    t.count = static_cast<int>(p.out[2] - o.x < rows ? p.out[2] - o.x : rows);
    const Pixel corner = corner_of(p, o);
    const bool whole = lies_inside(p, corner, rows);
    if (!whole) copy_edge(args, corner, s);
    t.base = whole ? args.x + at(p.in_view, corner) : s.edge;
    t.offsets = whole ? s.offsets : s.edge_offsets;
    const PlaneTileFn fn = (rows == kRows ? plane_tile_fn<kRows, kPanels> : plane_tile_fn<kHalf, kPanels>)(t.step);
    plane_pixels(args, t, fn, kPanels * kPanel, o, line, column, end);
    o.x += t.count;
  }
}

MICA_INLINE void plane_lines(const ConvArgs& args, const PlaneScratch& s, int64_t begin, int64_t end) {
  // Two panels at a time where there are as many; the last one alone takes tiles of twice as many rows.
  const int64_t channels = args.problem.out_channels, panels = panel_count(channels);
  const int64_t paired = kPlanePairs == 1 ? 0 : panels % 2 ? (panels - 1) * kPanel : channels;
  for (int64_t line = begin; line < end; ++line) {
    if constexpr (kPlanePairs == 2)
      if (paired > 0) plane_line<kPlanePairs>(args, s, line, 0, paired);
    if (paired < channels) plane_line<1>(args, s, line, paired, channels);
  }
}

void run_plane_task(const ConvArgs& args, int64_t task, float* scratch) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  const PlaneScratch s = plane_scratch(p, c, scratch);
  const int64_t lines = p.images * p.out[0] * p.out[1], begin = task * c.tile_block;
  plane_lines(args, s, begin, begin + c.tile_block < lines ? begin + c.tile_block : lines);
}

}  // namespace mica::MICA_ISA
