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

// Heads side by side in a row.
std::vector<RuleCase> attention_of_rows() {
  const std::string turn = " perm=[0,2,1,3]\n", heads = "q_heads=3, kv_heads=3, scale=0.5\n";
  const std::string five = "constant %i: i64[] = {0}\nconstant %j: i64[] = {-1}\nconstant %n: i64[] = {1}\n";
  const std::string back = "%p = reshape(%r, %h)\n%y = transpose(%p)" + turn + "# with constant %h: i64[4] = {";
  const auto part = [](const std::string& made, const std::string& index, const std::string& next) {
    return "%" + made + "0 = slice(%x, %" + made + "1, %" + made + "2, %" + made + "3)\n%" + made + "4 = reshape(%" +
           made + "0, %" + made + "5)\n# with constant %" + made + "1: i64[1] = {" + index + "}\n# with constant %" +
           made + "2: i64[1] = {" + next + "}\n";
  };
  const auto axis = [](const std::string& made, const std::string& at) {
    return "# with constant %" + made + "3: i64[1] = {" + at + "}\n# with constant %" + made +
           "5: i64[3] = {2, 5, 12}\n";
  };
  const auto parts = [&](const std::string& at) {
    return part("a", "0", "1") + axis("a", at) + part("b", "1", "2") + axis("b", at) + part("c", "2", "3") +
           axis("c", at);
  };
  const std::string of_parts = "%r = attention(%a4, %b4, %c4) " + heads + back + "2, 5, 3, 4}\n";
  return {
      {"attention-of-rows",
       "input %q: f32[2,5,3,4] \"q\"\ninput %k: f32[2,6,3,4] \"k\"\ninput %v: f32[2,6,3,7] \"v\"\ninput %m: f32[5,6] "
       "\"m\"\n",
       "%a = transpose(%q)" + turn + "%b = transpose(%k)" + turn + "%c = transpose(%v)" + turn +
           "%y = attention(%a, %b, %c, %m) scale=0.5, causal=true\n",
       "%a = reshape(%q, %d)\n%b = reshape(%k, %e)\n%c = reshape(%v, %f)\n%r = attention(%a, %b, %c, %m) "
       "q_heads=3, kv_heads=3, scale=0.5, causal=true\n" +
           back +
           "2, 5, 3, 7}\n# with constant %d: i64[3] = {2, 5, 12}\n# with constant %e: i64[3] = {2, 6, 12}\n"
           "# with constant %f: i64[3] = {2, 6, 21}\n"},
      {"attention-of-rows", "input %x: f32[2,5,3,3,4] \"x\"\nconstant %z: i64[4] = {2, 3, 5, 4}\n",
       "%t = transpose(%x) perm=[2,0,3,1,4]\n%a, %b, %c = split(%t) axis=0, parts=3\n%d = reshape(%a, %z)\n"
       "%e = reshape(%b, %z)\n%f = reshape(%c, %z)\n%y = attention(%d, %e, %f) scale=0.5\n",
       parts("2") + of_parts},
      {"attention-of-rows", "input %x: f32[3,2,5,3,4] \"x\"\n" + five,
       "%t = transpose(%x) perm=[1,0,3,2,4]\n%a = gather(%t, %i) axis=1\n%b = gather(%t, %n) axis=1\n"
       "%c = gather(%t, %j) axis=-4\n%y = attention(%a, %b, %c) scale=0.5\n",
       parts("0") + of_parts},
  };
}

std::vector<RuleCase> joined_projections() {
  const std::string x =
      "input %x: f32[2,3,2] \"x\"\nconstant %u: f32[2,4] = {1, -2, 3, 0.5, 2, 4, -1, 1}\n"
      "constant %v: f32[2,2] = {1, 2, -3, 0.5}\nconstant %w: f32[2,2] = {0.25, 1, 2, -1}\n";
  const std::string biases = "constant %b: f32[4] = {1, 2, 3, 4}\nconstant %c: f32[2] = {5, 6}\n";
  const std::string grouped = " q_heads=4, kv_heads=2, scale=1\n";
  const std::string all =
      "# with constant %z: f32[2,8] = {1, -2, 3, 0.5, 1, 2, 0.25, 1, 2, 4, -1, 1, -3, 0.5, 2, -1}\n";
  const std::string sizes = "# with constant %s: i64[3] = {4, 2, 2}\n";
  return {
      {"join-projections", x,
       "%q = matmul(%x, %u)\n%k = matmul(%x, %v)\n%l = matmul(%x, %w)\n%y = attention(%q, %k, %l)" + grouped,
       "%j = matmul(%x, %z)\n%q, %k, %l = split(%j, %s) axis=2, parts=3\n%y = attention(%q, %k, %l)" + grouped + all +
           sizes},
      {"join-projections", x + biases,
       "%p = matmul(%x, %u)\n%q = add(%p, %b)\n%m = matmul(%x, %v)\n%k = add(%c, %m)\n%n = matmul(%x, %w)\n"
       "%l = add(%n, %c)\n%y = attention(%q, %k, %l)" +
           grouped,
       "%j = matmul(%x, %z)\n%a = add(%j, %d)\n%q, %k, %l = split(%a, %s) axis=2, parts=3\n"
       "%y = attention(%q, %k, %l)" +
           grouped + all + sizes + "# with constant %d: f32[8] = {1, 2, 3, 4, 5, 6, 5, 6}\n"},
      {"join-projections",
       "input %q: f32[1,3,4] \"q\"\ninput %x: f32[3,2] \"x\"\nconstant %v: f32[2,2] = {1, 2, -3, 0.5}\n"
       "constant %w: f32[2,2] = {0.25, 1, 2, -1}\nconstant %c: f32[2] = {5, 6}\nconstant %i: i64[3] = {1, 3, 2}\n",
       "%m = gemm(%x, %v, %c) transpose_b=true\n%k = reshape(%m, %i)\n%n = gemm(%x, %w, %c) transpose_b=true\n"
       "%l = reshape(%n, %i)\n%y = attention(%q, %k, %l)" +
           grouped,
       "%j = gemm(%x, %z, %d) transpose_b=true\n%m, %n = split(%j, %s) axis=1, parts=2\n%k = reshape(%m, %e)\n"
       "%l = reshape(%n, %f)\n%y = attention(%q, %k, %l)" +
           grouped +
           "# with constant %z: f32[4,2] = {1, 2, -3, 0.5, 0.25, 1, 2, -1}\n"
           "# with constant %d: f32[4] = {5, 6, 5, 6}\n# with constant %s: i64[2] = {2, 2}\n"
           "# with constant %e: i64[3] = {1, 3, 2}\n# with constant %f: i64[3] = {1, 3, 2}\n"},
  };
}

// Images cut into patches and put together again.
std::vector<RuleCase> patches_of_images() {
  const std::string steps =
      "constant %a: i64[1] = {0}\nconstant %b: i64[1] = {1}\nconstant %e: i64[1] = {9223372036854775807}\n"
      "constant %r: i64[1] = {2}\nconstant %c: i64[1] = {3}\nconstant %s: i64[1] = {2}\n";
  return {
      {"merge-transposes-around-reshape", "input %x: f32[1,4,6,3] \"x\"\nconstant %c: i64[4] = {9, 2, 2, 2}\n",
       "%a = transpose(%x) perm=[0,3,2,1]\n%b = reshape(%a, %c)\n%y = transpose(%b) perm=[0,2,1,3]\n",
       "%a = reshape(%x, %d)\n%b = transpose(%a) perm=[4,2,0,3,1]\n%y = reshape(%b, %e)\n"
       "# with constant %d: i64[5] = {2, 2, 3, 2, 3}\n# with constant %e: i64[4] = {9, 2, 2, 2}\n"},
      {"conv-of-interlaced-image", "input %x: f32[1,1,2,4] \"x\"\n" + steps + "constant %w: f32[1,2,1,1] = {2, 3}\n",
       "%p = slice(%x, %b, %e, %c, %s)\n%q = slice(%x, %a, %e, %c, %s)\n%j = concat(%p, %q) axis=1\n%y = conv(%j, "
       "%w)\n",
       "%y = conv(%x, %u) strides=[1,2], pads=[0,0,0,0]\n# with constant %u: f32[1,1,1,2] = {3, 2}\n"},
      {"conv-of-interlaced-image",
       "input %x: f32[2,1,4,6] \"x\"\n" + steps + "constant %w: f32[1,4,1,1] = {1, 2, 3, 4}\n",
       "%f = slice(%x, %a, %e, %r, %s)\n%g = slice(%x, %b, %e, %r, %s)\n%p = slice(%f, %a, %e, %c, %s)\n"
       "%q = slice(%g, %a, %e, %c, %s)\n%m = slice(%f, %b, %e, %c, %s)\n%n = slice(%g, %b, %e, %c, %s)\n"
       "%j = concat(%p, %q, %m, %n) axis=-3\n%y = conv(%j, %w) strides=[1,2], pads=[1,0,0,1]\n",
       "%y = conv(%x, %u) strides=[2,4], pads=[2,0,0,2]\n# with constant %u: f32[1,1,2,2] = {1, 3, 2, 4}\n"},
      {"transposed-conv-to-few-channels",
       "input %x: f32[1,1,2,3] \"x\"\nconstant %w: f32[1,2,2,2] = {1, 2, 3, 4, 5, 6, 7, 8}\n",
       "%y = conv_transpose(%x, %w) strides=[2,2]\n",
       "%c = conv(%x, %u) pads=[0,0,0,0]\n%y = depth_to_space(%c) block=2, order=crd\n"
       "# with constant %u: f32[8,1,1,1] = {1, 2, 3, 4, 5, 6, 7, 8}\n"},
      {"transposed-conv-to-few-channels",
       "input %x: f32[2,1,H,W] \"x\"\nconstant %w: f32[1,1,3,3] = {1, 2, 3, 4, 5, 6, 7, 8, 9}\n"
       "constant %b: f32[1] = {0.5}\n",
       "%y = conv_transpose(%x, %w, %b) strides=[2,2], pads=[1,1,1,1], output_padding=[0,1]\n",
       "%c = conv(%x, %u, %v) pads=[1,1,0,1]\n%d = depth_to_space(%c) block=2, order=crd\n"
       "%y = slice(%d, %f, %l, %a)\n"
       "# with constant %u: f32[4,1,2,2] = {9, 7, 3, 1, 0, 8, 0, 2, 0, 0, 6, 4, 0, 0, 0, 5}\n"
       "# with constant %v: f32[4] = {0.5, 0.5, 0.5, 0.5}\n# with constant %f: i64[2] = {1, 1}\n"
       "# with constant %l: i64[2] = {9223372036854775807, -1}\n# with constant %a: i64[2] = {2, 3}\n"},
      {"transposed-conv-to-few-channels", "input %x: f32[n,1,3] \"x\"\nconstant %w: f32[1,1,4] = {1, 2, 3, 4}\n",
       "%y = conv_transpose(%x, %w) strides=[2], pads=[1,1]\n",
       "%c = conv(%x, %u) pads=[1,1]\n%p = reshape(%c, %d)\n%t = transpose(%p) perm=[0,1,3,2]\n"
       "%j = reshape(%t, %e)\n%y = slice(%j, %f, %l, %a)\n# with constant %u: f32[2,1,2] = {3, 1, 4, 2}\n"
       "# with constant %d: i64[4] = {0, 1, 2, 4}\n# with constant %e: i64[3] = {0, 1, 8}\n"
       "# with constant %f: i64[1] = {1}\n# with constant %l: i64[1] = {-1}\n# with constant %a: i64[1] = {2}\n"},
      {"channels-last-of-joined-images",
       "input %a: f32[2,3,4,5] \"a\"\ninput %b: f32[2,3,1,2] \"b\"\nconstant %c: i64[3] = {2, 3, -1}\n",
       "%p = reshape(%a, %c)\n%q = reshape(%b, %c)\n%j = concat(%p, %q) axis=2\n%y = transpose(%j) perm=[0,2,1]\n",
       "%s = transpose(%a) perm=[0,2,3,1]\n%p = reshape(%s, %d)\n%t = transpose(%b) perm=[0,2,3,1]\n"
       "%q = reshape(%t, %d)\n%y = concat(%p, %q) axis=1\n# with constant %d: i64[3] = {0, -1, 3}\n"},
      {"patches-of-image",
       "input %x: f32[1,2,4,6] \"x\"\nconstant %w: f32[3,2,1,1] = {1, 2, -3, 4, 0.5, -1}\n"
       "constant %c: i64[5] = {3, 2, 2, 3, 2}\n",
       "%i = conv(%x, %w)\n%r = relu(%i)\n%p = reshape(%r, %c)\n%y = transpose(%p) perm=[2,4,1,3,0]\n",
       "%i = conv(%x, %w)\n%r = relu(%i)\n%t = transpose(%r) perm=[0,2,3,1]\n%p = reshape(%t, %d)\n"
       "%y = transpose(%p) perm=[1,3,0,2,4]\n# with constant %d: i64[5] = {2, 2, 3, 2, 3}\n"},
      {"image-of-patches",
       "input %x: f32[2,2,2,3,3] \"x\"\nconstant %w: f32[2,3,1,1] = {1, 2, -3, 4, 0.5, -1}\n"
       "constant %c: i64[4] = {1, 3, 4, 6}\n",
       "%t = transpose(%x) perm=[4,2,0,3,1]\n%i = reshape(%t, %c)\n%y = conv(%i, %w)\n",
       "%t = transpose(%x) perm=[2,0,3,1,4]\n%p = reshape(%t, %d)\n%i = transpose(%p) perm=[0,3,1,2]\n"
       "%y = conv(%i, %w)\n# with constant %d: i64[4] = {1, 4, 6, 3}\n"},
  };
}

}  // namespace

std::vector<RuleCase> attention_cases() {
  std::vector<RuleCase> cases = attention_of_heads();
  for (auto more : {attention_of_other_batches, attention_of_rows, joined_projections, patches_of_images})
    for (RuleCase& c : more()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace mica::support
