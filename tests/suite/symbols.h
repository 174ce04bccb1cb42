// The functions of the running program that belong to an instruction set, from the symbol table of its own file: what a
// kernel is called in the machine's terms, whatever the source says of it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/isa.h"

namespace mica::suite {

struct KernelSymbol {
  uint8_t* address = nullptr;  // of its first instruction
  Isa isa = Isa::kPortable;
  std::string file;  // the source it was compiled from, such as "conv.isa.cc"
  std::string name;  // readable, without namespaces and parameters: the same on every set
};

// By address. Empty when the program's file has no symbols. Pieces that the compiler split off for rare cases are left
// out: they are jumped to, never called.
std::vector<KernelSymbol> kernel_symbols();

// "void mica::avx2::(anonymous namespace)::f<3>(int)" becomes "f<3>".
std::string short_name(std::string_view demangled, Isa isa);

}  // namespace mica::suite
