#include "kernels/conv/conv.h"

#include <iterator>

#include "base/isa.h"
#include "kernels/conv/winograd.h"
#include "kernels/pack/pack.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                \
  namespace set {                        \
  extern const ConvKernels conv_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const ConvKernels& conv_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::conv_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::conv_kernels;
}

namespace {
constexpr std::string_view kNames[] = {"auto",   "pointwise", "implicit", "depthwise", "grouped",   "spread",
                                       "filter", "strassen",  "paired",   "winograd4", "winograd6", "winograd8"};
constexpr uint32_t kWinogradSet = 7u << static_cast<int>(ConvAlgorithm::kWinograd4);
}  // namespace

std::string_view name_of(ConvAlgorithm algorithm) { return kNames[static_cast<int>(algorithm)]; }

ConvAlgorithm conv_algorithm(std::string_view name) {
  for (size_t i = 1; i < std::size(kNames); ++i)
    if (name == kNames[i]) return static_cast<ConvAlgorithm>(i);
  return ConvAlgorithm::kAuto;
}

ConvForce conv_force(std::string_view name) {
  if (name == "winograd") return {kWinogradSet};
  const ConvAlgorithm algorithm = conv_algorithm(name);
  return {algorithm == ConvAlgorithm::kAuto ? 0 : 1u << static_cast<int>(algorithm)};
}

ConvView dense_view(const int64_t (&extent)[3], int64_t pixel) {
  const int64_t row = extent[2] * pixel, depth = extent[1] * row;
  return {.image = extent[0] * depth, .depth = depth, .row = row, .pixel = pixel};
}

GroupedShape grouped_shape(const ConvProblem& p) {
  return {p.out_channels, p.in_channels / p.groups, p.out_channels / p.groups, p.kernel[0] * p.kernel[1] * p.kernel[2]};
}

GroupedLayout grouped_layout(const ConvProblem& p) {
  const GroupedShape s = grouped_shape(p);
  const int64_t diagonals = grouped_diagonals(s), blocks = s.inputs / diagonals;
  GroupedLayout l{.diagonals = diagonals,
                  .unit = diagonals > 1 && s.inputs > kPanel ? s.inputs : kPanel,
                  .blocks = blocks,
                  .versions = diagonals > 1 && blocks > 4 ? 4 : blocks,
                  .steps = p.kernel[0] * p.kernel[1] * 4};
  l.band = (l.steps + p.kernel[2] * blocks * 2 + 15) / 16 * 16;
  return l;
}

namespace {

// The weights of one group as a matrix: rows are taps, then channels; columns are output channels.
PanelSource group_source(const ConvProblem& p, const float* weights, int64_t group) {
  const int64_t channels = p.in_channels / p.groups, out = p.out_channels / p.groups;
  const int64_t row = p.kernel[2], plane = p.kernel[1] * row, taps = p.kernel[0] * plane;
  return {.data = weights + group * out * channels * taps,
          .n = out,
          .n_stride = channels * taps,
          .k = {p.kernel[0], p.kernel[1], p.kernel[2], channels},
          .k_stride = {plane, row, 1, taps}};
}

PanelSource taps_source(const ConvProblem& p, const float* weights) {
  const int64_t row = p.kernel[2], plane = p.kernel[1] * row;
  return {.data = weights,
          .n = p.out_channels,
          .n_stride = p.kernel[0] * plane,
          .k = {1, p.kernel[0], p.kernel[1], p.kernel[2]},
          .k_stride = {0, plane, row, 1}};
}

// Rows are kernel rows, then channels; columns are the taps of a kernel row, for each its output channels.
int64_t spread_depth(const ConvProblem& p) { return p.kernel[1] * p.in_channels; }
void pack_spread(const ConvProblem& p, const float* weights, float* packed) {
  const int64_t depth = spread_depth(p), columns = p.kernel[2] * p.out_channels, taps = p.kernel[1] * p.kernel[2];
  for (int64_t panel = 0; panel < panel_count(columns); ++panel)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t j = 0; j < kPanel; ++j, ++packed) {
        const int64_t column = panel * kPanel + j, tap = k / p.in_channels * p.kernel[2] + column / p.out_channels;
        const int64_t filter = column % p.out_channels * p.in_channels + k % p.in_channels;
        *packed = column < columns ? weights[filter * taps + tap] : 0.0f;
      }
}

// For each output channel the numbers of its steps: taps, then channels.
void pack_filter(const ConvProblem& p, const float* weights, float* packed) {
  const int64_t channels = p.in_channels / p.groups, taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
  for (int64_t n = 0; n < p.out_channels; ++n, weights += channels * taps)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < channels; ++c) *packed++ = weights[c * taps + tap];
}

int64_t group_size(const ConvProblem& p) {
  return panels_size(p.kernel[0] * p.kernel[1] * p.kernel[2] * (p.in_channels / p.groups), p.out_channels / p.groups);
}

}  // namespace

int64_t packed_conv_size(const ConvProblem& p, ConvAlgorithm algorithm) {
  if (algorithm == ConvAlgorithm::kDepthwise)
    return panels_size(p.kernel[0] * p.kernel[1] * p.kernel[2], p.out_channels);
  if (algorithm == ConvAlgorithm::kGrouped) return grouped_size(grouped_shape(p));
  if (algorithm == ConvAlgorithm::kSpread) return panels_size(spread_depth(p), p.kernel[2] * p.out_channels);
  if (kWithFilter && algorithm == ConvAlgorithm::kFilter)
    return p.out_channels * (p.in_channels / p.groups) * p.kernel[0] * p.kernel[1] * p.kernel[2];
  if (kWithStrassen && algorithm == ConvAlgorithm::kStrassen) return strassen_weights_size(pointwise_product(p));
  if (kWithPaired && algorithm == ConvAlgorithm::kPaired) return paired_weights_size(pointwise_product(p));
  if (is_winograd(algorithm)) return winograd_size(p, algorithm);
  return p.groups * group_size(p);
}

void pack_conv(const ConvProblem& p, ConvAlgorithm algorithm, const float* weights, float* packed,
               WinogradWeightsFn transform) {
  if (algorithm == ConvAlgorithm::kDepthwise) return pack_panels(taps_source(p, weights), packed);
  if (algorithm == ConvAlgorithm::kGrouped) return pack_grouped(grouped_shape(p), weights, packed);
  if (algorithm == ConvAlgorithm::kSpread) return pack_spread(p, weights, packed);
  if (kWithFilter && algorithm == ConvAlgorithm::kFilter) return pack_filter(p, weights, packed);
  if (is_winograd(algorithm)) {
    if (!transform) transform = conv_kernels(Isa::kPortable).winograd_weights;
    const int64_t size = winograd_size(p, algorithm) / p.groups;
    for (int64_t g = 0; g < p.groups; ++g)
      pack_winograd(p, algorithm, group_source(p, weights, g), packed + g * size, transform);
    return;
  }
  for (int64_t g = 0; g < p.groups; ++g) pack_panels(group_source(p, weights, g), packed + g * group_size(p));
}

void unpack_conv(const ConvProblem& p, ConvAlgorithm algorithm, const float* packed, float* weights) {
  if (algorithm == ConvAlgorithm::kDepthwise) return unpack_panels(packed, taps_source(p, weights));
  if (algorithm == ConvAlgorithm::kGrouped) return unpack_grouped(grouped_shape(p), packed, weights);
  for (int64_t g = 0; g < p.groups; ++g) unpack_panels(packed + g * group_size(p), group_source(p, weights, g));
}

}  // namespace mica
