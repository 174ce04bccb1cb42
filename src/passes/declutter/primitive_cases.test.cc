#include "support/rule_cases.h"

namespace mica::support {
namespace {

std::vector<RuleCase> pixel_products() {
  return {{"transposed-conv-of-one-pixel",
           "input %x: f32[n,2,1,1] \"x\"\nconstant %w: f32[2,1,2,2] = {1, 2, 3, 4, 5, 6, 7, 8}\n"
           "constant %b: f32[1] = {0.5}\n",
           "%y = conv_transpose(%x, %w, %b) strides=[3,1]\n",
           "%c = conv(%x, %u, %v)\n%r = reshape(%c, %d)\n%y = transpose(%r) perm=[0,3,1,2]\n"
           "# with constant %u: f32[4,2,1,1] = {1, 5, 2, 6, 3, 7, 4, 8}\n"
           "# with constant %v: f32[4] = {0.5, 0.5, 0.5, 0.5}\n# with constant %d: i64[4] = {0, 2, 2, 1}\n"},
          {"transposed-conv-of-one-pixel", "input %x: f32[2,1,1] \"x\"\nconstant %w: f32[1,2,3] = {1, 2, 3, 4, 5, 6}\n",
           "%y = conv_transpose(%x, %w)\n",
           "%c = conv(%x, %u)\n%r = reshape(%c, %d)\n%y = transpose(%r) perm=[0,2,1]\n"
           "# with constant %u: f32[6,1,1] = {1, 4, 2, 5, 3, 6}\n# with constant %d: i64[3] = {0, 3, 2}\n"}};
}

std::vector<RuleCase> summands() {
  const std::string factors = "input %a: f32[3,5] \"a\"\ninput %b: f32[4,5] \"b\"\n";
  return {
      {"summand-apart", factors + "input %c: f32[3,1] \"c\"\n", "%y = gemm(%a, %b, %c) alpha=-2, transpose_b=true\n",
       "%p = gemm(%a, %b) alpha=-2, transpose_b=true\n%y = add(%p, %c)\n"},
      {"summand-apart", factors + "input %c: f32[4] \"c\"\n", "%y = gemm(%a, %b, %c) beta=0.5, transpose_b=true\n",
       "%p = gemm(%a, %b) transpose_b=true\n%m = mul(%c, %h)\n%y = add(%p, %m)\n# with constant %h: f32[] = {0.5}\n"},
      {"summand-apart", factors + "input %c: f32[4] \"c\"\n", "%y = gemm(%a, %b, %c) beta=0, transpose_b=true\n",
       "%y = gemm(%a, %b) transpose_b=true\n"},
  };
}

// 1024 times a number.
std::string constant_of(const std::string& number) {
  std::string line = "constant %c: f32[32,32] = {" + number;
  for (int i = 1; i < 1024; ++i) line += ", " + number;
  return line + "}\n";
}

std::vector<RuleCase> cheaper() {
  return {{"sum-of-squares", "input %x: f32[2,9,4] \"x\"\nconstant %a: i64[1] = {1}\n",
           "%q = square(%x)\n%y = reduce(%q, %a) keep_dims=false\n",
           "%y = reduce(%x, %a) kind=sum_square, keep_dims=false\n"},
          {"sum-of-squares", "input %x: f32[2,9] \"x\"\n", "%q = square(%x)\n%y = reduce(%q)\n",
           "%y = reduce(%x) kind=sum_square\n"},
          {"divisor-of-two", "input %x: f32[2,9] \"x\"\nconstant %c: f32[2,1] = {-8, 0.25}\n", "%y = div(%x, %c)\n",
           "%y = mul(%x, %d)\n# with constant %d: f32[2,1] = {-0.125, 4}\n"}};
}

std::vector<RuleCase> uniform() {
  const std::string many = "input %x: f32[32,32] \"x\"\n";
  return {
      {"uniform-is-number", many + constant_of("2"), "%y = sub(%c, %x)\n",
       "%y = sub(%n, %x)\n# with constant %n: f32[] = {2}\n"},
      {"uniform-is-number", many + constant_of("-0"), "%p = less(%x, %c)\n%y = where(%p, %x, %c)\n",
       "%p = less(%x, %n)\n%y = where(%p, %x, %o)\n# with constant %n: f32[] = {-0}\n"
       "# with constant %o: f32[] = {-0}\n"},
  };
}

}  // namespace

std::vector<RuleCase> primitive_cases() {
  const std::string x = "input %x: f32[2,3,4] \"x\"\n", whole = "input %x: i64[5] \"x\"\n";
  const std::string yes = "# with constant %c: bool[] = {1}\n", zero = "# with constant %c: i64[] = {0}\n";
  const std::string axes = "# with constant %a: i64[2] = {0, 2}\n";
  const std::string axis = "constant %a: i64[1] = {1}\n";
  const std::string normal = "alpha=1.1754944e-38, beta=3.4028235e+38\n";
  const std::string at_least = "alpha=1.1754944e-38, beta=inf\n";
  const std::string terms =
      "%m = reduce(%x, %a) kind=max\n%f = clip(%m) alpha=-3.4028235e+38, beta=3.4028235e+38\n%d = sub(%x, %f)\n%e = "
      "exp(%d)\n";
  const std::string pair = "input %x: f32[64,32,2] \"x\"\nconstant %a: i64[1] = {-1}\n";
  const std::string parts = "%u = slice(%x, %i, %j, %l)\n%v = slice(%x, %j, %k, %l)\n";
  const std::string places =
      "# with constant %i: i64[1] = {0}\n# with constant %j: i64[1] = {1}\n# with constant %k: i64[1] = {2}\n"
      "# with constant %l: i64[1] = {2}\n";
  std::vector<RuleCase> all{
      {"not-is-xor", "input %x: bool[3,4] \"x\"\n", "%y = bit_not(%x)\n", "%y = bit_xor(%x, %c)\n" + yes},
      {"not-is-xor", whole, "%y = bit_not(%x)\n", "%y = bit_xor(%x, %c)\n# with constant %c: i64[] = {-1}\n"},
      {"nan-is-unequal", x, "%y = is_nan(%x)\n", "%e = equal(%x, %x)\n%y = bit_xor(%e, %c)\n" + yes},
      {"infinity-is-equal", x, "%y = is_inf(%x)\n",
       "%a = abs(%x)\n%y = equal(%a, %c)\n# with constant %c: f32[] = {inf}\n"},
      {"infinity-is-equal", x, "%y = is_inf(%x) positive=false\n",
       "%y = equal(%x, %c)\n# with constant %c: f32[] = {-inf}\n"},
      {"infinity-before-cast", x, "%w = cast(%x) to=f64\n%y = is_inf(%w) negative=false\n",
       "%y = is_inf(%x) negative=false\n"},
      {"neg-is-sub", whole, "%y = neg(%x)\n", "%y = sub(%c, %x)\n" + zero},
      {"abs-is-max", whole, "%y = abs(%x)\n", "%n = sub(%c, %x)\n%y = max(%x, %n)\n" + zero},
      {"spell-out-lp-norm", x + axis, "%y = lp_norm(%x) axis=1\n",
       "%b = abs(%x)\n%m = reduce(%b, %a) kind=max\n%n = clip(%m) " + normal + "%u = div(%x, %n)\n" +
           "%l = reduce(%u, %a) kind=l2\n%k = clip(%l) " + at_least + "%y = div(%u, %k)\n"},
      {"spell-out-lp-norm", x + axis, "%y = lp_norm(%x) axis=1, p=1\n",
       "%l = reduce(%x, %a) kind=l1\n%k = clip(%l) " + at_least + "%y = div(%x, %k)\n"},
      {"spell-out-mean-variance-norm", x, "%y = mean_variance_norm(%x) axes=[0,2]\n",
       "%m = reduce(%x, %a) kind=mean\n%c = sub(%x, %m)\n%q = square(%c)\n%v = reduce(%q, %a) kind=mean\n"
       "%d = sqrt(%v)\n%e = add(%d, %t)\n%y = div(%c, %e)\n# with constant %t: f32[] = {1e-09}\n" +
           axes},
      {"spell-out-log-sum-exp", x + axis, "%y = reduce(%x, %a) kind=log_sum_exp\n",
       terms + "%s = reduce(%e, %a)\n%l = log(%s)\n%y = add(%l, %f)\n"},
      {"spell-out-log-sum-exp", x + axis, "%y = reduce(%x, %a) kind=log_sum_exp, keep_dims=false\n",
       terms + "%s = reduce(%e, %a) keep_dims=false\n%l = log(%s)\n%r = reshape(%f, %h)\n%y = add(%l, %r)\n"
               "# with constant %h: i64[2] = {2, 4}\n"},
      {"reduce-part-by-part", pair, "%y = reduce(%x, %a) kind=prod\n", parts + "%y = mul(%u, %v)\n" + places},
      {"reduce-part-by-part", pair, "%y = reduce(%x, %a) kind=max, keep_dims=false\n",
       parts + "%p = max(%u, %v)\n%y = reshape(%p, %h)\n" + places + "# with constant %h: i64[2] = {64, 32}\n"},
      {"reduce-part-by-part", "input %x: f32[n,2] \"x\"\nconstant %a: i64[1] = {1}\n", "%y = reduce(%x, %a) kind=min\n",
       parts + "%y = min(%u, %v)\n# with constant %i: i64[1] = {0}\n# with constant %j: i64[1] = {1}\n" +
           "# with constant %k: i64[1] = {2}\n# with constant %l: i64[1] = {1}\n"},
      {"reduce-part-by-part", "input %x: f32[2048,3] \"x\"\nconstant %a: i64[1] = {1}\n",
       "%y = reduce(%x, %a) kind=l2\n",
       "%s = square(%x)\n%u = slice(%s, %i, %j, %l)\n%v = slice(%s, %j, %k, %l)\n%t = add(%u, %v)\n"
       "%w = slice(%s, %k, %n, %l)\n%z = add(%t, %w)\n%y = sqrt(%z)\n# with constant %i: i64[1] = {0}\n"
       "# with constant %j: i64[1] = {1}\n# with constant %k: i64[1] = {2}\n# with constant %n: i64[1] = {3}\n"
       "# with constant %l: i64[1] = {1}\n"},
      {"einsum-is-a-transpose", x, "%y = einsum(%x) equation=\"abc->cab\"\n", "%y = transpose(%x) perm=[2,0,1]\n"},
  };
  for (const std::vector<RuleCase>& more : {pixel_products(), summands(), cheaper(), uniform()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace mica::support
