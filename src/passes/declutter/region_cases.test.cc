#include "support/rule_cases.h"

namespace mica::support {

// Nodes with regions.
std::vector<RuleCase> region_cases() {
  const std::string x = "input %x: f32[2,3,4] \"x\"\n";
  return {
      {"inline-branch", x + "constant %c: bool[] = {0}\n",
       "%a = cond(%c, %x)\n  region \"then\"\n    input %x: f32[2,3,4] \"x\"\n    %r = relu(%x)\n    output %r "
       "\"r\"\n  end\n  region \"else\"\n    input %x: f32[2,3,4] \"x\"\n    %q = neg(%x)\n    output %q "
       "\"r\"\n  end\n%y = abs(%a)\n",
       "%a = neg(%x)\n%y = abs(%a)\n"},
      {"inline-branch", x + "constant %c: bool[] = {1}\n",
       "%a = neg(%x)\n%b = cond(%c, %a)\n  region \"then\"\n    input %x: f32[2,3,4] \"x\"\n    output %x \"r\"\n"
       "  end\n  region \"else\"\n    input %x: f32[2,3,4] \"x\"\n    %q = abs(%x)\n    output %q \"r\"\n  "
       "end\n%y = exp(%b)\n",
       "%a = neg(%x)\n%y = exp(%a)\n"},
      {"settle-regions", x + "constant %n: i64[] = {3}\nconstant %w: f32[4] = {1, 2, 3, 4}\ninput %b: f32[4] \"b\"\n",
       "%h, %v = loop(%n, _, %x, %b, %w) carried=2\n  region \"body\"\n    input %t: i64[] \"t\"\n    input %g: bool[] "
       "\"g\"\n    input %s: f32[2,3,4] \"s\"\n    input %k: f32[4] \"k\"\n    input %u: f32[4] \"u\"\n"
       "    %m = mul(%s, %u)\n    %r = add(%m, %k)\n    output %g \"g\"\n    output %r \"r\"\n    output %k \"k\"\n"
       "  end\n%y = sub(%h, %v)\n",
       "%h = loop(%n, _, %x, %b) carried=1\n  region \"body\"\n    input %t: i64[] \"t\"\n    input %g: bool[] \"g\"\n"
       "    input %s: f32[2,3,4] \"s\"\n    input %k: f32[4] \"k\"\n    constant %u: f32[4] = {1, 2, 3, 4}\n"
       "    %m = mul(%s, %u)\n    %r = add(%m, %k)\n    output %g \"g\"\n    output %r \"r\"\n  end\n"
       "%y = sub(%h, %b)\n"},
      // A product of what is captured, what follows from it and is read by the rest or handed out; not a sum alone,
      // which stays where it is.
      {"move-invariants", x + "constant %n: i64[] = {3}\ninput %k: f32[4,4] \"k\"\n",
       "%h, %o = loop(%n, _, %x, %k) carried=1\n  region \"body\"\n    input %t: i64[] \"t\"\n    input %g: bool[] "
       "\"g\"\n    input %s: f32[2,3,4] \"s\"\n    input %u: f32[4,4] \"u\"\n"
       "    constant %w: f32[4,2] = {1, 2, 3, 4, 5, 6, 7, 8}\n    constant %v: f32[2,4] = {1, 2, 3, 4, 5, 6, 7, 8}\n"
       "    %p = matmul(%u, %w)\n    %q = relu(%p)\n    %e = matmul(%s, %q)\n    %f = matmul(%e, %v)\n"
       "    output %g \"g\"\n    output %f \"f\"\n    output %q \"q\"\n  end\n%y = abs(%h)\n%z = abs(%o)\n"
       "output %z \"z\"\n",
       "constant %w: f32[4,2] = {1, 2, 3, 4, 5, 6, 7, 8}\n%p = matmul(%k, %w)\n%q = relu(%p)\n"
       "%h, %o = loop(%n, _, %x, %q) carried=1\n  region \"body\"\n    input %t: i64[] \"t\"\n    input %g: bool[] "
       "\"g\"\n    input %s: f32[2,3,4] \"s\"\n    input %q: f32[4,2] \"q\"\n"
       "    constant %v: f32[2,4] = {1, 2, 3, 4, 5, 6, 7, 8}\n"
       "    %e = matmul(%s, %q)\n    %f = matmul(%e, %v)\n"
       "    output %g \"g\"\n    output %f \"f\"\n    output %q \"q\"\n  end\n%y = abs(%h)\n%z = abs(%o)\n"
       "output %z \"z\"\n"},
  };
}

}  // namespace mica::support
