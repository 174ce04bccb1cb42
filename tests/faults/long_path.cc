// A model whose way from the file to the first answer asks for memory very often.
#include "faults.h"
#include "import/onnx/model_maker.h"

namespace mica::faults {
namespace {

void fill(::mica_onnx::Tensor* tensor, int count, int turn) {
  for (int i = 0; i < count; ++i) tensor->add_float_data(static_cast<float>((i * 7 + turn) % 5 - 2) / 4);
}

}  // namespace

// Blocks of a product, a softmax, a mean, a concatenation and a product back: nothing in them fuses to one stage, and
// every 16th takes its shape from data, so that the function has segments.
fuzz::Seed long_model(int blocks) {
  onnx::ModelMaker made(17);
  made.input("x", {"2", "4"});
  const std::string axis = "axis";
  std::string at = "x";
  for (int b = 0; b < blocks; ++b) {
    const std::string n = std::to_string(b);
    fill(made.initializer("in" + n, 1, {4, 4}), 16, b);
    fill(made.initializer("out" + n, 1, {5, 4}), 20, b + 2);
    made.node("MatMul", {at, "in" + n}, {"a" + n});
    made.node("Softmax", {"a" + n}, {"s" + n});
    auto* mean = made.node("ReduceMean", {"s" + n}, {"m" + n});
    onnx::ModelMaker::attribute(mean, "axes", 7)->add_ints(1);
    auto* concat = made.node("Concat", {"a" + n, "m" + n}, {"c" + n});
    onnx::ModelMaker::set_int(concat, axis, 1);
    made.node("MatMul", {"c" + n, "out" + n}, {"h" + n});
    at = "h" + n;
    if (b % 16 != 15) continue;
    made.node("NonZero", {at}, {"z" + n});
    made.node("GatherND", {at, "t" + n}, {"g" + n});
    made.node("Transpose", {"z" + n}, {"t" + n});
    auto* sum = made.node("ReduceMean", {"g" + n}, {"k" + n});
    onnx::ModelMaker::set_int(sum, "keepdims", 0);
    made.node("Add", {at, "k" + n}, {"d" + n});
    at = "d" + n;
  }
  made.output(at);
  return {"long path", made.bytes()};
}

}  // namespace mica::faults
