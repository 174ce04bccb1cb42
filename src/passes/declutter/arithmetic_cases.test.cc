#include "support/rule_cases.h"

namespace mica::support {

std::vector<RuleCase> arithmetic_cases() {
  const std::string x = "input %x: f32[2,3,4] \"x\"\n", z = "input %z: f32[2,3,4] \"z\"\n";
  const auto number = [](const char* name, const char* value) {
    return std::string("constant %") + name + ": f32[] = {" + value + "}\n";
  };
  return {
      {"add-zero", x + number("c", "0"), "%a = add(%c, %x)\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"sub-zero", x + number("c", "0"), "%a = sub(%x, %c)\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"mul-one", x + "constant %c: f32[4] = {1, 1, 1, 1}\n", "%a = mul(%x, %c)\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"div-one", x + number("c", "1"), "%a = div(%x, %c)\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"pow-two", x + number("two", "2"), "%y = pow(%x, %two)\n", "%y = square(%x)\n"},
      {"pow-half", x + number("half", "0.5"), "%y = pow(%x, %half)\n", "%y = sqrt(%x)\n"},
      {"product-of-itself", x, "%y = mul(%x, %x)\n", "%y = square(%x)\n"},
      {"pow-three", x + number("three", "3"), "%y = pow(%x, %three)\n", "%s = square(%x)\n%y = mul(%x, %s)\n"},
      {"one-over", x + number("one", "1"), "%y = div(%one, %x)\n", "%y = reciprocal(%x)\n"},
      {"reciprocal-of-root", x, "%a = abs(%x)\n%r = sqrt(%a)\n%y = reciprocal(%r)\n", "%a = abs(%x)\n%y = rsqrt(%a)\n"},
      {"recognise-sigmoid", x + number("one", "1"),
       "%n = neg(%x)\n%e = exp(%n)\n%s = add(%one, %e)\n%y = reciprocal(%s)\n", "%y = sigmoid(%x)\n"},
      {"transpose-behind-unary", x, "%t = transpose(%x) perm=[2,0,1]\n%y = tanh(%t)\n",
       "%t = tanh(%x)\n%y = transpose(%t) perm=[2,0,1]\n"},
      {"transpose-behind-unary", x, "%t = transpose(%x) perm=[2,0,1]\n%y = leaky_relu(%t) alpha=0.25\n",
       "%t = leaky_relu(%x) alpha=0.25\n%y = transpose(%t) perm=[2,0,1]\n"},
      {"part-before-transpose", "input %k: f32[2,6,5] \"k\"\nconstant %d: i64[4] = {2, 5, 2, 3}\n",
       "%t = transpose(%k) perm=[0,2,1]\n%y = reshape(%t, %d)\n",
       "%r = reshape(%k, %c)\n%y = transpose(%r) perm=[0,3,1,2]\n# with constant %c: i64[4] = {2, 2, 3, 5}\n"},
      {"part-before-transpose", "input %k: f32[4,3,5] \"k\"\nconstant %d: i64[4] = {1, 3, 5, 4}\n",
       "%t = transpose(%k) perm=[1,2,0]\n%y = reshape(%t, %d)\n",
       "%r = reshape(%k, %c)\n%y = transpose(%r) perm=[1,2,3,0]\n# with constant %c: i64[4] = {4, 1, 3, 5}\n"},
      {"part-before-transpose", "input %k: f32[n,6,5] \"k\"\nconstant %d: i64[4] = {-1, 5, 2, 3}\n",
       "%t = transpose(%k) perm=[0,2,1]\n%y = reshape(%t, %d)\n",
       "%r = reshape(%k, %c)\n%y = transpose(%r) perm=[0,3,1,2]\n# with constant %c: i64[4] = {0, 2, 3, 5}\n"},
      {"tokens-of-image", "input %k: f32[2,5,2,3] \"k\"\nconstant %d: i64[3] = {2, 5, 6}\n",
       "%r = reshape(%k, %d)\n%y = transpose(%r) perm=[0,2,1]\n",
       "%t = transpose(%k) perm=[0,2,3,1]\n%y = reshape(%t, %c)\n# with constant %c: i64[3] = {2, 6, 5}\n"},
      {"unary-before-flattening",
       "input %k: f32[1,2,2,3] \"k\"\nconstant %w: f32[2,2,1,1] = {1, 2, 3, 4}\nconstant %d: i64[3] = {1, 2, 6}\n",
       "%c = conv(%k, %w)\n%r = reshape(%c, %d)\n%y = abs(%r)\n",
       "%c = conv(%k, %w)\n%a = abs(%c)\n%y = reshape(%a, %d)\n"},
      {"unary-before-flattening-tokens",
       "input %k: f32[1,2,2,3] \"k\"\nconstant %w: f32[2,2,1,1] = {1, 2, 3, 4}\nconstant %d: i64[3] = {1, 6, 2}\n",
       "%c = conv(%k, %w)\n%t = transpose(%c) perm=[0,2,3,1]\n%r = reshape(%t, %d)\n%y = abs(%r)\n",
       "%c = conv(%k, %w)\n%t = transpose(%c) perm=[0,2,3,1]\n%a = abs(%t)\n%y = reshape(%a, %d)\n"},
      {"transpose-of-joined-axes",
       "input %k: f32[2,3,5,4] \"k\"\nconstant %c: i64[3] = {-1, 5, 4}\nconstant %d: i64[4] = {2, 3, 4, 5}\n",
       "%r = reshape(%k, %c)\n%t = transpose(%r) perm=[0,2,1]\n%y = reshape(%t, %d)\n",
       "%y = transpose(%k) perm=[0,1,3,2]\n"},
      {"transpose-behind-pair", x + z,
       "%s = transpose(%x) perm=[2,0,1]\n%t = transpose(%z) perm=[-1,0,1]\n%y = sub(%s, %t)\n",
       "%d = sub(%x, %z)\n%y = transpose(%d) perm=[2,0,1]\n"},
      {"transpose-behind-constant", x + "constant %c: f32[3] = {1, 2, 3}\n",
       "%t = transpose(%x) perm=[2,0,1]\n%y = div(%t, %c)\n",
       "%u = transpose(%d) perm=[1,2,0]\n%t = div(%x, %u)\n%y = transpose(%t) perm=[2,0,1]\n"
       "# with constant %d: f32[1,1,3] = {1, 2, 3}\n"},
      {"transpose-behind-first-constant", x + number("c", "5"), "%t = transpose(%x) perm=[2,0,1]\n%y = sub(%c, %t)\n",
       "%t = sub(%c, %x)\n%y = transpose(%t) perm=[2,0,1]\n"},
  };
}

std::vector<RuleCase> composite_cases() {
  const std::string x = "input %x: f32[2,3,4] \"x\"\n";
  const auto numbers = [](std::initializer_list<std::pair<const char*, const char*>> list) {
    std::string text;
    for (const auto& [name, value] : list) text += std::string("constant %") + name + ": f32[] = {" + value + "}\n";
    return text;
  };
  const std::string gelu = x + numbers({{"r", "1.4142135"}, {"one", "1"}, {"half", "0.5"}});
  const std::string gelu_mul = x + numbers({{"r", "0.70710677"}, {"one", "1"}, {"half", "0.5"}});
  const std::string gelu_tanh = x + numbers({{"k", "0.044715"}, {"f", "0.7978846"}, {"one", "1"}, {"half", "0.5"}});
  const std::string by_div = "%a = div(%x, %r)\n%b = erf(%a)\n%e = add(%b, %one)\n";
  const std::string by_mul = "%a = mul(%r, %x)\n%b = erf(%a)\n%e = add(%b, %one)\n";
  const std::string by_tanh =
      "%q = square(%x)\n%c = mul(%x, %q)\n%d = mul(%c, %k)\n%i = add(%x, %d)\n%j = mul(%i, %f)\n%t = tanh(%j)\n%e = "
      "add(%t, %one)\n";
  const std::string last = "%m = mul(%x, %e)\n%y = mul(%m, %half)\n", first = "%m = mul(%x, %half)\n%y = mul(%m, %e)\n",
                    inside = "%m = mul(%half, %e)\n%y = mul(%x, %m)\n";
  const std::string swish = x + numbers({{"three", "3"}, {"six", "6"}, {"sixth", "0.16666667"}});
  const std::string gate = "%a = add(%x, %three)\n%g = clip(%a) alpha=0, beta=6\n";
  return {
      {"recognise-silu", x, "%s = sigmoid(%x)\n%y = mul(%x, %s)\n", "%y = silu(%x) alpha=1\n"},
      {"recognise-mish", x, "%s = softplus(%x)\n%t = tanh(%s)\n%y = mul(%t, %x)\n", "%y = mish(%x)\n"},
      {"recognise-gelu", gelu, by_div + last, "%y = gelu(%x)\n"},
      {"recognise-gelu-of-product", gelu_mul, by_mul + last, "%y = gelu(%x)\n"},
      {"recognise-gelu-half-first", gelu, by_div + first, "%y = gelu(%x)\n"},
      {"recognise-gelu-half-first-of-product", gelu_mul, by_mul + first, "%y = gelu(%x)\n"},
      {"recognise-gelu-half-last", gelu, by_div + inside, "%y = gelu(%x)\n"},
      {"recognise-gelu-half-last-of-product", gelu_mul, by_mul + inside, "%y = gelu(%x)\n"},
      {"recognise-gelu-tanh", gelu_tanh, by_tanh + last, "%y = gelu_tanh(%x)\n"},
      {"recognise-gelu-tanh-half-first", gelu_tanh, by_tanh + first, "%y = gelu_tanh(%x)\n"},
      {"recognise-gelu-tanh-half-last", gelu_tanh, by_tanh + inside, "%y = gelu_tanh(%x)\n"},
      {"recognise-softplus", x + numbers({{"one", "1"}}), "%e = exp(%x)\n%s = add(%one, %e)\n%y = log(%s)\n",
       "%y = softplus(%x)\n"},
      {"recognise-prelu", x + "constant %a: f32[4] = {0.5, -1, 0, 2}\n",
       "%p = relu(%x)\n%n = neg(%x)\n%q = relu(%n)\n%m = mul(%a, %q)\n%y = add(%m, %p)\n",
       "%s = neg(%a)\n%y = prelu(%x, %s)\n"},
      {"recognise-prelu-of-difference", x + "constant %a: f32[4] = {0.5, -1, 0, 2}\n",
       "%p = relu(%x)\n%n = neg(%x)\n%q = relu(%n)\n%m = mul(%q, %a)\n%y = sub(%p, %m)\n", "%y = prelu(%x, %a)\n"},
      {"recognise-prelu-of-abs", x + "constant %a: f32[4] = {0.5, -1, 0, 2}\n" + numbers({{"half", "0.5"}}),
       "%p = relu(%x)\n%n = abs(%x)\n%q = sub(%x, %n)\n%m = mul(%q, %a)\n%o = mul(%m, %half)\n%y = add(%p, %o)\n",
       "%y = prelu(%x, %a)\n"},
      {"recognise-prelu-of-half-abs", x + "constant %a: f32[4] = {0.5, -1, 0, 2}\n" + numbers({{"half", "0.5"}}),
       "%p = relu(%x)\n%n = abs(%x)\n%q = sub(%x, %n)\n%m = mul(%q, %half)\n%o = mul(%m, %a)\n%y = add(%p, %o)\n",
       "%y = prelu(%x, %a)\n"},
      {"recognise-hard-swish", x, "%g = hard_sigmoid(%x) alpha=0.16666667, beta=0.5\n%y = mul(%x, %g)\n",
       "%y = hard_swish(%x)\n"},
      {"recognise-hard-swish-of-clip", swish, gate + "%m = mul(%x, %g)\n%y = div(%m, %six)\n", "%y = hard_swish(%x)\n"},
      {"recognise-hard-swish-of-product", swish, gate + "%m = mul(%x, %g)\n%y = mul(%m, %sixth)\n",
       "%y = hard_swish(%x)\n"},
      {"recognise-hard-sigmoid", swish, gate + "%y = div(%g, %six)\n",
       "%y = hard_sigmoid(%x) alpha=0.16666667, beta=0.5\n"},
      {"recognise-hard-sigmoid-of-product", swish, gate + "%y = mul(%g, %sixth)\n",
       "%y = hard_sigmoid(%x) alpha=0.16666667, beta=0.5\n"},
  };
}

}  // namespace mica::support
