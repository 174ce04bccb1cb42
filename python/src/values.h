// Values between Python and the C interface.
//
// To the library a tensor is a tuple (buffer, dtype, shape): the elements as a C-contiguous buffer, in the order and
// packing of mica_tensor, or as a list of str or bytes for MICA_STRING; the number of a mica_dtype; the lengths of the
// axes. A sequence is a list of such, an optional without a value the empty tuple.
//
// From the library a tensor of a type that numpy has is an array; any other is a tuple (elements, dtype, shape) with
// the elements as an array of bytes, or as a list of str. A sequence is a list, an optional its value or None.
#pragma once
#include <string>
#include <vector>

#include "errors.h"

namespace mica::python {

// A tensor over memory that a Python object owns, kept alive with it.
class BorrowedTensor {
 public:
  enum class Use { kRead, kWrite };
  // Errors: BufferError for memory that is to be written and must not be.
  explicit BorrowedTensor(const nb::tuple& value, Use use = Use::kRead);
  BorrowedTensor(BorrowedTensor&& other) noexcept;
  BorrowedTensor& operator=(BorrowedTensor&&) = delete;
  ~BorrowedTensor();
  const mica_tensor& tensor() const { return tensor_; }

 private:
  void borrow_strings(const nb::list& elements);
  void borrow_buffer(nb::handle object, Use use);
  mica_tensor tensor_{};
  nb::object owner_;
  std::vector<mica_string> strings_;
  Py_buffer buffer_{};
};

// What one input is set to. Needs the interpreter to be made and destroyed.
struct Input {
  enum class Kind { kNotGiven, kTensor, kList, kNoValue };
  Kind kind = Kind::kNotGiven;
  std::vector<BorrowedTensor> tensors;  // one for kTensor
};

// None is an input that is not given.
Input to_input(nb::handle value);

// Copies the elements.
nb::object from_tensor(const mica_tensor& tensor);

// (array of bytes, dtype, shape) over the memory of an object with __dlpack__ on the processor, for types that numpy
// does not know; None when it cannot be had so.
// `write`: memory that may be written.
nb::object from_dlpack(nb::handle object, bool write);

// A DLPack capsule over the memory of such a triple. Errors: 6001 for a type that DLPack does not have.
nb::object to_dlpack(const nb::tuple& value);

}  // namespace mica::python
