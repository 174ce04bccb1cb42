// Two products behind each other are one, whose matrix is their product, where that is not more work.
#include "passes/declutter/pixel_product.h"
#include "passes/rewrite.h"

namespace mica {
namespace {

// Rows of w · v, of n x k and k x c.
std::vector<double> product_of(const std::vector<double>& w, const std::vector<double>& v, size_t k) {
  const size_t rows = w.size() / k, columns = v.size() / k;
  std::vector<double> made(rows * columns);
  for (size_t n = 0; n < rows; ++n)
    for (size_t i = 0; i < k; ++i)
      for (size_t c = 0; c < columns; ++c) made[n * columns + c] += w[n * k + i] * v[i * columns + c];
  return made;
}

Value* composed(const Match& m, Builder& build) {
  const Node &first = m.node("first"), &second = *m.root;
  if (!pixel_product::is_one(first) || !pixel_product::is_one(second)) return nullptr;
  const int64_t read = pixel_product::channels_read(first), between = pixel_product::channels_made(first),
                made = pixel_product::channels_made(second);
  if (!pixel_product::are_better_one(read, between, made)) return nullptr;
  const bool biased = pixel_product::has_bias(first), biased_again = pixel_product::has_bias(second);
  if ((biased && !first.inputs[2]->is_constant()) || (biased_again && !second.inputs[2]->is_constant())) return nullptr;
  const std::vector<double> w = contents::numbers(*second.inputs[1]), v = contents::numbers(*first.inputs[1]);
  const auto inner = static_cast<size_t>(between);
  Values inputs{first.inputs[0], pixel_product::weights(build, second, made, read, product_of(w, v, inner))};
  if (biased || biased_again) {
    std::vector<double> bias(static_cast<size_t>(made));
    if (biased) bias = product_of(w, contents::numbers(*first.inputs[2]), inner);
    const std::vector<double> more = biased_again ? contents::numbers(*second.inputs[2]) : std::vector<double>();
    for (size_t n = 0; n < more.size(); ++n) bias[n] += more[n];
    inputs.push_back(contents::constant(build, DType::kF32, std::array{made}, bias));
  }
  return build.one(op_conv, Conv{}, inputs);
}

std::vector<Rule> make() {
  const Pattern first = is(op_conv, {any("x"), constant("v")}).rest().once().as("first");
  return {{"product-of-products", "conv(conv(x, v), w) of one pixel → conv(x, w·v)",
           is(op_conv, {first, constant("w")}).rest(), composed}};
}

}  // namespace

// Behind the rules that bring products together.
MICA_RULES(composed) = {.rank = 23, .make = make, .last = true};

}  // namespace mica
