#include <algorithm>

#include "support/rule_cases.h"

namespace mica::support {
namespace {

// "1, -2, 3, ..." of some small numbers.
std::string numbers(int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += (i ? ", " : "") + std::string(i % 3 == 1 ? "-" : "") + std::to_string(1 + i % 5);
  return list;
}
std::string constant(const std::string& name, const std::string& type, int count) {
  return "constant " + name + ": " + type + " = {" + numbers(count) + "}\n";
}
std::string list(const std::string& name, const std::string& items) {
  const auto count = static_cast<int>(std::count(items.begin(), items.end(), ',')) + 1;
  return "constant " + name + ": i64[" + std::to_string(count) + "] = {" + items + "}\n";
}

std::vector<RuleCase> commuting_cases() {
  const std::string image = "input %x: f32[2,1,4,6] \"x\"\n" + constant("%w", "f32[16,1,1,1]", 16);
  const std::string large = "input %x: f32[1,64,2,3] \"x\"\n" + constant("%w", "f32[1,64,1,1]", 64) +
                            "constant %s: f32[4] = {1, 1, 2, 2}\n" + list("%d", "1, 64, 4, 6") + list("%e", "4, 6");
  const std::string beside = "input %z: f32[1,2,4,6] \"z\"\n" + constant("%v", "f32[1,66,1,1]", 66);
  const std::string all = numbers(66);
  return {
      {"average-before-product", image + constant("%b", "f32[16]", 16),
       "%c = conv(%x, %w, %b)\n%y = average_pool(%c) kernel=[2,2], strides=[2,2]\n",
       "%p = average_pool(%x) kernel=[2,2], strides=[2,2]\n%y = conv(%p, %w, %b)\n"},
      {"average-before-product", image,
       "%c = conv(%x, %w)\n%y = average_pool(%c) kernel=[2,2], strides=[2,2], pads=[1,1,1,1], count_include_pad=true\n",
       "%p = average_pool(%x) kernel=[2,2], strides=[2,2], pads=[1,1,1,1], count_include_pad=true\n"
       "%y = conv(%p, %w)\n"},
      {"average-before-product", image, "%c = conv(%x, %w)\n%y = global_average_pool(%c)\n",
       "%p = global_average_pool(%x)\n%y = conv(%p, %w)\n"},
      {"product-before-resize", large + constant("%b", "f32[1]", 1),
       "%r = resize(%x, _, %s) mode=linear\n%y = conv(%r, %w, %b)\n",
       "%c = conv(%x, %w, %b)\n%y = resize(%c, _, %s) mode=linear\n"},
      {"product-before-resize", large, "%r = resize(%x, _, _, %d)\n%y = conv(%r, %w)\n",
       "%c = conv(%x, %w)\n%y = resize(%c, _, _, %e) axes=[2,3]\n"},
      {"product-before-resize", large + beside + constant("%b", "f32[1]", 1) + "constant %t: f32[2] = {1, 1}\n",
       "%p, %q = split(%z) axis=1, parts=2\n%r = resize(%x, _, %s) mode=cubic\n%j = concat(%p, %r, %q) axis=1\n"
       "%y = conv(%j, %v, %b)\n",
       "%p, %q = split(%z) axis=1, parts=2\n%m = conv(%x, %k)\n%r = resize(%m, _, %s) mode=cubic\n"
       "%j = concat(%p, %q) axis=1\n%n = conv(%j, %l, %b)\n%y = add(%n, %r)\n# with constant %k: f32[1,64,1,1] = {" +
           all.substr(3, all.size() - 6) + "}\n# with constant %l: f32[1,2,1,1] = {1, " + all.substr(all.size() - 1) +
           "}\n"},
      {"product-of-products",
       "input %x: f32[1,2,2,3] \"x\"\nconstant %v: f32[3,2,1,1] = {1, 2, 3, 4, 5, 6}\n"
       "constant %w: f32[2,3,1,1] = {1, -1, 0.5, 2, 0, 1}\nconstant %a: f32[3] = {1, 2, 4}\n"
       "constant %b: f32[2] = {8, 16}\n",
       "%c = conv(%x, %v, %a)\n%y = conv(%c, %w, %b)\n",
       "%y = conv(%x, %u, %d)\n# with constant %u: f32[2,2,1,1] = {0.5, 1, 7, 10}\n"
       "# with constant %d: f32[2] = {9, 22}\n"},
  };
}

std::vector<RuleCase> token_cases() {
  const std::string given = "symbol N input\ninput %x: f32[N,6,2] \"x\"\nconstant %w: f32[2,3] = {1, 2, 3, 4, 5, 6}\n" +
                            constant("%d", "f32[3,1,3,3]", 27) + "constant %v: f32[3,2] = {1, -1, 2, 3, -2, 1}\n" +
                            list("%i", "0, 2, 3, 3") + list("%t", "0, 6, 3") + list("%o", "0, 2, 3, 2") +
                            list("%u", "0, 6, 2") + "constant %b: f32[3] = {1, 2, 3}\n";
  const std::string mixed =
      "%f = transpose(%e) perm=[0,3,1,2]\n%g = conv(%f, %d) pads=[1,1,1,1], groups=3\n%h = relu(%g)\n"
      "%k = transpose(%h) perm=[0,2,3,1]\n%l = reshape(%k, %t)\n%y = matmul(%l, %v)\n";
  const auto after = [](const std::string& first) {
    return "%p = reshape(%x, %o)\n%q = transpose(%p) perm=[0,3,1,2]\n" + first +
           "%g = conv(%f, %d) pads=[1,1,1,1], groups=3\n%h = relu(%g)\n%c = conv(%h, %s)\n"
           "%k = transpose(%c) perm=[0,2,3,1]\n%y = reshape(%k, %u)\n"
           "# with constant %r: f32[3,2,1,1] = {1, 4, 2, 5, 3, 6}\n"
           "# with constant %s: f32[2,3,1,1] = {1, 2, -2, -1, 3, 1}\n";
  };
  const std::string sums =
      "input %x: f32[1,2,2,3] \"x\"\ninput %z: f32[1,6,2] \"z\"\n"
      "constant %w: f32[2,2,1,1] = {1, 2, 3, 4}\n" +
      list("%u", "0, 6, 2") + list("%o", "0, 2, 3, 2") + "constant %b: f32[2] = {1, 2}\n";
  const std::string tokens = "%c = conv(%x, %w)\n%k = transpose(%c) perm=[0,2,3,1]\n%t = reshape(%k, %u)\n";
  return {
      {"products-around-depthwise", given, "%a = matmul(%x, %w)\n%e = reshape(%a, %i)\n" + mixed,
       after("%f = conv(%q, %r)\n")},
      {"products-around-depthwise", given, "%m = matmul(%x, %w)\n%a = add(%b, %m)\n%e = reshape(%a, %i)\n" + mixed,
       after("%f = conv(%q, %r, %b)\n")},
      {"product-of-pixels-before-product",
       "input %x: f32[1,6,1] \"x\"\nconstant %w: f32[1,3] = {1, 2, 3}\nconstant %b: f32[3] = {1, 2, 3}\n" +
           list("%i", "0, 2, 3, 3") + list("%o", "0, 2, 3, 1") + "constant %v: f32[1,3,1,1] = {1, -1, 2}\n",
       "%m = matmul(%x, %w)\n%a = add(%m, %b)\n%e = reshape(%a, %i)\n%f = transpose(%e) perm=[0,3,1,2]\n"
       "%y = conv(%f, %v)\n",
       "%e = reshape(%x, %o)\n%f = transpose(%e) perm=[0,3,1,2]\n%c = conv(%f, %r, %b)\n%y = conv(%c, %v)\n"
       "# with constant %r: f32[3,1,1,1] = {1, 2, 3}\n"},
      {"sum-of-images", sums, tokens + "%y = add(%b, %t)\n",
       "%c = conv(%x, %w)\n%a = add(%c, %d)\n%k = transpose(%a) perm=[0,2,3,1]\n%y = reshape(%k, %u)\n"
       "# with constant %d: f32[2,1,1] = {1, 2}\n"},
      {"sum-of-images", sums, tokens + "%y = add(%t, %z)\n",
       "%p = reshape(%z, %o)\n%q = transpose(%p) perm=[0,3,1,2]\n%c = conv(%x, %w)\n%a = add(%c, %q)\n"
       "%k = transpose(%a) perm=[0,2,3,1]\n%y = reshape(%k, %u)\n"},
  };
}

// A weight of 1 for each of `count` taps of which the first of `taps` alone is not 0.
std::string first_of(int count, int taps, const char* one) {
  std::string list;
  for (int i = 0; i < count; ++i) list += std::string(i ? ", " : "") + (i % taps ? "0" : one);
  return list;
}

// 32 channels to 16: a tap of 1 is 1 for the pixels of one block.
std::vector<RuleCase> enlarged_cases() {
  const std::string x = "input %x: f32[1,32,12,16] \"x\"\nconstant %s: f32[4] = {1, 1, 2, 3}\n";
  const auto weights = [](const std::string& name, const std::string& type, const std::string& list) {
    return "constant " + name + ": " + type + " = {" + list + "}\n";
  };
  const std::string of_conv = weights("%w", "f32[16,32,2,3]", first_of(16 * 32 * 6, 6, "2"));
  // Tap (0, 0) of 2 x 3 reaches the last two rows and the last three columns of 3 x 5.
  std::string block;
  for (int plane = 0; plane < 16 * 32; ++plane)
    block += std::string(plane ? ", " : "") + "0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 0, 0, 2, 2, 2";
  const std::string of_small = "# with " + weights("%v", "f32[32,16,3,5]", block);
  const std::string given = x + of_conv + constant("%b", "f32[16]", 16);
  const std::string nearest = "%r = resize(%x, _, %s) coordinates=asymmetric, nearest=floor\n";
  const std::string beside =
      x + "input %z: f32[1,2,24,48] \"z\"\n" + weights("%w", "f32[16,34,2,3]", first_of(16 * 34 * 6, 6, "2"));
  return {
      {"conv-of-repeated-pixels", given, nearest + "%y = conv(%r, %w, %b) pads=[1,0,0,2]\n",
       "%y = conv_transpose(%x, %v, %b) strides=[2,3], pads=[0,2,1,0]\n" + of_small},
      // Mirrored and repeated edges: a border of the small image, of which two columns of three are cut.
      {"conv-of-repeated-pixels", given + list("%p", "0, 0, 1, 1, 0, 0, 0, 0"),
       nearest + "%q = pad(%r, %p) mode=reflect\n%y = conv(%q, %w, %b) pads=[0,0,1,0]\n",
       "%q = pad(%x, %n) mode=edge\n%y = conv_transpose(%q, %v, %b) strides=[2,3], pads=[2,4,0,2]\n" + of_small +
           "# with " + list("%n", "0, 0, 1, 1, 0, 0, 0, 0")},
      {"conv-of-repeated-pixels", given + list("%p", "0, 0, 0, 0, 0, 0, 2, 2"),
       nearest + "%q = pad(%r, %p) mode=edge\n%y = conv(%q, %w, %b) pads=[1,2,0,0]\n",
       "%q = pad(%x, %n) mode=edge\n%y = conv_transpose(%q, %v, %b) strides=[2,3], pads=[0,0,1,3]\n" + of_small +
           "# with " + list("%n", "0, 0, 0, 0, 0, 0, 1, 1")},
      {"conv-of-repeated-pixels", beside, nearest + "%j = concat(%z, %r) axis=1\n%y = conv(%j, %w) pads=[1,0,0,2]\n",
       "%t = conv_transpose(%x, %v) strides=[2,3], pads=[0,2,1,0]\n%c = conv(%z, %u) pads=[1,0,0,2]\n"
       "%y = add(%c, %t)\n" +
           of_small + "# with " + weights("%u", "f32[16,2,2,3]", first_of(16 * 2 * 6, 6, "2"))},
  };
}

std::vector<RuleCase> scaled_cases() {
  const std::string given =
      "input %x: f32[N,3,2] \"x\"\nconstant %w: f32[2,3] = {1, 2, 3, 4, 5, 6}\n"
      "constant %b: f32[3] = {1, 2, 3}\nconstant %c: f32[1,1,3] = {2, -1, 0.5}\n";
  const std::string after = "%p = matmul(%x, %v)\n", v = "# with constant %v: f32[2,3] = {2, -2, 1.5, 8, -5, 3}\n";
  const std::string image = "input %x: f32[2,3,4,5] \"x\"\ninput %z: f32[2,6,3,4] \"z\"\n" +
                            constant("%w", "f32[5,6]", 30) + constant("%b", "f32[6]", 6);
  return {
      {"fold-mul-into-matmul", "symbol N input\n" + given, "%p = matmul(%x, %w)\n%y = mul(%c, %p)\n",
       "%y = matmul(%x, %v)\n" + v},
      {"fold-mul-into-matmul", "symbol N input\n" + given, "%p = matmul(%x, %w)\n%s = add(%p, %b)\n%y = mul(%s, %c)\n",
       after + "%y = add(%p, %d)\n" + v + "# with constant %d: f32[3] = {2, -2, 1.5}\n"},
      {"transpose-behind-residual", image, "%p = matmul(%x, %w)\n%t = transpose(%p) perm=[0,3,1,2]\n%y = add(%z, %t)\n",
       "%u = transpose(%z) perm=[0,2,3,1]\n%p = matmul(%x, %w)\n%s = add(%p, %u)\n"
       "%y = transpose(%s) perm=[0,3,1,2]\n"},
      {"transpose-behind-residual", image,
       "%p = matmul(%x, %w)\n%q = add(%p, %b)\n%t = transpose(%q) perm=[0,3,1,2]\n%y = add(%t, %z)\n",
       "%u = transpose(%z) perm=[0,2,3,1]\n%p = matmul(%x, %w)\n%q = add(%p, %b)\n%s = add(%q, %u)\n"
       "%y = transpose(%s) perm=[0,3,1,2]\n"},
  };
}

// "%to = slice(%x, …)" of a graph after, with lists of its own.
std::string slice_of(const std::string& x, const std::string& to, int begin, int end, int axis) {
  std::string text = "%" + to + " = slice(%" + x;
  for (const char* part : {"b", "e", "a"}) text += ", %" + to + part;
  text += ")\n";
  for (const auto& [part, number] : {std::pair{"b", begin}, {"e", end}, {"a", axis}})
    text += "# with " + list("%" + to + part, std::to_string(number));
  return text;
}

std::vector<RuleCase> taken_cases() {
  const std::string x = "symbol N input\ninput %x: f32[N,5,4] \"x\"\n" + list("%b", "1") + list("%e", "2") +
                        list("%a", "1") + list("%g", "2");
  const std::string take = slice_of("x", "t", 1, 2, 1), last = "%y = slice(%f, %b, %e, %a)\n";
  const std::string x2 = "input %x: f32[2,5,4] \"x\"\n" + x.substr(x.find("constant"));
  const std::string attended = x2 + "input %k: f32[2,6,4] \"k\"\ninput %v: f32[2,6,4] \"v\"\n";
  return {
      {"take-first", x, "%f = tanh(%x)\n" + last, take + "%y = tanh(%t)\n"},
      // A gather drops the axis, and may count from the end.
      {"take-first", x2 + "constant %i: i64[] = {-4}\n" + list("%s", "2, 4"),
       "%f = tanh(%x)\n%y = gather(%f, %i) axis=-2\n", take + "%h = tanh(%t)\n%y = reshape(%h, %s)\n"},
      // An operand of as many places, one of one place, one without the axis.
      {"take-first", x + "input %z: f32[N,5,4] \"z\"\n", "%f = sub(%x, %z)\n" + last,
       take + slice_of("z", "u", 1, 2, 1) + "%y = sub(%t, %u)\n"},
      {"take-first", x + "constant %c: f32[5,1] = {1, 2, 3, 4, 5}\n", "%f = add(%c, %x)\n" + last,
       slice_of("c", "d", 1, 2, 0) + take + "%y = add(%d, %t)\n"},
      {"take-first", x + "constant %c: f32[4] = {1, 2, 3, 4}\n", "%f = mul(%x, %c)\n" + last,
       take + "%y = mul(%t, %c)\n"},
      {"take-first", x + "constant %c: f32[4] = {1, 2, 3, 4}\n", "%f = layer_norm(%x, %c)\n" + last,
       take + "%y = layer_norm(%t, %c)\n"},
      {"take-first", x + "constant %w: f32[4,2] = {1, 2, 3, 4, 5, 6, 7, 8}\n", "%f = matmul(%x, %w)\n" + last,
       take + "%y = matmul(%t, %w)\n"},
      {"take-first", attended, "%f = attention(%x, %k, %v) q_heads=2, kv_heads=2\n" + last,
       take + "%y = attention(%t, %k, %v) q_heads=2, kv_heads=2\n"},
      {"take-first", attended + "input %m: f32[2,1,5,6] \"m\"\n",
       "%f = attention(%x, %k, %v, %m) q_heads=2, kv_heads=2\n" + last,
       take + slice_of("m", "n", 1, 2, 2) + "%y = attention(%t, %k, %v, %n) q_heads=2, kv_heads=2\n"},
      {"take-first", attended + "input %m: f32[1,6] \"m\"\n",
       "%f = attention(%x, %k, %v, %m) q_heads=2, kv_heads=2\n" + last,
       take + "%y = attention(%t, %k, %v, %m) q_heads=2, kv_heads=2\n"},
      {"take-first", x, "%f = transpose(%x) perm=[0,2,1]\n%y = slice(%f, %b, %e, %g)\n",
       take + "%y = transpose(%t) perm=[0,2,1]\n"},
      {"take-first", x2 + list("%s", "2, 5, 2, 2") + list("%d", "2, 1, 2, 2"), "%f = reshape(%x, %s)\n" + last,
       take + "%y = reshape(%t, %d)\n"},
      {"take-first", x2 + list("%s", "1, 2, 5, 4") + list("%d", "1, 2, 1, 4"),
       "%f = reshape(%x, %s)\n%y = slice(%f, %b, %e, %g)\n", take + "%y = reshape(%t, %d)\n"},
      // Of parts beside each other along another axis, and of one that holds it.
      {"take-first", x + "input %z: f32[N,5,1] \"z\"\n", "%f = concat(%x, %z) axis=2\n" + last,
       take + slice_of("z", "u", 1, 2, 1) + "%y = concat(%t, %u) axis=2\n"},
      {"take-first", x + "input %z: f32[N,3,4] \"z\"\n" + list("%c", "4") + list("%l", "5"),
       "%f = concat(%z, %x) axis=-2\n%y = slice(%f, %c, %l, %a)\n", slice_of("x", "y", 1, 2, 1)},
      // Two readers take two places, which are one range.
      {"take-first", x + list("%o", "0"),
       "%f = tanh(%x)\n%p = slice(%f, %o, %b, %a)\n%q = slice(%f, %b, %e, %a)\n%y = concat(%p, %q) axis=2\n",
       slice_of("x", "r", 0, 2, 1) + slice_of("r", "h", 0, 1, 1) + "%p = tanh(%h)\n" + slice_of("x", "s", 0, 2, 1) +
           slice_of("s", "k", 1, 2, 1) + "%q = tanh(%k)\n%y = concat(%p, %q) axis=2\n"},
  };
}

}  // namespace

std::vector<RuleCase> product_cases() {
  std::vector<RuleCase> all = commuting_cases();
  for (const auto& more : {enlarged_cases(), token_cases(), scaled_cases(), taken_cases()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace mica::support
