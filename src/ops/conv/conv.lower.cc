#include "base/checked.h"
#include "ir/product_epilogue.h"
#include "ops/conv/conv_problem.h"

namespace mica {
namespace {

// Dimensions as numbers; a batch that is not known counts as one image.
bool fixed_dims(const Shape& shape, TensorView& view) {
  view = {};
  view.dtype = DType::kF32;
  view.rank = shape.rank;
  for (int i = 0; i < shape.rank; ++i) {
    if (!shape[i].is_fixed() && i > 0) return false;
    view.dims[static_cast<size_t>(i)] = shape[i].is_fixed() ? shape[i].value() : 1;
  }
  return shape.known();
}

// Whether the bytes of such pictures are a number: costs and strides are. What is no memory's is refused at bind.
bool is_countable(int64_t images, const int64_t (&extent)[3], int64_t channels) {
  return product({images, extent[0], extent[1], extent[2], channels, sizeof(float)}, "pictures").ok();
}

// The form that bind will ask for when all operands have channels innermost. Winograd's and Strassen's are made at
// bind, from panels, which other algorithms read as they are.
std::vector<PackWish> pack(const Node& node) {
  const Value& weights = *node.inputs[1];
  TensorView x;
  ConvProblem p;
  if (!weights.constant || weights.type.dtype != DType::kF32 || !fixed_dims(node.inputs[0]->type.shape, x)) return {};
  const auto sizes = conv::sizes_of(node.attributes<Conv>(), x, weights.constant->view);
  if (!sizes.ok() || !conv::kernel_problem(*sizes, p)) return {};
  if (!is_countable(p.images, p.in, p.in_channels) || !is_countable(p.images, p.out, p.out_channels)) return {};
  p.in_view = dense_view(p.in, p.in_channels);
  p.out_view = dense_view(p.out, p.out_channels);
  const ConvAlgorithm algorithm = choose_conv_algorithm(p);
  const bool at_bind =
      is_winograd(algorithm) || algorithm == ConvAlgorithm::kSpread || algorithm == ConvAlgorithm::kStrassen;
  return {{1, conv::pack_key(p, at_bind ? ConvAlgorithm::kImplicit : algorithm)}};
}

}  // namespace

MICA_LOWER(conv) = {.absorbs = absorbed_by_product, .pack = pack};

}  // namespace mica
