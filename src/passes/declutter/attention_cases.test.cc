#include "support/rule_cases.h"

namespace mica::support {

namespace {

std::vector<RuleCase> attention_of_heads() {
  const std::string qkv = "input %q: f32[2,3,5,4] \"q\"\ninput %k: f32[2,3,6,4] \"k\"\ninput %v: f32[2,3,6,7] \"v\"\n";
  const std::string half = "constant %f: f32[] = {0.5}\nconstant %g: f32[] = {2}\ninput %m: f32[5,6] \"m\"\n";
  const std::string turn = "%t = transpose(%k) perm=[0,1,3,2]\n";
  const std::string key = "%l = transpose(%t) perm=[0,1,3,2]\n";
  const std::string weigh = "%w = softmax(%s) axis=-1\n%y = matmul(%w, %v)\n";
  return {
      {"recognise-attention", qkv, turn + "%s = matmul(%q, %t)\n" + weigh,
       turn + key + "%y = attention(%q, %l, %v) scale=1\n"},
      {"recognise-attention", qkv + half, turn + "%p = matmul(%q, %t)\n%r = div(%p, %g)\n%s = add(%r, %m)\n" + weigh,
       turn + key + "%y = attention(%q, %l, %v, %m) scale=0.5\n"},
      {"recognise-attention", qkv + half,
       "%a = mul(%q, %f)\n%b = mul(%k, %f)\n%t = transpose(%b) perm=[0,1,3,2]\n%s = matmul(%a, %t)\n" + weigh,
       "%t = transpose(%k) perm=[0,1,3,2]\n" + key + "%y = attention(%q, %l, %v) scale=0.25\n"},
      {"zeros-for-nan-of-softmax", "input %s: f32[2,5,6] \"s\"\nconstant %z: f32[] = {0}\n",
       "%w = softmax(%s) axis=1\n%n = is_nan(%w)\n%y = where(%n, %z, %w)\n",
       "%y = softmax(%s) axis=1, zero_nan=true\n"},
      {"recognise-attention", qkv,
       turn + "%s = matmul(%q, %t)\n%w = softmax(%s) axis=-1, zero_nan=true\n%y = matmul(%w, %v)\n",
       turn + key + "%y = attention(%q, %l, %v) scale=1, zero_nan=true\n"},
      {"recognise-attention", qkv + half, turn + "%p = matmul(%q, %t)\n%r = add(%p, %m)\n%s = div(%r, %g)\n" + weigh,
       turn + key + "%n = mul(%m, %f)\n%y = attention(%q, %l, %v, %n) scale=0.5\n"},
      {"recognise-attention", qkv + half + "input %h: f32[2,1,1,6] \"h\"\n",
       turn + "%p = matmul(%q, %t)\n%r = add(%m, %p)\n%s = add(%r, %h)\n" + weigh,
       turn + key + "%n = add(%m, %h)\n%y = attention(%q, %l, %v, %n) scale=1\n"},
      {"recognise-attention", qkv + "input %h: f32[3,1,1] \"h\"\n",
       turn + "%p = matmul(%q, %t)\n%s = mul(%p, %h)\n" + weigh,
       turn + key + "%n = mul(%q, %h)\n%y = attention(%n, %l, %v) scale=1\n"},
      {"recognise-attention",
       "input %q: f32[2,3,5,4] \"q\"\ninput %k: f32[2,1,6,4] \"k\"\ninput %v: f32[2,1,6,7] \"v\"\n",
       turn + "%s = matmul(%q, %t)\n" + weigh, turn + key + "%y = attention(%q, %l, %v) scale=1\n"},
      {"recognise-attention",
       "input %q: f32[2,3,5,4] \"q\"\ninput %t: f32[2,3,4,6] \"t\"\ninput %v: f32[2,3,6,7] \"v\"\n",
       "%s = matmul(%q, %t)\n" + weigh, key + "%y = attention(%q, %l, %v) scale=1\n"},
  };
}

// Batches and heads in other forms than [batch, heads, ...].
std::vector<RuleCase> attention_of_other_batches() {
  const std::string weigh = "%w = softmax(%s) axis=-1\n%y = matmul(%w, %v)\n";
  const std::string five =
      "input %q: f32[2,3,2,5,4] \"q\"\ninput %k: f32[2,3,2,6,4] \"k\"\ninput %v: f32[2,3,2,6,7] \"v\"\n";
  const std::string to_four =
      "%a = reshape(%q, %c)\n%b = reshape(%l, %d)\n%e = reshape(%v, %f)\n%y4 = attention(%a, %b, %e";
  const std::string as_four =
      "# with constant %c: i64[4] = {6, 2, 5, 4}\n# with constant %d: i64[4] = {6, 2, 6, 4}\n"
      "# with constant %f: i64[4] = {6, 2, 6, 7}\n# with constant %g: i64[5] = {2, 3, 2, 5, 7}\n";
  return {
      {"recognise-attention", five + "input %m: f32[2,1,6] \"m\"\n",
       "%t = transpose(%k) perm=[0,1,2,4,3]\n%p = matmul(%q, %t)\n%s = add(%p, %m)\n" + weigh,
       "%t = transpose(%k) perm=[0,1,2,4,3]\n%l = transpose(%t) perm=[0,1,2,4,3]\n" + to_four +
           ", %m) scale=1\n%y = reshape(%y4, %g)\n" + as_four},
      {"recognise-attention", five + "input %m: f32[2,3,1,5,6] \"m\"\n",
       "%t = transpose(%k) perm=[0,1,2,4,3]\n%p = matmul(%q, %t)\n%s = add(%p, %m)\n" + weigh,
       "%t = transpose(%k) perm=[0,1,2,4,3]\n%l = transpose(%t) perm=[0,1,2,4,3]\n%n = reshape(%m, %h)\n" + to_four +
           ", %n) scale=1\n%y = reshape(%y4, %g)\n" + as_four + "# with constant %h: i64[4] = {6, 1, 5, 6}\n"},
      {"recognise-attention",
       "input %q: f32[3,5,4] \"q\"\ninput %k: f32[3,6,4] \"k\"\ninput %v: f32[3,6,7] \"v\"\ninput %m: f32[3,1,6] "
       "\"m\"\n",
       "%t = transpose(%k) perm=[0,2,1]\n%p = matmul(%q, %t)\n%s = add(%p, %m)\n" + weigh,
       "%t = transpose(%k) perm=[0,2,1]\n%l = transpose(%t) perm=[0,2,1]\n%a = reshape(%q, %c)\n%b = reshape(%l, %d)\n"
       "%e = reshape(%v, %f)\n%n = reshape(%m, %h)\n%y4 = attention(%a, %b, %e, %n) scale=1\n%y = reshape(%y4, %g)\n"
       "# with constant %c: i64[4] = {3, 1, 5, 4}\n# with constant %d: i64[4] = {3, 1, 6, 4}\n"
       "# with constant %f: i64[4] = {3, 1, 6, 7}\n# with constant %g: i64[3] = {3, 5, 7}\n"
       "# with constant %h: i64[4] = {3, 1, 1, 6}\n"},
      {"recognise-attention",
       "input %q: f32[6,5,4] \"q\"\ninput %t: f32[6,4,6] \"t\"\ninput %v: f32[2,3,6,7] \"v\"\ninput %m: f32[2,1,1,6] "
       "\"m\"\n"
       "constant %c: i64[4] = {2, 3, 5, 6}\n",
       "%p = matmul(%q, %t)\n%r = reshape(%p, %c)\n%s = add(%r, %m)\n" + weigh,
       "%a = reshape(%q, %d)\n%b = reshape(%t, %e)\n%l = transpose(%b) perm=[0,1,3,2]\n"
       "%y = attention(%a, %l, %v, %m) scale=1\n"
       "# with constant %d: i64[4] = {2, 3, 5, 4}\n# with constant %e: i64[4] = {2, 3, 4, 6}\n"},
      {"recognise-attention-of-other-batches",
       "input %q: f32[2,3,5,4] \"q\"\ninput %t: f32[2,3,4,6] \"t\"\ninput %v: f32[6,6,7] \"v\"\n"
       "constant %c: i64[3] = {6, 5, 6}\n",
       "%s = matmul(%q, %t)\n%w = softmax(%s) axis=-1\n%r = reshape(%w, %c)\n%y = matmul(%r, %v)\n",
       "%l = transpose(%t) perm=[0,1,3,2]\n%b = reshape(%v, %d)\n%a = attention(%q, %l, %b) scale=1\n"
       "%y = reshape(%a, %e)\n"
       "# with constant %d: i64[4] = {2, 3, 6, 7}\n# with constant %e: i64[3] = {6, 5, 7}\n"},
      {"recognise-turned-attention",
       "input %q: f32[2,3,5,4] \"q\"\ninput %t: f32[2,3,4,6] \"t\"\ninput %v: f32[2,3,7,6] \"v\"\n",
       "%s = matmul(%q, %t)\n%w = softmax(%s) axis=-1\n%u = transpose(%w) perm=[0,1,3,2]\n%y = matmul(%v, %u)\n",
       "%l = transpose(%t) perm=[0,1,3,2]\n%b = transpose(%v) perm=[0,1,3,2]\n%a = attention(%q, %l, %b) scale=1\n"
       "%y = transpose(%a) perm=[0,1,3,2]\n"},
  };
}

}  // namespace

std::vector<RuleCase> attention_cases() {
  std::vector<RuleCase> cases = attention_of_heads();
  for (RuleCase& c : attention_of_other_batches()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace mica::support
