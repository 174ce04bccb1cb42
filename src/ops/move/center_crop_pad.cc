#include "ops/move/center_crop_pad.h"

#include "types/operand.h"

namespace mica {
namespace {

Result<Ints> axes_for(const CenterCropPad& attributes, int rank) {
  Ints axes = attributes.axes;
  if (axes.empty())
    for (int i = 0; i < rank; ++i) axes.push(i);
  MICA_TRY_STATUS(normalize_axes(axes, rank));
  return axes;
}

Status infer(InferScope& scope) {
  Shape out = scope.shape(0);
  if (out.known()) {
    MICA_TRY(const Ints axes, axes_for(scope.attributes<CenterCropPad>(), out.rank));
    std::span<const Dim> sizes;
    const bool known = scope.known_dims(1, sizes);
    MICA_CHECK(!known || sizes.size() == axes.size(), kBadShape, "center_crop_pad lists {} sizes for {} axes",
               sizes.size(), axes.size());
    for (size_t i = 0; i < axes.size(); ++i)
      out[static_cast<int>(axes[i])] = known ? sizes[i] : scope.dims().fresh("crop");
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(TensorView from, wide_input(scope, 0));
  MICA_TRY(const Ints axes, axes_for(scope.attributes<CenterCropPad>(), from.rank));
  MICA_TRY(const Ints sizes, read_ints(scope.in(1), "shape"));
  MICA_CHECK(sizes.size() == axes.size(), kBadShape, "center_crop_pad lists {} sizes for {} axes", sizes.size(),
             axes.size());
  Shape shape = from.to_shape();
  for (size_t i = 0; i < axes.size(); ++i) shape[static_cast<int>(axes[i])] = sizes[i];
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, DimTable()));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  static constexpr StringRef kEmpty{"", 0};
  static constexpr char kZeros[16] = {};
  fill_elements(out, out.dtype == DType::kString ? static_cast<const void*>(&kEmpty) : kZeros);
  TensorView to = out;
  for (int i = 0; i < from.rank; ++i) {  // an odd difference leaves the extra element at the end
    const int64_t have = from.dim(i), want = out.dim(i);
    if (have > want) from = slice_axis(from, i, (have - want) / 2, want);
    if (want > have) to = slice_axis(to, i, (want - have) / 2, have);
  }
  copy_elements(from, to);
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(center_crop_pad) = {.name = "center_crop_pad",
                            .doc = "Crops or zero-pads around the middle to the sizes in input 1",
                            .inputs = {2, 2},
                            .attributes = attr_class<CenterCropPad>(),
                            .infer = infer,
                            .reference = reference};

}  // namespace mica
