// How the operators that draw random numbers are spelled.
#include "ir/spelling.h"
#include "ops/random/distribution.h"
#include "ops/random/draw.h"
#include "ops/random/dropout.h"
#include "ops/random/mersenne.h"

namespace mica {

MICA_DECLARE_OP(bernoulli);
MICA_DECLARE_OP(dropout);
MICA_DECLARE_OP(identity);
MICA_DECLARE_OP(multinomial);
MICA_DECLARE_OP(random_normal);
MICA_DECLARE_OP(random_uniform);

namespace {

// Seeds are written as floats; their whole part counts.
int64_t seed_of(const SourceNode& node) {
  if (!node.has("seed")) return random::seed_of(node.output_names.empty() ? node.name : node.output_names[0]);
  const SourceAttribute& seed = *node.find("seed");
  if (seed.kind == SourceAttribute::Kind::kInt) return seed.i;
  const float value = node.number("seed", 0);
  return value > -9e18f && value < 9e18f ? static_cast<int64_t>(value) : 0;
}

DType dtype_of_node(const SourceNode& node, DType otherwise) {
  if (!node.has("dtype")) return otherwise;
  const DType dtype = source_dtype(node.format, node.integer("dtype"));
  if (dtype == DType::kNone)
    fail(Code::kBadAttribute, "attribute `dtype` is {}, which is no element type", node.integer("dtype"));
  return dtype;
}

Values distribution(const SourceNode& node, Builder& build, const OpDef& op, Distribution attributes) {
  const bool like = node.has_input(0);
  attributes.dtype = dtype_of_node(node, like ? DType::kNone : DType::kF32);
  attributes.dims = like ? Ints() : node.int_list("shape");
  attributes.seed = seed_of(node);
  return build.add(op, attributes, node.inputs, 1);
}
Values random_normal(const SourceNode& node, Builder& build) {
  return distribution(node, build, op_random_normal,
                      {.first = node.number("mean", 0), .second = node.number("scale", 1)});
}
Values random_uniform(const SourceNode& node, Builder& build) {
  return distribution(node, build, op_random_uniform,
                      {.first = node.number("low", 0), .second = node.number("high", 1)});
}

Values bernoulli(const SourceNode& node, Builder& build) {
  return build.add(op_bernoulli, Draw{.dtype = dtype_of_node(node, DType::kNone), .seed = seed_of(node)}, node.inputs,
                   1);
}
Values multinomial(const SourceNode& node, Builder& build) {
  const Draw draw{
      .dtype = dtype_of_node(node, DType::kI32), .samples = node.integer("sample_size", 1), .seed = seed_of(node)};
  return build.add(op_multinomial, draw, node.inputs, 1);
}

Values dropout_with(const SourceNode& node, Builder& build, Values inputs) {
  const Dropout attributes{.seed = seed_of(node)};
  const bool mask = node.wants(1);
  if (!mask && inputs.size() == 1) return build.add(op_identity, {inputs[0]}, 1);
  return build.add(op_dropout, attributes, std::move(inputs), mask ? 2 : 1);
}
// Before version 12 a model that is run is not trained.
Values dropout_by_attributes(const SourceNode& node, Builder& build) {
  for (const char* key : {"is_test", "ratio", "consumed_inputs"}) node.ignore(key);
  return dropout_with(node, build, {node.input(0)});
}
Values dropout(const SourceNode& node, Builder& build) {
  const Value* training = node.optional(2);
  const TensorView* known = training ? training->contents() : nullptr;
  const bool off = !training || (known && known->count() == 1 && Elements(*known).integer(0) == 0);
  return dropout_with(node, build, off ? Values{node.input(0)} : node.inputs);
}

}  // namespace

MICA_SPELLINGS(random, {Format::kOnnx, "", "Bernoulli", 15, kLatest, bernoulli},
               {Format::kOnnx, "", "Dropout", 1, 11, dropout_by_attributes},
               {Format::kOnnx, "", "Dropout", 12, kLatest, dropout},
               {Format::kOnnx, "", "Multinomial", 7, kLatest, multinomial},
               {Format::kOnnx, "", "RandomNormal", 1, kLatest, random_normal},
               {Format::kOnnx, "", "RandomNormalLike", 1, kLatest, random_normal},
               {Format::kOnnx, "", "RandomUniform", 1, kLatest, random_uniform},
               {Format::kOnnx, "", "RandomUniformLike", 1, kLatest, random_uniform});

}  // namespace mica
