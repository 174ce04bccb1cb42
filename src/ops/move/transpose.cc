#include "ops/move/transpose.h"

#include "ops/move/view.h"

namespace mica {

Result<Ints> axis_order(const Transpose& attributes, int rank) {
  Ints order = attributes.perm;
  if (order.empty())
    for (int i = rank; i-- > 0;) order.push(i);
  MICA_CHECK(static_cast<int>(order.size()) == rank, kBadAttribute, "perm lists {} axes; the input has {}",
             order.size(), rank);
  MICA_TRY_STATUS(normalize_axes(order, rank));
  return order;
}

namespace {

Status infer(InferScope& scope) {
  const Shape& in = scope.shape(0);
  const auto& attributes = scope.attributes<Transpose>();
  Shape out;
  if (in.known()) {
    MICA_TRY(const Ints order, axis_order(attributes, in.rank));
    out = Shape::of_rank(in.rank);
    for (int i = 0; i < in.rank; ++i) out[i] = in[static_cast<int>(order[static_cast<size_t>(i)])];
  } else if (!attributes.perm.empty()) {
    MICA_CHECK(attributes.perm.size() <= static_cast<size_t>(kMaxRank), kLimit, "perm lists {} axes",
               attributes.perm.size());
    out = Shape::of_rank(static_cast<int>(attributes.perm.size()));
    for (int i = 0; i < out.rank; ++i) out[i] = scope.dims().fresh("transpose");
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const Ints order, axis_order(scope.attributes<Transpose>(), scope.in(0).rank));
  MICA_TRY(const TensorView in, wide_input(scope, 0));
  const TensorView from = permute_axes(in, order.span());
  MICA_TRY_STATUS(scope.allocate_output(0, from.shape()));
  MICA_TRY(const TensorView to, wide_output(scope, 0));
  copy_elements(from, to);
  finish_output(scope, 0, to);
  return {};
}

bool view(const RunScope& scope, const TensorView& in, TensorView& out, int) {
  const Result<Ints> order = axis_order(scope.attributes<Transpose>(), in.rank);
  if (!order.ok() || is_sub_byte(in.dtype)) return false;
  out = permute_axes(in, order->span());
  return true;
}

}  // namespace

MICA_OP(transpose) = {.name = "transpose",
                      .doc = "The axes in another order",
                      .attributes = attr_class<Transpose>(),
                      .infer = infer,
                      .reference = reference,
                      .flops = [](const CostScope&) -> int64_t { return 0; },
                      .view = view,
                      .dim_rule = DimRule::kMove};

}  // namespace mica
