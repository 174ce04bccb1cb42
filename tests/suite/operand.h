// Operands of operator problems: what a tensor holds (a fill) and how it lies in memory (an arrangement).
#pragma once
#include <string>
#include <vector>

#include "types/object.h"
#include "types/tensor.h"

namespace mica::suite {

enum class Fill { kUniform, kNormal, kIota, kList, kSpecial };

// One operand as a test writes it. Random fills depend on `seed`, the element's index and nothing else. An integer type
// gets the fill's numbers rounded down. kIota: low, low + high, low + 2 * high, ... kList: `list`, repeated as often as
// needed. kSpecial: NaN, infinities, both zeros, denormals and extremes of the type, mixed with uniform numbers.
struct Spec {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  Fill fill = Fill::kUniform;
  double low = -1, high = 1;
  std::vector<double> list;
  std::vector<std::string> texts;  // of a string tensor, repeated
  uint64_t seed = 1;
  bool constant = false;  // contents are known to inference and at bind
  bool absent = false;
  Kind kind = Kind::kTensor;  // a sequence or an optional holds `items`
  std::vector<Spec> items;
};

Spec uniform(std::vector<int64_t> dims, double low = -1, double high = 1, uint64_t seed = 1, DType dtype = DType::kF32);
Spec normal(std::vector<int64_t> dims, uint64_t seed = 1, DType dtype = DType::kF32);
Spec iota(std::vector<int64_t> dims, double first = 0, double step = 1, DType dtype = DType::kF32);
Spec special(std::vector<int64_t> dims, uint64_t seed = 1, DType dtype = DType::kF32);
Spec list(std::vector<int64_t> dims, std::vector<double> values, DType dtype = DType::kF32);
Spec texts(std::vector<int64_t> dims, std::vector<std::string> values);
Spec ints(std::vector<int64_t> values);  // i64, rank 1, constant: axes, shapes, ...
Spec scalar(double value, DType dtype = DType::kF32);
Spec constant(Spec spec);
Spec absent();
Spec sequence(std::vector<Spec> items, DType dtype = DType::kF32);
Spec with_dtype(Spec spec, DType dtype);

enum class Arrangement { kDense, kChannelsLast, kSliced, kSlicedChannelsLast };
inline constexpr Arrangement kArrangements[] = {Arrangement::kDense, Arrangement::kChannelsLast, Arrangement::kSliced,
                                                Arrangement::kSlicedChannelsLast};
std::string_view name_of(Arrangement arrangement);

// A tensor in memory of its own. Bytes that belong to no element hold the poison 0xff (NaN as a float).
class Buffer {
 public:
  Buffer() = default;
  Buffer(DType dtype, std::span<const int64_t> dims, Arrangement arrangement);
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&&) = default;
  const TensorView& view() const { return view_; }
  void poison();  // all bytes
  bool gaps_untouched() const;
  std::vector<std::byte> bytes() const;  // the elements alone, in source order
  std::span<const std::byte> storage() const { return storage_; }

 private:
  TensorView view_;
  std::vector<std::byte> storage_;
};

// `texts_pool` keeps the bytes of string elements.
void fill(const TensorView& view, const Spec& spec);

}  // namespace mica::suite
