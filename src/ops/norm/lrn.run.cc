#include "ops/norm/lrn.h"

#include "ops/norm/norm_run.h"

namespace mica {
namespace {

struct Arguments {
  const NormKernels* kernels;
  LrnArgs lrn;
  size_t y;
};
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& args = *static_cast<const Arguments*>(arguments);
  args.kernels->lrn(args.lrn, static_cast<const float*>(operands[0]), static_cast<float*>(operands[args.y]),
                    range.begin, range.end);
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (!norm::takes(scope)) return false;
  const auto& a = scope.attributes<Lrn>();
  const TensorView &x = scope.input(0).view, &y = scope.output(0).view;
  const PairLoops spatial = loops_between(x, y, 2, x.rank);
  if (spatial.count > 1) return false;
  const int64_t bytes = sizeof(float);
  LrnArgs lrn{.before = (a.size - 1) / 2,
              .behind = a.size - 1 - (a.size - 1) / 2,
              .channels = x.dim(1),
              .pixels = spatial.size(),
              .images = x.dim(0),
              .factor = a.alpha / static_cast<float>(a.size),
              .beta = a.beta,
              .bias = a.bias,
              .in_image = x.stride(0) / bytes,
              .in_channel = x.stride(1) / bytes,
              .in_pixel = spatial.count ? spatial.a[0] : 1,
              .out_image = y.stride(0) / bytes,
              .out_channel = y.stride(1) / bytes,
              .out_pixel = spatial.count ? spatial.b[0] : 1};
  const bool planes = lrn.in_pixel == 1 && lrn.out_pixel == 1,
             pixels = lrn.in_channel == 1 && lrn.out_channel == 1 && lrn.in_pixel != 1;
  if (!planes && !pixels) return false;
  constexpr int64_t kPixelBlock = 64;
  lrn.tasks = lrn.images * (planes ? lrn.channels : (lrn.pixels + kPixelBlock - 1) / kPixelBlock);
  MICA_TRY(Arguments * args, scope.arguments<Arguments>());
  *args = {&norm_kernels(scope.machine->isa), lrn, scope.inputs.size()};
  MICA_TRY(const std::string_view name, kernel_name(scope, "lrn", x.dtype));
  const double work = static_cast<double>(x.count()) * (static_cast<double>(a.size) + 4);
  MICA_TRY_STATUS(scope.add({.kernel = run, .arguments = args, .tasks = lrn.tasks, .work = work, .name = name}));
  return true;
}

}  // namespace

MICA_RUN(lrn) = {.bind = bind};

}  // namespace mica
