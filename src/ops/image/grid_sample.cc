#include "ops/image/grid_places.h"
#include "types/operand.h"

namespace mica {
namespace {

// Inputs: [N, C, D1, …, Dn] and a grid [N, O1, …, On, n] of places in [-1, 1], the last axis's coordinate first.
Status infer(InferScope& scope) {
  MICA_CHECK(kind_of(scope.dtype(0)) != NumberKind::kComplex && scope.dtype(0) != DType::kString, kBadType,
             "grid_sample of {}: it weighs real numbers", name_of(scope.dtype(0)));
  MICA_TRY_STATUS(require_float(scope, 1));
  MICA_TRY_STATUS(require_rank(scope, 0, 3, kMaxRank));
  const Shape &in = scope.shape(0), &grid = scope.shape(1);
  if (!in.known() || !grid.known()) {
    scope.out(0, scope.dtype(0), Shape());
    return {};
  }
  MICA_CHECK(grid.rank == in.rank, kBadRank, "grid_sample needs a grid of the input's rank {}, not {}", in.rank,
             grid.rank);
  MICA_CHECK(!grid.back().is_fixed() || grid.back().value() == in.rank - 2, kBadShape,
             "the grid has {} coordinates, expected {}", grid.back().value(), in.rank - 2);
  Shape out{in[0], in[1]};
  MICA_TRY(out[0], same_dim(in[0], grid[0], "batches of input and grid"));
  for (int i = 1; i + 1 < grid.rank; ++i) out.push(grid[i]);
  scope.out(0, scope.dtype(0), out);
  return {};
}

struct Samples {
  int count[kMaxRank];
  int64_t place[kMaxRank][4];
  double weight[kMaxRank][4];
};

// Σ weight · element over the product of the axes' samples; `from` is one channel.
double sample(const TensorView& in, const char* from, const Samples& s, int axes) {
  int at[kMaxRank] = {};
  double sum = 0;
  for (;;) {
    const char* element = from;
    double weight = 1;
    for (int i = 0; i < axes; ++i) {
      const int64_t place = s.place[i][at[i]];
      weight *= s.weight[i][at[i]];
      element = place < 0 || !element ? nullptr : element + place * in.stride(2 + i);
    }
    if (element) sum += weight * load_number(in.dtype, element);
    int i = axes - 1;
    while (i >= 0 && ++at[i] == s.count[i]) at[i--] = 0;
    if (i < 0) return sum;
  }
}

Status check_shapes(const TensorView& in, const TensorView& grid) {
  MICA_CHECK(in.rank >= 3 && grid.rank == in.rank, kBadRank,
             "grid_sample with an input of rank {} and a grid of rank {}", in.rank, grid.rank);
  MICA_CHECK(grid.dim(0) == in.dim(0) && grid.dim(grid.rank - 1) == in.rank - 2, kBadShape,
             "the grid does not fit the input");
  MICA_CHECK(is_float(in.dtype) || is_integer(in.dtype) || in.dtype == DType::kBool, kBadType, "grid_sample of {}",
             name_of(in.dtype));
  MICA_CHECK(!is_sub_byte(in.dtype) && !is_sub_byte(grid.dtype), kBadType, "grid_sample of {}", name_of(in.dtype));
  return {};
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<GridSample>();
  const TensorView &in = scope.in(0), &grid = scope.in(1);
  MICA_TRY_STATUS(check_shapes(in, grid));
  const int axes = in.rank - 2;
  int64_t dims[kMaxRank] = {in.dim(0), in.dim(1)};
  for (int i = 0; i < axes; ++i) dims[2 + i] = grid.dim(1 + i);
  MICA_TRY_STATUS(scope.allocate_output(0, std::span<const int64_t>(dims, static_cast<size_t>(in.rank))));
  const TensorView& out = scope.out(0);
  if (out.empty()) return {};
  grid::Axis list[kMaxRank];
  for (int i = 0; i < axes; ++i) {
    const int64_t size = in.dim(2 + i);
    MICA_CHECK(size > 0, kBadShape, "grid_sample of an empty input");
    list[i] = grid::axis_of(attributes, size);
  }
  int64_t place[kMaxRank] = {};  // in the grid: batch, output place
  do {
    Samples samples;
    for (int i = 0; i < axes; ++i) {
      place[grid.rank - 1] = axes - 1 - i;
      const auto g = static_cast<float>(load_number(grid.dtype, element_at(grid, place)));
      samples.count[i] = grid::axis_samples(attributes, list[i], g, samples.place[i], samples.weight[i]);
    }
    place[grid.rank - 1] = 0;
    int64_t to[kMaxRank] = {place[0], 0};
    for (int i = 0; i < axes; ++i) to[2 + i] = place[1 + i];
    for (int64_t c = 0; c < in.dim(1); ++c) {
      to[1] = c;
      const char* from = static_cast<const char*>(in.data) + place[0] * in.stride(0) + c * in.stride(1);
      store_number(out.dtype, element_at(out, to), sample(in, from, samples, axes));
    }
  } while (next_index(place, grid.shape().first(static_cast<size_t>(grid.rank - 1))));
  return {};
}

}  // namespace

MICA_OP(grid_sample) = {.name = "grid_sample",
                        .doc = "Samples the input at the places of a grid",
                        .inputs = {2, 2},
                        .attributes = attr_class<GridSample>(),
                        .infer = infer,
                        .reference = reference};

}  // namespace mica
