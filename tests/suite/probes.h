// Which kernels really ran: a breakpoint on the first instruction of every function that belongs to an instruction set.
// What is called is what is noted, whichever table or name led there. A breakpoint removes itself when it is met, so
// that a kernel is stopped once for each time it is armed; `arm` puts back those that were met.
//
// Under a debugger let SIGTRAP through (gdb: handle SIGTRAP nostop noprint pass).
#pragma once
#include <span>
#include <vector>

#include "symbols.h"

namespace mica::suite {

class Probes {
 public:
  static Probes& get();

  // False where there is nothing to probe: a program without symbols, or memory that may not be changed.
  bool working() const { return working_; }
  const std::vector<KernelSymbol>& symbols() const { return symbols_; }

  void arm();
  // Indices into symbols() of what ran since `arm`; valid until the next `arm`.
  std::span<const int> met() const;

 private:
  Probes();
  bool open_memory();

  std::vector<KernelSymbol> symbols_;
  bool working_ = false;
};

}  // namespace mica::suite
