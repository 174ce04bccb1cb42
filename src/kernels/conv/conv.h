// Convolution over up to three spatial axes, fp32, channels innermost:
//
//   y[image, o, n] = epilogue(Σ over taps t and channels c of x[image, o·stride - pad + t·dilation, c] · w[t, c, n])
//
// where pixels outside the input are zero. A 2-D problem has depth 1, a 1-D one height 1 as well. Every operand has
// strides of its own for pixels, rows, depths and images, so that a slice of channels or a padded pitch costs nothing.
//
// The work is a number of tasks in any order; each output is one chain of multiply-adds in an order that the algorithm
// alone decides, so that neither the split nor the blocking changes a bit of it.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <string_view>

#include "base/parts.h"
#include "kernels/gemm/algorithm.h"
#include "kernels/pack/pack.h"

namespace mica {

// Floats from one image, depth, row, pixel or channel to the next. Channels are adjacent, but for two cases: kImplicit
// reads an input of few channels whose pixels are adjacent (`reads_planes`), kFilter writes such, too.
struct ConvView {
  int64_t image = 0, depth = 0, row = 0, pixel = 0, channel = 1;
};

// What the input's elements are: floats, or bytes of a picture, each of which becomes byte · scale + shift when it is
// read; what lies outside of the picture is zero all the same.
enum class PixelType : uint8_t { kFloat, kU8, kI8 };
inline constexpr bool kWithPixels = has_part("operator", "pixel_conv");

// Axes are depth, height, width.
struct ConvProblem {
  int64_t images = 1, groups = 1, in_channels = 1, out_channels = 1;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
  int64_t pad[3] = {0, 0, 0};  // before the first pixel; what lies after the last follows from `out`. May be negative
  ConvView in_view, out_view, residual_view;
  bool has_residual = false;
  PixelType pixels = PixelType::kFloat;
  bool residual_in_place = false;  // the residual is y itself: only kPointwise and kImplicit read it before they write
};

// Whether kImplicit reads the input as planes: its pixels are adjacent, its channels are not, or there is one.
bool reads_planes(const ConvProblem& problem);

// Whether kImplicit makes each output row by itself, whose pixels are read where they lie.
bool reads_in_place(const ConvProblem& problem, int64_t tile_rows);
// Whether kImplicit copies the rows under some lines of a convolution in groups into a band (conv/banded.inl), and how
// many pixels such a row has.
bool reads_bands(const ConvProblem& problem, const GemmLimits& limits);
int64_t band_columns(const ConvProblem& problem);
// The rows of its tiles where the set's highest ones have `highest`: of columns that end in half a panel, those that
// take it together with a whole one.
int banded_tile_rows(const ConvProblem& problem, Isa isa, int highest);
inline constexpr int64_t kMostPlanes = 8;
inline constexpr int64_t kMostPlaneSteps = 1024;  // of k: the offsets of all stay in the first-level cache
inline bool has_pixels(const ConvProblem& problem) { return kWithPixels && problem.pixels != PixelType::kFloat; }
// Whether kImplicit, and it alone, reads the bytes of a picture.
bool reads_pixels(const ConvProblem& problem);
inline constexpr int64_t kMostPixelLanes = 16;  // of a vector, on any instruction set
inline constexpr int kMostPlaneRows = 28;       // pixels of a tile of such an input, on any instruction set

inline constexpr int kMostGroupedTile = 7;  // outputs that kGrouped makes at a time, on any instruction set
// A view without gaps whose pixels are `pixel` floats apart.
ConvView dense_view(const int64_t (&extent)[3], int64_t pixel);

enum class ConvAlgorithm : uint8_t {
  kAuto,
  kPointwise,  // one tap, no gaps: the matrix product of all pixels; weights in panels
  kImplicit,   // rows of the product are gathered from the input; any problem; weights in panels, group after group
  kDepthwise,  // groups = in_channels = out_channels; panels of taps
  kGrouped,    // groups of at most 32 input channels (pack/pack.h); not kDepthwise's
  kSpread,     // few output channels: the taps of a kernel row side by side in a panel; width stride 1, one group
  kFilter,     // from planes to planes, width stride 1: pixels are lanes; weights in kImplicit's order of steps
  kStrassen,   // kPointwise by Strassen's algorithm (gemm/strassen.h); weights made from panels
  kPaired,     // kPointwise by products of terms in pairs (gemm/paired.h); weights made from panels
  kWinograd4,  // stride 1, one depth, 4, 6 or 8 points on each axis that has taps; weights transformed
  kWinograd6,  // (conv/winograd.h)
  kWinograd8,
};
// Whether a task makes whole rows, so that it can tell their means (ConvArgs::row_means).
inline constexpr bool kWithRowMeans = has_part("means", "rows");
inline bool makes_row_means(ConvAlgorithm a) {
  return kWithRowMeans && (a == ConvAlgorithm::kDepthwise || a == ConvAlgorithm::kGrouped);
}
std::string_view name_of(ConvAlgorithm algorithm);

// What a trimmed build may leave out (cmake/MicaTrim.cmake): it is then never chosen.
inline constexpr bool kWithWinograd =
    has_part_like("kernel", "conv_f32_winograd") || has_part_like("kernel", "conv_transpose_f32_winograd");
inline constexpr bool kWithDepthwise = has_part_like("kernel", "conv_f32_depthwise");
inline constexpr bool kWithGrouped = has_part_like("kernel", "conv_f32_grouped");
inline constexpr bool kWithGather = has_part("kernel", "conv_gather_f32");
inline constexpr bool kWithSpread = has_part_like("kernel", "conv_f32_spread");
inline constexpr bool kWithFilter = has_part_like("kernel", "conv_f32_filter");
inline constexpr bool kWithTapsApart = has_part("taps", "apart");    // ConvChoice::by_taps, phases of kDepthwise
inline constexpr bool kWithWideGroups = has_part("groups", "wide");  // ConvChoice::banded
inline bool is_winograd(ConvAlgorithm a) { return kWithWinograd && a >= ConvAlgorithm::kWinograd4; }
// Inputs that are read as planes, by the stride along rows: 1, 2, and any other.
inline constexpr bool kWithPlanes[] = {has_part("planes", "0"), has_part("planes", "1"), has_part("planes", "2")};
inline constexpr bool kWithPlaneHalves = has_part("planes", "halves");  // columns as ends_in_half_panel says
constexpr bool with_planes(int64_t stride) { return kWithPlanes[stride == 1 || stride == 2 ? stride : 0]; }

// Two panels at a time, the last two lack half of one or more.
constexpr bool ends_in_half_panel(int64_t columns) { return (columns - 1) % (2 * kPanel) / (kPanel / 2) == 2; }

// Algorithms that are taken wherever they fit, by name: "pointwise", "implicit", "depthwise", "grouped", "spread",
// "filter", "strassen", "paired", "winograd4", "winograd6", "winograd8", or "winograd" for the best of the three. Empty
// or unknown: none.
struct ConvForce {
  uint32_t set = 0;
  bool allows(ConvAlgorithm a) const { return set >> static_cast<int>(a) & 1; }
};
ConvForce conv_force(std::string_view name);

// The algorithm of this name; kAuto when there is none.
ConvAlgorithm conv_algorithm(std::string_view name);

struct ConvPolicy {
  ConvForce force;
  bool low_memory = false;  // no weights that take more room than the plain ones
  double byte_price = 0;    // cycles that a byte of the weights' form has to save
  bool is_phase = false;    // of a transposed convolution: only algorithms that its phases take
  bool from_panels = true;  // the weights are constant: they can be made from panels
  // Winograd's weights are transformed on the way.
  bool on_the_way() const { return low_memory && from_panels && !is_phase; }
  // Measured to be the fastest: taken when it fits and is one that could be taken unasked, unless something is forced.
  ConvAlgorithm tuned = ConvAlgorithm::kAuto;
};

struct ConvChoice {
  ConvAlgorithm algorithm = ConvAlgorithm::kImplicit;
  GemmChoice gemm;          // kPointwise, kPaired, kStrassen's products, and kImplicit when `gathered`
  StrassenChoice strassen;  // kStrassen
  // kPaired by_rows: each output line is a product of its own.
  // kImplicit: a tile is up to tile_rows output pixels, of one row when by_rows, else of the batch in a line. Its part
  // of the input is read in place where it lies inside, and gathered where not: `segments` runs of segment_k floats for
  // each pixel. `by_taps`: not gathered, but multiplied tap by tap for the pixels that find it inside.
  // With `planes`, and kFilter, tile_block counts output lines, of which band_rows have their input rows copied at a
  // time; segment_k counts the floats of a run of such a row. `gathered`: the rows of all pixels have been gathered
  // before (ConvKernels::gather), row_pitch floats apart, by gather_tasks tasks of tile_block pixels; the product is
  // then a plain one.
  bool by_rows = false, by_taps = false, planes = false, gathered = false, banded = false;
  int64_t row_pitch = 0, gather_tasks = 0;
  int tile_rows = 1;
  int64_t segments = 1, segment_k = 1, block_segments = 1;
  int64_t tiles = 0, tiles_per_row = 0, tile_block = 0;  // tiles in all, in an output row, in a task
  int64_t n_block = 0, n_group = 0;                      // panels of a task, panels that stay in cache
  bool half_units = false;                               // as GemmLimits, for kImplicit
  bool fetch_weights = false;                            // those of the next n_group panels, which do not stay in cache
  // kDepthwise: equal parts of the output rows, channels of a task, and channels that rows pass by at a time. Winograd:
  // tile_block counts its tiles, n_block its panels; channel_block the channels whose weights are transformed at a
  // time, of n_group panels, where that happens on the way.
  int64_t row_tasks = 0, channel_block = 0, channel_pass = 0;
  bool depths_first = false;  // kDepthwise: rows count through the depths of an image first
  // kGrouped: output rows and channels of a task; output rows made from one copy of their input, whose rows have so
  // many pixels. kSpread: row_block too, and output pixels of a row that are made at a time.
  int64_t row_block = 0, band_rows = 0, band_columns = 0;
  // kImplicit when `banded`: output lines of a task and of a band, as of kGrouped; channel_block and channel_pass count
  // groups; floats from one group of a band to the next.
  int64_t group_pitch = 0;
  int64_t tasks = 0;
  int64_t scratch_floats = 0;  // for each worker, 64-byte aligned
};

// Floats from one gathered row of so many to the next: an odd number of lines keeps the rows of a tile from falling on
// the same sets.
inline int64_t row_pitch(int64_t depth) { return (depth + 31) / 32 * 32 + 16; }

// What kFilter computes of each group, as a problem of its own.
ConvProblem problem_of_group(const ConvProblem& problem);

// kPointwise as a product of matrices.
GemmProblem pointwise_product(const ConvProblem& problem);

// Whether the algorithm can compute the problem at all.
bool conv_fits(const ConvProblem& problem, ConvAlgorithm algorithm);

// The cheapest allowed candidate (conv/cost.h). Pure. It decides how the weights are packed.
ConvAlgorithm choose_conv_algorithm(const ConvProblem& problem, Isa isa, const GemmLimits& limits,
                                    const ConvPolicy& policy = {});
// From the problem alone, for a machine of 16 lanes with a second-level cache of 1 MiB: where the machine is not known
// or must not matter.
ConvAlgorithm choose_conv_algorithm(const ConvProblem& problem);

// The same sums along fewer axes, for kImplicit and kDepthwise: a picture of one column is a line, and to kImplicit a
// kernel across whole rows has one column of all the row's channels. Steps of k keep their order, weights their packed
// form.
ConvProblem as_line(const ConvProblem& problem, ConvAlgorithm algorithm);

// Pure. `algorithm` must fit. `on_the_way`: Winograd's weights are transformed where they are needed, from the panels
// of kImplicit; the bits are the same.
ConvChoice choose_conv(const ConvProblem& problem, ConvAlgorithm algorithm, Isa isa, const GemmLimits& limits,
                       bool on_the_way = false);

// kImplicit with its rows gathered before, where that pays: few pixels against weights that come from beyond the
// second-level cache, whose way a plain product hides. Else `choice` stays.
void choose_gathered(const ConvProblem& problem, Isa isa, const GemmLimits& limits, ConvChoice& choice);

inline bool is_on_the_way(const ConvChoice& c) { return is_winograd(c.algorithm) && c.channel_block > 0; }

// "implicit 56x56x64 -> 56x56x64 k=3x3 ... tasks=8 scratch=32256"; returns the length, writes at most size.
size_t print(const ConvProblem& problem, const ConvChoice& choice, char* out, size_t size);

// What a measured choice is kept by: the sizes, as one word, "1x1x56x56x64:1x56x56x64:k1x3x3:s1x1x1:d1x1x1:p0x1x1:g1".
// Strides have no part in it: where they stand against an algorithm, it does not fit. As print otherwise.
inline constexpr size_t kConvKeySize = 256;  // holds every problem whose numbers have at most nine digits
size_t print_key(const ConvProblem& problem, char* out, size_t size);

struct WinogradWeights;  // kernels/conv/winograd.h
using WinogradWeightsFn = void (*)(const WinogradWeights& weights);

// Weights w[out_channels][in_channels / groups][kernel...], dense, into the form that the algorithm reads. `transform`:
// an instruction set's, for Winograd's; null: the portable one, with the same bits. kStrassen's and kPaired's are
// made from kImplicit's by strassen_weights and paired_weights.
int64_t packed_conv_size(const ConvProblem& problem, ConvAlgorithm algorithm);
void pack_conv(const ConvProblem& problem, ConvAlgorithm algorithm, const float* weights, float* packed,
               WinogradWeightsFn transform = nullptr);
// Not for Winograd's, kSpread's, kFilter's, kStrassen's and kPaired's.
void unpack_conv(const ConvProblem& problem, ConvAlgorithm algorithm, const float* packed, float* weights);

GroupedShape grouped_shape(const ConvProblem& problem);
// How kGrouped stands in its band of input rows, on any instruction set.
struct GroupedLayout {
  int64_t diagonals;  // sums of an output
  int64_t unit;       // output channels of a band
  int64_t blocks;     // vectors of an input pixel that an output reads for each tap and sum
  int64_t versions;   // how often the band has a pixel, with its channels in different orders: one for each block, or 4
  int64_t steps, band;  // in floats, of a worker's scratch: two pointers for each kernel row; an offset for each tap of
                        // a row and block; the band
};
GroupedLayout grouped_layout(const ConvProblem& problem);

struct ConvArgs {
  ConvProblem problem;
  ConvChoice choice;
  const float* x = nullptr;
  const uint8_t* pixels = nullptr;  // instead of x, with numbers for each channel
  float scale[kMostPlanes] = {}, shift[kMostPlanes] = {};
  const float* w = nullptr;  // packed
  float* y = nullptr;
  GemmEpilogue epilogue;  // residual_stride is taken from problem.residual_view
  // For algorithms with makes_row_means, or null: out_channels means of each row of y as it is stored, row after row of
  // the batch.
  float* row_means = nullptr;
};

struct ConvKernels {
  // Tasks task_begin to task_end; `scratch` holds choice.scratch_floats.
  void (*run)(const ConvArgs& args, int64_t task_begin, int64_t task_end, float* scratch);
  // Tasks of choice.gather_tasks: rows of the product of args.x to `rows`, from which `run` then computes; x is theirs.
  void (*gather)(const ConvArgs& args, int64_t task_begin, int64_t task_end, float* rows, float* scratch);
  WinogradWeightsFn winograd_weights;
};
const ConvKernels& conv_kernels(Isa isa);

}  // namespace mica
