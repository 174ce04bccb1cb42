#include "kernels/conv/transpose.h"

#include "base/isa.h"
#include "kernels/conv/winograd.h"
#include "kernels/pack/pack.h"

namespace mica {
namespace {

// One axis of a phase: output pixels stride·j + remainder, taps first + step·m.
struct Axis {
  int64_t remainder, out;      // of the output
  int64_t first, step, count;  // of the taps; count 0: none reaches these pixels
  int64_t dilation, pad;       // of the plain convolution with reversed taps
};

int64_t greatest_divisor(int64_t a, int64_t b) { return b == 0 ? a : greatest_divisor(b, a % b); }

Axis axis_of(const ConvTransposeProblem& p, int axis, int64_t remainder) {
  const int64_t stride = p.stride[axis], dilation = p.dilation[axis], kernel = p.kernel[axis];
  const int64_t divisor = greatest_divisor(stride, dilation);
  Axis a{.remainder = remainder, .step = stride / divisor, .count = 0, .dilation = dilation / divisor, .pad = 0};
  a.out = remainder < p.out[axis] ? (p.out[axis] - remainder + stride - 1) / stride : 0;
  for (a.first = 0; a.first < a.step && a.first < kernel; ++a.first) {
    const int64_t distance = remainder + p.pad[axis] - a.first * dilation;  // = stride · (i - j) for the first tap
    if (distance % stride != 0) continue;
    a.count = (kernel - a.first + a.step - 1) / a.step;
    a.pad = (a.count - 1) * a.dilation - distance / stride;
    break;
  }
  return a;
}

struct Phase {
  Axis axis[3];
  bool is_empty() const { return axis[0].count == 0 || axis[1].count == 0 || axis[2].count == 0; }
};

Phase phase_at(const ConvTransposeProblem& p, int64_t index) {
  const int64_t x = index % p.stride[2], y = index / p.stride[2] % p.stride[1], z = index / p.stride[2] / p.stride[1];
  return {{axis_of(p, 0, z), axis_of(p, 1, y), axis_of(p, 2, x)}};
}

ConvView strided(const ConvView& v, const int64_t (&stride)[3]) {
  return {.image = v.image, .depth = v.depth * stride[0], .row = v.row * stride[1], .pixel = v.pixel * stride[2]};
}
int64_t first_at(const ConvView& v, const Phase& phase) {
  return phase.axis[0].remainder * v.depth + phase.axis[1].remainder * v.row + phase.axis[2].remainder * v.pixel;
}

// The plain problem, without its place among the packed weights. A phase without taps keeps one tap of no channels: its
// sums are the bias.
ConvPhase plain_phase(const ConvTransposeProblem& p, int64_t index) {
  const Phase phase = phase_at(p, index);
  ConvPhase out;
  ConvProblem& c = out.problem;
  const bool is_empty = phase.is_empty();
  c.images = p.images;
  c.groups = is_empty ? 1 : p.groups;
  c.in_channels = is_empty ? 0 : p.in_channels;
  c.out_channels = p.out_channels;
  for (int a = 0; a < 3; ++a) {
    c.in[a] = p.in[a];
    c.out[a] = phase.axis[a].out;
    if (is_empty) continue;
    c.kernel[a] = phase.axis[a].count;
    c.dilation[a] = phase.axis[a].dilation;
    c.pad[a] = phase.axis[a].pad;
  }
  c.in_view = p.in_view;
  c.out_view = strided(p.out_view, p.stride);
  c.residual_view = strided(p.residual_view, p.stride);
  c.has_residual = p.has_residual;
  if (c.groups > 1 && conv_fits(c, ConvAlgorithm::kDepthwise)) out.algorithm = ConvAlgorithm::kDepthwise;
  if (index < kMostTransformedPhases && p.transform[index] != ConvAlgorithm::kAuto) out.algorithm = p.transform[index];
  out.y_at = first_at(p.out_view, phase);
  out.residual_at = first_at(p.residual_view, phase);
  return out;
}

// The phase's weights of one group in the whole's layout; taps run backwards.
PanelSource phase_source(const ConvTransposeProblem& p, const Phase& phase, const float* weights, int64_t group) {
  const int64_t row = p.kernel[2], plane = p.kernel[1] * row, taps = p.kernel[0] * plane;
  const int64_t channels = p.in_channels / p.groups, out = p.out_channels / p.groups, unit[3] = {plane, row, 1};
  PanelSource s{.data = weights + group * channels * out * taps, .n = out, .n_stride = taps};
  for (int a = 0; a < 3; ++a) {
    const Axis& axis = phase.axis[a];
    s.k[a] = axis.count;
    s.k_stride[a] = -axis.step * unit[a];
    s.data += (axis.first + axis.step * (axis.count - 1)) * unit[a];
  }
  s.k[3] = channels;
  s.k_stride[3] = out * taps;
  return s;
}

// Calls visit(plain phase, source, place) for every matrix of every phase; depthwise phases are one matrix of taps.
template <class Visit>
void for_each_matrix(const ConvTransposeProblem& p, const float* weights, Visit visit) {
  int64_t place = 0;
  for (int64_t i = 0; i < conv_phase_count(p); ++i) {
    const Phase phase = phase_at(p, i);
    if (phase.is_empty()) continue;
    const ConvPhase plain = plain_phase(p, i);
    const int64_t size = packed_conv_size(plain.problem, plain.algorithm);
    if (plain.algorithm == ConvAlgorithm::kDepthwise) {
      PanelSource s = phase_source(p, phase, weights, 0);
      s.n = p.out_channels;
      visit(plain, s, place);
    } else {
      for (int64_t g = 0; g < p.groups; ++g)
        visit(plain, phase_source(p, phase, weights, g), place + g * (size / p.groups));
    }
    place += size;
  }
}

}  // namespace

int64_t conv_phase_count(const ConvTransposeProblem& p) { return p.stride[0] * p.stride[1] * p.stride[2]; }

ConvPhase conv_phase(const ConvTransposeProblem& p, int64_t index) {
  ConvPhase phase = plain_phase(p, index);
  for (int64_t i = 0; i < index; ++i) {
    const ConvPhase before = plain_phase(p, i);
    phase.packed_at += packed_conv_size(before.problem, before.algorithm);
  }
  return phase;
}

int64_t packed_conv_transpose_size(const ConvTransposeProblem& p) {
  const ConvPhase last = conv_phase(p, conv_phase_count(p) - 1);
  return last.packed_at + packed_conv_size(last.problem, last.algorithm);
}

void choose_transforms(ConvTransposeProblem& p, Isa isa, const GemmLimits& limits, const ConvPolicy& policy) {
  for (int64_t i = 0; i < conv_phase_count(p) && i < kMostTransformedPhases; ++i) {
    p.transform[i] = ConvAlgorithm::kAuto;
    const ConvProblem phase = plain_phase(p, i).problem;
    if (phase.in_channels == 0) continue;
    const ConvAlgorithm best = choose_conv_algorithm(phase, isa, limits, policy);
    if (is_winograd(best)) p.transform[i] = best;
  }
}

void pack_conv_transpose(const ConvTransposeProblem& p, const float* weights, float* packed, WinogradWeightsFn kernel) {
  if (!kernel) kernel = conv_kernels(Isa::kPortable).winograd_weights;
  for_each_matrix(p, weights, [&](const ConvPhase& phase, const PanelSource& s, int64_t place) {
    if (is_winograd(phase.algorithm))
      pack_winograd(phase.problem, phase.algorithm, s, packed + place, kernel);
    else
      pack_panels(s, packed + place);
  });
}

void unpack_conv_transpose(const ConvTransposeProblem& p, const float* packed, float* weights) {
  for_each_matrix(p, weights,
                  [&](const ConvPhase&, const PanelSource& s, int64_t place) { unpack_panels(packed + place, s); });
}

ConvArgs conv_phase_args(const ConvTransposeProblem& p, const ConvArgs& whole, int64_t index, Isa isa,
                         const GemmLimits& limits) {
  const ConvPhase phase = conv_phase(p, index);
  ConvArgs args{.problem = phase.problem,
                .choice = choose_conv(phase.problem, phase.algorithm, isa, limits),
                .x = whole.x,
                .w = whole.w + phase.packed_at,
                .y = whole.y + phase.y_at,
                .epilogue = whole.epilogue};
  if (args.epilogue.residual) args.epilogue.residual += phase.residual_at;
  return args;
}

void run_phases(const ConvKernels& kernels, const ConvArgs* phases, int64_t count, int64_t task_begin, int64_t task_end,
                float* scratch) {
  int64_t first = 0;
  for (int64_t i = 0; i < count && first < task_end; ++i) {
    const int64_t tasks = phases[i].choice.tasks;
    const int64_t begin = task_begin > first ? task_begin - first : 0;
    const int64_t end = task_end - first < tasks ? task_end - first : tasks;
    if (begin < end) kernels.run(phases[i], begin, end, scratch);
    first += tasks;
  }
}

}  // namespace mica
