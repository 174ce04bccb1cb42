#include "ops/move/dft.h"

#include "ops/move/fourier.h"

namespace mica {
namespace {

struct Lengths {
  Dim signal, out;
  int64_t parts;
};
Lengths lengths_of(const Dft& attributes, Dim have, const Dim* wanted, DimTable& dims) {
  const bool back = attributes.inverse && attributes.onesided;
  const Dim n = wanted ? *wanted : back ? dims.mul(dims.sub(have, 1), 2) : have;
  return {n, attributes.onesided && !attributes.inverse ? dims.add(dims.floor_div(n, 2), 1) : n, back ? 1 : 2};
}

Status check_parts(Dim last) {
  MICA_CHECK(!last.is_fixed() || last.is(1) || last.is(2), kBadShape,
             "the last axis has {} elements; 1 (real) or 2 (complex) are possible", last.value());
  return {};
}

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_rank(scope, 0, 2, kMaxRank));
  MICA_TRY_STATUS(require_float(scope, 0));
  Shape out = scope.shape(0);
  Ints axis;
  if (!out.known()) {
    scope.out(0, scope.dtype(0), out);
    return {};
  }
  MICA_TRY_STATUS(check_parts(out.back()));
  const auto& attributes = scope.attributes<Dft>();
  if (scope.has(2) && !scope.ints(2, axis)) {
    for (int i = 0; i + 1 < out.rank; ++i) out[i] = scope.dims().fresh("dft");
    out[out.rank - 1] = attributes.inverse && attributes.onesided ? 1 : 2;
    scope.out(0, scope.dtype(0), out);
    return {};
  }
  MICA_TRY(const int at, normalize_axis(axis.get(0, -2), out.rank));
  MICA_CHECK(at + 1 < out.rank, kBadAttribute,
             "the last axis holds real and imaginary parts and cannot be transformed");
  std::span<const Dim> list;
  const bool known = scope.has(1) && scope.known_dims(1, list) && list.size() == 1;
  const Dim wanted = known ? list[0] : scope.has(1) ? scope.dims().fresh("dft") : Dim(0);
  const Lengths lengths = lengths_of(attributes, out[at], scope.has(1) ? &wanted : nullptr, scope.dims());
  out[at] = lengths.out;
  out[out.rank - 1] = lengths.parts;
  scope.out(0, scope.dtype(0), out);
  return {};
}

// One line of the signal: cut or padded with zeros to the line's length n; the second half of a one-sided spectrum is
// the mirrored conjugate.
void load_line(const TensorView& in, int axis, int64_t* at, bool mirrored, std::span<move::Complex> line) {
  const auto n = static_cast<int64_t>(line.size());
  const int last = in.rank - 1;
  const int64_t have = in.dim(axis);
  const auto element = [&](int64_t i) {
    move::Complex x;
    at[axis] = i;
    at[last] = 0;
    x.re = load_number(in.dtype, element_at(in, at));
    at[last] = 1;
    if (in.dim(last) == 2) x.im = load_number(in.dtype, element_at(in, at));
    at[last] = 0;
    return x;
  };
  for (int64_t i = 0; i < n; ++i) {
    move::Complex& x = line[static_cast<size_t>(i)] = {};
    if (mirrored && i > n / 2) {
      if (n - i < have) x = element(n - i);
      x.im = -x.im;
    } else if (i < have) {
      x = element(i);
    }
  }
  if (mirrored) {  // a real signal's first and middle bins are real
    line[0].im = 0;
    if (n % 2 == 0) line[static_cast<size_t>(n / 2)].im = 0;
  }
  at[axis] = 0;
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<Dft>();
  const TensorView& in = scope.in(0);
  MICA_CHECK(in.rank >= 2, kBadRank, "dft needs a signal axis and one of real and imaginary parts");
  int64_t axis_operand = -2;
  if (scope.has(2)) {
    MICA_TRY(axis_operand, read_int(scope.in(2), "axis"));
  }
  MICA_TRY(const int axis, normalize_axis(axis_operand, in.rank));
  const int last = in.rank - 1;
  MICA_CHECK(axis != last, kBadAttribute, "the last axis holds real and imaginary parts and cannot be transformed");
  MICA_TRY_STATUS(check_parts(in.dim(last)));
  DimTable dims;
  Dim wanted;
  if (scope.has(1)) {
    MICA_TRY(wanted, read_int(scope.in(1), "dft_length"));
  }
  const Lengths lengths = lengths_of(attributes, in.dim(axis), scope.has(1) ? &wanted : nullptr, dims);
  Shape shape = in.to_shape();
  shape[axis] = lengths.out;
  shape[last] = lengths.parts;
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, dims));
  const TensorView& out = scope.out(0);
  if (out.empty()) return {};
  const int64_t n = lengths.signal.value(), written = lengths.out.value();
  MICA_TRY(const move::Fourier fourier, move::Fourier::make(scope, n, attributes.inverse));
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(2 * n) * sizeof(move::Complex)));
  auto* line = static_cast<move::Complex*>(memory);
  auto* result = line + n;
  const double scale = attributes.inverse ? 1.0 / static_cast<double>(n) : 1.0;
  TensorView lines = in;
  lines.dims[static_cast<size_t>(axis)] = lines.dims[static_cast<size_t>(last)] = 1;
  int64_t at[kMaxRank] = {};
  StopCheck stop(scope);
  do {
    MICA_TRY_STATUS(stop.before(n));
    load_line(in, axis, at, attributes.inverse && attributes.onesided, std::span(line, static_cast<size_t>(n)));
    MICA_TRY_STATUS(fourier.run(line, result, stop));
    for (int64_t i = 0; i < written; ++i) {
      at[axis] = i;
      at[last] = 0;
      store_number(out.dtype, element_at(out, at), result[i].re * scale);
      at[last] = 1;
      if (lengths.parts == 2) store_number(out.dtype, element_at(out, at), result[i].im * scale);
    }
    at[axis] = at[last] = 0;
  } while (next_index(at, lines.shape()));
  return {};
}

}  // namespace

MICA_OP(dft) = {.name = "dft",
                .doc = "The discrete Fourier transform along one axis; the last axis holds real and imaginary parts",
                .inputs = {1, 3},
                .attributes = attr_class<Dft>(),
                .infer = infer,
                .reference = reference};

}  // namespace mica
