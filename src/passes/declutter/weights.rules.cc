// Affine work around products and convolutions goes into their weights.
#include <algorithm>

#include "ops/conv/conv.h"
#include "ops/conv/conv_transpose.h"
#include "ops/matmul/gemm.h"
#include "ops/move/pad.h"
#include "ops/norm/batch_norm.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(batch_norm);
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(conv_transpose);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(gemm);
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(neg);
MICA_DECLARE_OP(pad);
MICA_DECLARE_OP(sub);

namespace {

struct Affine {
  std::vector<double> scale, shift;
};  // y = scale·x + shift, per channel

// Output channels of a convolution's weights [M, C/groups, …].
int64_t channels_of(const Value& w) { return w.type.shape[0].value(); }

// conv(x, w, b) and then y = s·… + t: conv(x, s·w, s·b + t).
Value* fold_into_conv(const Node& conv, const Affine& f, Builder& build) {
  Value* w = conv.inputs[1];
  const int64_t m = channels_of(*w);
  std::vector<double> weights = contents::numbers(*w), bias(static_cast<size_t>(m), 0.0);
  if (conv.inputs.size() > 2 && conv.inputs[2]) bias = contents::numbers(*conv.inputs[2]);
  const auto channels = static_cast<size_t>(m);
  for (size_t c = 0; c < channels; ++c) {
    const size_t each = weights.size() / channels;
    for (size_t i = 0; i < each; ++i) weights[c * each + i] *= f.scale[c];
  }
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = bias[i] * f.scale[i] + f.shift[i];
  const int64_t dims[] = {m};
  Value* folded_w = contents::constant(build, w->type.dtype, contents::dims_of(*w), weights);
  Value* folded_b = contents::constant(build, w->type.dtype, dims, bias);
  folded_w->name = w->name;
  return build.one(op_conv, conv.attributes<Conv>(), {conv.inputs[0], folded_w, folded_b});
}

bool constant_weights(const Match& m) {
  const Node& conv = m.node("conv");
  return contents::is_float(conv.inputs[1]) &&
         (conv.inputs.size() < 3 || !conv.inputs[2] || conv.inputs[2]->is_constant());
}

Affine affine_of_batch_norm(const Match& m, const Node& node) {
  const auto scale = contents::numbers(*m["scale"]), bias = contents::numbers(*m["bias"]),
             mean = contents::numbers(*m["mean"]), variance = contents::numbers(*m["var"]);
  Affine f;
  for (size_t i = 0; i < scale.size(); ++i) {
    f.scale.push_back(scale[i] / std::sqrt(variance[i] + static_cast<double>(node.attributes<BatchNorm>().epsilon)));
    f.shift.push_back(bias[i] - mean[i] * f.scale.back());
  }
  return f;
}

Value* fold_batch_norm(const Match& m, Builder& build) {
  if (!constant_weights(m) || m.root->attributes<BatchNorm>().training) return nullptr;
  const Affine f = affine_of_batch_norm(m, *m.root);
  if (static_cast<int64_t>(f.scale.size()) != channels_of(*m.node("conv").inputs[1])) return nullptr;
  return fold_into_conv(m.node("conv"), f, build);
}

// x·s + t, a number of each for each channel.
Value* spell_out(Value* x, const Affine& f, Builder& build) {
  std::vector<int64_t> dims(static_cast<size_t>(x->type.shape.rank) - 1, 1);
  dims[0] = static_cast<int64_t>(f.scale.size());
  Value* scaled = build.one(op_mul, {x, contents::constant(build, x->type.dtype, dims, f.scale)});
  return build.one(op_add, {scaled, contents::constant(build, x->type.dtype, dims, f.shift)});
}

// A batch norm that stands alone is a multiplication and an addition per channel, which fuse with what is around them.
Value* spell_out_batch_norm(const Match& m, Builder& build) {
  const Value* x = m["x"];
  if (m.root->attributes<BatchNorm>().training || x->type.shape.rank < 2 || !contents::is_float(x)) return nullptr;
  return spell_out(m["x"], affine_of_batch_norm(m, *m.root), build);
}

// So is a depthwise convolution of one tap.
Value* spell_out_one_tap(const Match& m, Builder& build) {
  const Value *x = m["x"], *w = m["w"];
  const auto& a = m.root->attributes<Conv>();
  const auto dims = contents::dims_of(*w);
  const bool biased = m.root->inputs.size() > 2 && m.root->inputs[2];
  if (!contents::is_float(w) || x->type.shape.rank < 3 || a.groups != dims[0] ||
      (biased && !m.root->inputs[2]->constant))
    return nullptr;
  const auto all = [](auto&& list, int64_t n) { return std::ranges::all_of(list, [n](int64_t i) { return i == n; }); };
  if (!all(std::span(dims).subspan(1), 1) || !all(a.strides.span(), 1) || !all(a.pads.span(), 0)) return nullptr;
  Affine f{contents::numbers(*w), std::vector<double>(static_cast<size_t>(dims[0]), 0.0)};
  if (biased) f.shift = contents::numbers(*m.root->inputs[2]);
  return spell_out(m["x"], f, build);
}

enum class Arithmetic { kMul, kDiv, kAdd, kSub };
template <Arithmetic kind>
Value* fold_arithmetic(const Match& m, Builder& build) {
  const Node& conv = m.node("conv");
  const Shape& out = m.root->outputs[0]->type.shape;
  if (!constant_weights(m) || !out.known() || !(m.root->outputs[0]->type == conv.outputs[0]->type)) return nullptr;
  const int64_t count = channels_of(*conv.inputs[1]);
  const std::vector<double> list = contents::along_axis(*m["c"], out.rank, 1, count);
  if (list.empty()) return nullptr;
  Affine f{std::vector<double>(list.size(), 1.0), std::vector<double>(list.size(), 0.0)};
  for (size_t i = 0; i < list.size(); ++i) {
    if (kind == Arithmetic::kMul) f.scale[i] = list[i];
    if (kind == Arithmetic::kDiv) f.scale[i] = 1 / list[i];
    if (kind == Arithmetic::kAdd) f.shift[i] = list[i];
    if (kind == Arithmetic::kSub) f.shift[i] = -list[i];
  }
  return fold_into_conv(conv, f, build);
}

Value* fold_neg(const Match& m, Builder& build) {
  if (!constant_weights(m)) return nullptr;
  const auto count = static_cast<size_t>(channels_of(*m.node("conv").inputs[1]));
  return fold_into_conv(m.node("conv"), {std::vector<double>(count, -1.0), std::vector<double>(count, 0.0)}, build);
}

// Weights of a transposed convolution are [C, M/groups, …]; the groups divide C.
Value* fold_batch_norm_transposed(const Match& m, Builder& build) {
  const Node& conv = m.node("conv");
  if (!constant_weights(m) || m.root->attributes<BatchNorm>().training) return nullptr;
  const Affine f = affine_of_batch_norm(m, *m.root);
  const auto& a = conv.attributes<ConvTranspose>();
  Value* w = conv.inputs[1];
  const auto dims = contents::dims_of(*w);
  const auto channels = static_cast<int64_t>(f.scale.size());
  if (dims.size() < 3 || a.groups < 1 || dims[1] * a.groups != channels || dims[0] % a.groups || dims[0] == 0)
    return nullptr;
  std::vector<double> weights = contents::numbers(*w), bias(f.scale.size(), 0.0);
  if (conv.inputs.size() > 2 && conv.inputs[2]) bias = contents::numbers(*conv.inputs[2]);
  if (bias.size() != f.scale.size()) return nullptr;
  const int64_t per_group = dims[0] / a.groups,
                taps = channels ? static_cast<int64_t>(weights.size()) / (dims[0] * dims[1]) : 0;
  double* next = weights.data();
  for (int64_t c = 0; c < dims[0]; ++c) {
    for (int64_t j = 0; j < dims[1]; ++j) {
      const double scale = f.scale[static_cast<size_t>(c / per_group * dims[1] + j)];
      for (int64_t i = 0; i < taps; ++i) *next++ *= scale;
    }
  }
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = bias[i] * f.scale[i] + f.shift[i];
  const int64_t bias_dims[] = {channels};
  Value* folded_w = contents::constant(build, w->type.dtype, dims, weights);
  Value* folded_b = contents::constant(build, w->type.dtype, bias_dims, bias);
  folded_w->name = w->name;
  return build.one(op_conv_transpose, a, {conv.inputs[0], folded_w, folded_b});
}

Value* fold_pad(const Match& m, Builder& build) {
  const Node& pad = m.node("pad");
  const int rank = m["x"]->type.shape.rank;
  if (rank < 3 || pad.attributes<Pad>().mode != PadMode::kConstant || (pad.inputs.size() > 3 && pad.inputs[3]))
    return nullptr;
  if (pad.inputs.size() > 2 && pad.inputs[2] && contents::uniform(pad.inputs[2]) != 0.0) return nullptr;
  Conv conv = m.root->attributes<Conv>();
  if (conv.auto_pad != AutoPad::kNotSet) return nullptr;
  const std::vector<double> pads = contents::numbers(*m["pads"]);
  if (static_cast<int>(pads.size()) != 2 * rank) return nullptr;
  const auto spatial = static_cast<size_t>(rank - 2);
  Ints sums;
  for (size_t i = 0; i < 2 * spatial; ++i) {
    const size_t at = i < spatial ? i + 2 : i - spatial + static_cast<size_t>(rank) + 2;
    if (pads[at] < 0) return nullptr;
    sums.push(conv.pads.get(i, 0) + static_cast<int64_t>(pads[at]));
  }
  for (size_t at : {size_t{0}, size_t{1}, static_cast<size_t>(rank), static_cast<size_t>(rank) + 1})
    if (pads[at] != 0) return nullptr;
  conv.pads = sums;
  Values inputs = m.root->inputs;
  inputs[0] = m["x"];
  return build.one(op_conv, conv, inputs);
}

// matmul(x, w) + b of a matrix x: one product with a bias.
Value* bias_into_gemm(const Match& m, Builder& build) {
  const Value *x = m["x"], *w = m["w"], *out = m.root->outputs[0];
  if (x->type.shape.rank != 2 || w->type.shape.rank != 2 || !contents::is_float(x) ||
      !(out->type == m["product"]->type))
    return nullptr;
  if (!w->type.shape[1].is_fixed()) return nullptr;
  const std::vector<double> bias = contents::along_axis(*m["b"], 2, 1, w->type.shape[1].value());
  if (bias.empty()) return nullptr;
  const int64_t dims[] = {static_cast<int64_t>(bias.size())};
  return build.one(op_gemm, Gemm{}, {m["x"], m["w"], contents::constant(build, x->type.dtype, dims, bias)});
}

// A factor of each column, as layer scales have it, behind a product with a matrix or with a bias behind that.
Value* fold_columns(const Match& m, Builder& build) {
  const Value *w = m["w"], *product = m["product"];
  const Shape &shape = w->type.shape, &made = product->type.shape;
  if (shape.rank != 2 || made.rank < 2 || !contents::is_float(w) || !(m.root->outputs[0]->type == product->type))
    return nullptr;
  const int64_t columns = shape[1].value();
  const auto by_column = [&](const Value& c) { return contents::along_axis(c, made.rank, made.rank - 1, columns); };
  const std::vector<double> scale = by_column(*m["c"]);
  if (scale.empty() || (m.has("b") && !(m["sum"]->type == product->type))) return nullptr;
  std::vector<double> list = contents::numbers(*w);
  for (size_t i = 0; i < list.size(); ++i) list[i] *= scale[i % scale.size()];
  Value* folded = contents::constant(build, w->type.dtype, contents::dims_of(*w), list);
  folded->name = w->name;
  Value* y = build.again(*product->producer, {m["x"], folded});
  if (!m.has("b")) return y;
  std::vector<double> bias = by_column(*m["b"]);
  if (bias.empty()) return nullptr;
  for (size_t i = 0; i < bias.size(); ++i) bias[i] *= scale[i];
  return build.one(op_add, {y, contents::constant(build, w->type.dtype, std::array{columns}, bias)});
}

std::vector<Rule> make() {
  const Pattern product = is(op_matmul, {any("x"), constant("w")}).once().as("product");
  const Pattern sum = is(op_add, {product, constant("b")}).either().once().as("sum");
  const auto conv = [] { return is(op_conv, {any("input"), constant("w")}).rest().once().as("conv"); };
  const auto norm = [](Pattern x) {
    return is(op_batch_norm, {std::move(x), constant("scale"), constant("bias"), constant("mean"), constant("var")});
  };
  return {
      {"fold-batch-norm-into-conv", "batch_norm(conv(x, w, b)) → conv(x, s·w, s·b + t)", norm(conv()), fold_batch_norm},
      {"fold-batch-norm-into-conv-transpose", "batch_norm(conv_transpose(x, w, b)) → conv_transpose(x, s·w, s·b + t)",
       norm(is(op_conv_transpose, {any("input"), constant("w")}).rest().once().as("conv")), fold_batch_norm_transposed},
      {"fold-neg-into-conv", "-conv(x, w, b) → conv(x, -w, -b)", is(op_neg, {conv()}), fold_neg},
      {"fold-div-into-conv", "conv(x, w, b) / s → conv(x, w / s, b / s)", is(op_div, {conv(), constant("c")}),
       fold_arithmetic<Arithmetic::kDiv>},
      {"spell-out-batch-norm", "batch_norm(x) → x·s + t", norm(any("x")), spell_out_batch_norm},
      {"fold-mul-into-conv", "conv(x, w, b)·s → conv(x, s·w, s·b)", is(op_mul, {conv(), constant("c")}).either(),
       fold_arithmetic<Arithmetic::kMul>},
      {"fold-add-into-conv", "conv(x, w, b) + t → conv(x, w, b + t)", is(op_add, {conv(), constant("c")}).either(),
       fold_arithmetic<Arithmetic::kAdd>},
      {"fold-sub-into-conv", "conv(x, w, b) - t → conv(x, w, b - t)", is(op_sub, {conv(), constant("c")}),
       fold_arithmetic<Arithmetic::kSub>},
      {"spell-out-one-tap", "conv(x, w, b) of a number of each channel → x·w + b",
       is(op_conv, {any("x"), constant("w")}).rest(), spell_out_one_tap},
      {"fold-pad-into-conv", "conv(pad(x)) → conv(x)",
       is(op_conv, {is(op_pad, {any("x"), constant("pads")}).rest().once().as("pad"), any("w")}).rest(), fold_pad},
      {"fold-mul-into-matmul", "matmul(x, w)·s → matmul(x, w·s), also with a bias",
       is(op_mul, {product, constant("c")}).either(), fold_columns},
      {"fold-mul-into-matmul", "matmul(x, w)·s → matmul(x, w·s), also with a bias",
       is(op_mul, {sum, constant("c")}).either(), fold_columns},
      {"fold-bias-into-gemm", "matmul(x, w) + b → gemm(x, w, b)",
       is(op_add, {is(op_matmul, {any("x"), any("w")}).once().as("product"), constant("b")}).either(), bias_into_gemm},
  };
}

}  // namespace

MICA_RULES(weights) = {.rank = 10, .make = make};

}  // namespace mica
