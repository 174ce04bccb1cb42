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

// kStep: floats from pixel to pixel, or 0 for any number.
template <int kRows, int kPanels, int kStep>
__attribute__((noinline)) void plane_tile(const PlaneTile& t) {
  constexpr int kVectors = kPanels * kPlaneVectors;
  const auto lanes = [&](int j) {
    const int64_t left = t.columns - j * kLanes;
    return left >= kLanes ? kLanes : left > 0 ? static_cast<int>(left) : 0;
  };
  F32 sum[kRows][kVectors];
  MICA_UNROLL for (int j = 0; j < kVectors; ++j) sum[0][j] =
      t.bias ? load_partial(t.bias + j * kLanes, lanes(j)) : zero();
  MICA_UNROLL for (int i = 1; i < kRows; ++i) MICA_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] = sum[0][j];
  const int64_t step = kStep ? kStep : t.step;
  const float* w = t.w;
  for (int64_t k = 0; k < t.depth; ++k, w += kPanel) {
    const float* x = t.base + t.offsets[k];
    F32 row[kVectors];
    MICA_UNROLL for (int p = 0; p < kPanels; ++p) MICA_UNROLL for (int j = 0; j < kPlaneVectors; ++j)
        row[p * kPlaneVectors + j] = load(w + p * t.panel_stride + j * kLanes);
    MICA_UNROLL for (int i = 0; i < kRows; ++i) {
      const F32 value = set1(x[i * step]);
      MICA_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] = fma(value, row[j], sum[i][j]);
    }
  }
  const LaneFinish finish = t.finish;
  const bool full = kLanes < kPanel && t.columns >= kVectors * kLanes;  // masks cost nothing
  MICA_UNROLL for (int i = 0; i < kRows; ++i) {
    if (i >= t.count) return;
    MICA_UNROLL for (int j = 0; j < kVectors; ++j) {
      const F32 y = finish(sum[i][j]);
      if (full)
        store(t.out + i * t.out_pixel + j * kLanes, y);
      else
        store_partial(t.out + i * t.out_pixel + j * kLanes, y, lanes(j));
    }
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

// One output line of up to kPanels panels from `column` on.
template <int kPanels>
MICA_INLINE void plane_line(const ConvArgs& args, const PlaneScratch& s, int64_t line, int64_t column) {
  constexpr int kRows = kPlaneRows / kPanels, kHalf = (kRows + 1) / 2;
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  const bool later = !LaneFinish::suffices(e);
  const int64_t depth = p.kernel[0] * p.kernel[1] * p.kernel[2] * p.in_channels, plane = line / p.out[1];
  const int64_t left = p.out_channels - column;
  PlaneTile t{.depth = depth,
              .step = p.stride[2] * p.in_view.pixel,
              .w = args.w + column * depth,
              .panel_stride = depth * kPanel,
              .bias = e.bias ? e.bias + column : nullptr,
              .out_pixel = p.out_view.pixel,
              .columns = left < kPanels * kPanel ? left : kPanels * kPanel,
              .finish = LaneFinish(e)};
  Pixel o{plane / p.out[0], plane % p.out[0], line % p.out[1], 0};
  while (o.x < p.out[2]) {
    const int64_t rest = p.out[2] - o.x;
    const int rows = rest > kHalf ? kRows : kHalf;
    t.count = static_cast<int>(rest < rows ? rest : rows);
    const Pixel corner = corner_of(p, o);
    const bool whole = lies_inside(p, corner, rows);
    if (!whole) copy_edge(args, corner, s);
    t.base = whole ? args.x + at(p.in_view, corner) : s.edge;
    t.offsets = whole ? s.offsets : s.edge_offsets;
    t.out = args.y + at(p.out_view, o) + column;
    (rows == kRows ? plane_tile_fn<kRows, kPanels> : plane_tile_fn<kHalf, kPanels>)(t.step)(t);
    if (later) {
      const float* residual = e.residual ? e.residual + at(p.residual_view, o) + column : nullptr;
      kActivateRows[static_cast<int>(e.activation)]({t.out, t.out_pixel, t.out, t.out_pixel, residual,
                                                     p.residual_view.pixel, e.residual_last, t.count, t.columns, e.a,
                                                     e.b});
    }
    if (e.finish) e.finish(e.finish_context, t.out, t.out_pixel, line * p.out[2] + o.x, column, t.count, t.columns);
    o.x += t.count;
  }
}

MICA_INLINE void plane_lines(const ConvArgs& args, const PlaneScratch& s, int64_t begin, int64_t end) {
  for (int64_t line = begin; line < end; ++line) {
    int64_t column = 0;
    if constexpr (kPlanePairs == 2)
      for (; column + kPanel < args.problem.out_channels; column += 2 * kPanel)
        plane_line<kPlanePairs>(args, s, line, column);
    for (; column < args.problem.out_channels; column += kPanel) plane_line<1>(args, s, line, column);
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
