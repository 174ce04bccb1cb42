// Transposed convolution as plain convolutions. Output pixels are sorted by their remainder modulo the stride: those of
// one remainder r, at o = j·stride + r, take the taps k with k·dilation ≡ r + pad, at input pixels that move by one
// with j. Each such phase is a convolution of stride 1 with a part of the taps, in reverse, that writes every stride-th
// pixel; no product with a zero is computed and nothing is added up in memory.
//
//   y[image, o, n] = epilogue(Σ over taps k and input pixels i with o = i·stride - pad + k·dilation of x[image, i, c] ·
//   w[c, n, k])
#pragma once
#include "kernels/conv/conv.h"

namespace mica {

inline constexpr int64_t kMostTransformedPhases = 16;  // with Winograd's algorithm: a stride of 4 on two axes

struct ConvTransposeProblem {
  int64_t images = 1, groups = 1, in_channels = 1, out_channels = 1;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1};  // `out` may reach beyond what taps write (output padding)
  int64_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
  int64_t pad[3] = {0, 0, 0};
  ConvView in_view, out_view, residual_view;
  bool has_residual = false;
  // Of each phase: one of Winograd's, where it takes that, else kAuto.
  ConvAlgorithm transform[kMostTransformedPhases] = {};
};

struct ConvPhase {
  ConvProblem problem;
  ConvAlgorithm algorithm = ConvAlgorithm::kImplicit;
  int64_t packed_at = 0;              // where its weights begin in the packed ones
  int64_t y_at = 0, residual_at = 0;  // where its first pixel lies
};

// Phases in all: the product of the strides. Phases without pixels have problems without tasks.
int64_t conv_phase_count(const ConvTransposeProblem& problem);
ConvPhase conv_phase(const ConvTransposeProblem& problem, int64_t index);

// Chooses each phase's transform, by the cost of a convolution of its sizes. To be asked before the weights are packed.
void choose_transforms(ConvTransposeProblem& problem, Isa isa, const GemmLimits& limits, const ConvPolicy& policy);

// Weights w[in_channels][out_channels / groups][kernel...], dense, into all phases' forms, one after the other. Every
// tap belongs to one phase, so that the size without transforms is that of the plain form. `kernel`: an instruction
// set's, for Winograd's; null: the portable one, with the same bits.
int64_t packed_conv_transpose_size(const ConvTransposeProblem& problem);
void pack_conv_transpose(const ConvTransposeProblem& problem, const float* weights, float* packed,
                         WinogradWeightsFn kernel = nullptr);
// Not where phases are transformed.
void unpack_conv_transpose(const ConvTransposeProblem& problem, const float* packed, float* weights);

// The arguments of one phase, with its choice made; x, packed, y and the residual are those of the whole.
ConvArgs conv_phase_args(const ConvTransposeProblem& problem, const ConvArgs& whole, int64_t index, Isa isa,
                         const GemmLimits& limits);

// Tasks of several convolutions, numbered one after the other; `scratch` is as large as the largest need.
void run_phases(const ConvKernels& kernels, const ConvArgs* phases, int64_t count, int64_t task_begin, int64_t task_end,
                float* scratch);

}  // namespace mica
