#include "import/onnx/tensor.h"

#include <bit>
#include <cstring>

#include "import/onnx/limits.h"
#include "ir/spelling.h"

namespace mica::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "contents are little-endian and used in place");

// Contents below this are copied: a block of their own costs less than the message's.
constexpr size_t kSmallBytes = 1024;

struct Header {
  DType dtype = DType::kNone;
  std::vector<int64_t> dims;
  int64_t count = 1;  // elements
  int64_t bytes = 0;  // of the contents as the format writes them: without gaps between rows
};

Header read_header(int32_t data_type, const google::protobuf::RepeatedField<int64_t>& dims) {
  Header header;
  header.dtype = source_dtype(Format::kOnnx, data_type);
  if (header.dtype == DType::kNone)
    fail(Code::kUnsupportedModel, "a tensor has the unknown element type {}", data_type);
  if (dims.size() > kMaxRank)
    fail(Code::kLimit, "a tensor of rank {}: at most {} dimensions are supported", dims.size(), kMaxRank);
  int64_t bits = 0;
  for (int64_t d : dims) {
    if (d < 0) fail(Code::kBadModel, "a tensor has a dimension of {}", d);
    header.dims.push_back(d);
    if (__builtin_mul_overflow(header.count, d, &header.count))
      fail(Code::kBadModel, "a tensor has more than 2^63 elements");
  }
  if (__builtin_mul_overflow(header.count, bits_of(header.dtype), &bits))
    fail(Code::kBadModel, "a tensor has more than 2^63 bits");
  header.bytes = bits / 8 + (bits % 8 != 0);
  return header;
}

// Rows of the innermost axis start at a byte: moves the elements of a tensor whose rows follow each other without gaps.
void spread_rows(const Header& header, const std::byte* flat, std::byte* to) {
  const int bits = bits_of(header.dtype);
  const int64_t row = header.dims.back(), per_byte = 8 / bits, row_size = row_bytes(header.dtype, row);
  const unsigned mask = (1u << bits) - 1;
  std::memset(to, 0, static_cast<size_t>(header.count / row * row_size));
  for (int64_t i = 0; i < header.count; ++i) {
    const unsigned element = static_cast<unsigned>(flat[i / per_byte]) >> (i % per_byte * bits) & mask;
    const int64_t column = i % row;
    to[i / row * row_size + column / per_byte] |= static_cast<std::byte>(element << (column % per_byte * bits));
  }
}

bool has_gaps(const Header& header) {
  return is_sub_byte(header.dtype) && header.dims.size() > 1 && header.count > 0 &&
         header.dims.back() * bits_of(header.dtype) % 8 != 0;
}

// Each item of the list holds the bit pattern of one element, or of one byte of packed elements.
template <class To, class List>
void narrow(const List& list, void* to) {
  To* out = static_cast<To*>(to);
  for (const auto item : list) *out++ = static_cast<To>(item);
}

void require_items(int64_t have, int64_t need) {
  if (have != need) fail(Code::kBadModel, "a tensor has {} items, its shape needs {}", have, need);
}

// The contents from one of the typed lists, as the format would write them in `raw_data`.
std::vector<std::byte> typed_contents(const pb::Tensor& tensor, const Header& header) {
  std::vector<std::byte> flat(0);
  const auto from = [&](const auto& list, int64_t per_element, auto element) {
    require_items(list.size(), per_element > 0 ? header.count * per_element : header.bytes);
    flat.resize(static_cast<size_t>(header.bytes));
    narrow<decltype(element)>(list, flat.data());
  };
  switch (header.dtype) {
    case DType::kF32: from(tensor.float_data(), 1, float()); break;
    case DType::kC64: from(tensor.float_data(), 2, float()); break;
    case DType::kF64: from(tensor.double_data(), 1, double()); break;
    case DType::kC128: from(tensor.double_data(), 2, double()); break;
    case DType::kI64: from(tensor.int64_data(), 1, int64_t()); break;
    case DType::kU64: from(tensor.uint64_data(), 1, uint64_t()); break;
    case DType::kU32: from(tensor.uint64_data(), 1, uint32_t()); break;
    default:
      if (bits_of(header.dtype) == 32)
        from(tensor.int32_data(), 1, int32_t());
      else if (bits_of(header.dtype) == 16)
        from(tensor.int32_data(), 1, uint16_t());
      else if (bits_of(header.dtype) == 8)
        from(tensor.int32_data(), 1, uint8_t());
      else
        from(tensor.int32_data(), 0, uint8_t());
  }
  return flat;
}

ConstantPtr strings(const pb::Tensor& tensor, const Header& header) {
  if (tensor.has_raw_data() || tensor.data_location() == 1)
    fail(Code::kBadModel, "a tensor of strings has raw contents");
  require_items(tensor.string_data_size(), header.count);
  std::vector<StringRef> refs;
  for (const std::string& text : tensor.string_data()) refs.push_back({text.data(), static_cast<int64_t>(text.size())});
  return Constant::make(DType::kString, header.dims, refs.data());
}

// A bool is 0 or 1; other bytes are true, and are written so.
bool has_odd_bools(const Header& header, Bytes flat) {
  if (header.dtype != DType::kBool) return false;
  for (std::byte b : flat)
    if (b > std::byte{1}) return true;
  return false;
}

}  // namespace

ConstantPtr Tensors::read(pb::Tensor& tensor) {
  ConstantPtr& known = known_[&tensor];
  if (!known) known = make(tensor);
  return known;
}

ConstantPtr Tensors::read(pb::SparseTensor& tensor) {
  ConstantPtr& known = known_[&tensor];
  if (!known) known = make(tensor);
  return known;
}

ConstantPtr Tensors::from_flat(DType dtype, std::span<const int64_t> dims, Bytes flat,
                               std::shared_ptr<const void> keep) {
  Header header{dtype, {dims.begin(), dims.end()}, 1, static_cast<int64_t>(flat.size())};
  for (int64_t d : dims) header.count *= d;
  const bool spread = has_gaps(header), odd = has_odd_bools(header, flat);
  const auto address = reinterpret_cast<uintptr_t>(flat.data());
  const bool aligned = address % static_cast<size_t>(std::min<int64_t>(element_bytes(dtype), 16)) == 0;
  if (!spread && !odd && aligned && flat.size() >= kSmallBytes && keep) {
    auto constant = std::make_shared<Constant>();
    constant->view = dense_view(const_cast<std::byte*>(flat.data()), dtype, dims);  // constants are never written
    constant->keep = std::move(keep);
    return constant;
  }
  OwnedTensor owned = value_or_throw(OwnedTensor::make(dtype, dims));
  auto* to = owned.view().as<std::byte>();
  if (spread)
    spread_rows(header, flat.data(), to);
  else if (!flat.empty())
    std::memcpy(to, flat.data(), flat.size());
  if (odd)
    for (size_t i = 0; i < flat.size(); ++i) to[i] = to[i] == std::byte{0} ? std::byte{0} : std::byte{1};
  return Constant::own(std::move(owned));
}

ConstantPtr Tensors::make(pb::Tensor& tensor) {
  if (tensor.has_segment())
    fail(Code::kUnsupportedModel, "a tensor is stored in segments, which the format has given up");
  const Header header = read_header(tensor.data_type(), tensor.dims());
  if (header.dtype == DType::kString) return strings(tensor, header);
  if (tensor.data_location() == 1) {
    const ExternalBytes found = files_.find(tensor.external_data(), header.bytes);
    return from_flat(header.dtype, header.dims, found.bytes, found.file);
  }
  if (tensor.has_raw_data()) {
    if (static_cast<int64_t>(tensor.raw_data().size()) != header.bytes)
      fail(Code::kBadModel, "a tensor has {} bytes, its shape needs {}", tensor.raw_data().size(), header.bytes);
    auto contents = std::make_shared<std::string>(std::move(*tensor.mutable_raw_data()));
    const Bytes flat = std::as_bytes(std::span(contents->data(), contents->size()));
    return from_flat(header.dtype, header.dims, flat, std::move(contents));
  }
  auto contents = std::make_shared<std::vector<std::byte>>(typed_contents(tensor, header));
  const Bytes flat(*contents);
  return from_flat(header.dtype, header.dims, flat, std::move(contents));
}

ConstantPtr Tensors::make(pb::SparseTensor& tensor) {
  const Header header = read_header(tensor.values().data_type(), tensor.dims());
  if (header.dtype == DType::kString || is_sub_byte(header.dtype))
    fail(Code::kUnsupportedModel, "a sparse tensor of {} elements", name_of(header.dtype));
  if (header.bytes > kMaxSparseBytes)
    fail(Code::kLimit, "a sparse tensor has {} bytes in full: at most {} are supported", header.bytes, kMaxSparseBytes);
  const ConstantPtr values = read(*tensor.mutable_values()), indices = read(*tensor.mutable_indices());
  const int64_t stored = values->view.count();
  const TensorView& at = indices->view;
  const bool linear = at.rank == 1;
  const auto rank = static_cast<int64_t>(header.dims.size());
  if (values->view.rank != 1 || at.dtype != DType::kI64 || (!linear && at.rank != 2) ||
      (at.rank > 0 && at.dim(0) != stored) || (!linear && at.dim(1) != rank))
    fail(Code::kBadModel, "a sparse tensor's values and indices do not fit each other");
  OwnedTensor owned = value_or_throw(OwnedTensor::make(header.dtype, header.dims));
  auto* to = owned.view().as<std::byte>();
  if (header.bytes) std::memset(to, 0, static_cast<size_t>(header.bytes));
  const auto* list = at.as<int64_t>();
  const auto width = static_cast<size_t>(element_bytes(header.dtype));
  for (int64_t i = 0; i < stored; ++i) {
    int64_t place = linear ? list[i] : 0;
    for (int64_t k = 0; !linear && k < rank; ++k) {
      const int64_t index = list[i * rank + k], size = header.dims[static_cast<size_t>(k)];
      if (index < 0 || index >= size)
        fail(Code::kBadModel, "a sparse tensor has the index {} on an axis of {}", index, size);
      place = place * size + index;
    }
    if (place < 0 || place >= header.count)
      fail(Code::kBadModel, "a sparse tensor has the index {} of {} elements", place, header.count);
    std::memcpy(to + static_cast<size_t>(place) * width, values->view.as<std::byte>() + static_cast<size_t>(i) * width,
                width);
  }
  return Constant::own(std::move(owned));
}

}  // namespace mica::onnx
