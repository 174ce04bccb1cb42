#include "ops/move/stft.h"

#include "ops/move/fourier.h"

namespace mica {
namespace {

// Inputs: signal, frame_step, window (optional), frame_length (optional).
Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_rank(scope, 0, 2, 3));
  MICA_TRY_STATUS(require_float(scope, 0));
  const Shape& in = scope.shape(0);
  DimTable& dims = scope.dims();
  Shape out{in.known() ? in[0] : dims.fresh("batch"), 0, 0, 2};
  std::span<const Dim> step, length;
  Dim frame;
  if (scope.has(3))
    frame = scope.known_dims(3, length) && length.size() == 1 ? length[0] : dims.fresh("frame");
  else if (scope.has(2))
    frame = scope.shape(2).known() && scope.shape(2).rank == 1 ? scope.shape(2)[0] : dims.fresh("frame");
  else
    frame = in.known() ? in[1] : dims.fresh("frame");
  const bool known =
      in.known() && scope.known_dims(1, step) && step.size() == 1 && step[0].is_fixed() && step[0].value() > 0;
  out[1] = known ? dims.add(dims.floor_div(dims.sub(in[1], frame), step[0]), 1) : dims.fresh("frames");
  out[2] = scope.attributes<Stft>().onesided ? dims.add(dims.floor_div(frame, 2), 1) : frame;
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  TensorView in = scope.in(0);
  MICA_CHECK(in.rank == 2 || in.rank == 3, kBadRank, "stft needs [batch, samples, 1 or 2], not rank {}", in.rank);
  if (in.rank == 2) {  // real samples without the last axis
    in.rank = 3;
    in.dims[2] = 1;
    in.strides[2] = 0;
  }
  MICA_CHECK(in.dim(2) == 1 || in.dim(2) == 2, kBadShape,
             "the last axis has {} elements; 1 (real) or 2 (complex) are possible", in.dim(2));
  MICA_TRY(const int64_t step, read_int(scope.in(1), "frame_step"));
  int64_t n = scope.has(2) ? scope.in(2).count() : in.dim(1);
  if (scope.has(3)) {
    MICA_TRY(n, read_int(scope.in(3), "frame_length"));
  }
  MICA_CHECK(step > 0 && n > 0 && n <= in.dim(1), kBadValue, "frames of {} every {} of {} samples", n, step, in.dim(1));
  MICA_CHECK(!scope.has(2) || (scope.in(2).rank == 1 && scope.in(2).dim(0) == n), kBadShape,
             "the window has {} elements, the frame {}", scope.has(2) ? scope.in(2).count() : 0, n);
  const int64_t frames = (in.dim(1) - n) / step + 1, bins = scope.attributes<Stft>().onesided ? n / 2 + 1 : n;
  const int64_t dims[] = {in.dim(0), frames, bins, 2};
  MICA_TRY_STATUS(scope.allocate_output(0, dims));
  const TensorView& out = scope.out(0);
  MICA_TRY(const move::Fourier fourier, move::Fourier::make(scope, n, false));
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(2 * n) * sizeof(move::Complex)));
  auto* line = static_cast<move::Complex*>(memory);
  auto* result = line + n;
  StopCheck stop(scope);
  for (int64_t b = 0; b < in.dim(0); ++b)
    for (int64_t f = 0; f < frames; ++f) {
      MICA_TRY_STATUS(stop.before(n));
      for (int64_t i = 0; i < n; ++i) {
        const int64_t re[] = {b, f * step + i, 0}, im[] = {b, f * step + i, 1};
        const double weight = scope.has(2) ? Elements(scope.in(2)).number(i) : 1.0;
        line[i] = {weight * load_number(in.dtype, element_at(in, re)),
                   in.dim(2) == 2 ? weight * load_number(in.dtype, element_at(in, im)) : 0.0};
      }
      MICA_TRY_STATUS(fourier.run(line, result, stop));
      for (int64_t k = 0; k < bins; ++k) {
        const int64_t re[] = {b, f, k, 0}, im[] = {b, f, k, 1};
        store_number(out.dtype, element_at(out, re), result[k].re);
        store_number(out.dtype, element_at(out, im), result[k].im);
      }
    }
  return {};
}

}  // namespace

MICA_OP(stft) = {.name = "stft",
                 .doc = "Fourier transforms of windowed frames of a signal: [batch, frames, bins, real and imaginary]",
                 .inputs = {2, 4},
                 .attributes = attr_class<Stft>(),
                 .infer = infer,
                 .reference = reference};

}  // namespace mica
