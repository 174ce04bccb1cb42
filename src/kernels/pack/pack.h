// Packed forms of constant fp32 operands. A form depends on the operand's numbers only, not on the machine: the same
// bytes serve every instruction set, so that they can be stored in a file and used where they are mapped.
//
// Panels (kPanels16): the K x N matrix B is cut into panels of 16 columns, the last one filled with zeros; a panel is K
// rows of 16 floats. A tile of the product reads one or more panels downwards, 64 bytes of each per step. Depthwise
// (kDepthwise16): the taps x channels of all groups as one such matrix, so that channels side by side read on. Winograd
// (kWinograd): K x N matrices in panels, one for each point, the weights transformed; see kernels/conv/winograd.h.
// Grouped (kGrouped16), of convolutions whose groups have few input channels: 16 output channels side by side; for each
// tap and each input of a group the weights for output m at channel m. Where groups have G input and G output channels,
// G a power of two from 2 to 32, by diagonals instead: for each tap, each b < G / 4 and each d < 4 (G = 2: d < 2) the
// weights of input m ^ 4b for output m ^ d.
// Spread (kSpread16): panels whose columns are the taps of a kernel row, for each its output channels. Strassen
// (kStrassen16): seven matrices of sums of quarters of B in panels; see kernels/gemm/strassen.h. Filters (kFilter): for
// each output channel its taps, for each of these its input channels. Pairs (kPaired16): panels of scaled columns, each
// behind two lines of numbers of these; see kernels/gemm/paired.h.
//
// Every form but Winograd's, the spread, Strassen's, filters and pairs can be undone.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace mica {

inline constexpr int kPanel = 16;

// Packing ids as files name them; never renumbered.
enum class PackKind : uint32_t {
  kPlain = 0,
  kPanels16 = 1,
  kWinograd = 3,
  kGrouped16 = 4,
  kSpread16 = 5,
  kStrassen16 = 6,
  kDepthwise16 = 7,  // 2 was another form of the same weights
  kFilter = 8,
  kPaired16 = 9
};

// A matrix K x N in somebody's memory, in elements. K runs over up to four nested counters (outermost first; unused
// ones are 1), so that convolution weights in any order of axes are one such matrix: K = depth, height, width, input
// channel.
struct PanelSource {
  const float* data = nullptr;
  int64_t n = 0, n_stride = 0;
  int64_t k[4] = {1, 1, 1, 1};
  int64_t k_stride[4] = {0, 0, 0, 0};
};

inline int64_t panel_count(int64_t n) { return (n + kPanel - 1) / kPanel; }
inline int64_t k_of(const PanelSource& s) { return s.k[0] * s.k[1] * s.k[2] * s.k[3]; }

// Floats that pack_panels writes: 16 · k · panels.
inline int64_t panels_size(int64_t k, int64_t n) { return panel_count(n) * k * kPanel; }
void pack_panels(const PanelSource& source, float* packed);
// Writes the matrix back through the source's strides (`data` is written to).
void unpack_panels(const float* packed, const PanelSource& target);

inline constexpr int kMostGroupWidth = 32;
// Plain weights w[channels][inputs][taps] of groups of so many input and output channels.
struct GroupedShape {
  int64_t channels, inputs, outputs, taps;
};
// How many sums the kernel keeps of an output: those of input m and output m ^ d, or one.
int64_t grouped_diagonals(const GroupedShape& shape);
// One group of all channels is only where it has diagonals; groups of one and one are the depthwise form's.
bool has_grouped_form(const GroupedShape& shape);
inline int64_t grouped_size(const GroupedShape& s) { return panel_count(s.channels) * s.taps * s.inputs * kPanel; }
void pack_grouped(const GroupedShape& shape, const float* plain, float* packed);
void unpack_grouped(const GroupedShape& shape, const float* packed, float* plain);

}  // namespace mica
