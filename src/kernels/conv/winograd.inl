// Winograd's convolution on blocks of tiles: the transformed inputs and products of a block stay in the second-level
// cache. Included by conv.isa.cc. See kernels/conv/winograd.h for the algorithm and its error.
#pragma once
#include "kernels/conv/implicit.inl"
#include "kernels/conv/winograd.h"
#include "kernels/gemm/activation.inl"

namespace mica::MICA_ISA {

// Calls f(0) to f(kCount - 1): in a line while the values of a whole tile have a chance to stay in registers.
template <int kCount, bool kInLine, class F>
MICA_INLINE void repeat(F f) {
  if constexpr (kInLine) {
    MICA_UNROLL for (int i = 0; i < kCount; ++i) f(i);
  } else {
    _Pragma("GCC unroll 1") for (int i = 0; i < kCount; ++i) f(i);
  }
}

// Bᵀ d along one axis.
template <int kPoints>
MICA_INLINE void input_points(const F32 (&d)[kPoints], F32 (&out)[kPoints]) {
  if constexpr (kPoints == 1) {
    out[0] = d[0];
  } else {
    constexpr const WinogradPolynomials& w = kWinogradPolynomials<kPoints>;
    constexpr int kPairs = kPoints / 2 - 1;
    F32 zero = d[2 * kPairs], infinity = d[2 * kPairs + 1];
    MICA_UNROLL for (int k = 0; k < kPairs; ++k) {
      const F32 c = set1(static_cast<float>(w.zero[k]));
      zero = fma(c, d[2 * k], zero);
      infinity = fma(c, d[2 * k + 1], infinity);
    }
    out[0] = zero;
    out[kPoints - 1] = infinity;
    MICA_UNROLL for (int i = 0; i < kPairs; ++i) {
      F32 even = d[2 * kPairs], odd = d[2 * kPairs - 1];
      MICA_UNROLL for (int k = 0; k < kPairs - 1; ++k) {
        const F32 c = set1(static_cast<float>(w.rest[i][k]));
        even = fma(c, d[2 * k + 2], even);
        odd = fma(c, d[2 * k + 1], odd);
      }
      const F32 p = set1(static_cast<float>(w.p[i]));
      out[1 + 2 * i] = fma(p, odd, even);
      out[2 + 2 * i] = fnma(p, odd, even);
    }
  }
}

constexpr float power_of(double p, int k) {
  double power = 1;
  for (int i = 0; i < k; ++i) power *= p;
  return static_cast<float>(power);
}

// Aᵀ m along one axis.
template <int kPoints, int kTile>
MICA_INLINE void output_points(const F32 (&m)[kPoints], F32 (&y)[kTile]) {
  if constexpr (kPoints == 1) {
    y[0] = m[0];
  } else {
    constexpr const WinogradPolynomials& w = kWinogradPolynomials<kPoints>;
    constexpr int kPairs = kPoints / 2 - 1;
    F32 sum[kPairs], difference[kPairs];
    MICA_UNROLL for (int i = 0; i < kPairs; ++i) {
      sum[i] = add(m[1 + 2 * i], m[2 + 2 * i]);
      difference[i] = sub(m[1 + 2 * i], m[2 + 2 * i]);
    }
    y[0] = add(m[0], sum[0]);
    MICA_UNROLL for (int i = 1; i < kPairs; ++i) y[0] = add(y[0], sum[i]);
    MICA_UNROLL for (int k = 1; k < kTile; ++k) {
      F32 value = mul(set1(power_of(w.p[0], k)), k % 2 ? difference[0] : sum[0]);
      MICA_UNROLL for (int i = 1; i < kPairs; ++i) value =
          fma(set1(power_of(w.p[i], k)), k % 2 ? difference[i] : sum[i], value);
      y[k] = value;
    }
    y[kTile - 1] = add(y[kTile - 1], m[kPoints - 1]);
  }
}

// Outputs that one tile covers: `begin` on each axis, every dilation-th pixel, `count` of them.
struct WinogradTile {
  int64_t image, plane, begin[2], count[2];
};

// The place on an axis of so many, and what is left of the number. Most axes of a tile's number have one place: narrow
// groups would spend a tenth of their time dividing.
MICA_INLINE int64_t take_place(int64_t& number, int64_t places) {
  if (places == 1) return 0;
  const int64_t place = number % places;
  number /= places;
  return place;
}

MICA_INLINE WinogradTile winograd_tile(const WinogradPlane& plane, int64_t tile) {
  WinogradTile t;
  int64_t place[2], phase[2];
  for (int axis = 1; axis >= 0; --axis) place[axis] = take_place(tile, plane.tiles[axis]);
  for (int axis = 1; axis >= 0; --axis) phase[axis] = take_place(tile, plane.dilation[axis]);
  t.plane = take_place(tile, plane.planes);
  t.image = tile;
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t step = plane.dilation[axis];
    t.begin[axis] = phase[axis] + place[axis] * plane.tile[axis] * step;
    const int64_t reach = plane.out[axis] - t.begin[axis], left = step == 1 ? reach : (reach + step - 1) / step;
    t.count[axis] = left < 0 ? 0 : left < plane.tile[axis] ? left : plane.tile[axis];
  }
  return t;
}

// A tile's input on one axis: where it begins, and which of its points the picture has.
struct WinogradReach {
  int64_t first, step;
  int begin, end;
};

MICA_INLINE WinogradReach winograd_reach(const WinogradPlane& plane, const WinogradTile& tile, int filter, int axis) {
  WinogradReach r{.first = tile.begin[axis] * plane.stride[axis] - plane.pad[axis] +
                           filter * plane.between[axis] * plane.dilation[axis],
                  .step = plane.dilation[axis] * plane.stride[axis],
                  .begin = 0,
                  .end = plane.points[axis]};
  while (r.begin < r.end && r.first + r.begin * r.step < 0) ++r.begin;
  while (r.end > r.begin && r.first + (r.end - 1) * r.step >= plane.in[axis]) --r.end;
  return r;
}

// Where a tile's inputs for a pair of filters lie in the plane at x, if there is one; `zeros` holds as many as there
// are channels.
MICA_INLINE void winograd_pixels(const WinogradPlane& plane, const WinogradTile& tile, const int (&filter)[2],
                                 const float* x, bool has_plane, const float* zeros, const float** table) {
  const WinogradReach down = winograd_reach(plane, tile, filter[0], 0);
  const WinogradReach across = winograd_reach(plane, tile, filter[1], 1);
  const int64_t step = across.step * plane.in_step[1];
  for (int i = 0; i < plane.points[0]; ++i) {
    const bool has_row = has_plane && i >= down.begin && i < down.end;
    const int begin = has_row ? across.begin : plane.points[1], end = has_row ? across.end : begin;
    const int64_t row = (down.first + i * down.step) * plane.in_step[0];
    int64_t place = row + (across.first + begin * across.step) * plane.in_step[1];
    int j = 0;
    for (; j < begin; ++j) *table++ = zeros;
    for (; j < end; ++j, place += step) *table++ = x + place;
    for (; j < plane.points[1]; ++j) *table++ = zeros;
  }
}

// All channels of a tile to v[point][channel].
template <int kDown, int kAcross>
void winograd_input(const float* const* table, int64_t channels, float* v, int64_t v_point) {
  constexpr bool kInLine = kDown * kAcross <= 36;
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int lanes = channels - c < kLanes ? static_cast<int>(channels - c) : kLanes;
    F32 half[kDown * kAcross];
    const auto columns = [&](auto read) __attribute__((always_inline)) {
      repeat<kAcross, kInLine>([&](int j) __attribute__((always_inline)) {
        F32 d[kDown], e[kDown];
        MICA_UNROLL for (int i = 0; i < kDown; ++i) d[i] = read(table[i * kAcross + j] + c);
        input_points<kDown>(d, e);
        MICA_UNROLL for (int i = 0; i < kDown; ++i) half[i * kAcross + j] = e[i];
      });
    };
    if (lanes == kLanes)
      columns([](const float* at) __attribute__((always_inline)) { return load(at); });
    else
      columns([&](const float* at) __attribute__((always_inline)) { return load_partial(at, lanes); });
    repeat<kDown, kInLine>([&](int i) __attribute__((always_inline)) {
      F32 d[kAcross], e[kAcross];
      MICA_UNROLL for (int j = 0; j < kAcross; ++j) d[j] = half[i * kAcross + j];
      input_points<kAcross>(d, e);
      MICA_UNROLL for (int j = 0; j < kAcross; ++j) store(v + (i * kAcross + j) * v_point + c, e[j]);
    });
  }
}

// Where a tile's outputs go, and what is done to them on the way.
struct WinogradOut {
  float* out;
  const float* residual;  // or null
  const float* bias;      // or null
  int64_t out_step[2], residual_step[2], count[2];
  int64_t columns;
  float lo, hi;  // -inf and inf where nothing is clipped
  bool residual_last;
};

MICA_INLINE void put_output(const WinogradOut& o, F32 value, int64_t i, int64_t j, int64_t n, int lanes) {
  const F32 lo = set1(o.lo), hi = set1(o.hi);
  if (o.residual) {
    const float* r = o.residual + i * o.residual_step[0] + j * o.residual_step[1] + n;
    const F32 other = lanes == kLanes ? load(r) : load_partial(r, lanes);
    value =
        o.residual_last ? add(min_fast(hi, max_fast(lo, value)), other) : min_fast(hi, max_fast(lo, add(value, other)));
  } else {
    value = min_fast(hi, max_fast(lo, value));
  }
  float* place = o.out + i * o.out_step[0] + j * o.out_step[1] + n;
  if (lanes == kLanes)
    store(place, value);
  else
    store_partial(place, value, lanes);
}

// The outputs of one tile from m[point][column].
template <int kDown, int kAcross, int kTileDown, int kTileAcross>
void winograd_output(const float* m, int64_t m_point, const WinogradOut& o) {
  constexpr bool kInLine = kDown * kAcross <= 36;
  for (int64_t n = 0; n < o.columns; n += kLanes) {
    const int lanes = o.columns - n < kLanes ? static_cast<int>(o.columns - n) : kLanes;
    F32 half[kTileDown * kAcross];
    repeat<kAcross, kInLine>([&](int j) __attribute__((always_inline)) {
      F32 d[kDown], e[kTileDown];
      MICA_UNROLL for (int i = 0; i < kDown; ++i) d[i] = load(m + (i * kAcross + j) * m_point + n);
      output_points<kDown, kTileDown>(d, e);
      MICA_UNROLL for (int i = 0; i < kTileDown; ++i) half[i * kAcross + j] = e[i];
    });
    const F32 bias = !o.bias ? zero() : lanes == kLanes ? load(o.bias + n) : load_partial(o.bias + n, lanes);
    for (int64_t i = 0; i < o.count[0]; ++i) {
      F32 d[kAcross], e[kTileAcross];
      MICA_UNROLL for (int j = 0; j < kAcross; ++j) d[j] = half[i * kAcross + j];
      output_points<kAcross, kTileAcross>(d, e);
      MICA_UNROLL for (int j = 0; j < kTileAcross; ++j) if (j < o.count[1])
          put_output(o, add(e[j], bias), i, j, n, lanes);
    }
  }
}

using WinogradInputFn = void (*)(const float* const* table, int64_t channels, float* v, int64_t v_point);
using WinogradOutputFn = void (*)(const float* m, int64_t m_point, const WinogradOut& o);

template <int kPoints>
MICA_INLINE WinogradInputFn input_of(bool flat) {
  return flat ? winograd_input<1, kPoints> : winograd_input<kPoints, kPoints>;
}
template <int kPoints, int kTile>
MICA_INLINE WinogradOutputFn output_of(bool flat) {
  return flat ? winograd_output<1, kPoints, 1, kTile> : winograd_output<kPoints, kPoints, kTile, kTile>;
}

struct WinogradFns {
  WinogradInputFn input;
  WinogradOutputFn output;
};
WinogradFns winograd_fns(const WinogradPlane& plane) {
  const bool flat = plane.points[0] == 1;
  const int taps = plane.taps[1];
  if (plane.points[1] == 4) return {input_of<4>(flat), taps == 2 ? output_of<4, 3>(flat) : output_of<4, 2>(flat)};
  if (plane.points[1] == 6)
    return {input_of<6>(flat), taps == 2   ? output_of<6, 5>(flat)
                               : taps == 3 ? output_of<6, 4>(flat)
                                           : output_of<6, 2>(flat)};
  return {input_of<8>(flat), taps == 3   ? output_of<8, 6>(flat)
                             : taps == 5 ? output_of<8, 4>(flat)
                                         : output_of<8, 2>(flat)};
}

// The scratch of one task: see choose_winograd for its size.
struct WinogradBlock {
  const float** table;
  float* zeros;
  float* v;                  // [points][tiles][slices, channels]
  float* m;                  // [points][tiles][columns]
  int64_t v_row, m_row;      // floats from tile to tile
  int64_t v_point, m_point;  // floats from point to point
  float* u;                  // [points][panels][channels][16], where weights are transformed on the way
  int64_t u_panel, u_point;
};

MICA_INLINE WinogradBlock winograd_scratch(const WinogradPlane& plane, const ConvArgs& args, float* scratch) {
  const ConvProblem& p = args.problem;
  const int64_t channels = panel_count(p.in_channels / p.groups) * kPanel;
  WinogradBlock block{.v_row = winograd_row(plane, p.in_channels / p.groups), .m_row = args.choice.n_group * kPanel};
  block.table = reinterpret_cast<const float**>(scratch);
  block.zeros = scratch + 2 * kMostWinogradPoints * kMostWinogradPoints;
  block.v = block.zeros + channels;
  // The odd cache line keeps a tile's points from falling on the same sets.
  block.v_point = args.choice.tile_block * block.v_row + 16;
  block.m_point = args.choice.tile_block * block.m_row + 16;
  block.m = block.v + plane.all_points() * block.v_point;
  block.u = block.m + plane.all_points() * block.m_point;
  block.u_panel = args.choice.channel_block * kPanel;
  block.u_point = args.choice.n_group * block.u_panel + 16;
  return block;
}

// A point's weights, and the part of a tile's inputs that they are for.
struct PointWeights {
  const float* at;
  int64_t first, depth;
};
MICA_INLINE PointWeights point_weights(const WinogradPlane& plane, int point, int64_t channels, const float* at) {
  const WinogradRange range = winograd_range(plane, point);
  return {at, range.first * channels, range.count * channels};
}

// Of kernels/gemm/columns.inl, and not in a table: a build without Winograd's algorithm may have no use for it.
void run_row_blocks(RowBlock block, int64_t rows);

// The products of a point: by all rows at once or, where `rows` fetch, a few panels at a time, behind the last of which
// come those of the next point, `next`.
MICA_INLINE void winograd_point(const WinogradBlock& block, const TileTask& task, const PointWeights& w,
                                const PointWeights& next, int64_t point, RowBlock rows) {
  constexpr int64_t kStep = 2;
  const int64_t panels = task.panel_end - task.panel_begin, tiles = task.tile_end - task.tile_begin;
  const int64_t count = (tiles + gemm_kernels.tile_rows - 1) / gemm_kernels.tile_rows;
  const int64_t panel_size = w.depth * kPanel, next_size = next.depth * kPanel;
  const float* v = block.v + point * block.v_point + w.first;
  rows.segment_k = w.depth;
  rows.panel_stride = panel_size;
  rows.b = w.at + task.panel_begin * panel_size;
  if (rows.fetches == 0) {
    rows.segments = &v;
    rows.panel_end = panels;
    rows.c = block.m + point * block.m_point;
    return run_row_blocks(rows, tiles);
  }
  for (int64_t panel = 0; panel < panels; panel += kStep) {
    rows.panel_begin = panel;
    const bool last = panel + kStep >= panels;
    rows.panel_end = last ? panels : panel + kStep;
    const float* ahead = last ? next.at + task.panel_begin * next_size : rows.b + rows.panel_end * panel_size;
    const int64_t share = kStep * (last ? next_size : panel_size) / count;  // each pass fetches its own
    rows.fetch[0] = fetch_run(share, kStep / gemm_kernels.tile_panels, w.depth);
    int64_t row_tile = 0;
    for (int64_t tile = 0; tile < tiles; tile += rows.rows, ++row_tile) {
      rows.rows = tile_height(tiles - tile, count - row_tile, gemm_kernels.tile_rows);
      rows.fetch[0].at = ahead + row_tile * share;
      const float* a = v + tile * block.v_row;
      rows.segments = &a;
      rows.c = block.m + point * block.m_point + tile * block.m_row;
      gemm_kernels.row_block(rows);
    }
  }
}

void winograd_products(const WinogradPlane& plane, const ConvProblem& p, const WinogradBlock& block, const float* u,
                       const TileTask& task) {
  const int64_t channels = p.in_channels / p.groups, all_panels = panel_count(p.out_channels / p.groups);
  const int64_t panels = task.panel_end - task.panel_begin, tiles = task.tile_end - task.tile_begin;
  static constexpr GemmEpilogue kPlain{};
  RowBlock rows{.a_stride = block.v_row,
                .b_end = u + plane.matrices() * all_panels * channels * kPanel,
                .n = panels * kPanel,
                .c_stride = block.m_row,
                .epilogue = &kPlain};
  const PointWeights first = point_weights(plane, 0, channels, u);
  // Weights of a point that do not stay near are passed once, by all rows, while the next ones are fetched.
  rows.fetches = tiles > gemm_kernels.tile_rows && all_panels * first.depth * kPanel > kNearWeights;
  rows.first_rows = rows.fetches == 0;
  PointWeights now = first;
  for (int point = 0; point < plane.all_points(); ++point) {
    // Behind the last point there may be no memory: the next block begins with the first one.
    const bool turns = point + 1 == plane.all_points();
    const PointWeights next =
        turns ? first : point_weights(plane, point + 1, channels, now.at + all_panels * now.depth * kPanel);
    winograd_point(block, task, now, next, point, rows);
    now = next;
  }
}

// Activations beyond a clip, and the finish, on the rows of one tile. Pixels that are not adjacent come one by one.
void winograd_finish(const WinogradPlane& plane, const ConvArgs& args, const WinogradTile& tile, WinogradOut& o,
                     int64_t column) {
  const GemmEpilogue& e = args.epilogue;
  const bool in_line = plane.from[1] == 2 && plane.dilation[1] == 1;
  const int64_t* extent = args.problem.out;
  for (int64_t i = 0; i < o.count[0]; ++i)
    for (int64_t j = 0; j < o.count[1]; j += in_line ? o.count[1] : 1) {
      float* out = o.out + i * o.out_step[0] + j * o.out_step[1];
      const float* residual = o.residual ? o.residual + i * o.residual_step[0] + j * o.residual_step[1] : nullptr;
      const int64_t pixels = in_line ? o.count[1] : 1;
      if (e.activation > Activation::kClip)
        kActivateRows[static_cast<int>(e.activation)]({out, o.out_step[1], out, o.out_step[1], residual,
                                                       o.residual_step[1], e.residual_last, pixels, o.columns, e.a,
                                                       e.b});
      if (!e.finish) continue;
      int64_t place[3];
      place[plane.outer] = tile.plane;
      place[plane.from[0]] = tile.begin[0] + i * plane.dilation[0];
      place[plane.from[1]] = tile.begin[1] + j * plane.dilation[1];
      const int64_t line = (tile.image * extent[0] + place[0]) * extent[1] + place[1];
      e.finish(e.finish_context, out, args.problem.out_view.pixel, line * extent[2] + place[2], column, pixels,
               o.columns);
    }
}

void winograd_outputs(const WinogradPlane& plane, const ConvArgs& args, const WinogradBlock& block,
                      const TileTask& task) {
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  const WinogradOutputFn output = winograd_fns(plane).output;
  const int64_t columns = p.out_channels / p.groups, first = task.panel_begin * kPanel;
  const int64_t end = task.panel_end * kPanel < columns ? task.panel_end * kPanel : columns;
  const int64_t column = task.group * columns + first;
  const bool clips = e.activation == Activation::kClip, later = e.activation > Activation::kClip;
  const float inf = __builtin_inff();
  WinogradOut o{.bias = e.bias ? e.bias + column : nullptr,
                .columns = end - first,
                .lo = clips ? e.a : -inf,
                .hi = clips ? e.b : inf,
                .residual_last = e.residual_last};
  for (int axis = 0; axis < 2; ++axis) {
    o.out_step[axis] = plane.out_step[axis] * plane.dilation[axis];
    o.residual_step[axis] = plane.residual_step[axis] * plane.dilation[axis];
  }
  for (int64_t tile = task.tile_begin; tile < task.tile_end; ++tile) {
    const WinogradTile t = winograd_tile(plane, tile);
    o.count[0] = t.count[0], o.count[1] = t.count[1];
    const auto place = [&](const ConvView& v, const int64_t(&step)[2]) {
      return t.image * v.image + t.plane * step_of(v, plane.outer) + t.begin[0] * step[0] + t.begin[1] * step[1] +
             column;
    };
    o.out = args.y + place(p.out_view, plane.out_step);
    const float* residual = e.residual ? e.residual + place(p.residual_view, plane.residual_step) : nullptr;
    o.residual = later ? nullptr : residual;
    output(block.m + (tile - task.tile_begin) * block.m_row, block.m_point, o);
    o.residual = residual;
    if (later || e.finish) winograd_finish(plane, args, t, o, column);
  }
}

void winograd_inputs(const WinogradPlane& plane, const ConvArgs& args, const WinogradBlock& block,
                     const TileTask& task) {
  const ConvProblem& p = args.problem;
  const int64_t channels = p.in_channels / p.groups;
  const int outer = plane.outer;
  const int64_t outer_step = step_of(p.in_view, outer);
  const WinogradInputFn input = winograd_fns(plane).input;
  for (int64_t i = 0; i < block.v - block.zeros; ++i) block.zeros[i] = 0.0f;
  for (int64_t tile = task.tile_begin; tile < task.tile_end; ++tile) {
    const WinogradTile t = winograd_tile(plane, tile);
    float* v = block.v + (tile - task.tile_begin) * block.v_row;
    for (int64_t slice = 0; slice < plane.slices(); ++slice, v += channels) {
      const WinogradSlice s = winograd_slice(plane, slice);
      const int64_t from = t.plane * p.stride[outer] - p.pad[outer] + s.outer * p.dilation[outer];
      const float* x = args.x + t.image * p.in_view.image + from * outer_step + task.group * channels;
      winograd_pixels(plane, t, s.filter, x, inside(from, p.in[outer]), block.zeros, block.table);
      input(block.table, channels, v, block.v_point);
    }
  }
}

}  // namespace mica::MICA_ISA
