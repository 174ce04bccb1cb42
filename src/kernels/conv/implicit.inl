// Convolution as a product whose rows are gathered from the input, tile by tile. Included by conv.isa.cc.
#pragma once
#include "kernels/conv/conv.h"
#include "kernels/pack/pack.h"
#include "simd/simd.h"

namespace mica::MICA_ISA {

extern const GemmKernels gemm_kernels;

struct Pixel {
  int64_t image, z, y, x;
};

MICA_INLINE int64_t at(const ConvView& v, const Pixel& p) {
  return p.image * v.image + p.z * v.depth + p.y * v.row + p.x * v.pixel;
}

MICA_INLINE void next_pixel(const ConvProblem& p, Pixel& o) {
  if (++o.x < p.out[2]) return;
  o.x = 0;
  if (++o.y < p.out[1]) return;
  o.y = 0;
  if (++o.z < p.out[0]) return;
  o.z = 0;
  ++o.image;
}

MICA_INLINE void copy_floats(const float* in, float* out, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, load(in + i));
  if (i < n) store_partial(out + i, load_partial(in + i, static_cast<int>(n - i)), static_cast<int>(n - i));
}
MICA_INLINE void zero_floats(float* out, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, zero());
  if (i < n) store_partial(out + i, zero(), static_cast<int>(n - i));
}

// Where a segment's taps begin relative to tap 0: in pixels, and in floats. A segment is a whole kernel row when its
// pixels are adjacent in memory, else one tap. The table is made once a task, at the front of the scratch.
struct SegmentTap {
  int64_t z, y, x, offset;
};
MICA_INLINE int64_t segment_width(const ConvProblem& p, const ConvChoice& c) {
  return c.segments == p.kernel[0] * p.kernel[1] ? p.kernel[2] : 1;
}
MICA_INLINE void fill_taps(const ConvProblem& p, const ConvChoice& c, SegmentTap* taps) {
  const int64_t width = segment_width(p, c);
  for (int64_t z = 0; z < p.kernel[0]; ++z)
    for (int64_t y = 0; y < p.kernel[1]; ++y)
      for (int64_t x = 0; x < p.kernel[2]; x += width) {
        const Pixel tap{0, z * p.dilation[0], y * p.dilation[1], x * p.dilation[2]};
        *taps++ = {tap.z, tap.y, tap.x, at(p.in_view, tap)};
      }
}

MICA_INLINE bool inside(int64_t i, int64_t extent) { return static_cast<uint64_t>(i) < static_cast<uint64_t>(extent); }

// Gathers segments [first, last) of one output pixel; `x` is the group's first channel, `corner` the input pixel under
// tap 0.
MICA_INLINE void gather_pixel(const ConvArgs& args, const float* x, const Pixel& corner, const SegmentTap* first,
                              const SegmentTap* last, float* out) {
  const ConvProblem& p = args.problem;
  const int64_t size = args.choice.segment_k, width = segment_width(p, args.choice);
  const float* origin = x + at(p.in_view, corner);
  for (const SegmentTap* tap = first; tap < last; ++tap, out += size) {
    const int64_t column = corner.x + tap->x;
    if (!inside(corner.z + tap->z, p.in[0]) || !inside(corner.y + tap->y, p.in[1])) {
      zero_floats(out, size);
    } else if (column >= 0 && column + width <= p.in[2]) {
      copy_floats(origin + tap->offset, out, size);
    } else {
      const int64_t channels = size / width;
      for (int64_t t = 0; t < width; ++t) {
        if (inside(column + t, p.in[2]))
          copy_floats(origin + tap->offset + t * p.in_view.pixel, out + t * channels, channels);
        else
          zero_floats(out + t * channels, channels);
      }
    }
  }
}

// A tile of output pixels; advance() goes to the next without dividing its way to the place anew.
struct ImplicitTile {
  Pixel first;
  int rows;
  int64_t row_index;  // of the first pixel, through the batch
  int64_t tile;       // its number, in its output row when the choice is by_rows
};

// Tiles are as high as they can be, as those of products are: others are made in a buffer where the last panel is not
// whole.
[[gnu::noinline]] int64_t tile_begin(const ConvProblem& p, const ConvChoice& c, int64_t tile) {
  const int64_t tiles = c.by_rows ? c.tiles_per_row : c.tiles;
  const int64_t pixels = c.by_rows ? p.out[2] : p.images * p.out[0] * p.out[1] * p.out[2];
  if (tile == tiles) return pixels;
  if (tile == 0 || tile < tiles - 1) return tile * c.tile_rows;
  const int64_t before = (tiles - 2) * c.tile_rows;
  return before + tile_height(pixels - before, 2, c.tile_rows);
}

MICA_INLINE ImplicitTile tile_at(const ConvProblem& p, const ConvChoice& c, int64_t tile) {
  const int64_t row = c.by_rows ? tile / c.tiles_per_row : 0, within = c.by_rows ? tile % c.tiles_per_row : tile;
  const int64_t begin = tile_begin(p, c, within), index = row * p.out[2] + begin;
  const int64_t line = index / p.out[2], plane = line / p.out[1];
  return {{plane / p.out[0], plane % p.out[0], line % p.out[1], index % p.out[2]},
          static_cast<int>(tile_begin(p, c, within + 1) - begin),
          index,
          within};
}

MICA_INLINE void advance(const ConvProblem& p, const ConvChoice& c, ImplicitTile& t) {
  t.row_index += t.rows;
  ++t.tile;
  Pixel& o = t.first;
  for (o.x += t.rows; o.x >= p.out[2]; o.x -= p.out[2]) {
    if (c.by_rows) t.tile = 0;
    if (++o.y < p.out[1]) continue;
    o.y = 0;
    if (++o.z < p.out[0]) continue;
    o.z = 0;
    ++o.image;
  }
  const int64_t begin = c.by_rows ? o.x : t.row_index;
  t.rows = static_cast<int>(tile_begin(p, c, t.tile + 1) - begin);
}

MICA_INLINE Pixel corner_of(const ConvProblem& p, const Pixel& o) {
  return {o.image, o.z * p.stride[0] - p.pad[0], o.y * p.stride[1] - p.pad[1], o.x * p.stride[2] - p.pad[2]};
}

// Whether every tap of every pixel of a tile within one output row lies inside the input.
MICA_INLINE bool lies_inside(const ConvProblem& p, const Pixel& corner, int rows) {
  const auto fits = [&](int axis, int64_t begin, int64_t end) {
    return begin >= 0 && end + (p.kernel[axis] - 1) * p.dilation[axis] < p.in[axis];
  };
  return fits(0, corner.z, corner.z) && fits(1, corner.y, corner.y) &&
         fits(2, corner.x, corner.x + (rows - 1) * p.stride[2]);
}

// What a task computes: tiles and panels of one group.
struct TileTask {
  int64_t group, tile_begin, tile_end, panel_begin, panel_end;
};

// `task`, and up to `end` those behind it that differ in their tiles alone, as one; `task` becomes the one after them.
MICA_INLINE TileTask tile_tasks(const ConvArgs& args, int64_t& task, int64_t end) {
  const ConvChoice& c = args.choice;
  const int64_t panels = panel_count(args.problem.out_channels / args.problem.groups);
  const int64_t m_tasks = (c.tiles + c.tile_block - 1) / c.tile_block, n_tasks = (panels + c.n_block - 1) / c.n_block;
  const int64_t m = task % m_tasks, n = task / m_tasks % n_tasks, group = task / m_tasks / n_tasks;
  const auto least = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t together = least(end - task, m_tasks - m);
  task += together;
  return {group, m * c.tile_block, least(c.tiles, (m + together) * c.tile_block), n * c.n_block,
          least(panels, (n + 1) * c.n_block)};
}

// The worker's scratch: the taps, pointers to segments, and a tile's gathered rows.
struct ImplicitScratch {
  SegmentTap* taps;
  const float** pointers;
  float* rows;
};
MICA_INLINE ImplicitScratch lay_out(const ConvChoice& c, float* scratch) {
  const int64_t taps = (c.segments * 8 + 15) / 16 * 16, pointers = (c.block_segments * 2 + 15) / 16 * 16;
  return {reinterpret_cast<SegmentTap*>(scratch), reinterpret_cast<const float**>(scratch + taps),
          scratch + taps + pointers};
}

// The segments of a block that a tile needs: those between the first and the last that meet the input in any of its
// pixels. `whole`: each lies inside the input for every pixel.
struct Reach {
  int64_t first, last;
  bool whole;
};
// Whether a segment can meet the input in any pixel at all: taps far apart on small pictures do not.
MICA_INLINE bool meets_any(const ConvProblem& p, const ConvChoice& c, const SegmentTap& tap) {
  const auto meets = [&](int axis, int64_t place, int64_t width) {
    const int64_t low = place - p.pad[axis], high = low + (p.out[axis] - 1) * p.stride[axis] + width - 1;
    return high >= 0 && low < p.in[axis];
  };
  return meets(0, tap.z, 1) && meets(1, tap.y, 1) && meets(2, tap.x, segment_width(p, c));
}

MICA_INLINE Reach reach_of(const ConvProblem& p, const ConvChoice& c, const Pixel& corner, int rows,
                           const SegmentTap* taps, Reach block) {
  if (!c.by_rows) {  // its pixels lie in several rows
    while (block.first < block.last && !meets_any(p, c, taps[block.first])) ++block.first;
    while (block.first < block.last && !meets_any(p, c, taps[block.last - 1])) --block.last;
    return block;
  }
  if (lies_inside(p, corner, rows)) return {block.first, block.last, true};
  const int64_t last_column = (rows - 1) * p.stride[2] + segment_width(p, c) - 1;
  const auto in_rows = [&](const SegmentTap& tap) {
    return inside(corner.z + tap.z, p.in[0]) && inside(corner.y + tap.y, p.in[1]);
  };
  const auto meets = [&](const SegmentTap& tap) {
    const int64_t column = corner.x + tap.x;
    return in_rows(tap) && column + last_column >= 0 && column < p.in[2];
  };
  while (block.first < block.last && !meets(taps[block.first])) ++block.first;
  while (block.first < block.last && !meets(taps[block.last - 1])) --block.last;
  block.whole = true;
  for (int64_t s = block.first; s < block.last && block.whole; ++s) {
    const int64_t column = corner.x + taps[s].x;
    block.whole = in_rows(taps[s]) && column >= 0 && column + last_column < p.in[2];
  }
  return block;
}

// Points the block at the tile's rows: in place, or gathered into scratch.
MICA_INLINE void aim(const ConvArgs& args, const ImplicitTile& tile, const float* x, const Reach& reach,
                     const ImplicitScratch& scratch, RowBlock& block) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  const int64_t first = reach.first, last = reach.last;
  Pixel o = tile.first, corner = corner_of(p, o);
  block.segments = scratch.pointers;
  if (reach.whole) {
    const float* origin = x + at(p.in_view, corner);
    for (int64_t s = first; s < last; ++s) scratch.pointers[s - first] = origin + scratch.taps[s].offset;
    block.segment_count = last - first;
    block.segment_k = c.segment_k;
    block.a_stride = p.stride[2] * p.in_view.pixel;
    return;
  }
  const int64_t row_stride = row_pitch(c.block_segments * c.segment_k);
  for (int i = 0; i < tile.rows; ++i) {
    gather_pixel(args, x, corner, scratch.taps + first, scratch.taps + last, scratch.rows + i * row_stride);
    next_pixel(p, o);
    corner = corner_of(p, o);
  }
  scratch.pointers[0] = scratch.rows;
  block.segment_count = 1;
  block.segment_k = (last - first) * c.segment_k;
  block.a_stride = row_stride;
}

// The pixels [begin, end) of a tile within one row that find a tap inside the input.
struct MetPixels {
  int begin, end;
  MICA_INLINE bool operator==(const MetPixels& o) const { return begin == o.begin && end == o.end; }
};
MICA_INLINE MetPixels pixels_met(const ConvProblem& p, const Pixel& corner, int rows, const SegmentTap& tap) {
  if (!inside(corner.z + tap.z, p.in[0]) || !inside(corner.y + tap.y, p.in[1])) return {0, 0};
  const int64_t column = corner.x + tap.x, stride = p.stride[2];
  const auto first_at = [&](int64_t place) {
    const int64_t pixels = place - column, o = stride == 1 ? pixels : (pixels + stride - 1) / stride;
    return static_cast<int>(o < 0 ? 0 : o > rows ? rows : o);
  };
  return {first_at(0), first_at(p.in[2])};
}

// A tile of choice.by_taps; neighbouring taps that the same pixels meet go together. `block`: the whole tile's, its b
// at the group's first tap. What no tap begins or ends, a product without steps of k does.
MICA_INLINE void run_by_taps(const ConvArgs& args, const Pixel& corner, const float* x, const Reach& reach,
                             const ImplicitScratch& scratch, RowBlock block) {
  const ConvProblem& p = args.problem;
  const RowBlock tile = block;
  const float* origin = x + at(p.in_view, corner);
  block.segments = scratch.pointers;
  block.segment_k = args.choice.segment_k;
  block.a_stride = p.stride[2] * p.in_view.pixel;
  block.last_k = false;
  const auto run_nothing = [&](bool last_k) {
    RowBlock nothing = tile;
    nothing.segment_count = nothing.fetches = 0;
    nothing.first_k = block.first_k;
    nothing.last_k = last_k;
    gemm_kernels.row_block(nothing);
    block.first_k = false;
  };
  for (int64_t s = reach.first, end = s; s < reach.last; s = end) {
    const MetPixels met = pixels_met(p, corner, tile.rows, scratch.taps[s]);
    for (end = s + 1; end < reach.last && pixels_met(p, corner, tile.rows, scratch.taps[end]) == met;) ++end;
    block.rows = met.end - met.begin;
    if (block.rows == 0) continue;
    if (block.first_k && block.rows < tile.rows) run_nothing(false);
    for (int64_t i = s; i < end; ++i)
      scratch.pointers[i - s] = origin + scratch.taps[i].offset + met.begin * block.a_stride;
    block.segment_count = end - s;
    block.b = tile.b + s * block.segment_k * kPanel;
    block.c = tile.c + met.begin * tile.c_stride;
    gemm_kernels.row_block(block);
    block.first_k = false;
    block.fetches = 0;
  }
  if (block.first_k || tile.last_k) run_nothing(tile.last_k);
}

// Pixels of a task of choice.gathered: their rows of the product.
void gather_task(const ConvArgs& args, int64_t task, float* rows, float* scratch) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  auto* taps = reinterpret_cast<SegmentTap*>(scratch);
  fill_taps(p, c, taps);
  const int64_t pixels = p.images * p.out[0] * p.out[1] * p.out[2], begin = task * c.tile_block;
  const int64_t end = begin + c.tile_block < pixels ? begin + c.tile_block : pixels;
  const int64_t line = begin / p.out[2], plane = line / p.out[1];
  Pixel o{plane / p.out[0], plane % p.out[0], line % p.out[1], begin % p.out[2]};
  for (int64_t i = begin; i < end; ++i, next_pixel(p, o))
    gather_pixel(args, args.x, corner_of(p, o), taps, taps + c.segments, rows + i * c.row_pitch);
}

// Weights that do not stay near come from beyond the second-level cache while the group of panels before them is
// multiplied: each of its tiles fetches a piece.
struct WeightFetch {
  const float* next = nullptr;  // the next group's first panel, at its block's first k; null: nothing is fetched
  int64_t panel_stride = 0, panels = 0;
  int64_t pieces = 1, piece = 0;  // of a panel; in floats
  int64_t tiles = 0, depth = 0;   // main tiles and steps of k of a row block

  void aim(int64_t tile, RowBlock& block) const {
    block.fetches = next && tile < panels * pieces;
    if (!block.fetches) return;
    block.fetch[0] = fetch_run(piece, tiles, depth);
    block.fetch[0].at = next + tile / pieces * panel_stride + tile % pieces * piece;
  }
};

// Behind a group of panels comes the next one, and behind the task's last one the first of the next block of k. `w`: of
// the convolution's group.
WeightFetch weight_fetch(const ConvChoice& c, const TileTask& task, const RowBlock& group, int64_t first, int64_t last,
                         const float* w) {
  const bool turns = group.panel_end == task.panel_end;
  if (!c.fetch_weights || (turns && last == c.segments)) return {};
  const int64_t next = turns ? task.panel_begin : group.panel_end, left = task.panel_end - next;
  WeightFetch fetch{.panel_stride = group.panel_stride, .panels = left < c.n_group ? left : c.n_group};
  fetch.next = w + next * group.panel_stride + (turns ? last : first) * c.segment_k * kPanel;
  const int64_t blocks = task.tile_end - task.tile_begin;
  fetch.pieces = blocks > fetch.panels ? blocks / fetch.panels : 1;
  fetch.tiles = (group.panel_end - group.panel_begin) / gemm_kernels.tile_panels;
  fetch.depth = (last - first) * c.segment_k;
  fetch.piece = (fetch.depth + fetch.pieces - 1) / fetch.pieces * kPanel;
  return fetch;
}

void run_implicit(const ConvArgs& args, const TileTask& task, float* scratch) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  const int64_t in_group = p.in_channels / p.groups, out_group = p.out_channels / p.groups;
  const int64_t depth = c.segments * c.segment_k, panels = panel_count(out_group);
  GemmEpilogue epilogue = args.epilogue;
  epilogue.residual_stride = p.residual_view.pixel;
  if (epilogue.bias) epilogue.bias += task.group * out_group;
  const float* x = args.x + task.group * in_group;
  const float* w = args.w + task.group * panels * depth * kPanel;
  RowBlock block{.panel_stride = depth * kPanel,
                 .b_end = w + panels * depth * kPanel,
                 .n = out_group,
                 .c_stride = p.out_view.pixel,
                 .column = task.group * out_group,
                 .half_units = c.half_units,
                 .epilogue = &epilogue};
  const ImplicitScratch parts = lay_out(c, scratch);
  fill_taps(p, c, parts.taps);
  int64_t first = 0;
  do {
    const int64_t last = first + c.block_segments < c.segments ? first + c.block_segments : c.segments;
    block.first_k = first == 0;
    block.last_k = last == c.segments;
    for (int64_t panel = task.panel_begin; panel < task.panel_end; panel += c.n_group) {
      block.panel_begin = panel;
      block.panel_end = panel + c.n_group < task.panel_end ? panel + c.n_group : task.panel_end;
      const WeightFetch fetch = weight_fetch(c, task, block, first, last, w);
      const bool far =
          panels * depth * kPanel > kNearWeights && (!c.fetch_weights || (block.first_k && panel == task.panel_begin));
      ImplicitTile tile = tile_at(p, c, task.tile_begin);
      for (int64_t t = task.tile_begin; t < task.tile_end; ++t, advance(p, c, tile)) {
        const Pixel corner = corner_of(p, tile.first);
        const Reach reach = reach_of(p, c, corner, tile.rows, parts.taps, {first, last, false});
        if (reach.first == reach.last && !block.first_k && !block.last_k) continue;
        block.b = w + reach.first * c.segment_k * kPanel;
        block.rows = tile.rows;
        block.row = tile.row_index;
        block.c = args.y + at(p.out_view, tile.first) + block.column;
        block.residual =
            args.epilogue.residual ? args.epilogue.residual + at(p.residual_view, tile.first) + block.column : nullptr;
        fetch.aim(t - task.tile_begin, block);
        block.first_rows = far && t == task.tile_begin;
        if (kWithTapsApart && c.by_taps && !reach.whole) {
          block.b = w;
          run_by_taps(args, corner, x, reach, parts, block);
          continue;
        }
        aim(args, tile, x, reach, parts, block);
        gemm_kernels.row_block(block);
      }
    }
    first = last;
  } while (first < c.segments);
}

void run_implicit_tasks(const ConvArgs& args, int64_t task_begin, int64_t task_end, float* scratch) {
  while (task_begin < task_end) {
    const TileTask task = tile_tasks(args, task_begin, task_end);
    run_implicit(args, task, scratch);
  }
}

}  // namespace mica::MICA_ISA
