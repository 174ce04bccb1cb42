// Depth to space and back: one permutation of elements between a deep and a wide form of the same blocks.
#pragma once
#include "types/operand.h"

namespace mica {

// Which of a deep channel's parts varies fastest: DCR has the block's place outside the channel, CRD inside.
enum class BlockOrder : uint8_t { kDcr, kCrd };
inline constexpr std::string_view kBlockOrderNames[] = {"dcr", "crd"};
constexpr std::span<const std::string_view> names_of(BlockOrder) { return kBlockOrderNames; }

struct BlockMove {
  int64_t block = 1;
  BlockOrder order = BlockOrder::kDcr;
  template <class V>
  void visit(V&& v) {
    v("block", block, "the side of the square blocks");
    v("order", order, "which part of a deep channel varies fastest");
  }
};

namespace move {

// Both views have the axes [batch, row in block, column in block, channel, block row, block column].
// `deep` is [N, C·b², H, W], `wide` is [N, C, H·b, W·b].
inline TensorView deep_blocks(const TensorView& deep, const BlockMove& attributes) {
  const int64_t b = attributes.block, channels = deep.dim(1) / (b * b), step = deep.stride(1);
  const bool dcr = attributes.order == BlockOrder::kDcr;
  TensorView out = deep;
  out.rank = 6;
  out.dims = {deep.dim(0), b, b, channels, deep.dim(2), deep.dim(3)};
  out.strides = {deep.stride(0),
                 dcr ? b * channels * step : b * step,
                 dcr ? channels * step : step,
                 dcr ? step : b * b * step,
                 deep.stride(2),
                 deep.stride(3)};
  return out;
}
inline TensorView wide_blocks(const TensorView& wide, int64_t b) {
  TensorView out = wide;
  out.rank = 6;
  out.dims = {wide.dim(0), b, b, wide.dim(1), wide.dim(2) / b, wide.dim(3) / b};
  out.strides = {wide.stride(0), wide.stride(2),     wide.stride(3),
                 wide.stride(1), wide.stride(2) * b, wide.stride(3) * b};
  return out;
}

// The shape of the deep form when `to_deep`, else of the wide one.
inline Result<Shape> block_shape(const Shape& in, const BlockMove& attributes, bool to_deep, DimTable& dims) {
  const int64_t b = attributes.block;
  MICA_CHECK(b >= 1 && b < (int64_t{1} << 31), kBadAttribute, "a block size of {}", b);
  MICA_CHECK(in.rank == 4, kBadRank, "depth to space and back need rank 4, not {}", in.rank);
  for (int i = to_deep ? 2 : 1; i < (to_deep ? 4 : 2); ++i) {
    const int64_t by = to_deep ? b : b * b;
    MICA_CHECK(!in[i].is_fixed() || in[i].value() % by == 0, kBadShape, "dimension {} of {} does not divide by {}", i,
               in[i].value(), by);
  }
  if (to_deep) return Shape{in[0], dims.mul(in[1], b * b), dims.floor_div(in[2], b), dims.floor_div(in[3], b)};
  return Shape{in[0], dims.floor_div(in[1], b * b), dims.mul(in[2], b), dims.mul(in[3], b)};
}

inline Status infer_blocks(InferScope& scope, bool to_deep) {
  Shape out;
  if (scope.shape(0).known()) {
    MICA_TRY(out, block_shape(scope.shape(0), scope.attributes<BlockMove>(), to_deep, scope.dims()));
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

inline Status move_blocks(RunScope& scope, bool to_deep) {
  const auto& attributes = scope.attributes<BlockMove>();
  DimTable dims;
  MICA_TRY(const Shape shape, block_shape(scope.in(0).to_shape(), attributes, to_deep, dims));
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, dims));
  MICA_TRY(const TensorView from, wide_input(scope, 0));
  MICA_TRY(const TensorView to, wide_output(scope, 0));
  if (to_deep)
    copy_elements(wide_blocks(from, attributes.block), deep_blocks(to, attributes));
  else
    copy_elements(deep_blocks(from, attributes), wide_blocks(to, attributes.block));
  finish_output(scope, 0, to);
  return {};
}

}  // namespace move
}  // namespace mica
