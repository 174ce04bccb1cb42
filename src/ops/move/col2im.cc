#include "ops/move/col2im.h"

#include "types/operand.h"

namespace mica {

Result<Col2ImGeometry> col2im_geometry(const Col2Im& attributes, const TensorView& image_shape,
                                       const TensorView& block_shape) {
  MICA_TRY(const Ints image, read_ints(image_shape, "image shape"));
  MICA_TRY(const Ints block, read_ints(block_shape, "block shape"));
  MICA_CHECK(image.size() == block.size() && image.size() + 2 <= static_cast<size_t>(kMaxRank), kBadShape,
             "an image of rank {} with blocks of rank {}", image.size(), block.size());
  constexpr int64_t kMax = int64_t{1} << 31;
  Col2ImGeometry g;
  g.rank = static_cast<int>(image.size());
  for (size_t i = 0; i < image.size(); ++i) {
    g.image[i] = image[i];
    g.block[i] = block[i];
    g.stride[i] = attributes.strides.get(i, 1);
    g.dilation[i] = attributes.dilations.get(i, 1);
    g.begin[i] = attributes.pads.get(i, 0);
    const int64_t end = attributes.pads.get(i + image.size(), 0);
    for (int64_t n : {g.image[i], g.block[i], g.stride[i], g.dilation[i]})
      MICA_CHECK(n >= 1 && n < kMax, kBadValue, "col2im with a size of {}", n);
    MICA_CHECK(g.begin[i] >= 0 && g.begin[i] < kMax && end >= 0 && end < kMax, kBadAttribute, "col2im with a pad of {}",
               g.begin[i]);
    const int64_t room = g.image[i] + g.begin[i] + end - g.dilation[i] * (g.block[i] - 1) - 1;
    MICA_CHECK(room >= 0, kBadShape, "blocks of {} do not fit into an image of {}", g.block[i], g.image[i]);
    g.steps[i] = room / g.stride[i] + 1;
    const bool fits = !__builtin_mul_overflow(g.block_size, g.block[i], &g.block_size) &&
                      !__builtin_mul_overflow(g.places, g.steps[i], &g.places);
    MICA_CHECK(fits, kBadShape, "col2im overflows");
  }
  return g;
}

namespace {

Status infer(InferScope& scope) {
  const Shape& in = scope.shape(0);
  MICA_TRY_STATUS(require_rank(scope, 0, 3, 3));
  const NumberKind kind = kind_of(scope.dtype(0));
  MICA_CHECK(kind != NumberKind::kString && kind != NumberKind::kComplex, kBadType, "col2im adds numbers, not {}",
             name_of(scope.dtype(0)));
  MICA_TRY(const Shape image, shape_operand(scope, 1, "image"));
  MICA_TRY(const Shape block, shape_operand(scope, 2, "block"));
  if (!in.known() || !image.known()) {
    scope.out(0, scope.dtype(0), Shape());
    return {};
  }
  MICA_CHECK(image.rank + 2 <= kMaxRank, kLimit, "an image of rank {}", image.rank);
  MICA_CHECK(!block.known() || block.rank == image.rank, kBadShape, "an image of rank {} with blocks of rank {}",
             image.rank, block.rank);
  std::span<const Dim> known;
  Shape out{in[0], scope.known_dims(2, known) ? scope.dims().floor_div(in[1], scope.dims().product(known))
                                              : scope.dims().fresh("channels")};
  for (Dim d : image.span()) out.push(d);
  scope.out(0, scope.dtype(0), out);
  return {};
}

// Adds one channel's columns [block_size, places] to its image.
void add_channel(const Col2ImGeometry& g, const TensorView& in, int64_t batch, int64_t row, double* image) {
  const auto rank = static_cast<size_t>(g.rank);
  int64_t inside[kMaxRank] = {};
  for (int64_t b = 0; b < g.block_size; ++b, next_index(inside, std::span(g.block, rank))) {
    int64_t place[kMaxRank] = {};
    for (int64_t p = 0; p < g.places; ++p, next_index(place, std::span(g.steps, rank))) {
      int64_t at = 0;
      bool outside = false;
      for (size_t i = 0; i < rank; ++i) {
        const int64_t x = place[i] * g.stride[i] + inside[i] * g.dilation[i] - g.begin[i];
        outside = outside || x < 0 || x >= g.image[i];
        at = at * g.image[i] + x;
      }
      if (outside) continue;
      const int64_t from[] = {batch, row + b, p};
      image[at] += load_number(in.dtype, element_at(in, from));
    }
  }
}

Status reference(RunScope& scope) {
  const TensorView& in = scope.in(0);
  MICA_CHECK(in.rank == 3, kBadRank, "col2im needs rank 3, not {}", in.rank);
  MICA_CHECK(is_float(in.dtype) || !is_sub_byte(in.dtype), kBadType, "col2im of {}", name_of(in.dtype));
  MICA_TRY(const Col2ImGeometry g, col2im_geometry(scope.attributes<Col2Im>(), scope.in(1), scope.in(2)));
  MICA_CHECK(in.dim(1) % g.block_size == 0, kBadShape, "{} rows do not divide into blocks of {}", in.dim(1),
             g.block_size);
  MICA_CHECK(in.dim(2) == g.places, kBadShape, "the image has {} places for blocks, the input {} columns", g.places,
             in.dim(2));
  const int64_t channels = in.dim(1) / g.block_size;
  Shape shape{in.dim(0), channels};
  DimTable dims;
  for (int i = 0; i < g.rank; ++i) shape.push(g.image[i]);
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, dims));
  const int64_t pixels = dims.product(shape.span().subspan(2)).value();
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(pixels) * sizeof(double)));
  auto* image = static_cast<double*>(memory);
  const Elements out(scope.out(0));
  for (int64_t n = 0; n < in.dim(0); ++n)
    for (int64_t c = 0; c < channels; ++c) {
      std::fill(image, image + pixels, 0.0);
      add_channel(g, in, n, c * g.block_size, image);
      for (int64_t i = 0; i < pixels; ++i) out.set_number((n * channels + c) * pixels + i, image[i]);
    }
  return {};
}

}  // namespace

MICA_OP(col2im) = {
    .name = "col2im",
    .doc = "Adds the columns of [N, C*block, L] into images of the shape in input 1 (the inverse gather of im2col)",
    .inputs = {3, 3},
    .attributes = attr_class<Col2Im>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
