// Winograd's minimal filtering (Lavin and Gray, arXiv:1509.09308): m outputs of r taps from m + r - 1 products on each
// axis, instead of m · r,
//
//   Y = Aᵀ [ (G g Gᵀ) ⊙ (Bᵀ d B) ] A.
//
// A form is the number of points on each axis; the taps give the tile. Two axes of equal taps, or one axis (1 x k and
// k x 1, the latter with the axes exchanged). Dilated convolutions fall apart into dilation² plain ones on every
// dilation-th pixel; groups stand side by side. Taps along a third axis are left as they are: the planes under them
// stand side by side like channels, so that one product sums over both.
//
// With stride 2, the even and the odd taps of an axis are two plain filters, of the even and of the odd pixels, whose
// results are summed: their pixels stand side by side like channels, too. Of an odd number of taps, the odd filter is
// one tap shorter. It has no part in the last point, which is the coefficient of the highest power, so that 3x3 taps
// take 121 products for 25 outputs with 6 points, 49 for 9 with 4, instead of 225 and 81. More taps on one axis alone
// than tiles exist for fall apart into filters of three (of two), one behind the other: 9 taps take 4.5 products for an
// output with 6 points.
//
// A NaN or an infinity reaches all outputs of the tiles that read it.
#pragma once
#include <stdint.h>

#include "kernels/conv/conv.h"
#include "kernels/conv/winograd_points.h"
#include "kernels/pack/pack.h"

namespace mica {

// The problem as the algorithm sees it. Axis 1 is the one with taps when only one has some.
struct WinogradPlane {
  bool fits = false;
  int from[2] = {1, 2}, outer = 0;  // of the problem's axes: those of the plane, and the third one
  int points[2] = {1, 1};           // 1 on an axis without taps
  int taps[2] = {1, 1};             // of a filter: with stride 2, of the even taps
  int filters[2] = {1, 1};          // that the taps are split into
  int between[2] = {1, 1};          // taps from the first one of a filter to that of the next
  int missing[2] = {};              // so many taps fewer has the last filter
  int tile[2] = {1, 1};             // outputs of a tile
  int64_t in[2] = {}, out[2] = {};  // pixels
  int64_t pad[2] = {}, dilation[2] = {1, 1}, stride[2] = {1, 1};     // one of the latter is 1
  int64_t in_step[2] = {}, out_step[2] = {}, residual_step[2] = {};  // floats from pixel to pixel
  int64_t tiles[2] = {};                                             // of one phase of the dilation
  int64_t planes = 1, outer_taps = 1;                                // outputs and taps of the third axis

  // Always inlined: a copy outside the sets' namespaces could be another set's.
  // What stands side by side for each channel: pairs of filters, taps of the third axis.
  __attribute__((always_inline)) int64_t slices() const { return outer_taps * filters[0] * filters[1]; }
  // Channels x outputs, of all points: for each slice those in which both of its filters have a part.
  __attribute__((always_inline)) int64_t matrices() const {
    return outer_taps * (points[0] * filters[0] - (missing[0] > 0)) * (points[1] * filters[1] - (missing[1] > 0));
  }
  int64_t all_points() const { return points[0] * points[1]; }
  int64_t all_tiles() const { return planes * tiles[0] * tiles[1] * dilation[0] * dilation[1]; }  // of one image
};
WinogradPlane winograd_plane(const ConvProblem& problem, ConvAlgorithm algorithm);

// A pair of filters and a tap of the third axis.
struct WinogradSlice {
  int filter[2];
  int64_t outer;
};
WinogradSlice winograd_slice(const WinogradPlane& plane, int64_t slice);

// The slices that have a part in a point. They stand so that these are neighbours.
struct WinogradRange {
  int64_t first, count;
};
WinogradRange winograd_range(const WinogradPlane& plane, int point);

// Floats from one place to the next along one of the problem's axes.
inline __attribute__((always_inline)) int64_t step_of(const ConvView& v, int axis) {
  return axis == 0 ? v.depth : axis == 1 ? v.row : v.pixel;
}

// Channels of one panel of a filter, as w[tap][channel][16], to u[point][channel][16].
struct WinogradWeights {
  int points[2] = {}, taps[2] = {};
  int missing[2] = {};  // lacks so many last taps of this axis; then it has no part in the last point
  const float* from = nullptr;
  int64_t tap_step[2] = {};             // floats from tap to tap
  int64_t panel_step = 0;               // to the same channels of the next panel
  float* to[kMostWinogradSquare] = {};  // at each point; null where it has no part
  int64_t channels = 1;
};

// The floats from a tile's transformed input at a point to the next tile's: so many channels for each slice; the last
// ones may come with the rest of their panel. Rows a multiple of 1 KiB apart would share few sets of the first-level
// cache.
inline int64_t winograd_row(const WinogradPlane& plane, int64_t channels) {
  const int64_t panels = panel_count((plane.slices() - 1) * channels + panel_count(channels) * kPanel);
  return (panels % 16 == 0 ? panels + 1 : panels) * kPanel;
}

// Products of so many channels that are summed at a point, in the mean of all points.
inline int64_t winograd_depth(const WinogradPlane& plane, int64_t channels) {
  return plane.matrices() * channels / plane.all_points();
}

// How many tiles of a group a task takes: their transformed inputs and products stay in four tenths of the second-level
// cache, while the weights pass through the rest. Fewer and larger blocks where weights far larger than that cache, or
// weights that each block transforms, would cost more so often than tiles from the next cache.
struct WinogradWork {
  int64_t tiles;                  // of all images
  int64_t channels, out_columns;  // of a group, the latter in whole panels
  int64_t tasks;                  // at least, where the tiles are enough for it
  bool on_the_way = false;        // weights are transformed on the way
};
int64_t winograd_block(const WinogradPlane& plane, const WinogradWork& work, Isa isa, const GemmLimits& limits);

// The cycles of a block's products of all points, with its weights' transform where that happens on the way.
double winograd_block_cycles(const WinogradPlane& plane, const WinogradWork& work, int64_t tiles, Isa isa,
                             const GemmLimits& limits);

// Weights that are transformed on the way are so a few panels at a time, and as many channels as keep three tenths of
// the second-level cache, in equal parts.
inline constexpr int64_t kPanelsOnTheWay = 2;  // the most that a tile of all rows takes
int64_t winograd_channels(const WinogradPlane& plane, int64_t channels, const GemmLimits& limits);

// Weights of all groups: for each, matrices c x n, each in panels of 16: u[point][panel][c][16], c through the point's
// slices and channels. To the same bits on every instruction set. The plane must fit.
int64_t winograd_size(const ConvProblem& problem, ConvAlgorithm algorithm);
// This one makes those of one group, from weights that stand anywhere.
void pack_winograd(const ConvProblem& problem, ConvAlgorithm algorithm, const PanelSource& weights, float* u,
                   WinogradWeightsFn kernel);
// All groups' from weights in panels (the form of kImplicit), in parts: panels first to last - 1 of those of all
// groups. `kernel` is an instruction set's ConvKernels::winograd_weights.
int64_t winograd_panels(const ConvProblem& problem);
void transform_panels(const ConvProblem& problem, ConvAlgorithm algorithm, WinogradWeightsFn kernel,
                      const float* panels, float* u, int64_t first, int64_t last);

// Aims at the taps of a slice, of one of those panels; where they go stays.
void aim_taps(const WinogradPlane& plane, const ConvProblem& problem, int64_t slice, const float* panels, int64_t panel,
              WinogradWeights& taps);

// The standard deviation of an output's error, relative to that of the output, for inputs and weights that are
// independent and of mean 0, with chains of `length` products. The model: every rounding is an independent error of
// variance u²/3 of its result's square, u = 2^-24. A chain of n additions of equal terms then has the variance n ·
// u²/6; five roundings more stand for the transforms, one of them for the weights'. A product at point i has the
// variance b_i² g_i² (the squared lengths of the rows of Bᵀ and G) of a plain one, and reaches output k times A_ki².
double winograd_error(const WinogradPlane& plane, int64_t length);

}  // namespace mica
