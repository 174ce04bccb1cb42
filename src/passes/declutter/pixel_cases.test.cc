#include "support/rule_cases.h"

namespace mica::support {
namespace {

const char* const kWeights =
    "constant %w: f32[8,3,1,1] = {1, 2, 3, -1, -2, 0, 3, 1, 2, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, -3, -2, -1}\n";
const char* const kReordered =
    "# with constant %u: f32[8,3,1,1] = {3, 2, 1, 0, -2, -1, 2, 1, 3, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, -1, -2, "
    "-3}\n";

}  // namespace

std::vector<RuleCase> pixel_cases() {
  const std::string image = std::string("input %x: u8[2,4,5,3] \"x\"\n") + kWeights;
  const std::string planes = std::string("input %x: u8[2,3,H,W] \"x\"\n") + kWeights;
  const std::string mean = "constant %m: f32[3] = {1, 2, 4}\n", scale = "constant %s: f32[1,1,3] = {0.5, 2, 4}\n";
  const std::string tall = "constant %m: f32[3,1,1] = {1, 2, 4}\n", half = "constant %h: f32[] = {2}\n";
  const std::string conv = "%y = conv(%f, %w) pads=[1,1,1,1], strides=[2,2]\n";
  const auto pixels = [](const char* image_and_weights, const char* scale_and_shift) {
    return std::string("%y = pixel_conv(") + image_and_weights + ") pads=[1,1,1,1], strides=[2,2], " + scale_and_shift;
  };
  const std::string turned = "%t = transpose(%x) perm=[0,3,1,2]\n";
  return {
      {"order-shuffled-channels",
       "input %x: f32[1,1,2,3] \"x\"\nconstant %w: f32[8,1,1,1] = {1, 2, 3, 4, 5, 6, 7, 8}\n"
       "constant %b: f32[8] = {8, 7, 6, 5, 4, 3, 2, 1}\n",
       "%a = conv(%x, %w, %b)\n%d = depth_to_space(%a) block=2, order=crd\n%y = relu(%d)\n",
       "%a = conv(%x, %v, %c)\n%d = depth_to_space(%a) block=2\n%y = relu(%d)\n"
       "# with constant %v: f32[8,1,1,1] = {1, 5, 2, 6, 3, 7, 4, 8}\n"
       "# with constant %c: f32[8] = {8, 4, 7, 3, 6, 2, 5, 1}\n"},
      {"pixels-into-conv", planes, "%f = cast(%x) to=f32\n" + conv, pixels("%x, %w", "scale=[1,1,1], shift=[0,0,0]\n")},
      {"pixels-into-conv", image + mean + scale,
       "%a = cast(%x) to=f32\n%b = sub(%a, %m)\n%c = mul(%s, %b)\n%f = transpose(%c) perm=[0,3,1,2]\n" + conv,
       turned + pixels("%t, %w", "scale=[0.5,2,4], shift=[-0.5,-4,-16]\n")},
      {"pixels-into-conv", image + tall + half,
       turned + "%a = cast(%t) to=f32\n%b = div(%a, %h)\n%c = sub(%m, %b)\n%f = add(%h, %c)\n" + conv,
       turned + pixels("%t, %w", "scale=[-0.5,-0.5,-0.5], shift=[3,4,6]\n")},
      {"pixels-into-conv",
       "input %x: u8[N,4,5,1] \"x\"\nconstant %w: f32[8,1,1,1] = {1, 2, 3, -1, -2, 0, 3, 1}\n" + half +
           "constant %i: i64[4] = {-1, 1, 4, 5}\n",
       "%a = cast(%x) to=f32\n%b = mul(%a, %h)\n%f = reshape(%b, %i)\n" + conv,
       turned + pixels("%t, %w", "scale=[2], shift=[0]\n")},
      {"pixels-into-conv", planes + tall,
       "%a = cast(%x) to=f32\n%b = neg(%a)\n%c = affine(%b) alpha=2, beta=1\n%f = add(%c, %m)\n" + conv,
       pixels("%x, %w", "scale=[-2,-2,-2], shift=[2,3,5]\n")},
      {"pixels-into-conv", image + mean + "constant %i: i64[3] = {2, 1, 0}\n",
       "%a = gather(%x, %i) axis=-1\n%b = cast(%a) to=f32\n%c = sub(%b, %m)\n%f = transpose(%c) perm=[0,3,1,2]\n" +
           conv,
       turned + pixels("%t, %u", "scale=[1,1,1], shift=[-4,-2,-1]\n") + kReordered},
      {"pixels-into-conv",
       image + mean + "constant %i: i64[1] = {-1}\nconstant %e: i64[1] = {-9}\nconstant %o: i64[1] = {3}\n",
       "%a = cast(%x) to=f32\n%b = sub(%a, %m)\n%c = slice(%b, %i, %e, %o, %i)\n%f = transpose(%c) perm=[0,3,1,2]\n" +
           conv,
       turned + pixels("%t, %u", "scale=[1,1,1], shift=[-1,-2,-4]\n") + kReordered},
      // Through a sum, whose other operand others read as it is.
      {"pull-strides",
       "input %x: f32[1,2,5,4] \"x\"\nconstant %w: f32[2,2,1,1] = {1, 2, 3, 4}\n"
       "constant %u: f32[2,2,1,2] = {1, 2, 3, 4, 5, 6, 7, 8}\n",
       "%a = relu(%x)\n%b = conv(%a, %u) pads=[0,1,0,0]\n%c = add(%b, %a)\n%d = relu(%c)\n"
       "%p = conv(%d, %w) strides=[2,2]\n%q = conv(%d, %w) strides=[2,2]\n%y = sub(%p, %q)\n",
       "constant %k: i64[2] = {0, 0}\nconstant %l: i64[2] = {9223372036854775807, 9223372036854775807}\n"
       "constant %m: i64[2] = {2, 3}\nconstant %n: i64[2] = {2, 2}\n"
       "%a = relu(%x)\n%b = conv(%a, %u) strides=[2,2], pads=[0,1,0,0]\n%s = slice(%a, %k, %l, %m, %n)\n"
       "%c = add(%b, %s)\n%d = relu(%c)\n%p = conv(%d, %w)\n%q = conv(%d, %w)\n%y = sub(%p, %q)\n"},
  };
}

}  // namespace mica::support
