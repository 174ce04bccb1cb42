#include "support/rule_cases.h"

namespace mica::support {

std::vector<RuleCase> cleanup_cases() {
  const std::string x = "input %x: f32[2,3,4] \"x\"\n";
  const std::string n = "symbol N input\ninput %x: f32[N,3,1,4] \"x\"\n";
  return {
      {"fold-constants", "constant %a: f32[3] = {1, 2, 3}\nconstant %b: f32[3] = {4, 5, 6}\ninput %x: f32[3] \"x\"\n",
       "%c = add(%a, %b)\n%y = div(%x, %c)\n", "%y = div(%x, %c)\n# with constant %c: f32[3] = {5, 7, 9}\n"},
      {"share-joined", x,
       "%a = relu(%x)\n%b = neg(%x)\n%p = concat(%a, %x) axis=0\n%q = concat(%a, %x, %b) axis=0\n"
       "%r = concat(%a, %x, %b, %p) axis=0\n%s = concat(%r, %q) axis=0\n%y = relu(%s)\n",
       "%a = relu(%x)\n%b = neg(%x)\n%p = concat(%a, %x) axis=0\n%q = concat(%p, %b) axis=0\n"
       "%r = concat(%q, %p) axis=0\n%s = concat(%r, %q) axis=0\n%y = relu(%s)\n"},
      {"merge-equal", x, "%a = relu(%x)\n%b = relu(%x)\n%y = sub(%a, %b)\n", "%a = relu(%x)\n%y = sub(%a, %a)\n"},
      {"remove-dead", x, "%a = neg(%x)\n%y = relu(%x)\n", "%y = relu(%x)\n"},
      {"remove-identity", x, "%a = identity(%x)\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"remove-copy", x, "%a = copy(%x)\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"remove-dropout", x, "%a = dropout(%x)\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"remove-noop-cast", x, "%a = cast(%x) to=f32\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"remove-noop-reshape", x + "constant %s: i64[3] = {2, -1, 4}\n", "%a = reshape(%x, %s)\n%y = relu(%a)\n",
       "%y = relu(%x)\n"},
      {"remove-noop-expand", x + "constant %s: i64[2] = {3, 1}\n", "%a = expand(%x, %s)\n%y = relu(%a)\n",
       "%y = relu(%x)\n"},
      {"remove-noop-tile", x + "constant %r: i64[3] = {1, 1, 1}\n", "%a = tile(%x, %r)\n%y = relu(%a)\n",
       "%y = relu(%x)\n"},
      {"remove-noop-slice",
       x + "constant %b: i64[1] = {0}\nconstant %e: i64[1] = {9}\nconstant %i: i64[1] = {1}\nconstant %s: i64[1] = "
           "{1}\n",
       "%a = slice(%x, %b, %e, %i, %s)\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"remove-noop-slice-without-steps",
       x + "constant %b: i64[1] = {0}\nconstant %e: i64[1] = {9}\nconstant %i: i64[1] = {1}\n",
       "%a = slice(%x, %b, %e, %i)\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"remove-noop-pad", x + "constant %p: i64[6] = {0, 0, 0, 0, 0, 0}\n", "%a = pad(%x, %p)\n%y = relu(%a)\n",
       "%y = relu(%x)\n"},
      {"remove-single-concat", x, "%a = concat(%x) axis=1\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"remove-noop-transpose", x, "%a = transpose(%x) perm=[0,1,2]\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"merge-transposes", x, "%a = transpose(%x) perm=[1,2,0]\n%y = transpose(%a) perm=[2,1,0]\n",
       "%y = transpose(%x) perm=[0,2,1]\n"},
      {"merge-transposes", x, "%a = transpose(%x)\n%y = transpose(%a) perm=[1,0,2]\n",
       "%y = transpose(%x) perm=[1,2,0]\n"},
      {"transpose-is-reshape", n, "%y = transpose(%x) perm=[0,2,1,3]\n",
       "%y = reshape(%x, %s) allow_zero=true\n# with constant %s: i64[4] = {-1, 1, 3, 4}\n"},
      {"reshape-to-known", n + "constant %i: i64[1] = {0}\nconstant %r: i64[1] = {12}\n",
       "%d = shape(%x)\n%b = gather(%d, %i)\n%s = concat(%b, %r)\n%y = reshape(%x, %s)\n",
       "%y = reshape(%x, %s) allow_zero=true\n# with constant %s: i64[2] = {-1, 12}\n"},
      {"merge-reshapes", n + "constant %s: i64[2] = {0, 12}\nconstant %t: i64[3] = {0, 4, 3}\n",
       "%a = reshape(%x, %s)\n%y = reshape(%a, %t)\n",
       "%y = reshape(%x, %u) allow_zero=true\n# with constant %u: i64[3] = {-1, 4, 3}\n"},
      {"squeeze-is-reshape", n + "constant %i: i64[1] = {2}\n", "%y = squeeze(%x, %i)\n",
       "%y = reshape(%x, %s) allow_zero=true\n# with constant %s: i64[3] = {-1, 3, 4}\n"},
      {"unsqueeze-is-reshape", n + "constant %i: i64[1] = {0}\n", "%y = unsqueeze(%x, %i)\n",
       "%y = reshape(%x, %s) allow_zero=true\n# with constant %s: i64[5] = {1, -1, 3, 1, 4}\n"},
      {"flatten-is-reshape", n, "%y = flatten(%x) axis=1\n",
       "%y = reshape(%x, %s) allow_zero=true\n# with constant %s: i64[2] = {-1, 12}\n"},
      {"gather-is-reshape", x + "constant %i: i64[1,3] = {0, 1, 2}\n", "%y = gather(%x, %i) axis=-2\n",
       "%y = reshape(%x, %s) allow_zero=true\n# with constant %s: i64[4] = {2, 1, 3, 4}\n"},
      {"remove-noop-resize", n + "constant %s: i64[2] = {1, 4}\n",
       "%a = resize(%x, _, _, %s) mode=linear, axes=[2,3]\n%y = relu(%a)\n", "%y = relu(%x)\n"},
      {"remove-noop-resize", n + "constant %s: f32[4] = {1, 1, 1, 1}\n", "%a = resize(%x, _, %s)\n%y = relu(%a)\n",
       "%y = relu(%x)\n"},
  };
}

}  // namespace mica::support
