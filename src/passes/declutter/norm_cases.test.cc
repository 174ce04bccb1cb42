#include "support/rule_cases.h"

namespace mica::support {

std::vector<RuleCase> norm_cases() {
  const std::string x = "input %x: f32[2,3,4] \"x\"\nconstant %last: i64[1] = {-1}\nconstant %eps: f32[] = {1e-05}\n";
  const std::string s = "constant %s: f32[4] = {1, 2, 0.5, -1}\n", t = "constant %t: f32[1,1,4] = {0.5, 0, 1, 2}\n";
  const std::string ones = "constant %o: f32[4] = {1, 1, 1, 1}\n", zeros = "constant %z: f32[4] = {0, 0, 0, 0}\n";
  const std::string centred =
      "%m = reduce(%x, %last) kind=mean\n%c = sub(%x, %m)\n%q = square(%c)\n%v = reduce(%q, %last) kind=mean\n%w = "
      "add(%v, %eps)\n";
  const std::string squares = "%q = square(%x)\n%v = reduce(%q, %last) kind=mean\n%w = add(%v, %eps)\n";
  const std::string layer = "%y = layer_norm(%x, %o, %z) epsilon=1e-05\n# with " + ones + "# with " + zeros;
  const std::string rms = "%y = rms_norm(%x, %o) epsilon=1e-05\n# with " + ones;
  const std::string channels = x + "constant %one: i64[1] = {1}\n";
  const std::string centred_channels =
      "%m = reduce(%x, %one) kind=mean\n%c = sub(%x, %m)\n%q = square(%c)\n%v = reduce(%q, %one) kind=mean\n%w = "
      "add(%v, %eps)\n";
  const std::string layer_of_channels =
      "%t = transpose(%x) perm=[0,2,1]\n%n = layer_norm(%t, %o, %z) epsilon=1e-05\n%y = transpose(%n) perm=[0,2,1]\n# "
      "with constant %o: f32[3] = {1, 1, 1}\n# with constant %z: f32[3] = {0, 0, 0}\n";
  const std::string groups =
      "input %x: f32[2,4,3] \"x\"\nconstant %g: i64[3] = {0, 2, -1}\nconstant %h: i64[3] = {2, 4, 3}\n"
      "constant %s: f32[2] = {1, 2}\nconstant %b: f32[2] = {0, 1}\nconstant %k: f32[4,1] = {1, 2, 3, 4}\n";
  return {
      {"recognise-layer-norm", x, centred + "%d = sqrt(%w)\n%y = div(%c, %d)\n", layer},
      {"recognise-layer-norm-of-product", x, centred + "%d = rsqrt(%w)\n%y = mul(%c, %d)\n", layer},
      {"recognise-rms-norm", x, squares + "%d = sqrt(%w)\n%y = div(%x, %d)\n", rms},
      {"recognise-rms-norm-of-product", x, squares + "%d = rsqrt(%w)\n%y = mul(%d, %x)\n", rms},
      {"recognise-layer-norm-of-channels", channels, centred_channels + "%d = sqrt(%w)\n%y = div(%c, %d)\n",
       layer_of_channels},
      {"recognise-layer-norm-of-channels-by-product", channels, centred_channels + "%d = rsqrt(%w)\n%y = mul(%d, %c)\n",
       layer_of_channels},
      {"recognise-group-norm", groups,
       "%r = reshape(%x, %g)\n%n = instance_norm(%r, %s, %b) epsilon=1e-05\n%y = reshape(%n, %h)\n",
       "%y = group_norm(%x, %s, %b) groups=2, epsilon=1e-05, per_group=true\n"},
      {"scale-into-group-norm", groups, "%n = group_norm(%x, %s, %b) groups=2, per_group=true\n%y = mul(%n, %k)\n",
       "%y = group_norm(%x, %u, %v) groups=2\n# with constant %u: f32[4] = {1, 2, 6, 8}\n"
       "# with constant %v: f32[4] = {0, 0, 3, 4}\n"},
      {"shift-into-group-norm", groups, "%n = group_norm(%x, %s, %b) groups=2, per_group=true\n%y = add(%k, %n)\n",
       "%y = group_norm(%x, %u, %v) groups=2\n# with constant %u: f32[4] = {1, 1, 2, 2}\n"
       "# with constant %v: f32[4] = {1, 2, 4, 5}\n"},
      {"scale-into-layer-norm", x + s + ones + zeros, "%n = layer_norm(%x, %o, %z)\n%y = mul(%n, %s)\n",
       "%y = layer_norm(%x, %s, %z)\n"},
      {"scale-into-rms-norm", x + s + ones, "%n = rms_norm(%x, %o)\n%y = mul(%s, %n)\n", "%y = rms_norm(%x, %s)\n"},
      {"shift-into-layer-norm", x + s + zeros + t, "%n = layer_norm(%x, %s, %z)\n%y = add(%n, %t)\n",
       "%y = layer_norm(%x, %s, %u)\n# with constant %u: f32[4] = {0.5, 0, 1, 2}\n"},
  };
}

}  // namespace mica::support
