#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  Shape out = scope.shape(0);
  if (!out.known()) {
    scope.out(0, scope.dtype(0), out);
    return {};
  }
  std::span<const Dim> repeats;
  const bool known = scope.known_dims(1, repeats);
  MICA_CHECK(!known || static_cast<int>(repeats.size()) == out.rank, kBadShape, "tile lists {} repeats for rank {}",
             repeats.size(), out.rank);
  for (int i = 0; i < out.rank; ++i) {
    out[i] = known ? scope.dims().mul(out[i], repeats[static_cast<size_t>(i)]) : scope.dims().fresh("tile");
    MICA_CHECK(!out[i].is_fixed() || out[i].value() >= 0, kBadShape, "tile makes dimension {} negative", i);
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const TensorView in, wide_input(scope, 0));
  MICA_TRY(const Ints repeats, read_ints(scope.in(1), "repeats"));
  MICA_CHECK(static_cast<int>(repeats.size()) == in.rank, kBadShape, "tile lists {} repeats for rank {}",
             repeats.size(), in.rank);
  DimTable dims;
  Shape shape = in.to_shape();
  for (int i = 0; i < in.rank; ++i) shape[i] = dims.mul(shape[i], repeats[static_cast<size_t>(i)]);
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, dims));
  MICA_TRY(const TensorView to, wide_output(scope, 0));
  if (to.empty()) return {};
  // One copy of the whole input per multiple of its shape.
  int64_t tile[kMaxRank] = {};
  do {
    TensorView part = to;
    for (int i = 0; i < in.rank; ++i) part = slice_axis(part, i, tile[i] * in.dim(i), in.dim(i));
    copy_elements(in, part);
  } while (next_index(tile, repeats.span()));
  finish_output(scope, 0, to);
  return {};
}

}  // namespace

MICA_OP(tile) = {.name = "tile",
                 .doc = "The input repeated along each axis as often as input 1 says",
                 .inputs = {2, 2},
                 .infer = infer,
                 .reference = reference,
                 .flops = [](const CostScope&) -> int64_t { return 0; },
                 .dim_rule = DimRule::kMove,
                 .layout = LayoutRule::kAny};

}  // namespace mica
