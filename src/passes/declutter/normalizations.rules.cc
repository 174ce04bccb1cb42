// Normalisations along the last axis, or the channels, that exporters spell out.
#include "ops/move/transpose.h"
#include "ops/norm/layer_norm.h"
#include "ops/reduce/reduce.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(layer_norm);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(reduce);
MICA_DECLARE_OP(rms_norm);
MICA_DECLARE_OP(rsqrt);
MICA_DECLARE_OP(sqrt);
MICA_DECLARE_OP(square);
MICA_DECLARE_OP(sub);
MICA_DECLARE_OP(transpose);

namespace {

// A mean over exactly one axis, which stays: the last one, or the channels before it.
template <bool kChannels>
bool is_mean(const Node& node) {
  const auto& a = node.attributes<Reduce>();
  const int rank = node.inputs[0]->type.shape.rank;
  if (a.kind != ReduceKind::kMean || !a.keep_dims || node.inputs.size() != 2 || rank < (kChannels ? 3 : 1))
    return false;
  const auto axes = contents::integers(node.inputs[1]);
  const int64_t wanted = kChannels ? 1 : rank - 1;
  return axes && axes->size() == 1 && ((*axes)[0] == wanted || (*axes)[0] == wanted - rank);
}
Pattern mean_of(Pattern x, bool channels) {
  return is(op_reduce, {std::move(x), any("")}).where(channels ? is_mean<true> : is_mean<false>);
}

// One number per element of x's last axis.
bool is_last_vector(const Value* v, const Value* x) {
  const Shape &s = v->type.shape, &r = x->type.shape;
  if (!s.fixed() || s.rank < 1 || s.rank > r.rank || v->type.dtype != x->type.dtype || !(s.back() == r.back()))
    return false;
  for (int i = 0; i + 1 < s.rank; ++i)
    if (!s[i].is(1)) return false;
  return true;
}
Value* flat(Value* v, Builder& build) {
  const int64_t dims[] = {v->constant->view.count()};
  return build.constant(v->type.dtype, dims, v->constant->view.data);
}
// A vector of one number repeated, for normalisations without a scale or a shift of their own.
Value* filled(const Value* x, double number, Builder& build) {
  const int64_t dims[] = {x->type.shape.back().value()};
  return contents::constant(build, x->type.dtype, dims, std::vector<double>(static_cast<size_t>(dims[0]), number));
}

std::optional<LayerNorm> norm_of(const Match& m, const Value* x) {
  const auto epsilon = contents::uniform(m["epsilon"]);
  if (!epsilon || *epsilon < 0 || !contents::is_float(x) || x->type.shape.rank < 1 || !x->type.shape.back().is_fixed())
    return {};
  if (!(m.root->outputs[0]->type == m["x"]->type)) return {};
  return LayerNorm{.axis = -1, .epsilon = static_cast<float>(*epsilon), .statistics = DType::kF32};
}

Value* plain_layer_norm(Value* x, const LayerNorm& a, Builder& build) {
  return build.one(op_layer_norm, a, {x, filled(x, 1, build), filled(x, 0, build)});
}

Value* layer_norm(const Match& m, Builder& build) {
  const auto a = norm_of(m, m["x"]);
  return a ? plain_layer_norm(m["x"], *a, build) : nullptr;
}

// Channels become the last axis and go back: what moves nothing where they lie so.
Value* layer_norm_of_channels(const Match& m, Builder& build) {
  Transpose there, back;
  const int rank = m["x"]->type.shape.rank;
  for (int i = 0; i < rank; ++i) {
    there.perm.push(i == 0 ? 0 : i + 1 < rank ? i + 1 : 1);
    back.perm.push(i == 0 ? 0 : i == 1 ? rank - 1 : i - 1);
  }
  if (!m["x"]->type.shape[1].is_fixed()) return nullptr;
  Value* x = build.one(op_transpose, there, {m["x"]});
  const auto a = norm_of(m, x);
  return a ? build.one(op_transpose, back, {plain_layer_norm(x, *a, build)}) : nullptr;
}

Value* rms_norm(const Match& m, Builder& build) {
  const auto a = norm_of(m, m["x"]);
  return a ? build.one(op_rms_norm, *a, {m["x"], filled(m["x"], 1, build)}) : nullptr;
}

bool is_ones(const Value* v) { return contents::is_number(v, 1); }

// What follows a normalisation without scale (shift) becomes its scale (shift).
template <const OpDef& op>
Value* scale_into(const Match& m, Builder& build) {
  const Node& norm = m.node("norm");
  if (!is_ones(norm.inputs[1]) || (norm.inputs.size() > 2 && contents::uniform(norm.inputs[2]) != 0.0)) return nullptr;
  if (!is_last_vector(m["scale"], m["norm"]) || norm.outputs.size() != 1) return nullptr;
  Values inputs = norm.inputs;
  inputs[1] = flat(m["scale"], build);
  return build.one(op, norm.attributes<LayerNorm>(), inputs);
}

Value* shift_into(const Match& m, Builder& build) {
  const Node& norm = m.node("norm");
  if (norm.inputs.size() < 3 || contents::uniform(norm.inputs[2]) != 0.0 || norm.outputs.size() != 1) return nullptr;
  if (!is_last_vector(m["shift"], m["norm"])) return nullptr;
  return build.one(op_layer_norm, norm.attributes<LayerNorm>(),
                   {norm.inputs[0], norm.inputs[1], flat(m["shift"], build)});
}

std::vector<Rule> make() {
  const auto centred = [](bool channels) { return is(op_sub, {any("x"), mean_of(any("x"), channels)}).as("centred"); };
  const auto deviation = [](Pattern of, bool channels) {
    return is(op_add, {mean_of(is(op_square, {std::move(of)}), channels), constant("epsilon")}).either();
  };
  const auto over_root = [&](Pattern x, Pattern y, bool channels) {
    return is(op_div, {std::move(x), is(op_sqrt, {deviation(std::move(y), channels)})});
  };
  const auto by_rsqrt = [&](Pattern x, Pattern y, bool channels) {
    return is(op_mul, {std::move(x), is(op_rsqrt, {deviation(std::move(y), channels)})}).either();
  };
  const auto norm = [](const OpDef& op) { return is(op, {any("x"), any("")}).rest().once().as("norm"); };
  return {
      {"recognise-layer-norm", "c / √(mean(c²) + ε), c = x - mean(x) → layer_norm(x)",
       over_root(centred(false), any("centred"), false), layer_norm},
      {"recognise-layer-norm-of-product", "c · rsqrt(mean(c²) + ε), c = x - mean(x) → layer_norm(x)",
       by_rsqrt(centred(false), any("centred"), false), layer_norm},
      {"recognise-layer-norm-of-channels", "the same over the channels → transpose(layer_norm(transpose(x)))",
       over_root(centred(true), any("centred"), true), layer_norm_of_channels},
      {"recognise-layer-norm-of-channels-by-product", "the same → transpose(layer_norm(transpose(x)))",
       by_rsqrt(centred(true), any("centred"), true), layer_norm_of_channels},
      {"recognise-rms-norm", "x / √(mean(x²) + ε) → rms_norm(x)", over_root(any("x"), any("x"), false), rms_norm},
      {"recognise-rms-norm-of-product", "x · rsqrt(mean(x²) + ε) → rms_norm(x)", by_rsqrt(any("x"), any("x"), false),
       rms_norm},
      {"scale-into-layer-norm", "layer_norm(x, 1, 0) · s → layer_norm(x, s, 0)",
       is(op_mul, {norm(op_layer_norm), constant("scale")}).either(), scale_into<op_layer_norm>},
      {"scale-into-rms-norm", "rms_norm(x, 1) · s → rms_norm(x, s)",
       is(op_mul, {norm(op_rms_norm), constant("scale")}).either(), scale_into<op_rms_norm>},
      {"shift-into-layer-norm", "layer_norm(x, s, 0) + t → layer_norm(x, s, t)",
       is(op_add, {norm(op_layer_norm), constant("shift")}).either(), shift_into},
  };
}

}  // namespace

MICA_RULES(normalizations) = {.rank = 4, .make = make};

}  // namespace mica
