// Tensors of a model as constants.
#pragma once
#include <unordered_map>

#include "import/onnx/external.h"

namespace mica::onnx {

// Turns each tensor into a constant once; asked again for the same tensor it gives the same constant. Large contents
// are moved out of the message, or stay in the mapped file, where their alignment allows; everything else is copied.
class Tensors {
 public:
  explicit Tensors(std::string folder, std::vector<std::string> written = {})
      : files_(std::move(folder), std::move(written)) {}
  // Throws Failure: kBadModel when the contents do not fit the shape, kUnsupportedModel, kLimit, kIo.
  ConstantPtr read(pb::Tensor& tensor);
  // Written out in full.
  ConstantPtr read(pb::SparseTensor& tensor);

 private:
  ConstantPtr make(pb::Tensor& tensor);
  ConstantPtr make(pb::SparseTensor& tensor);
  ConstantPtr from_flat(DType dtype, std::span<const int64_t> dims, Bytes flat, std::shared_ptr<const void> keep);

  ExternalFiles files_;
  std::unordered_map<const void*, ConstantPtr> known_;
};

}  // namespace mica::onnx
