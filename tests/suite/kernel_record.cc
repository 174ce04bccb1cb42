#include "kernel_record.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "device/cpu/every_isa.h"

namespace mica::suite {

KernelRecord& KernelRecord::get() {
  static KernelRecord record;
  return record;
}

// A name's instruction set is its last part, which the table has as a column.
void KernelRecord::note(std::string_view kernel, Isa isa) {
  kernels_[std::string(kernel.substr(0, kernel.find("__")))].insert(isa);
}
void KernelRecord::note_reference(std::string_view op) { references_.emplace(op); }

void KernelRecord::print() const {
  if (kernels_.empty() && references_.empty()) return;
  std::printf("%-40s", "kernel");
  for (Isa isa : every_isa()) std::printf(" %-8s", std::string(name_of(isa)).c_str());
  std::printf("\n");
  for (const auto& [kernel, isas] : kernels_) {
    std::printf("%-40s", kernel.c_str());
    for (Isa isa : every_isa()) std::printf(" %-8s", isas.contains(isa) ? "yes" : "-");
    std::printf("\n");
  }
  std::printf("operators with a problem that was left to the reference:");
  for (const std::string& op : references_) std::printf(" %s", op.c_str());
  std::printf("\n");
}

namespace {
class Printer final : public testing::Environment {
 public:
  void TearDown() override { KernelRecord::get().print(); }
};
const testing::Environment* const kPrinter = testing::AddGlobalTestEnvironment(new Printer);
}  // namespace

}  // namespace mica::suite
