#include "operand.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace mica::suite {
namespace {

constexpr std::byte kPoison{0xff};
constexpr size_t kAlign = 64;

// SplitMix64 (Steele, Lea, Flood 2014): a number that depends on seed and position alone.
uint64_t mix(uint64_t seed, uint64_t position) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u + (position + 1) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
double unit(uint64_t seed, uint64_t position) { return static_cast<double>(mix(seed, position) >> 11) * 0x1p-53; }

double special_number(const Spec& spec, uint64_t position) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kFloats[] = {NAN,          kInf,          -kInf, 0.0,        -0.0, 1e-40, -1e-40, 1.1754944e-38,
                                3.4028235e38, -3.4028235e38, 1,     -1,         0.5,  -0.5,  88.5,   -88.5,
                                103.9,        -103.9,        1e-8,  16777217.0, 2.5,  -2.5,  1e10,   -1e10};
  constexpr double kIntegers[] = {0, 1, -1, 2,   -2, 127, -128, 255, 32767, -32768, 2147483647.0, -2147483648.0,
                                  7, 8, 9,  1e15};
  const uint64_t r = mix(spec.seed, position);
  if (r % 3 == 0) return spec.low + (spec.high - spec.low) * unit(spec.seed + 1, position);
  if (is_float(spec.dtype)) return kFloats[(position + r / 8 % 3) % std::size(kFloats)];
  return kIntegers[(position + r / 8 % 3) % std::size(kIntegers)];
}

double number_of(const Spec& spec, uint64_t position) {
  switch (spec.fill) {
    case Fill::kUniform: return spec.low + (spec.high - spec.low) * unit(spec.seed, position);
    case Fill::kNormal:
      return std::sqrt(-2 * std::log(1 - unit(spec.seed, 2 * position))) *
             std::cos(2 * M_PI * unit(spec.seed, 2 * position + 1));
    case Fill::kIota: return spec.low + spec.high * static_cast<double>(position);
    case Fill::kList: return spec.list.empty() ? 0 : spec.list[position % spec.list.size()];
    case Fill::kSpecial: return special_number(spec, position);
  }
  return 0;
}

// Bytes of one innermost row or element, and how many of those there are: sub-byte types are handled by rows.
struct Units {
  int64_t bytes;
  int rank;
};
Units units_of(const TensorView& view) {
  if (is_sub_byte(view.dtype))
    return {view.rank ? row_bytes(view.dtype, view.dim(view.rank - 1)) : 1, std::max(0, view.rank - 1)};
  return {element_bytes(view.dtype), view.rank};
}

template <class F>
void for_each_unit(const TensorView& view, F&& f) {
  if (view.empty()) return;
  const Units units = units_of(view);
  std::array<int64_t, kMaxRank> index{};
  do {
    int64_t offset = 0;
    for (int i = 0; i < units.rank; ++i) offset += index[static_cast<size_t>(i)] * view.stride(i);
    f(offset, units.bytes);
  } while (next_index(index.data(), {view.dims.data(), static_cast<size_t>(units.rank)}));
}

}  // namespace

std::string_view name_of(Arrangement arrangement) {
  constexpr std::string_view kNames[] = {"dense", "channels last", "sliced", "sliced channels last"};
  return kNames[static_cast<int>(arrangement)];
}

Buffer::Buffer(DType dtype, std::span<const int64_t> dims, Arrangement arrangement) {
  view_ = dense_view(nullptr, dtype, dims);
  const bool last = arrangement == Arrangement::kChannelsLast || arrangement == Arrangement::kSlicedChannelsLast;
  const bool sliced = arrangement == Arrangement::kSliced || arrangement == Arrangement::kSlicedChannelsLast;
  std::vector<int> order;  // from the innermost axis outwards
  for (int i = view_.rank; i-- > 0;) order.push_back(i);
  if (last && view_.rank >= 3 && !is_sub_byte(dtype)) {
    order.erase(order.end() - 2);
    order.insert(order.begin(), 1);
  }
  int64_t pitch = element_bytes(dtype);
  for (size_t k = 0; k < order.size(); ++k) {
    const int axis = order[k];
    const int64_t dim = view_.dim(axis) + (sliced ? 1 + static_cast<int64_t>(k) % 2 : 0);
    const bool row = is_sub_byte(dtype) && k == 0;
    view_.strides[static_cast<size_t>(axis)] = row ? 0 : pitch;
    pitch = row ? row_bytes(dtype, dim) : pitch * dim;
  }
  const size_t front = sliced ? kAlign / 2 : 0;  // a slice begins anywhere
  storage_.resize(static_cast<size_t>(pitch) + front + 2 * kAlign);
  const auto start = reinterpret_cast<uintptr_t>(storage_.data());
  view_.data = storage_.data() + ((kAlign - start % kAlign) % kAlign) + front;
  poison();
}

void Buffer::poison() { std::fill(storage_.begin(), storage_.end(), kPoison); }

bool Buffer::gaps_untouched() const {
  std::vector<std::byte> copy = storage_;
  const int64_t start = static_cast<std::byte*>(view_.data) - storage_.data();
  for_each_unit(view_,
                [&](int64_t offset, int64_t bytes) { std::fill_n(copy.begin() + start + offset, bytes, kPoison); });
  return std::all_of(copy.begin(), copy.end(), [](std::byte b) { return b == kPoison; });
}

std::vector<std::byte> Buffer::bytes() const {
  std::vector<std::byte> out;
  for_each_unit(view_, [&](int64_t offset, int64_t bytes) {
    const std::byte* from = static_cast<const std::byte*>(view_.data) + offset;
    out.insert(out.end(), from, from + bytes);
  });
  return out;
}

void fill(const TensorView& view, const Spec& spec) {
  const Elements elements(view);
  const int64_t count = view.count();
  for (int64_t i = 0; i < count; ++i) {
    if (view.dtype == DType::kString) {
      static const std::string kEmpty;
      const std::string& text = spec.texts.empty() ? kEmpty : spec.texts[static_cast<size_t>(i) % spec.texts.size()];
      elements.text(i) = {text.data(), static_cast<int64_t>(text.size())};
      continue;
    }
    const double number = number_of(spec, static_cast<uint64_t>(i));
    if (is_float(view.dtype) || kind_of(view.dtype) == NumberKind::kComplex)
      elements.set_number(i, number);
    else if (view.dtype == DType::kBool)
      elements.set_integer(i, spec.fill == Fill::kUniform ? number > (spec.low + spec.high) / 2 : number != 0);
    else if (number >= 0x1p63)  // of 64 bits without a sign
      elements.set_integer(i, static_cast<int64_t>(static_cast<uint64_t>(std::floor(number))));
    else
      elements.set_integer(i, static_cast<int64_t>(std::floor(number)));
  }
}

Spec uniform(std::vector<int64_t> dims, double low, double high, uint64_t seed, DType dtype) {
  return {.dtype = dtype, .dims = std::move(dims), .fill = Fill::kUniform, .low = low, .high = high, .seed = seed};
}
Spec normal(std::vector<int64_t> dims, uint64_t seed, DType dtype) {
  return {.dtype = dtype, .dims = std::move(dims), .fill = Fill::kNormal, .seed = seed};
}
Spec iota(std::vector<int64_t> dims, double first, double step, DType dtype) {
  return {.dtype = dtype, .dims = std::move(dims), .fill = Fill::kIota, .low = first, .high = step};
}
Spec special(std::vector<int64_t> dims, uint64_t seed, DType dtype) {
  return {.dtype = dtype, .dims = std::move(dims), .fill = Fill::kSpecial, .low = -10, .high = 10, .seed = seed};
}
Spec list(std::vector<int64_t> dims, std::vector<double> values, DType dtype) {
  return {.dtype = dtype, .dims = std::move(dims), .fill = Fill::kList, .list = std::move(values)};
}
Spec texts(std::vector<int64_t> dims, std::vector<std::string> values) {
  return {.dtype = DType::kString, .dims = std::move(dims), .texts = std::move(values)};
}
Spec ints(std::vector<int64_t> values) {
  return constant(list({static_cast<int64_t>(values.size())}, {values.begin(), values.end()}, DType::kI64));
}
Spec scalar(double value, DType dtype) { return list({}, {value}, dtype); }
Spec constant(Spec spec) {
  spec.constant = true;
  return spec;
}
Spec absent() { return {.absent = true}; }
Spec sequence(std::vector<Spec> items, DType dtype) {
  return {.dtype = dtype, .kind = Kind::kSequence, .items = std::move(items)};
}
Spec with_dtype(Spec spec, DType dtype) {
  spec.dtype = dtype;
  return spec;
}

}  // namespace mica::suite
