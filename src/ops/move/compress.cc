#include "ops/move/compress.h"

#include "ops/move/view.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_rank(scope, 1, 1, 1));
  const auto& attributes = scope.attributes<Compress>();
  Shape out = attributes.flat ? Shape{0} : scope.shape(0);
  if (out.known()) {
    MICA_TRY(const int axis, normalize_axis(attributes.flat ? 0 : attributes.axis, out.rank));
    const TensorView* condition = scope.in(1).constant;
    if (condition && !attributes.flat && scope.shape(0)[axis].is_fixed()) {
      int64_t count = 0;
      for (int64_t i = 0; i < condition->count() && i < scope.shape(0)[axis].value(); ++i)
        count += Elements(*condition).integer(i) != 0;
      out[axis] = count;
    } else {
      out[axis] = scope.dims().fresh("compress");
    }
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<Compress>();
  MICA_TRY(TensorView in, wide_input(scope, 0));
  if (attributes.flat) {
    const int64_t count = in.count();
    MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(dense_bytes(in.dtype, std::span(&count, 1)))));
    const TensorView flat = dense_view(memory, in.dtype, std::span(&count, 1));
    MICA_TRY_STATUS(move::copy_linear(scope, in, flat));
    in = flat;
  }
  MICA_TRY(const int axis, normalize_axis(attributes.flat ? 0 : attributes.axis, in.rank));
  const Elements condition(scope.in(1));
  const int64_t length = std::min(scope.in(1).count(), in.dim(axis));
  MICA_CHECK(scope.in(1).rank == 1, kBadRank, "the condition of compress must have rank 1");
  int64_t kept = 0;
  for (int64_t i = 0; i < length; ++i) kept += condition.integer(i) != 0;
  TensorView shape = in;
  shape.dims[static_cast<size_t>(axis)] = kept;
  MICA_TRY_STATUS(scope.allocate_output(0, shape.shape()));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  for (int64_t i = 0, to = 0; i < length; ++i)
    if (condition.integer(i) != 0) copy_elements(slice_axis(in, axis, i, 1), slice_axis(out, axis, to++, 1));
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(compress) = {.name = "compress",
                     .doc = "The slices along `axis` whose condition is true",
                     .inputs = {2, 2},
                     .attributes = attr_class<Compress>(),
                     .infer = infer,
                     .reference = reference};

}  // namespace mica
