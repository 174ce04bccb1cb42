#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  for (int i = 0; i < 2; ++i)
    MICA_CHECK(scope.dtype(i) == DType::kString, kBadType, "string_concat of {}", name_of(scope.dtype(i)));
  Shape out;
  if (scope.shape(0).known() && scope.shape(1).known()) {
    MICA_TRY(out, broadcast(scope.shape(0), scope.shape(1), scope.dims()));
  }
  scope.out(0, DType::kString, out);
  return {};
}

// The element of a broadcast operand at an index of the result.
StringRef text_at(const TensorView& view, const int64_t* at, int rank) {
  const char* place = static_cast<const char*>(view.data);
  for (int i = 0; i < view.rank; ++i) place += view.dim(i) == 1 ? 0 : at[rank - view.rank + i] * view.stride(i);
  return *reinterpret_cast<const StringRef*>(place);
}

Status reference(RunScope& scope) {
  DimTable dims;
  MICA_TRY(const Shape shape, broadcast(scope.in(0).to_shape(), scope.in(1).to_shape(), dims));
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, dims));
  const TensorView& out = scope.out(0);
  int64_t at[kMaxRank] = {};
  String joined;
  if (!out.empty()) do {
      MICA_TRY_STATUS(joined.assign(text_at(scope.in(0), at, out.rank).view()));
      MICA_TRY_STATUS(joined.append(text_at(scope.in(1), at, out.rank).view()));
      MICA_TRY(*reinterpret_cast<StringRef*>(element_at(out, at)), scope.keep(joined.view()));
    } while (next_index(at, out.shape()));
  return {};
}

}  // namespace

MICA_OP(string_concat) = {.name = "string_concat",
                          .doc = "Strings joined element by element",
                          .inputs = {2, 2},
                          .infer = infer,
                          .reference = reference};

}  // namespace mica
