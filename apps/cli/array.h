// Arrays as files and pictures give them, and as models take them.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common.h"

namespace mica::cli {

// A dense tensor that owns its elements.
struct Array {
  mica_dtype dtype = MICA_NONE;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;  // of strings: the mica_strings
  std::shared_ptr<std::vector<std::string>> strings;

  static Array make(mica_dtype dtype, std::vector<int64_t> dims);  // zeros
  static Array of(const std::vector<std::string>& texts, std::vector<int64_t> dims);
  static Array copy_of(const Tensor& tensor);
  Tensor tensor() const { return Tensor(dtype, bytes.data(), dims); }
  int64_t count() const { return tensor().count(); }
};

// One element as a number: every type but strings. Complex: the real part.
double number_at(const Tensor& tensor, int64_t index);
double imaginary_at(const Tensor& tensor, int64_t index);  // 0 of what is not complex
bool is_complex(mica_dtype dtype);
bool is_whole(mica_dtype dtype);  // integers and bool
// Whole numbers as they are: 64 bits do not fit into a double. Unsigned ones of 64 bits stand there as their bits.
int64_t whole_at(const Tensor& tensor, int64_t index);
bool is_less(const Tensor& tensor, int64_t a, int64_t b);  // the element at `a` than that at `b`
// "-3", "0.333333" (six digits), "1+2j".
std::string element_text(const Tensor& tensor, int64_t index);
// Sets an element from a number: integers are rounded and saturate.
void set_number(Array& array, int64_t index, double value);
// The same elements as another type. Usage error for strings and complex numbers.
Array convert_to(const Array& array, mica_dtype dtype);

// `.npy` files: every numpy type that has a counterpart, either byte order, C or Fortran order. Element types that
// numpy lacks are written as the next one that holds their values.
Array read_npy(const std::string& bytes, const std::string& name);
std::string write_npy(const Tensor& tensor);
// `.npz` archives: stored or deflated; written stored. Names without their `.npy`.
std::map<std::string, Array> read_npz(const std::string& bytes, const std::string& name);
std::string write_npz(const std::vector<std::pair<std::string, Tensor>>& arrays);

}  // namespace mica::cli
