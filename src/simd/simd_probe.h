// The vector traits seen from outside: each operation as a function over arrays of lanes, so that a test can hold every
// instruction set against scalar arithmetic. Linked into the tests only.
#pragma once
#include <stdint.h>

namespace mica {

// Reads `lanes` floats from each of a, b and c and writes `lanes` floats; integers travel as their bit patterns.
struct SimdProbe {
  const char* name;
  void (*run)(const float* a, const float* b, const float* c, float* out);
};

struct SimdProbes {
  int lanes;
  bool has_fma;
  const SimdProbe* probes;
  int count;
  void (*load_store_partial)(const float* in, float* out, int n);
  void (*load_store_partial_i32)(const int32_t* in, int32_t* out, int n);
  float (*reduce[3])(const float* a);  // add, max, min
  int (*any_all)(const int32_t* a);    // bit 0: any lane is not 0; bit 1: all are
  void (*transpose)(const float* in, float* out);
  void (*exchange)(const float* in, float* out);             // by 1, 2, ... lanes / 2, one behind the other
  void (*strided)(const float* in, int stride, float* out);  // gathers and scatters by `stride`
  void (*gather)(const float* in, const int32_t* index, float* out);
  void (*permute)(const float* in, const int32_t* index, float* out);
  void (*f16_to_f32)(const uint16_t* in, float* out);
  void (*f32_to_f16)(const float* in, uint16_t* out);
  void (*bf16_to_f32)(const uint16_t* in, float* out);
  void (*f32_to_bf16)(const float* in, uint16_t* out);
  void (*widen_i8)(const int8_t* in, int32_t* out, int n);
  void (*widen_u8)(const uint8_t* in, int32_t* out, int n);
  void (*narrow_i8)(const int32_t* in, int8_t* out, int n);
  void (*narrow_u8)(const int32_t* in, uint8_t* out, int n);
};

}  // namespace mica
