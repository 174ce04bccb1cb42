#include "ops/image/affine_grid.h"

#include "types/operand.h"

namespace mica {
namespace {

// Inputs: theta [N, n, n + 1] and the size [N, C, D1, …, Dn] of the picture to sample.
Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(require_rank(scope, 0, 3, 3));
  MICA_TRY(const Shape size, shape_operand(scope, 1, "grid"));
  if (!size.known()) {
    scope.out(0, scope.dtype(0), Shape());
    return {};
  }
  MICA_CHECK(size.rank == 4 || size.rank == 5, kBadShape, "affine_grid needs a size of 4 or 5 numbers, not {}",
             size.rank);
  Shape out{size[0]};
  for (int i = 2; i < size.rank; ++i) out.push(size[i]);
  out.push(size.rank - 2);
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  const TensorView& theta = scope.in(0);
  MICA_TRY(const Ints size, read_ints(scope.in(1), "size"));
  const int axes = static_cast<int>(size.size()) - 2;
  MICA_CHECK(axes == 2 || axes == 3, kBadShape, "affine_grid needs a size of 4 or 5 numbers, not {}", size.size());
  MICA_CHECK(theta.rank == 3 && theta.dim(0) == size[0] && theta.dim(1) == axes && theta.dim(2) == axes + 1, kBadShape,
             "theta must be [{}, {}, {}]", size[0], axes, axes + 1);
  int64_t dims[5] = {size[0]};
  for (int i = 0; i < axes; ++i) dims[1 + i] = size[static_cast<size_t>(2 + i)];
  dims[1 + axes] = axes;
  for (int64_t d : dims) MICA_CHECK(d >= 0, kBadValue, "a dimension of {}", d);
  MICA_TRY_STATUS(scope.allocate_output(0, std::span<const int64_t>(dims, static_cast<size_t>(axes + 2))));
  const TensorView& out = scope.out(0);
  if (out.empty()) return {};
  int64_t at[kMaxRank] = {};
  do {
    // The last coordinate counts the picture's last axis first; the one after it is 1.
    double point[4];
    for (int i = 0; i < axes; ++i)
      point[axes - 1 - i] = affine_coordinate(at[1 + i], dims[1 + i], scope.attributes<AffineGrid>().align_corners);
    point[axes] = 1;
    double sum = 0;
    for (int k = 0; k <= axes; ++k) {
      const int64_t place[] = {at[0], at[1 + axes], k};
      sum += load_number(theta.dtype, element_at(theta, place)) * point[k];
    }
    store_number(out.dtype, element_at(out, at), sum);
  } while (next_index(at, out.shape()));
  return {};
}

}  // namespace

MICA_OP(affine_grid) = {.name = "affine_grid",
                        .doc = "A grid of places that an affine map gives for each element of a picture",
                        .inputs = {2, 2},
                        .attributes = attr_class<AffineGrid>(),
                        .infer = infer,
                        .reference = reference};

}  // namespace mica
