// Which kernels ran on which instruction set, over all problems of a test program; printed at its end.
#pragma once
#include <map>
#include <set>
#include <string>

#include "base/isa.h"

namespace mica::suite {

class KernelRecord {
 public:
  static KernelRecord& get();
  void note(std::string_view kernel, Isa isa);
  void note_reference(std::string_view op);  // the reference did a problem of this operator
  void print() const;

 private:
  std::map<std::string, std::set<Isa>, std::less<>> kernels_;
  std::set<std::string, std::less<>> references_;
};

}  // namespace mica::suite
