// Convolutions that are a product of each pixel's channels with a matrix.
#pragma once
#include "base/checked.h"
#include "ops/conv/conv.h"
#include "passes/declutter/contents.h"

namespace mica {

MICA_DECLARE_OP(conv);

namespace pixel_product {

// A convolution of one pixel whose f32 weights are known, of all channels.
inline bool is_one(const Node& node) {
  if (node.op != &op_conv || !node.inputs[1]->is_constant() || node.inputs[1]->type.dtype != DType::kF32) return false;
  const Shape &w = node.inputs[1]->type.shape, &x = node.inputs[0]->type.shape;
  const auto& a = node.attributes<Conv>();
  if (a.groups != 1 || a.auto_pad != AutoPad::kNotSet || w.rank < 3 || w.rank != x.rank || w[0].is(0) || w[1].is(0))
    return false;
  for (int i = 2; i < w.rank; ++i)
    if (!w[i].is(1)) return false;
  return std::ranges::all_of(a.strides, [](int64_t s) { return s == 1; }) &&
         std::ranges::all_of(a.pads, [](int64_t p) { return p == 0; });
}

inline bool has_bias(const Node& conv) { return conv.inputs.size() > 2 && conv.inputs[2]; }
inline int64_t channels_made(const Node& conv) { return conv.inputs[1]->type.shape[0].value(); }
inline int64_t channels_read(const Node& conv) { return conv.inputs[1]->type.shape[1].value(); }

// Whether two products behind each other are better one, of a matrix that is made of theirs in a fraction of a second.
inline bool are_better_one(int64_t read, int64_t between, int64_t made) {
  constexpr int64_t kMostWork = 1 << 28;  // multiply-adds to make the matrix
  return read * made <= between * (read + made) && read * made <= kMostWork / between;
}

// The places of an image of each channel; -1 when they are not numbers of at least one.
inline int64_t pixels(const Value* image) {
  const Shape& shape = image->type.shape;
  if (!shape.known() || shape.rank < 3) return -1;
  int64_t count = 1;
  for (int i = 2; i < shape.rank; ++i)
    if (!shape[i].is_fixed() || shape[i].value() < 1 || !checked_mul(count, shape[i].value(), count)) return -1;
  return count;
}

// Weights [N, C, 1, …] of numbers by rows.
inline Value* weights(Builder& build, const Node& like, int64_t made, int64_t read, std::span<const double> list) {
  std::vector<int64_t> dims(static_cast<size_t>(like.inputs[1]->type.shape.rank), 1);
  dims[0] = made;
  dims[1] = read;
  Value* w = contents::constant(build, DType::kF32, dims, list);
  w->name = like.inputs[1]->name;
  return w;
}

}  // namespace pixel_product
}  // namespace mica
