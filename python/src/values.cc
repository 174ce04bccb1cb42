#include "values.h"

#include <nanobind/ndarray.h>

#include <cstring>
#include <memory>
#include <new>
#include <optional>

namespace mica::python {
namespace {

using nb::dlpack::dtype_code;

struct TypePair {
  mica_dtype dtype;
  dtype_code code;
  uint8_t bits;
  bool numpy;  // numpy has it without further packages
};
constexpr TypePair kTypes[] = {
    {MICA_F32, dtype_code::Float, 32, true},
    {MICA_F64, dtype_code::Float, 64, true},
    {MICA_F16, dtype_code::Float, 16, true},
    {MICA_BF16, dtype_code::Bfloat, 16, false},
    {MICA_I8, dtype_code::Int, 8, true},
    {MICA_I16, dtype_code::Int, 16, true},
    {MICA_I32, dtype_code::Int, 32, true},
    {MICA_I64, dtype_code::Int, 64, true},
    {MICA_U8, dtype_code::UInt, 8, true},
    {MICA_U16, dtype_code::UInt, 16, true},
    {MICA_U32, dtype_code::UInt, 32, true},
    {MICA_U64, dtype_code::UInt, 64, true},
    {MICA_BOOL, dtype_code::Bool, 8, true},
    {MICA_F8E4M3FN, dtype_code::Float8_E4M3FN, 8, false},
    {MICA_F8E4M3FNUZ, dtype_code::Float8_E4M3FNUZ, 8, false},
    {MICA_F8E5M2, dtype_code::Float8_E5M2, 8, false},
    {MICA_F8E5M2FNUZ, dtype_code::Float8_E5M2FNUZ, 8, false},
    {MICA_F8E8M0, dtype_code::Float8_E8M0FNU, 8, false},
    {MICA_C64, dtype_code::Complex, 64, true},
    {MICA_C128, dtype_code::Complex, 128, true},
};

std::optional<nb::dlpack::dtype> numpy_type(mica_dtype dtype) {
  for (const TypePair& type : kTypes)
    if (type.dtype == dtype && type.numpy) return nb::dlpack::dtype{static_cast<uint8_t>(type.code), type.bits, 1};
  return std::nullopt;
}

nb::tuple shape_of(const mica_tensor& tensor) {
  nb::list dims;
  for (int i = 0; i < tensor.rank; ++i) dims.append(tensor.dims[i]);
  return nb::tuple(dims);
}

// A copy of `bytes` as an array of this form that owns it.
nb::object copied(const void* bytes, size_t size, nb::dlpack::dtype dtype, const std::vector<size_t>& shape) {
  constexpr std::align_val_t kAlignment{64};
  void* memory = ::operator new(std::max<size_t>(size, 1), kAlignment, std::nothrow);
  if (!memory) fail(5001, "out of memory");
  nb::capsule owner(memory, [](void* p) noexcept { ::operator delete (p, std::align_val_t{64}); });
  if (size) std::memcpy(memory, bytes, size);
  nb::ndarray<nb::numpy> array(memory, shape.size(), shape.data(), owner, nullptr, dtype);
  return nb::cast(array);
}

nb::object from_strings(const mica_tensor& tensor) {
  const auto* strings = static_cast<const mica_string*>(tensor.data);
  const int64_t count = mica_tensor_bytes(&tensor) / static_cast<int64_t>(sizeof(mica_string));
  nb::list elements;
  for (int64_t i = 0; i < count; ++i) {
    PyObject* text = PyUnicode_DecodeUTF8(strings[i].data, static_cast<Py_ssize_t>(strings[i].size), "surrogateescape");
    if (!text) throw nb::python_error();
    elements.append(nb::steal(text));
  }
  return nb::make_tuple(elements, static_cast<int>(tensor.dtype), shape_of(tensor));
}

// The bytes of a DLPack object, as `Array` asks for it, in an array of `Bytes`.
template <class Array, class Bytes>
nb::object bytes_of(nb::handle object) {
  Array array;
  if (!nb::try_cast(object, array)) return nb::none();
  for (const TypePair& type : kTypes) {
    if (array.dtype() != nb::dlpack::dtype{static_cast<uint8_t>(type.code), type.bits, 1}) continue;
    nb::list shape;
    for (size_t i = 0; i < array.ndim(); ++i) shape.append(array.shape(i));
    Bytes bytes(array.data(), {array.nbytes()}, nb::find(array));
    return nb::make_tuple(nb::cast(bytes), static_cast<int>(type.dtype), nb::tuple(shape));
  }
  return nb::none();
}

}  // namespace

BorrowedTensor::BorrowedTensor(const nb::tuple& value, Use use) {
  if (value.size() != 3) fail(6001, "a tensor is (elements, dtype, shape)");
  tensor_.dtype = static_cast<mica_dtype>(nb::cast<int>(value[1]));
  const auto shape = nb::cast<nb::tuple>(value[2]);
  if (shape.size() > MICA_MAX_RANK) fail(3003, "a tensor has more axes than Mica takes", "the limit is 10");
  tensor_.rank = static_cast<int32_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) tensor_.dims[i] = nb::cast<int64_t>(shape[i]);
  owner_ = nb::borrow(value[0]);
  if (tensor_.dtype == MICA_STRING)
    borrow_strings(nb::cast<nb::list>(owner_));
  else
    borrow_buffer(owner_, use);
}

BorrowedTensor::BorrowedTensor(BorrowedTensor&& other) noexcept
    : tensor_(other.tensor_),
      owner_(std::move(other.owner_)),
      strings_(std::move(other.strings_)),
      buffer_(other.buffer_) {
  other.buffer_ = {};
}

BorrowedTensor::~BorrowedTensor() {
  if (buffer_.obj) PyBuffer_Release(&buffer_);
}

// The texts' bytes belong to the elements, which the list keeps: a copy of it, lest the caller changes it.
void BorrowedTensor::borrow_strings(const nb::list& elements) {
  nb::list kept;
  for (nb::handle element : elements) {
    nb::object bytes = nb::borrow(element);
    if (PyUnicode_Check(element.ptr())) {
      bytes = nb::steal(PyUnicode_AsEncodedString(element.ptr(), "utf-8", "surrogateescape"));
      if (!bytes.is_valid()) throw nb::python_error();
    }
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) throw nb::python_error();
    kept.append(bytes);
    strings_.push_back({data, size});
  }
  if (mica_tensor_bytes(&tensor_) != static_cast<int64_t>(strings_.size() * sizeof(mica_string)))
    fail(3001, "a tensor's shape does not fit its elements");
  tensor_.data = strings_.data();
  owner_ = kept;
}

void BorrowedTensor::borrow_buffer(nb::handle object, Use use) {
  const int flags = use == Use::kWrite ? PyBUF_WRITABLE : PyBUF_SIMPLE;
  if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) throw nb::python_error();
  if (mica_tensor_bytes(&tensor_) != static_cast<int64_t>(buffer_.len)) {
    PyBuffer_Release(&buffer_);
    fail(3001, "a tensor's shape does not fit its elements");
  }
  tensor_.data = buffer_.buf;
}

Input to_input(nb::handle value) {
  Input made;
  if (value.is_none()) return made;
  if (nb::isinstance<nb::list>(value)) {
    made.kind = Input::Kind::kList;
    for (nb::handle item : nb::borrow<nb::list>(value)) made.tensors.emplace_back(nb::cast<nb::tuple>(item));
    return made;
  }
  const auto parts = nb::cast<nb::tuple>(value);
  made.kind = parts.size() == 0 ? Input::Kind::kNoValue : Input::Kind::kTensor;
  if (parts.size() != 0) made.tensors.emplace_back(parts);
  return made;
}

nb::object from_tensor(const mica_tensor& tensor) {
  if (tensor.dtype == MICA_STRING) return from_strings(tensor);
  const auto size = static_cast<size_t>(mica_tensor_bytes(&tensor));
  if (const auto dtype = numpy_type(tensor.dtype))
    return copied(tensor.data, size, *dtype, std::vector<size_t>(tensor.dims, tensor.dims + tensor.rank));
  nb::object bytes = copied(tensor.data, size, nb::dtype<uint8_t>(), {size});
  return nb::make_tuple(bytes, static_cast<int>(tensor.dtype), shape_of(tensor));
}

nb::object from_dlpack(nb::handle object, bool write) {
  return write ? bytes_of<nb::ndarray<nb::c_contig, nb::device::cpu>, nb::ndarray<nb::numpy, uint8_t>>(object)
               : bytes_of<nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>, nb::ndarray<nb::numpy, nb::ro, uint8_t>>(
                     object);
}

nb::object to_dlpack(const nb::tuple& value) {
  auto borrowed = std::make_unique<BorrowedTensor>(value, BorrowedTensor::Use::kWrite);
  const mica_tensor tensor = borrowed->tensor();
  for (const TypePair& type : kTypes) {
    if (type.dtype != tensor.dtype) continue;
    const nb::capsule owner(borrowed.release(), [](void* p) noexcept { delete static_cast<BorrowedTensor*>(p); });
    const std::vector<size_t> shape(tensor.dims, tensor.dims + tensor.rank);
    const nb::dlpack::dtype dtype{static_cast<uint8_t>(type.code), type.bits, 1};
    return nb::cast(nb::ndarray<>(tensor.data, shape.size(), shape.data(), owner, nullptr, dtype));
  }
  fail(6001, "DLPack has no such element type");
}

}  // namespace mica::python
