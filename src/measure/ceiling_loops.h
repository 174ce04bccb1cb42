// Loops that do nothing but what a ceiling counts, one set for each instruction set. Linked into the tools only.
#pragma once
#include <stdint.h>

namespace mica {

enum class Isa : uint8_t;

struct CeilingLoops {
  // Independent chains of multiply-adds of bytes into 32-bit sums, in registers alone, `rounds` times; `sink` takes 16
  // numbers.
  void (*dot)(int64_t rounds, int32_t* sink);
  int64_t dot_ops;  // of one round; a multiply-add counts two
  // Reads count floats, a multiple of 256, 64-byte aligned; returns something made of all of them.
  float (*read)(const float* from, int64_t count);
  // Writes what it reads; as above, without overlap.
  void (*copy)(const float* from, float* to, int64_t count);
};
const CeilingLoops& ceiling_loops(Isa isa);

}  // namespace mica
