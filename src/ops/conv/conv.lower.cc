#include "base/checked.h"
#include "base/isa.h"
#include "ir/product_epilogue.h"
#include "kernels/conv/cost.h"
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

// Of constant weights and known sizes, channels innermost.
bool problem_of(const Node& node, ConvProblem& p) {
  const Value& weights = *node.inputs[1];
  TensorView x;
  if (!weights.constant || weights.type.dtype != DType::kF32 || !fixed_dims(node.inputs[0]->type.shape, x))
    return false;
  const auto sizes = conv::sizes_of(node.attributes<Conv>(), x, weights.constant->view);
  if (!sizes.ok() || !conv::kernel_problem(*sizes, p)) return false;
  if (!is_countable(p.images, p.in, p.in_channels) || !is_countable(p.images, p.out, p.out_channels)) return false;
  p.in_view = dense_view(p.in, p.in_channels);
  p.out_view = dense_view(p.out, p.out_channels);
  return true;
}

// Where planes are cheaper by a margin, though nobody had to turn the result: its readers may have to.
bool keeps_planes(const Node& node) {
  constexpr double kMargin = 0.7;
  ConvProblem p;
  if (!problem_of(node, p) || p.in_channels > kMostPlanes || p.out_channels > kMostPlanes) return false;
  const auto planes = [](const int64_t(&extent)[3], int64_t channels) {
    ConvView v = dense_view(extent, 1);
    v.channel = v.image;
    v.image *= channels;
    return v;
  };
  p.in_view = planes(p.in, p.in_channels);
  double best = 0;
  for (const ConvCandidate& c : conv_candidates(p, Isa::kAvx512, {}).list)
    if (is_unasked(c, {}) && c.fits && (best == 0 || c.cycles < best)) best = c.cycles;
  p.out_view = planes(p.out, p.out_channels);
  const ConvCandidate filter = conv_candidates(p, Isa::kAvx512, {}).list[static_cast<int>(ConvAlgorithm::kFilter) - 1];
  return filter.fits && filter.cycles < kMargin * best;
}

// The form that bind will ask for when all operands have channels innermost. Winograd's and Strassen's are made at
// bind, from panels, which other algorithms read as they are; filters' are small.
std::vector<PackWish> pack(const Node& node) {
  ConvProblem p;
  if (!problem_of(node, p) || keeps_planes(node)) return {};
  const ConvAlgorithm algorithm = choose_conv_algorithm(p);
  const bool at_bind = is_winograd(algorithm) || algorithm == ConvAlgorithm::kSpread ||
                       algorithm == ConvAlgorithm::kStrassen || algorithm == ConvAlgorithm::kPaired;
  return {{1, conv::pack_key(p, at_bind ? ConvAlgorithm::kImplicit : algorithm)}};
}

}  // namespace

MICA_LOWER(conv) = {.absorbs = absorbed_by_product, .keeps_planes = keeps_planes, .pack = pack};

}  // namespace mica
