#include "kernels/conv/cost.h"

#include "base/format.h"
#include "base/integers.h"
#include "base/isa.h"
#include "kernels/conv/winograd.h"
#include "kernels/pack/pack.h"
#include "types/packing.h"

namespace mica {
namespace {

constexpr double kGroupBytes = 8;  // a cycle, of groups' weights: each is too small for much to be fetched ahead
constexpr double kSegmentCycles = 6;
constexpr double kGroupTileCycles = 150;  // of a tile of a group's pixels, beside what is gathered and multiplied
constexpr double kBandTileCycles = 60;    // of a tile of a band, beside its product
constexpr double kBufferCycles = 120;     // of one whose last columns go through a buffer
constexpr double kGroupLine = 0.4,
                 kFarGroupLine = 0.8;  // a byte of a group's pixels that nobody foresees: near, or beyond
constexpr double kInputCycles = 3.5, kOutputCycles = 4;  // a vector of one point of a transform
// Two axes of eight points do not stay in registers.
constexpr double kSpilledCycles = 1.0;
// Where units are half as wide: the share of the cycles of transforms that stay in registers.
constexpr double kHalfTransforms = 0.8;
constexpr double kTileCycles = 40;        // of a transform, beside its vectors
constexpr double kPlaceCycles = 3;        // where one point of a tile's input lies
constexpr double kDepthwiseCycles = 1.6;  // a vector of one tap

constexpr double kDiagonalsCycles = 1.1, kOneSumCycles = 1.6;  // of groups: a multiply-add, to that of a product
constexpr double kBandCycles = 3;    // a vector of a pixel, read or written, on its way into a band
constexpr double kFinishCycles = 8;  // a vector of a group's sums: its exchanges and its store
constexpr double kFilterCycles = 1.1, kSharedCycles = 0.8;  // a vector of one step of planes; of four outputs together
constexpr double kRowCopyCycles = 110;                      // of planes, whatever its length
constexpr double kSumCycles = 2.5;                          // a vector of a product, on its way into a sum

constexpr double kDeviations = 8;
constexpr double kPriceOfError = 1.08;

int64_t out_pixels(const ConvProblem& p) { return p.images * p.out[0] * p.out[1] * p.out[2]; }

// The product of one group, the bytes of its weights, and the cycles of what is around it.
struct GroupCost {
  double product, weights, around;
};
double of_groups(const ConvProblem& p, const GroupCost& one, const GemmLimits& limits) {
  const double weights = one.weights / kGroupBytes * beside_units(limits);
  if (p.groups > 1) return static_cast<double>(p.groups) * (one.product + one.around + weights);
  return overlapped(one.product, one.weights, limits) + one.around;
}

// Of one axis: the share of pairs of a tap and an output that meet the input.
double met_share(const ConvProblem& p, int axis) {
  const auto first_at = [&](int64_t place, int64_t tap) {  // the first output whose tap reads from `place` on
    const int64_t distance = place + p.pad[axis] - tap * p.dilation[axis];
    const int64_t o = distance > 0 ? ceil_div(distance, p.stride[axis]) : 0;
    return o < p.out[axis] ? o : p.out[axis];
  };
  int64_t met = 0;
  for (int64_t tap = 0; tap < p.kernel[axis]; ++tap) met += first_at(p.in[axis], tap) - first_at(0, tap);
  return static_cast<double>(met) / static_cast<double>(p.kernel[axis] * p.out[axis]);
}

double bytes_of(const ConvProblem& p, const int64_t (&extent)[3], int64_t channels) {
  return static_cast<double>(p.images * extent[0] * extent[1] * extent[2] * channels) * 4;
}

// Tiles of each line of each group; the rows under them are copied.
double banded_cycles(const ConvProblem& p, Isa isa, const GemmLimits& limits) {
  const CostLanes l = cost_lanes(isa);
  const int64_t depth = p.kernel[1] * p.kernel[2] * (p.in_channels / p.groups), columns = p.out_channels / p.groups;
  const int64_t halves = ceil_div(columns, kPanel / 2), rows = banded_tile_rows(p, isa, l.rows);
  // AVX2's tiles of a panel and a half take as long for each number as those of whole panels.
  const double product = isa == Isa::kAvx2 && columns > kPanel
                             ? product_cycles(isa, p.out[2], kPanel, depth, limits) * static_cast<double>(halves) / 2
                             : product_cycles(isa, p.out[2], columns, depth, limits);
  const double lines = static_cast<double>(p.images * p.out[1] * p.groups);
  const double each = kBandTileCycles + (columns % (kPanel / 2) == 0 ? 0 : kBufferCycles);
  const double around = static_cast<double>(ceil_div(p.out[2], rows)) * each;
  const double in = bytes_of(p, p.in, p.in_channels), out = bytes_of(p, p.out, p.out_channels);
  const double copied = in / 4 / l.lanes * kBandCycles * beside_units(limits);
  const double far = in > static_cast<double>(limits.l2_bytes) ? (in + out) / stream_bytes(limits) : 0;
  const double weights = static_cast<double>(p.groups * panels_size(depth, columns)) * 4;
  return lines * (product + around) + copied + far + weights / kGroupBytes * beside_units(limits);
}

double implicit_cycles(const ConvProblem& p, Isa isa, const GemmLimits& limits) {
  if (kWithWideGroups && reads_bands(p, limits)) return banded_cycles(p, isa, limits);
  const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2], channels = p.in_channels / p.groups;
  const int64_t depth = taps * channels, columns = p.out_channels / p.groups, m = out_pixels(p);
  const int64_t tile_rows = cost_lanes(isa).rows;
  const bool whole_rows = p.dilation[2] == 1 && p.groups == 1 && p.in_view.pixel == channels;
  const int64_t segments = whole_rows ? p.kernel[0] * p.kernel[1] : taps;
  // Rows that are read in place come from the next cache all the same; their first and last tile are gathered. Pieces
  // of a group's channels are short enough to cost by themselves.
  const auto tiles = static_cast<double>(ceil_div(m, tile_rows));
  const bool in_place = p.groups == 1 && reads_in_place(p, tile_rows);
  const double ends = in_place ? 2 / static_cast<double>(ceil_div(p.out[2], tile_rows)) : 1;
  const double places = (ends < 1 ? ends : 1) * static_cast<double>(segments) * kSegmentCycles;
  const double read = static_cast<double>(depth) * 4 / kCopyBytes * beside_units(limits);
  const double gather = static_cast<double>(m) * (read + places);
  const double product = product_cycles(isa, m, columns, depth, limits), met = met_share(p);
  const double weights = static_cast<double>(panels_size(depth, columns)) * 4;
  const double begun = p.groups > 1 ? tiles * kGroupTileCycles * beside_units(limits) : 0;
  return of_groups(p, {met * product, weights, met * gather + begun}, limits);
}

// Nothing is gathered; the rows under each line are copied.
double plane_cycles(const ConvProblem& p, Isa isa, const GemmLimits& limits) {
  const int64_t depth = p.kernel[0] * p.kernel[1] * p.kernel[2] * p.in_channels, m = out_pixels(p);
  const double runs = static_cast<double>(p.images * p.out[0] * p.out[1] * p.kernel[0] * p.kernel[1] * p.in_channels);
  const double copied = static_cast<double>(p.in[2]) * 4 / kCopyBytes + 2 * kSegmentCycles;
  return product_cycles(isa, m, p.out_channels, depth, limits) + runs * copied;
}

// Vectors of pixels; the rows under some lines are copied.
double filter_cycles(const ConvProblem& p, Isa isa) {
  const auto lanes = static_cast<int64_t>(cost_lanes(isa).lanes);
  const int64_t lines = p.images * p.out[0] * p.out[1], vectors = ceil_div(p.out[2], lanes);
  const int64_t steps = p.kernel[0] * p.kernel[1] * p.kernel[2] * (p.in_channels / p.groups);
  const double each = p.out_channels / p.groups < 4 ? kFilterCycles : kSharedCycles;
  // Rows under a depth of outputs are copied for each of them.
  const auto copied = static_cast<double>(p.images * p.in_channels * p.out[0] * p.kernel[0] * p.in[1]);
  return static_cast<double>(lines * vectors * p.out_channels) * (static_cast<double>(steps) * each + kFinishCycles) +
         copied * (kRowCopyCycles + static_cast<double>(p.in[2]) * 8 / kCopyBytes);
}

// Turning planes, for the algorithms that want adjacent channels: squares of them, or one by one where they are few.
double turn_cycles(const ConvView& v, const int64_t (&extent)[3], int64_t images, int64_t channels) {
  const auto elements = static_cast<double>(images * channels * extent[0] * extent[1] * extent[2]);
  return v.channel == 1 ? 0 : elements * (channels < kPanel ? 1 : 8 / kCopyBytes);
}

double depthwise_cycles(const ConvProblem& p, Isa isa) {
  const double vectors = static_cast<double>(ceil_div(p.out_channels, static_cast<int64_t>(cost_lanes(isa).lanes)));
  const double taps = static_cast<double>(p.kernel[0] * p.kernel[1] * p.kernel[2]);
  return static_cast<double>(out_pixels(p)) * vectors * (taps * kDepthwiseCycles + 2);
}

// Sums of whole vectors, then exchanges and a store for each output, and the input's copies, some rows of them twice.
double grouped_cycles(const ConvProblem& p, Isa isa, const GemmLimits& limits) {
  const CostLanes l = cost_lanes(isa);
  const GroupedShape shape = grouped_shape(p);
  const double vectors = static_cast<double>(panel_count(p.out_channels) * kPanel) / l.lanes;
  const double fmas = static_cast<double>(shape.taps * shape.inputs) / l.fmas;
  const int64_t outputs = p.images * p.out[0] * p.out[1] * ceil_div(p.out[2], 2) * 2;
  const auto inputs = static_cast<double>(p.images * p.in[0] * p.in[1] * p.in[2]);
  const auto versions = static_cast<double>(grouped_layout(p).versions);
  const double weights = static_cast<double>(grouped_size(shape)) * 4;
  // Lanes of one version come from as many vectors as their groups fill.
  const bool one_sum = grouped_diagonals(shape) == 1;
  const double each = one_sum ? kOneSumCycles : kDiagonalsCycles;
  const double read =
      one_sum ? versions * (1 + static_cast<double>(shape.inputs) / static_cast<double>(shape.outputs)) : 1;
  const double finish = kFinishCycles * beside_units(limits), band = kBandCycles * beside_units(limits);
  return vectors * (static_cast<double>(outputs) * (fmas * each + finish) + inputs * (read + versions) * band) +
         weights / stream_bytes(limits);
}

// Products of the input pixels of each line by the taps of a kernel row, then their sums.
double spread_cycles(const ConvProblem& p, Isa isa, const GemmLimits& limits) {
  const int64_t columns = p.kernel[2] * p.out_channels, depth = p.kernel[1] * p.in_channels;
  const int64_t reach = p.out[2] + (p.kernel[2] - 1) * p.dilation[2], pixels = reach < p.in[2] ? reach : p.in[2];
  const auto lines = static_cast<double>(p.images * p.out[0] * p.out[1]);
  const double product = lines * product_cycles(isa, pixels, panel_count(columns) * kPanel, depth, limits);
  const auto vectors =
      static_cast<double>(p.kernel[2] * ceil_div(p.out_channels, static_cast<int64_t>(cost_lanes(isa).lanes)));
  const double sums = static_cast<double>(out_pixels(p)) * (vectors * kSumCycles + 4);
  return overlapped(product + sums, static_cast<double>(panels_size(depth, columns)) * 4, limits);
}

double winograd_cycles(const ConvProblem& p, ConvAlgorithm algorithm, bool on_the_way, Isa isa,
                       const GemmLimits& limits) {
  const WinogradPlane plane = winograd_plane(p, algorithm);
  const auto lanes = static_cast<int64_t>(cost_lanes(isa).lanes);
  const int64_t channels = p.in_channels / p.groups, columns = p.out_channels / p.groups;
  const auto points = static_cast<double>(plane.all_points());
  const int64_t tiles = p.images * plane.all_tiles();
  const double spilled = points > 36 ? kSpilledCycles : 0;
  const double vectors = static_cast<double>(plane.slices() * ceil_div(channels, lanes)) * (kInputCycles + spilled) +
                         static_cast<double>(ceil_div(columns, lanes)) * (kOutputCycles + spilled);
  const double begun = static_cast<double>(plane.slices()) * (kTileCycles + kPlaceCycles * points);
  const double places = (begun + kTileCycles + points) * beside_units(limits);
  const double share = limits.half_units && points <= 36 ? kHalfTransforms : 1;
  // A picture that leaves the second-level cache: nothing of it is fetched ahead. With AVX-512 the rates are those of
  // pictures of every size.
  const double picture = bytes_of(p, p.in, channels), all = bytes_of(p, p.in, p.in_channels);
  const bool leaves = all > static_cast<double>(limits.l2_bytes);
  double waits = leaves ? picture / stream_bytes(limits) : 0;
  if (p.groups > 1) waits = picture * (leaves ? kFarGroupLine : kGroupLine);
  if (isa == Isa::kAvx512) waits = 0;
  const double transforms = static_cast<double>(tiles) * (points * vectors * share + places) + waits;
  const WinogradWork work{tiles, channels, panel_count(columns) * kPanel, 1, on_the_way};
  const int64_t block = winograd_block(plane, work, isa, limits);
  const double blocks = static_cast<double>(tiles) / static_cast<double>(block);
  const double product = blocks * winograd_block_cycles(plane, work, block, isa, limits);
  const int64_t depth = winograd_depth(plane, channels), taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
  const double passed = on_the_way ? static_cast<double>(panels_size(taps * channels, columns))
                                   : points * static_cast<double>(panels_size(depth, columns));
  return of_groups(p, {product, blocks * passed * 4, transforms}, limits);
}

double error_of(const ConvProblem& p, ConvAlgorithm algorithm) {
  const int64_t channels = p.in_channels / p.groups, taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
  if (!is_winograd(algorithm)) return kDeviations * chain_error(channels * taps);
  const WinogradPlane plane = winograd_plane(p, algorithm);
  return kDeviations * winograd_error(plane, plane.slices() * channels);
}

// Whether `c` is enough cheaper than `other`, which stands before it, to outweigh a larger error and form.
bool beats(const ConvCandidate& c, const ConvCandidate& other, double byte_price) {
  const double form = kWithForms ? byte_price * (c.bytes - other.bytes) : 0;
  return priced_cycles(c, other.error) + form < other.cycles;
}

// Those that are judged as a product's algorithms are.
bool is_product(ConvAlgorithm a) { return a == ConvAlgorithm::kStrassen || a == ConvAlgorithm::kPaired; }

// Whether the policy leaves the algorithm, forced or not.
bool is_left(ConvAlgorithm a, const ConvPolicy& policy) {
  if (is_winograd(a)) return !policy.low_memory || policy.on_the_way();
  if (is_product(a)) return !policy.low_memory && !policy.is_phase && policy.from_panels;
  return !policy.is_phase ||
         (a != ConvAlgorithm::kSpread && a != ConvAlgorithm::kGrouped && a != ConvAlgorithm::kFilter);
}

// As a product of matrices is judged.
void take_product(const GemmProblem& p, Isa isa, const GemmLimits& limits, ConvCandidate& one) {
  const bool strassen = one.algorithm == ConvAlgorithm::kStrassen;
  const GemmCandidate product =
      gemm_candidates(p, isa, limits).of(strassen ? GemmAlgorithm::kStrassen : GemmAlgorithm::kPaired);
  one.fits = product.fits;
  one.error = product.error;
  one.allowed = product.allowed;
  one.modest = product.modest && product.pays;
  one.cycles = product.cycles;
  one.bytes = product.bytes;
}

}  // namespace

double met_share(const ConvProblem& p) {
  if (p.dilation[0] == 1 && p.dilation[1] == 1 && p.dilation[2] == 1) return 1;
  return met_share(p, 0) * met_share(p, 1) * met_share(p, 2);
}

// Products' algorithms are candidates only where they are cheaper by a margin of their own.
double priced_cycles(const ConvCandidate& c, double error) {
  const bool priced = c.error > error && !is_product(c.algorithm);
  return c.cycles * (priced ? kPriceOfError : 1);
}

bool is_unasked(const ConvCandidate& c, const ConvPolicy& policy) {
  return c.allowed && c.modest && is_left(c.algorithm, policy);
}

bool is_asked(const ConvCandidate& c, const ConvPolicy& policy) {
  return c.allowed && is_left(c.algorithm, policy) && policy.force.allows(c.algorithm);
}

ConvCandidates conv_candidates(const ConvProblem& p, Isa isa, const GemmLimits& limits, const ConvPolicy& policy) {
  ConvCandidates c;
  for (int i = 0; i < kConvAlgorithms; ++i) {
    ConvCandidate& one = c.list[i];
    one.algorithm = static_cast<ConvAlgorithm>(i + 1);
    one.fits = conv_fits(p, one.algorithm);
    if (!one.fits || out_pixels(p) <= 0 || p.out_channels <= 0) continue;
    if ((kWithStrassen || kWithPaired) && is_product(one.algorithm)) {
      take_product(pointwise_product(p), isa, limits, one);
      continue;
    }
    const bool winograd = is_winograd(one.algorithm);
    const bool on_the_way = winograd && policy.on_the_way();
    const ConvAlgorithm form = on_the_way ? ConvAlgorithm::kImplicit : one.algorithm;
    if (kWithForms) one.bytes = static_cast<double>(packed_conv_size(p, form)) * 4;
    one.error = error_of(p, one.algorithm);
    one.allowed = !winograd || one.error <= kMostConvError;
    one.modest = !winograd || one.error <= kMostOfDirect * error_of(p, ConvAlgorithm::kImplicit);
    if (winograd)
      one.cycles = winograd_cycles(p, one.algorithm, on_the_way, isa, limits);
    else if (one.algorithm == ConvAlgorithm::kDepthwise)
      one.cycles = depthwise_cycles(p, isa);
    else if (one.algorithm == ConvAlgorithm::kGrouped)
      one.cycles = grouped_cycles(p, isa, limits);
    else if (one.algorithm == ConvAlgorithm::kSpread)
      one.cycles = spread_cycles(p, isa, limits);
    else if (kWithFilter && one.algorithm == ConvAlgorithm::kFilter)
      one.cycles = filter_cycles(p, isa);
    else if (one.algorithm == ConvAlgorithm::kPointwise)
      one.cycles = overlapped(product_cycles(isa, out_pixels(p), p.out_channels, p.in_channels, limits),
                              static_cast<double>(panels_size(p.in_channels, p.out_channels)) * 4, limits);
    else
      one.cycles = reads_planes(p) || reads_pixels(p) ? plane_cycles(p, isa, limits) : implicit_cycles(p, isa, limits);
    if (kWithFilter && one.algorithm == ConvAlgorithm::kFilter) continue;
    if (one.algorithm != ConvAlgorithm::kImplicit) one.cycles += turn_cycles(p.in_view, p.in, p.images, p.in_channels);
    if (kWithFilter) one.cycles += turn_cycles(p.out_view, p.out, p.images, p.out_channels);
  }
  return c;
}

ConvAlgorithm choose_conv_algorithm(const ConvProblem& p, Isa isa, const GemmLimits& limits, const ConvPolicy& policy) {
  const ConvCandidates all = conv_candidates(p, isa, limits, policy);
  // Measured were weights that had been transformed before.
  const bool is_other = policy.low_memory && is_winograd(policy.tuned);
  if (!policy.force.set && !is_other)
    for (const ConvCandidate& c : all.list)
      if (c.algorithm == policy.tuned && is_unasked(c, policy)) return c.algorithm;
  const ConvCandidate* best = nullptr;
  for (const ConvCandidate& c : all.list) {
    const bool asked = is_asked(c, policy), best_asked = best && policy.force.allows(best->algorithm);
    if (!asked && (best_asked || !is_unasked(c, policy))) continue;
    if (!best || (asked && !best_asked) || beats(c, *best, policy.byte_price)) best = &c;
  }
  return best ? best->algorithm : ConvAlgorithm::kImplicit;
}

ConvAlgorithm choose_conv_algorithm(const ConvProblem& p) { return choose_conv_algorithm(p, Isa::kAvx512, {}); }

size_t print_candidates(const ConvProblem& p, ConvAlgorithm chosen, Isa isa, const GemmLimits& limits,
                        const ConvPolicy& policy, std::span<char> out) {
  const ConvCandidates all = conv_candidates(p, isa, limits, policy);
  const ConvCandidate* taken = nullptr;
  for (const ConvCandidate& c : all.list)
    if (c.algorithm == chosen) taken = &c;
  const auto verdict = [&](const ConvCandidate& c) -> std::string_view {
    if (&c == taken) return " (chosen)";
    if (!c.allowed) return " (too inexact)";
    if (!taken || c.cycles >= taken->cycles) return "";
    if (!is_left(c.algorithm, policy)) return policy.is_phase ? " (not by phases)" : " (too much memory)";
    if (!c.modest || !beats(c, *taken, 0)) return " (not worth its error)";
    return beats(c, *taken, policy.byte_price) ? "" : " (not worth its memory)";
  };
  return print_list<ConvCandidate>(all.list, verdict, out);
}

}  // namespace mica
