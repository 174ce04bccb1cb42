// The processor that plans are bound to: what algorithms and schedules are chosen by.
#pragma once
#include "base/isa.h"
#include "base/string.h"

namespace mica {

struct Machine {
  Isa isa = Isa::kPortable;
  bool adds_apart = false;  // additions have units beside those of multiply-adds
  bool half_units = false;  // a vector's multiply-add takes as long as two of half vectors
  int threads = 1;          // that a session's work is split over
  size_t l1d = 32 << 10;    // bytes per core
  size_t l2 = 1 << 20;
  size_t l3 = 8 << 20;  // shared
  Text<64> model;       // the processor's name
  // An algorithm that is taken wherever it can be, for tests: the environment variable MICA_FORCE. A kernel family
  // knows its own names (kernels/conv/conv.h); others mean nothing.
  Text<32> force;
};

struct MachineOptions {
  std::string_view isa;  // forces an instruction set; empty: MICA_ISA of the environment, else the best one
  int threads = 0;       // 0: the usable processors (affinity mask and cgroup quota)
};
// Errors: kUsage for an unknown instruction set, kNoDevice for one that this processor lacks.
Result<Machine> describe_machine(const MachineOptions& options = {});

}  // namespace mica
