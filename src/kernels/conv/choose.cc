#include "base/format.h"
#include "base/integers.h"
#include "base/isa.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/cost.h"
#include "kernels/conv/picture_band.h"
#include "kernels/conv/winograd.h"
#include "kernels/pack/pack.h"
#include "kernels/split.h"

namespace mica {
namespace {

constexpr int64_t kFloatBytes = sizeof(float);
constexpr double kLeastTaskFlops = 5e5;  // as for the matrix product
constexpr int64_t kTasksPerThread = 4;
// And of more blocks of Winograd's tiles than there are threads: smaller ones lose more to short products, and to rows
// that another processor has just written, than they leave to take over.
constexpr double kLeastBlockFlops = 4e6;
// Of depthwise rows: from the first on another thread helps, from the second on a thread has several tasks.
constexpr int64_t kLeastRowsFlops = 50000, kRowsFlops = 250000;
// A tile's gathered input stays near the first-level cache below this many steps of k.
constexpr int64_t kMostDepth = 2560;
constexpr int64_t kFilterLines = 4;  // of a tile of kFilter

// Taps by themselves are calls of their own: worth it from so many channels on.
constexpr int64_t kLeastByTaps = 32;

// Whether consecutive pixels are `pixel` floats apart through rows, depths and images.
bool has_no_gaps(const ConvView& v, const int64_t (&extent)[3], int64_t images) {
  const ConvView dense = dense_view(extent, v.pixel);
  return (extent[1] == 1 || v.row == dense.row) && (extent[0] == 1 || v.depth == dense.depth) &&
         (images == 1 || v.image == dense.image);
}
bool out_has_no_gaps(const ConvProblem& p) {
  return has_no_gaps(p.out_view, p.out, p.images) && (!p.has_residual || has_no_gaps(p.residual_view, p.out, p.images));
}

int64_t out_pixels(const ConvProblem& p) { return p.images * p.out[0] * p.out[1] * p.out[2]; }
int64_t taps_of(const ConvProblem& p) { return p.kernel[0] * p.kernel[1] * p.kernel[2]; }
bool all_are(const int64_t (&v)[3], int64_t x) { return v[0] == x && v[1] == x && v[2] == x; }

// Of each pixel with the same weights.
bool is_pixelwise(const ConvProblem& p) {
  return taps_of(p) == 1 && p.groups == 1 && all_are(p.stride, 1) && all_are(p.pad, 0) && p.in[0] == p.out[0] &&
         p.in[1] == p.out[1] && p.in[2] == p.out[2];
}

double flops_of(const ConvProblem& p) {
  const int64_t products = p.in_channels / p.groups * taps_of(p);  // for one output
  return 2.0 * static_cast<double>(out_pixels(p)) * static_cast<double>(p.out_channels) * static_cast<double>(products);
}

// Few columns of one group take as long as a panel of them.
int64_t wanted_tasks(const ConvProblem& p, const GemmLimits& limits) {
  const int64_t wanted = limits.threads > 1 ? kTasksPerThread * limits.threads : 1;
  const int64_t columns = p.groups > 1 ? p.out_channels : panel_count(p.out_channels) * kPanel;
  const double flops = flops_of(p) / static_cast<double>(p.out_channels) * static_cast<double>(columns);
  return most(1, least(wanted, static_cast<int64_t>(flops / kLeastTaskFlops)));
}

// Parts of tiles and of panels that are tasks together. Every part of tiles passes all weights, every part of panels
// gathers all pixels: of the splits into as many tasks as are wanted, the one that costs least.
struct Split {
  int64_t m_tasks = 1, n_tasks = 1;
};
Split split_of(int64_t tiles, int64_t panels, int64_t wanted, double gather_cycles, double weight_cycles) {
  Split best;
  double best_cost = 0;
  for (int64_t m = 1; m <= least(tiles, wanted); ++m) {
    const Split one{m, least(ceil_div(panels, 2), ceil_div(wanted, m))};
    const int64_t tasks = one.m_tasks * one.n_tasks, best_tasks = best.m_tasks * best.n_tasks;
    const double cost = static_cast<double>(one.n_tasks) * gather_cycles + static_cast<double>(m) * weight_cycles;
    const bool enough = tasks >= wanted,
               better = best_tasks >= wanted ? enough && cost < best_cost : tasks > best_tasks;
    if (m > 1 && !better) continue;
    best = one;
    best_cost = cost;
  }
  return best;
}

// Of the table of taps: four 64-bit numbers a segment.
int64_t taps_floats(const ConvChoice& c) { return ceil_div(c.segments * 8, 16) * 16; }

void choose_implicit(const ConvProblem& p, const GemmLimits& limits, ConvChoice& c) {
  c.half_units = limits.half_units;
  const int64_t channels = p.in_channels / p.groups, panels = panel_count(p.out_channels / p.groups);
  const bool whole_rows = p.dilation[2] == 1 && p.groups == 1 && p.in_view.pixel == channels;
  c.segment_k = whole_rows ? p.kernel[2] * channels : channels;
  c.segments = whole_rows ? p.kernel[0] * p.kernel[1] : taps_of(p);
  c.block_segments = c.segments;
  const int64_t depth = c.segments * c.segment_k;
  if (depth > kMostDepth && !p.residual_in_place) c.block_segments = ceil_div(c.segments, ceil_div(depth, kMostDepth));
  c.tiles_per_row = ceil_div(p.out[2], c.tile_rows);
  const bool apart = kWithTapsApart && p.dilation[2] > 1 && !p.residual_in_place && c.segment_k >= kLeastByTaps;
  c.by_taps = apart && 2 * p.out[2] >= c.tiles_per_row * c.tile_rows;
  c.by_rows = reads_in_place(p, c.tile_rows) || c.by_taps;
  c.tiles = c.by_rows ? p.images * p.out[0] * p.out[1] * c.tiles_per_row : ceil_div(out_pixels(p), c.tile_rows);
  const int64_t panel_bytes = most(c.block_segments * c.segment_k, 1) * kPanel * kFloatBytes;
  const double weight_bytes = static_cast<double>(depth * panels) * kPanel * sizeof(float);
  const bool near = weight_bytes * 2 <= static_cast<double>(limits.l2_bytes);
  // Tiles that are gathered are so for each group of panels: larger groups are worth more than fetching the next one.
  c.fetch_weights = c.by_rows && !near;
  const int64_t room = limits.l2_bytes / (c.fetch_weights ? 4 : 2);
  c.n_group = least(panels, most(room / panel_bytes / 2 * 2, 2));
  const int64_t wanted = ceil_div(wanted_tasks(p, limits), p.groups);
  const double gathered = static_cast<double>(out_pixels(p)) * static_cast<double>(depth) * sizeof(float);
  const Split split =
      split_of(c.tiles, panels, wanted, gathered / kCopyBytes, near ? 0 : weight_bytes / stream_bytes(limits));
  c.tile_block = even_block(c.tiles, split.m_tasks, limits.threads);
  c.n_block = panels_of_task(panels, split.n_tasks, limits.threads);
  c.n_group = least(c.n_group, c.n_block);
  c.tasks = p.groups * ceil_div(c.tiles, c.tile_block) * ceil_div(panels, c.n_block);
  // Taps, pointers to segments, and a tile's gathered rows.
  c.scratch_floats = taps_floats(c) + ceil_div(c.block_segments * 2, 16) * 16 +
                     c.tile_rows * row_pitch(c.block_segments * c.segment_k);
}

// A band of so many groups has runs of half a KiB, and more, of each pixel, which processors foresee.
constexpr int64_t kRunFloats = 128;

int64_t few_groups(const ConvProblem& p) { return least(p.groups, ceil_div(kRunFloats * p.groups, p.in_channels)); }

// A band has all lines of as many groups as a third of the second-level cache holds, or else some lines of a few
// groups; a task all lines of some groups, or some lines of one.
void choose_banded(const ConvProblem& p, Isa isa, const GemmLimits& limits, ConvChoice& c) {
  const int64_t channels = p.in_channels / p.groups;
  const int64_t lines = p.images * p.out[1], wanted = wanted_tasks(p, limits);
  c.band_columns = band_columns(p);
  const int64_t line = c.band_columns * channels;
  c.banded = c.by_rows = true;
  c.half_units = limits.half_units;
  c.segment_k = p.dilation[2] == 1 ? p.kernel[2] * channels : channels;
  c.segments = c.block_segments = taps_of(p) * channels / c.segment_k;
  c.tile_rows = banded_tile_rows(p, isa, c.tile_rows);
  c.tiles_per_row = ceil_div(p.out[2], c.tile_rows);
  c.tiles = lines * c.tiles_per_row;
  c.n_group = c.n_block = panel_count(p.out_channels / p.groups);
  const int64_t group_tasks = least(p.groups, wanted);
  c.channel_block = even_block(p.groups, group_tasks, limits.threads);
  c.row_block = even_block(lines, ceil_div(wanted, group_tasks), limits.threads);
  c.tasks = ceil_div(p.groups, c.channel_block) * ceil_div(lines, c.row_block);
  const auto floats_under = [&](int64_t n) { return row_pitch(band_height(p, n) * line); };
  const int64_t room = limits.l2_bytes / 3 / kFloatBytes, all = least(p.out[1], c.row_block), few = few_groups(p);
  c.channel_pass = least(most(room / floats_under(all), few), c.channel_block);
  const int64_t fitting = ((room / c.channel_pass - row_pitch(1)) / line - band_height(p, 1)) / p.stride[1] + 1;
  c.band_rows = most(1, least(fitting, all));
  c.group_pitch = floats_under(c.band_rows);
  // No fewer floats than for a smaller picture: a session of bounded shapes has room for the largest one.
  const int64_t whole = p.groups * floats_under(p.out[1]);
  c.scratch_floats = ceil_div(c.segments * 2, 16) * 16 + least(whole, most(room, few * floats_under(1)));
}

// Rows of the picture fill half of the first-level cache; each copy of them serves at least one output line.
// At least so many lines at a time.
void choose_planes(const ConvProblem& p, int64_t least_lines, const GemmLimits& limits, ConvChoice& c) {
  c.planes = c.by_rows = true;
  c.half_units = limits.half_units;
  c.tiles = p.images * p.out[0] * p.out[1];
  c.segments = c.block_segments = taps_of(p) * p.in_channels;
  c.n_block = c.n_group = panel_count(p.out_channels);
  c.tile_block = even_block(c.tiles, wanted_tasks(p, limits), limits.threads);
  c.tasks = ceil_div(c.tiles, c.tile_block);
  const int64_t runs = has_adjacent_channels(p) ? 1 : p.in_channels, unit = p.in_channels / runs;
  const int64_t columns = (p.out[2] + kMostPlaneRows - 2) * p.stride[2] + (p.kernel[2] - 1) * p.dilation[2] + 1;
  c.segment_k = ceil_div(run_lead(p) + columns * unit, 16) * 16;
  const int64_t line = p.kernel[0] * c.segment_k * runs, span = band_height(p, 1);
  const int64_t room = limits.l1_bytes / 2 / kFloatBytes;
  const int64_t few_lines = most(ceil_div(span, p.stride[1]), least_lines);
  const int64_t fitting = (room / line - span) / p.stride[1] + 1;
  c.band_rows = least(most(fitting / least_lines * least_lines, few_lines), p.out[1]);
  // Of rows no fewer floats than for a smaller picture: a session of bounded shapes has room for the largest one.
  const int64_t whole = band_height(p, p.out[1]) * line, few = band_height(p, few_lines) * line;
  c.scratch_floats = offset_floats(p) + 2 * scale_floats(p) + ceil_div(least(whole, most(room, few)), 16) * 16;
}

// Lines of each group, four at a time.
void choose_filter(const ConvProblem& p, const GemmLimits& limits, ConvChoice& c) {
  const ConvProblem one = problem_of_group(p);
  choose_planes(one, kFilterLines, limits, c);
  const int64_t wanted = limits.threads > 1 ? kTasksPerThread * limits.threads : 1;
  const int64_t tasks = most(1, least(wanted, static_cast<int64_t>(flops_of(p) / kLeastTaskFlops)));
  c.tile_block = even_block(c.tiles, ceil_div(tasks, p.groups), limits.threads);
  c.tasks = p.groups * ceil_div(c.tiles, c.tile_block);
}

void choose_depthwise(const ConvProblem& p, const GemmLimits& limits, ConvChoice& c) {
  const int64_t rows = p.images * p.out[0] * p.out[1], panels = panel_count(p.out_channels), threads = limits.threads;
  // A row costs its loads more than its arithmetic: a task is a part of what it is in a product.
  const auto flops = static_cast<int64_t>(flops_of(p));
  const int64_t few = most(1, least(threads, flops / kLeastRowsFlops));
  const int64_t wanted = threads > 1 ? most(few, least(kTasksPerThread * threads, flops / kRowsFlops)) : 1;
  // A thread's rows are those that it has just written, and two of them are made at a time. What few rows do not give,
  // their channels do.
  const int64_t pairs = least(wanted, rows / 2);
  c.row_tasks = pairs >= few ? pairs / few * few : least(wanted, rows);
  const int64_t channel_tasks = pairs >= few ? 1 : least(panels, ceil_div(wanted, c.row_tasks));
  c.channel_block = ceil_div(panels, channel_tasks) * kPanel;
  c.tasks = c.row_tasks * ceil_div(p.out_channels, c.channel_block);
  // So many channels at a time that the rows under the kernel stay in half of the first-level cache from one output row
  // to the next, or else in half of the second. Kernels of 3x3 take two vectors at a time (depthwise_row_pair). Volumes
  // do not fit: all channels, and the rows of all depths before the next row where fewer rows of input stay in use so.
  const auto reach = [&](int axis) { return (p.kernel[axis] - 1) * p.dilation[axis] + 1 + p.stride[axis]; };
  const int64_t together = p.kernel[2] == 3 ? 2 : 1;
  const auto fitting = [&](int64_t bytes, int64_t rows_of_input) {
    return bytes / 2 / (rows_of_input * p.in[2] * kPanel * kFloatBytes) / together * together;
  };
  const int64_t near = fitting(limits.l1_bytes, p.kernel[1] + p.stride[1]);
  const int64_t pass = near > 0 ? near : most(fitting(limits.l2_bytes, reach(1)), together);
  c.channel_pass = p.kernel[0] > 1 ? c.channel_block : least(pass * kPanel, c.channel_block);
  c.depths_first = p.kernel[0] > 1 && p.in[0] * reach(1) < p.in[1] * reach(0);
  // Two pointers for each row of input, of two rows of output.
  c.scratch_floats = ceil_div((p.kernel[0] * p.kernel[1] + p.stride[1]) * 4, 16) * 16;
}

void choose_grouped(const ConvProblem& p, const GemmLimits& limits, ConvChoice& c) {
  const GroupedLayout layout = grouped_layout(p);
  const int64_t rows = p.images * p.out[0] * p.out[1], unit = layout.unit;
  const int64_t units = ceil_div(p.out_channels, unit), wanted = wanted_tasks(p, limits);
  const int64_t row_tasks = least(rows, ceil_div(wanted, units)),
                channel_tasks = least(units, ceil_div(wanted, row_tasks));
  c.row_block = even_block(rows, row_tasks, limits.threads);
  c.channel_block = even_block(units, channel_tasks, limits.threads) * unit;
  c.tasks = ceil_div(rows, c.row_block) * ceil_div(p.out_channels, c.channel_block);
  // A band fills most of the first-level cache, or a part of the second if that has no room for so many rows that those
  // which two bands copy count little.
  const int64_t pixel = unit * layout.versions, span = (p.kernel[1] - 1) * p.dilation[1] + 1;
  c.band_columns = (most(p.out[2], kMostGroupedTile) - 1) * p.stride[2] + (p.kernel[2] - 1) * p.dilation[2] + 1;
  const int64_t line = p.kernel[0] * c.band_columns * pixel, least_rows = ceil_div(span, p.stride[1]);
  const auto fitting = [&](int64_t bytes) { return (bytes / kFloatBytes / line - span) / p.stride[1] + 1; };
  const int64_t near = fitting(limits.l1_bytes * 3 / 4), far = most(fitting(limits.l2_bytes / 4), least_rows);
  c.band_rows = least(near >= least_rows ? near : far, least(p.out[1], c.row_block));
  c.scratch_floats = layout.band + ((c.band_rows - 1) * p.stride[1] + span) * line;
}

void choose_spread(const ConvProblem& p, const GemmLimits& limits, ConvChoice& c) {
  constexpr int64_t kMostPixels = 512;
  const int64_t rows = p.images * p.out[0] * p.out[1], width = panel_count(p.kernel[2] * p.out_channels) * kPanel;
  c.row_block = even_block(rows, wanted_tasks(p, limits), limits.threads);
  c.tasks = ceil_div(rows, c.row_block);
  c.band_columns = least(p.out[2], kMostPixels);
  // A pointer for each kernel row, the products, and what a vector reads beyond the last of them.
  const int64_t pixels = c.band_columns + (p.kernel[2] - 1) * p.dilation[2];
  c.scratch_floats = ceil_div(p.kernel[1] * 2, 16) * 16 + pixels * width + kPanel;
}

void choose_winograd(const ConvProblem& p, bool on_the_way, Isa isa, const GemmLimits& limits, ConvChoice& c) {
  const WinogradPlane plane = winograd_plane(p, c.algorithm);
  c.tiles = p.images * plane.all_tiles();
  const int64_t in = p.in_channels / p.groups, channels = panel_count(in) * kPanel;
  const int64_t columns = panel_count(p.out_channels / p.groups) * kPanel, panels = columns / kPanel;
  const auto worth = static_cast<int64_t>(flops_of(p) / kLeastBlockFlops);
  const int64_t wanted = ceil_div(least(wanted_tasks(p, limits), most(worth, limits.threads)), p.groups);
  c.tile_block = winograd_block(plane, {c.tiles, in, columns, wanted, on_the_way}, isa, limits);
  // Where blocks are few, output channels are split. Each part transforms the input for itself: as few as there are
  // threads.
  const int64_t m_tasks = ceil_div(c.tiles, c.tile_block), threads = least(wanted, limits.threads);
  const bool is_enough = on_the_way ? m_tasks % threads == 0 : m_tasks >= threads;
  const int64_t n_tasks = is_enough ? 1 : least(panels, on_the_way ? threads : ceil_div(threads, m_tasks));
  c.n_block = panels_of_task(panels, n_tasks, limits.threads);
  c.n_group = on_the_way ? least(c.n_block, kPanelsOnTheWay) : c.n_block;
  c.channel_block = on_the_way ? winograd_channels(plane, in, limits) : 0;
  c.tasks = p.groups * m_tasks * ceil_div(panels, c.n_block);
  const int64_t weights = on_the_way ? c.n_group * c.channel_block * kPanel + 16 : 0;
  c.scratch_floats =
      2 * kMostWinogradPoints * kMostWinogradPoints + channels +
      plane.all_points() * (c.tile_block * (winograd_row(plane, in) + c.n_group * kPanel) + 32 + weights);
}

// Lines may lie apart, as those of a chain's bands: each is a task then.
void choose_in_pairs(const ConvProblem& p, Isa isa, GemmLimits limits, ConvChoice& c) {
  GemmProblem product = pointwise_product(p);
  c.by_rows = !conv_fits(p, ConvAlgorithm::kPointwise);
  if (c.by_rows) {
    product.m = p.out[2];
    limits.threads = 1;
  }
  c.gemm = choose_paired(product, isa, limits);
  c.tasks = c.by_rows ? p.images * p.out[0] * p.out[1] : c.gemm.tasks;
  c.scratch_floats = c.gemm.scratch_floats;
}

// Few planes, at least one, whose offsets at every step of k stay near.
bool plane_steps_fit(const ConvProblem& p) {
  const int64_t steps = taps_of(p) * p.in_channels;
  return p.in_channels <= kMostPlanes && steps > 0 && steps <= kMostPlaneSteps;
}

bool are_planes(const ConvView& v, int64_t channels) { return v.pixel == 1 && (v.channel != 1 || channels == 1); }

}  // namespace

ConvProblem problem_of_group(const ConvProblem& problem) {
  ConvProblem p = problem;
  p.in_channels /= p.groups;
  p.out_channels /= p.groups;
  p.groups = 1;
  return p;
}

// Rows by themselves pay for edges and for a last tile that is short.
bool reads_in_place(const ConvProblem& p, int64_t tile_rows) {
  const int64_t tiles_per_row = ceil_div(p.out[2], tile_rows);
  const bool touches =
      p.pad[2] > 0 || (p.out[2] - 1) * p.stride[2] - p.pad[2] + (p.kernel[2] - 1) * p.dilation[2] >= p.in[2];
  const bool is_worth = tiles_per_row * tile_rows * 10 <= p.out[2] * 13 && (!touches || tiles_per_row > 2);
  return !out_has_no_gaps(p) || is_worth;
}

int64_t band_columns(const ConvProblem& p) {
  return (p.out[2] - 1) * p.stride[2] + (p.kernel[2] - 1) * p.dilation[2] + 1;
}

// Planes alone, of which the rows under a line have room in half of the second-level cache.
bool reads_bands(const ConvProblem& p, const GemmLimits& limits) {
  const bool plane = p.in[0] == 1 && p.out[0] == 1 && p.kernel[0] == 1 && p.pad[0] == 0;
  const bool skips = p.stride[2] > p.kernel[2] || p.stride[1] > p.kernel[1];  // what would be copied for nothing
  if (!plane || p.groups == 1 || taps_of(p) == 0 || skips) return false;
  const int64_t channels = p.in_channels / p.groups;
  const double band =
      static_cast<double>(few_groups(p) * channels * band_height(p, 1)) * static_cast<double>(band_columns(p));
  return taps_of(p) * channels <= kMostDepth && 2 * band * kFloatBytes <= static_cast<double>(limits.l2_bytes);
}

int banded_tile_rows(const ConvProblem& p, Isa isa, int highest) {
  const bool half = (p.out_channels / p.groups - 1) % kPanel < kPanel / 2;
  return isa == Isa::kAvx2 && half ? kRowsOfBoth : highest;
}

bool reads_planes(const ConvProblem& p) {
  return are_planes(p.in_view, p.in_channels) && p.groups == 1 && plane_steps_fit(p) && !p.residual_in_place &&
         !has_pixels(p) && with_planes(p.stride[2]);
}

bool reads_pixels(const ConvProblem& p) {
  return has_pixels(p) && p.groups == 1 && p.in[0] == 1 && p.out[0] == 1 && p.kernel[0] == 1 && p.pad[0] == 0 &&
         plane_steps_fit(p) && !p.residual_in_place;
}

GemmProblem pointwise_product(const ConvProblem& p) {
  return {.m = out_pixels(p), .n = p.out_channels, .k = p.in_channels, .residual_in_place = p.residual_in_place};
}

bool conv_fits(const ConvProblem& p, ConvAlgorithm algorithm) {
  if (has_pixels(p))
    return (algorithm == ConvAlgorithm::kAuto || algorithm == ConvAlgorithm::kImplicit) && reads_pixels(p);
  switch (algorithm) {
    case ConvAlgorithm::kAuto:
    case ConvAlgorithm::kImplicit: return true;
    case ConvAlgorithm::kPointwise:
      return is_pixelwise(p) && has_no_gaps(p.in_view, p.in, p.images) && out_has_no_gaps(p);
    case ConvAlgorithm::kDepthwise:
      return kWithDepthwise && p.groups == p.in_channels && p.groups == p.out_channels && taps_of(p) > 0 &&
             !p.residual_in_place;
    case ConvAlgorithm::kGrouped:
      return kWithGrouped && has_grouped_form(grouped_shape(p)) && taps_of(p) > 0 && !p.residual_in_place;
    case ConvAlgorithm::kSpread:
      return kWithSpread && p.groups == 1 && p.kernel[0] == 1 && p.stride[2] == 1 && taps_of(p) > 0 &&
             !p.residual_in_place &&
             panel_count(p.kernel[2] * p.out_channels) < p.kernel[2] * panel_count(p.out_channels);
    case ConvAlgorithm::kFilter:
      return kWithFilter && p.stride[2] == 1 && are_planes(p.in_view, p.in_channels) &&
             are_planes(p.out_view, p.out_channels) && plane_steps_fit(problem_of_group(p)) && !p.has_residual &&
             !p.residual_in_place;
    case ConvAlgorithm::kStrassen:
      return kWithStrassen && conv_fits(p, ConvAlgorithm::kPointwise) && strassen_fits(pointwise_product(p)) &&
             !p.residual_in_place;
    case ConvAlgorithm::kPaired:
      return kWithPaired && is_pixelwise(p) && paired_fits(pointwise_product(p), Isa::kAvx512);
    case ConvAlgorithm::kWinograd4:
    case ConvAlgorithm::kWinograd6:
    case ConvAlgorithm::kWinograd8: return kWithWinograd && winograd_plane(p, algorithm).fits && !p.residual_in_place;
  }
  return false;
}

ConvProblem as_line(const ConvProblem& problem, ConvAlgorithm algorithm) {
  ConvProblem p = problem;
  const bool adjacent = p.in_channels == 1 ? p.in_view.pixel == 1 : p.in_view.channel == 1;
  if (!adjacent || has_pixels(p)) return p;
  const bool across = algorithm == ConvAlgorithm::kImplicit && p.kernel[2] == p.in[2] && p.out[2] == 1 &&
                      p.pad[2] == 0 && p.dilation[2] == 1;
  // Longer rows of the product are better copied and multiplied in parts.
  if (p.groups == 1 && across && p.in_view.pixel == p.in_channels && taps_of(p) * p.in_channels <= kMostDepth) {
    p.in_channels *= p.in[2];
    p.in_view.pixel = p.in_channels;
    p.in_view.channel = p.in[2] = p.kernel[2] = 1;
  }
  for (int axis = 0; axis < 2 && p.in[2] == 1 && p.out[2] == 1 && p.kernel[2] == 1 && p.pad[2] == 0; ++axis) {
    for (int64_t(*a)[3] : {&p.in, &p.out, &p.kernel, &p.stride, &p.dilation, &p.pad}) {
      (*a)[2] = (*a)[1];
      (*a)[1] = (*a)[0];
      (*a)[0] = a == &p.pad ? 0 : 1;
    }
    for (ConvView* v : {&p.in_view, &p.out_view, &p.residual_view}) {
      v->pixel = v->row;
      v->row = v->depth;
    }
  }
  return p;
}

namespace {

// The rows of c.segments x c.segment_k are gathered, for which a worker has so many floats, and then multiplied.
void gather(const ConvProblem& p, Isa isa, const GemmLimits& limits, int64_t floats, ConvChoice& c) {
  const int64_t depth = c.segments * c.segment_k, pixels = out_pixels(p);
  c.gathered = true;
  c.row_pitch = row_pitch(depth);
  c.gather_tasks = least(wanted_tasks(p, limits), ceil_div(pixels, c.tile_rows));
  c.tile_block = ceil_div(pixels, c.gather_tasks);
  c.gather_tasks = ceil_div(pixels, c.tile_block);
  c.gemm = choose_gemm({.m = pixels, .n = p.out_channels, .k = depth, .residual_in_place = p.residual_in_place}, isa,
                       limits);
  c.tasks = c.gemm.tasks;
  c.n_group = c.gemm.n_group;
  c.scratch_floats = most(c.gemm.scratch_floats, floats);
}

// Of planes: where lines are shorter than tiles, as those of patches are, and columns are many. Nothing may be outside.
void choose_gathered_planes(const ConvProblem& p, Isa isa, const GemmLimits& limits, ConvChoice& c) {
  constexpr double kPlaceCycles = 1.25;  // of an element, beside the arithmetic
  constexpr double kStepCost = 1.2;      // tiles of planes with any step, to those of products
  constexpr int64_t kLeastDepth = 32;    // fewer steps of k are over before a step of their own has begun
  const auto is_inside = [&](int i) {
    return p.pad[i] == 0 && (p.out[i] - 1) * p.stride[i] + (p.kernel[i] - 1) * p.dilation[i] < p.in[i];
  };
  if (has_pixels(p) || p.dilation[2] != 1 || !out_has_no_gaps(p) || !is_inside(0) || !is_inside(1) || !is_inside(2))
    return;
  const int64_t depth = taps_of(p) * p.in_channels, m = out_pixels(p), columns = p.out_channels;
  if (depth < kLeastDepth) return;
  if (m * row_pitch(depth) * kFloatBytes > 2 * limits.l2_bytes) return;  // room that a longer picture would not pay for
  const int64_t of_tiles = m / p.out[2] * most(p.out[2], c.tile_rows);
  const double apart = static_cast<double>(m * depth) * kPlaceCycles * beside_units(limits);
  if (product_cycles(isa, m, columns, depth, limits) + apart >
      kStepCost * product_cycles(isa, of_tiles, columns, depth, limits))
    return;
  c.segments = depth;
  c.segment_k = 1;
  gather(p, isa, limits, 0, c);
}

// Of planes a line is the least task. Where there are fewer than threads, and a kernel's pixels of one channel are
// neighbours, tiles of the line itself are rows of a product that threads share, to the same bits.
bool shares_lines(const ConvProblem& p, const GemmLimits& limits) {
  const bool neighbours =
      p.in_channels == 1 && p.in_view.pixel == 1 && p.kernel[0] * p.kernel[1] == 1 && p.dilation[2] == 1;
  return neighbours && !has_pixels(p) && p.images * p.out[0] * p.out[1] < limits.threads;
}

}  // namespace

ConvChoice choose_conv(const ConvProblem& p, ConvAlgorithm algorithm, Isa isa, const GemmLimits& limits,
                       bool on_the_way) {
  ConvChoice c;
  c.algorithm = algorithm == ConvAlgorithm::kAuto ? choose_conv_algorithm(p, isa, limits) : algorithm;
  c.tile_rows = gemm_tile_rows(isa);
  if (out_pixels(p) <= 0 || p.out_channels <= 0) return c;
  if (c.algorithm == ConvAlgorithm::kPointwise) {
    c.gemm = choose_gemm(pointwise_product(p), isa, limits);
    c.tasks = c.gemm.tasks;
    c.scratch_floats = c.gemm.scratch_floats;
  } else if (kWithPaired && c.algorithm == ConvAlgorithm::kPaired) {
    choose_in_pairs(p, isa, limits, c);
  } else if (kWithStrassen && c.algorithm == ConvAlgorithm::kStrassen) {
    c.strassen = choose_strassen(pointwise_product(p), isa, limits);
    c.gemm = c.strassen.product;
    c.tasks = c.strassen.tasks;
    c.scratch_floats = c.strassen.scratch_floats;
  } else if (c.algorithm == ConvAlgorithm::kDepthwise) {
    choose_depthwise(p, limits, c);
  } else if (c.algorithm == ConvAlgorithm::kGrouped) {
    choose_grouped(p, limits, c);
  } else if (c.algorithm == ConvAlgorithm::kSpread) {
    choose_spread(p, limits, c);
  } else if (kWithFilter && c.algorithm == ConvAlgorithm::kFilter) {
    choose_filter(p, limits, c);
  } else if (is_winograd(c.algorithm)) {
    choose_winograd(p, on_the_way, isa, limits, c);
  } else if (has_pixels(p) || (reads_planes(p) && !shares_lines(p, limits))) {
    choose_planes(p, 1, limits, c);
  } else if (kWithWideGroups && reads_bands(p, limits)) {
    choose_banded(p, isa, limits, c);
  } else {
    choose_implicit(p, limits, c);
  }
  return c;
}

void choose_gathered(const ConvProblem& p, Isa isa, const GemmLimits& limits, ConvChoice& c) {
  if (c.algorithm != ConvAlgorithm::kImplicit) return;
  if (c.planes) return choose_gathered_planes(p, isa, limits, c);
  const int64_t depth = c.segments * c.segment_k, pixels = out_pixels(p);
  if (c.by_rows || p.groups != 1 || pixels <= 0 || depth <= 0) return;
  const int64_t row_bytes = pixels * row_pitch(depth) * kFloatBytes;
  const int64_t weight_bytes = panel_count(p.out_channels) * kPanel * depth * kFloatBytes;
  if (weight_bytes < limits.l2_bytes / 2 || row_bytes > limits.l2_bytes / 2 || row_bytes > weight_bytes) return;
  gather(p, isa, limits, taps_floats(c), c);
}

size_t print_key(const ConvProblem& p, char* out, size_t size) {
  return format_to(out, size, "{}x{}x{}x{}x{}:{}x{}x{}x{}:k{}x{}x{}:s{}x{}x{}:d{}x{}x{}:p{}x{}x{}:g{}", p.images,
                   p.in[0], p.in[1], p.in[2], p.in_channels, p.out[0], p.out[1], p.out[2], p.out_channels, p.kernel[0],
                   p.kernel[1], p.kernel[2], p.stride[0], p.stride[1], p.stride[2], p.dilation[0], p.dilation[1],
                   p.dilation[2], p.pad[0], p.pad[1], p.pad[2], p.groups);
}

size_t print(const ConvProblem& p, const ConvChoice& c, char* out, size_t size) {
  return format_to(out, size,
                   "{} {}x{}x{}x{} -> {}x{}x{} kernel={}x{}x{} groups={} {}tile={} tiles={} segments={}x{} block={} "
                   "group={} tasks={} scratch={}",
                   name_of(c.algorithm), p.images, p.in[1], p.in[2], p.in_channels, p.out[1], p.out[2], p.out_channels,
                   p.kernel[0], p.kernel[1], p.kernel[2], p.groups,
                   has_pixels(p)      ? "pixels "
                   : c.gathered       ? "gathered "
                   : c.planes         ? "planes "
                   : c.banded         ? "banded "
                   : c.by_taps        ? "by-taps "
                   : c.by_rows        ? "by-rows "
                   : is_on_the_way(c) ? "on-the-way "
                                      : "",
                   c.tile_rows, c.tiles, c.segments, c.segment_k, c.block_segments, c.n_group, c.tasks,
                   c.scratch_floats * kFloatBytes);
}

}  // namespace mica
