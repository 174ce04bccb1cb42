#include "support/rule_cases.h"

namespace mica::support {

std::vector<RuleCase> block_cases() {
  const std::string image =
      "input %i: f32[2,6,3,2] \"i\"\nconstant %c: i64[5] = {2, 3, 2, 3, 2}\nconstant %b: i64[4] = {2, 6, 3, 2}\n";
  const std::string shuffled = "%r = reshape(%j, %c)\n%t = transpose(%r) perm=[0,2,1,3,4]\n%y = reshape(%t, %b)\n";
  const std::string joined =
      "input %x: f32[2,2,3,3] \"x\"\nconstant %w: f32[2,2,1,1] = {1, -2, 0.5, 4}\nconstant %b: f32[2] = {1, -1}\n";
  return {
      {"recognise-shuffle", image, "%j = relu(%i)\n" + shuffled,
       "%j = relu(%i)\n%p, %q, %s = split(%j) axis=1, parts=3\n%y = interleave(%p, %q, %s) axis=1\n"},
      {"recognise-shuffle", image,
       "%m, %n, %o = split(%i) axis=1, parts=3\n%l = neg(%m)\n%j = concat(%l, %n, %o) axis=1\n" + shuffled,
       "%m, %n, %o = split(%i) axis=1, parts=3\n%l = neg(%m)\n%y = interleave(%l, %n, %o) axis=1\n"},
      {"repeat-channels",
       "input %x: f32[1,8,3,3] \"x\"\nconstant %w: f32[16,1,1,2] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 1, "
       "2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}\n",
       "%y = conv(%x, %w) groups=8\n", "%i = interleave(%x, %x) axis=1\n%y = conv(%i, %w) groups=16\n"},
      {"conv-of-planes",
       "input %x: f32[n,2,3,4] \"x\"\nconstant %w: f32[2,3] = {1, 2, 3, 4, 5, 6}\nconstant %b: f32[3] = {1, -1, 0.5}\n",
       "%t = transpose(%x) perm=[0,2,3,1]\n%p = matmul(%t, %w)\n%s = add(%b, %p)\n%y = transpose(%s) perm=[0,3,1,2]\n",
       "%y = conv(%x, %u, %h)\n# with constant %u: f32[3,2,1,1] = {1, 4, 2, 5, 3, 6}\n# with constant %h: f32[3] = {1, "
       "-1, "
       "0.5}\n"},
      {"function-before-concat", joined,
       "%a = conv(%x, %w, %b)\n%c = conv(%x, %w)\n%d = concat(%a, %c) axis=3\n%y = relu(%d)\n",
       "%a = conv(%x, %w, %b)\n%c = conv(%x, %w)\n%d = relu(%a)\n%e = relu(%c)\n%y = concat(%d, %e) axis=3\n"},
      {"constant-before-concat", joined + "constant %c: f32[4,1,1] = {2, 4, 3, 5}\n",
       "%a = conv(%x, %w, %b)\n%d = conv_transpose(%x, %w)\n%e = concat(%a, %d) axis=-3\n%y = sub(%e, %c)\n",
       "%a = conv(%x, %w, %b)\n%d = conv_transpose(%x, %w)\n%e = sub(%a, %f)\n%g = sub(%d, %h)\n"
       "%y = concat(%e, %g) axis=-3\n# with constant %f: f32[2,1,1] = {2, 4}\n# with constant %h: f32[2,1,1] = {3, "
       "5}\n"},
      {"einsum-is-a-product", "input %a: f32[2,5,3,4] \"a\"\ninput %b: f32[2,6,3,4] \"b\"\n",
       "%y = einsum(%a, %b) equation=\"bqhd,bkhd->bhqk\"\n",
       "%s = transpose(%a) perm=[0,2,1,3]\n%t = transpose(%b) perm=[0,2,3,1]\n%y = matmul(%s, %t)\n"},
      {"einsum-is-a-product", "input %a: f32[n,3] \"a\"\ninput %b: f32[4,5,3] \"b\"\n",
       "%y = einsum(%a, %b) equation=\"ij,klj->kli\"\n", "%t = transpose(%a) perm=[1,0]\n%y = matmul(%b, %t)\n"},
      {"einsum-is-a-product", "input %a: f32[n,m,3,4] \"a\"\ninput %b: f32[6,3,4] \"b\"\n",
       "%y = einsum(%a, %b) equation=\"bihd,jhd->bhij\"\n",
       "%s = transpose(%a) perm=[0,2,1,3]\n%t = transpose(%b) perm=[1,2,0]\n%y = matmul(%s, %t)\n"},
      {"einsum-is-a-product", "input %a: f32[n,m,3,4] \"a\"\ninput %b: f32[3,4,5,6] \"b\"\n",
       "%y = einsum(%a, %b) equation=\"ibnd,ndhk->ibhk\"\n",
       "%s = reshape(%a, %c)\n%t = reshape(%b, %d)\n%p = matmul(%s, %t)\n%y = reshape(%p, %e)\n"
       "# with constant %c: i64[3] = {0, 0, 12}\n# with constant %d: i64[2] = {12, 30}\n"
       "# with constant %e: i64[4] = {0, 0, 5, 6}\n"},
  };
}

std::vector<RuleCase> weight_cases() {
  const std::string x =
      "input %x: f32[2,2,3,3] \"x\"\nconstant %w: f32[2,2,1,1] = {1, -2, 0.5, 4}\nconstant %b: f32[2] = {1, -1}\n";
  const std::string norm =
      "constant %s: f32[2] = {2, 4}\nconstant %t: f32[2] = {1, 0}\nconstant %m: f32[2] = {0.5, 1}\nconstant %v: f32[2] "
      "= {4, 16}\n";
  const std::string per_channel = "constant %c: f32[2,1,1] = {2, 4}\n";
  const auto conv = [](const char* w, const char* b) {
    return std::string("%y = conv(%x, %u, %h)\n# with constant %u: f32[2,2,1,1] = {") + w +
           "}\n# with constant %h: f32[2] = {" + b + "}\n";
  };
  return {
      {"fold-batch-norm-into-conv", x + norm, "%a = conv(%x, %w, %b)\n%y = batch_norm(%a, %s, %t, %m, %v) epsilon=0\n",
       conv("1, -2, 0.5, 4", "1.5, -2")},
      {"fold-batch-norm-into-conv-transpose", x + norm,
       "%a = conv_transpose(%x, %w, %b)\n%y = batch_norm(%a, %s, %t, %m, %v) epsilon=0\n",
       "%y = conv_transpose(%x, %u, %h)\n# with constant %u: f32[2,2,1,1] = {1, -2, 0.5, 4}\n# with constant %h: "
       "f32[2] = {1.5, -2}\n"},
      {"spell-out-batch-norm", x + norm, "%y = batch_norm(%x, %s, %t, %m, %v) epsilon=0\n",
       "%a = mul(%x, %u)\n%y = add(%a, %h)\n# with constant %u: f32[2,1,1] = {1, 1}\n# with constant %h: f32[2,1,1] = "
       "{0.5, -1}\n"},
      {"spell-out-one-tap",
       "input %x: f32[2,2,3,3] \"x\"\nconstant %w: f32[2,1,1,1] = {2, -4}\nconstant %b: f32[2] = {1, -1}\n",
       "%y = conv(%x, %w, %b) groups=2\n",
       "%a = mul(%x, %u)\n%y = add(%a, %h)\n# with constant %u: f32[2,1,1] = {2, -4}\n# with constant %h: "
       "f32[2,1,1] = {1, -1}\n"},
      {"fold-mul-into-conv", x + per_channel, "%a = conv(%x, %w, %b)\n%y = mul(%c, %a)\n",
       conv("2, -4, 2, 16", "2, -4")},
      {"fold-div-into-conv", x + per_channel, "%a = conv(%x, %w, %b)\n%y = div(%a, %c)\n",
       conv("0.5, -1, 0.125, 1", "0.5, -0.25")},
      {"fold-add-into-conv", x + per_channel, "%a = conv(%x, %w)\n%y = add(%a, %c)\n", conv("1, -2, 0.5, 4", "2, 4")},
      {"fold-sub-into-conv", x + per_channel, "%a = conv(%x, %w, %b)\n%y = sub(%a, %c)\n",
       conv("1, -2, 0.5, 4", "-1, -5")},
      {"fold-neg-into-conv", x, "%a = conv(%x, %w, %b)\n%y = neg(%a)\n", conv("-1, 2, -0.5, -4", "-1, 1")},
      {"fold-pad-into-conv", x + "constant %p: i64[8] = {0, 0, 1, 2, 0, 0, 3, 0}\n",
       "%a = pad(%x, %p)\n%y = conv(%a, %w, %b) pads=[1,1,1,1]\n", "%y = conv(%x, %w, %b) pads=[2,3,4,1]\n"},
      {"join-parallel-convs",
       "input %x: f32[1,1,4,4] \"x\"\nconstant %v: f32[1,1,3,3] = {1, 2, 3, 4, 5, 6, 7, 8, 9}\nconstant %w: "
       "f32[1,1,1,2] = "
       "{10, 20}\nconstant %b: f32[1] = {2}\n",
       "%a = conv(%x, %w, %b) pads=[0,0,0,1]\n%c = conv(%x, %v, %b) pads=[1,1,1,1]\n%y = add(%a, %c)\n",
       "%y = conv(%x, %u, %h) pads=[1,1,1,1]\n# with constant %u: f32[1,1,3,3] = {1, 2, 3, 4, 15, 26, 7, 8, 9}\n# with "
       "constant %h: f32[1] = {4}\n"},
      {"join-scaled-input", x + per_channel + "constant %d: f32[1,2,1,1] = {3, 5}\n",
       "%a = conv(%x, %w, %b)\n%s = mul(%c, %x)\n%t = add(%s, %d)\n%y = add(%t, %a)\n", conv("3, -2, 0.5, 8", "4, 4")},
      {"crop-taps-in-padding",
       "input %x: f32[n,1,2,3] \"x\"\nconstant %w: f32[1,1,3,3] = {1, 2, 3, 4, 5, 6, 7, 8, 9}\n",
       "%y = conv(%x, %w) dilations=[3,3], pads=[3,3,3,3]\n",
       "%y = conv(%x, %u) dilations=[3,3], pads=[0,0,0,0]\n# with constant %u: f32[1,1,1,1] = {5}\n"},
      {"crop-taps-in-padding",
       "input %x: f32[1,2,1,5] \"x\"\nconstant %b: f32[2] = {1, -1}\n"
       "constant %w: f32[2,1,3,2] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}\n",
       "%y = conv(%x, %w, %b) auto_pad=same_lower, groups=2, strides=[2,2]\n",
       "%y = conv(%x, %u, %b) groups=2, strides=[2,2], pads=[0,1,0,0]\n# with constant %u: f32[2,1,1,2] = {3, 4, 9, "
       "10}\n"},
      {"fold-bias-into-gemm",
       "input %x: f32[3,2] \"x\"\nconstant %w: f32[2,2] = {1, -2, 0.5, 4}\nconstant %b: f32[1,2] = {1, -1}\n",
       "%a = matmul(%x, %w)\n%y = add(%b, %a)\n", "%y = gemm(%x, %w, %h)\n# with constant %h: f32[2] = {1, -1}\n"},
  };
}

}  // namespace mica::support
