// One step of an optimizer (ai.onnx.preview.training): Adagrad, Adam and Momentum of any number of tensors, spelled
// out.
#include "ops/contrib/expand.import.h"

namespace mica {
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(greater);
MICA_DECLARE_OP(pow);
MICA_DECLARE_OP(sqrt);
MICA_DECLARE_OP(where);

namespace {

using expand::cast, expand::times;

// The words of one step, for tensors of `dtype`.
struct Step {
  const SourceNode& node;
  Builder& build;
  DType dtype;

  Value* number(double x) const { return build.scalar(dtype, x); }
  Value* add(Value* a, Value* b) const { return build.one(op_add, {a, b}); }
  Value* sub(Value* a, Value* b) const { return build.one(op_sub, {a, b}); }
  Value* mul(Value* a, Value* b) const { return build.one(op_mul, {a, b}); }
  Value* div(Value* a, Value* b) const { return build.one(op_div, {a, b}); }
  Value* root(Value* a) const { return build.one(op_sqrt, {a}); }
  Value* power(double base, Value* exponent) const { return build.one(op_pow, {number(base), exponent}); }
  Value* rate() const { return cast(build, node.input(0), dtype); }
  Value* count() const { return cast(build, node.input(1), dtype); }
  // `then` after the first step, else `first`.
  Value* unless_first(Value* then, Value* first) const {
    Value* later = build.one(op_greater, {node.input(1), build.scalar(DType::kI64, 0)});
    return build.one(op_where, {later, then, first});
  }
};

// Operands come as all tensors, all gradients, and so on: `parts` lists behind the rate and the count. `update` gives
// the new ones of one tensor, and the results come in lists likewise.
template <class Update>
Values for_each_tensor(const SourceNode& node, Builder& build, size_t parts, Update update) {
  if (node.inputs.size() < 2 + parts || (node.inputs.size() - 2) % parts != 0)
    fail(Code::kBadModel, "{} of {} inputs, expected 2 and {} for each tensor", node.op, node.inputs.size(), parts);
  const size_t tensors = (node.inputs.size() - 2) / parts;
  Values results((parts - 1) * tensors);
  for (size_t t = 0; t < tensors; ++t) {
    Values own;
    for (size_t k = 0; k < parts; ++k) own.push_back(node.input(2 + k * tensors + t));
    const Values made = update(Step{node, build, own[0]->type.dtype}, own);
    for (size_t k = 0; k < made.size(); ++k) results[k * tensors + t] = made[k];
  }
  return results;
}

Values import_adagrad(const SourceNode& node, Builder& build) {
  const double decay = node.number("decay_factor", 0), epsilon = node.number("epsilon", 1e-6f),
               norm = node.number("norm_coefficient", 0);
  return for_each_tensor(node, build, 3, [&](const Step& s, const Values& in) -> Values {
    Value* rate = s.div(s.rate(), s.add(s.number(1), times(build, s.count(), decay)));
    Value* gradient = s.add(times(build, in[0], norm), in[1]);
    Value* squares = s.add(in[2], s.mul(gradient, gradient));
    Value* x = s.sub(in[0], s.div(s.mul(rate, gradient), s.add(s.root(squares), s.number(epsilon))));
    return {x, squares};
  });
}

Values import_adam(const SourceNode& node, Builder& build) {
  const double alpha = node.number("alpha", 0.9f), beta = node.number("beta", 0.999f),
               epsilon = node.number("epsilon", 1e-6f), norm = node.number("norm_coefficient", 0),
               norm_post = node.number("norm_coefficient_post", 0);
  return for_each_tensor(node, build, 4, [&](const Step& s, const Values& in) -> Values {
    Value* gradient = s.add(times(build, in[0], norm), in[1]);
    Value* v = s.add(times(build, in[2], alpha), times(build, gradient, 1 - alpha));
    Value* h = s.add(times(build, in[3], beta), times(build, s.mul(gradient, gradient), 1 - beta));
    Value* corrected = s.div(s.mul(s.rate(), s.root(s.sub(s.number(1), s.power(beta, s.count())))),
                             s.sub(s.number(1), s.power(alpha, s.count())));
    Value* rate = s.unless_first(corrected, s.rate());
    Value* x = s.sub(in[0], s.div(s.mul(rate, v), s.add(s.root(h), s.number(epsilon))));
    return {times(build, x, 1 - norm_post), v, h};
  });
}

Values import_momentum(const SourceNode& node, Builder& build) {
  const std::string mode = node.text("mode", "");
  if (mode != "standard" && mode != "nesterov")
    fail(Code::kBadAttribute, "`mode` is `{}`, expected standard or nesterov", mode);
  constexpr float kUnset = std::numeric_limits<float>::quiet_NaN();
  const double alpha = node.number("alpha", kUnset), beta = node.number("beta", kUnset),
               norm = node.number("norm_coefficient", kUnset);
  if (std::isnan(alpha + beta + norm)) fail(Code::kBadAttribute, "Momentum needs alpha, beta and norm_coefficient");
  return for_each_tensor(node, build, 3, [&](const Step& s, const Values& in) -> Values {
    Value* gradient = s.add(times(build, in[0], norm), in[1]);
    Value* share = s.unless_first(s.number(beta), s.number(1));
    Value* v = s.add(times(build, in[2], alpha), s.mul(share, gradient));
    Value* way = mode == "nesterov" ? s.add(gradient, times(build, v, alpha)) : v;
    return {s.sub(in[0], s.mul(s.rate(), way)), v};
  });
}

}  // namespace

MICA_SPELLINGS(optimizers, {Format::kOnnx, "ai.onnx.preview.training", "Adagrad", 1, kLatest, import_adagrad},
               {Format::kOnnx, "ai.onnx.preview.training", "Adam", 1, kLatest, import_adam},
               {Format::kOnnx, "ai.onnx.preview.training", "Momentum", 1, kLatest, import_momentum});

}  // namespace mica
