#include "device/cpu/machine.h"

#include "base/file.h"
#include "base/os.h"
#include "base/threads.h"
#include "device/cpu/cpu_model.h"
#include "device/cpu/isa_support.h"

namespace mica {
namespace {

constexpr size_t kMaxCpuInfo = size_t{16} << 20;  // the file has about 1.5 KB per processor

CpuModel this_cpu() {
  const Result<Vector<std::byte>> file = read_file("/proc/cpuinfo", kMaxCpuInfo);
  if (!file.ok()) return cpu_model({});
  return cpu_model({reinterpret_cast<const char*>(file->data()), file->size()});
}

void set_if_known(size_t& bytes, int level) {
  if (const size_t known = cache_bytes(level)) bytes = known;
}

}  // namespace

Result<Machine> describe_machine(const MachineOptions& options) {
  MICA_CHECK(options.threads >= 0 && options.threads <= Threads::kMaxThreads, kUsage,
             "the number of threads is {}, not within 0 and {}", options.threads, Threads::kMaxThreads);
  Machine machine;
  MICA_TRY(machine.isa, options.isa.empty() ? best_isa() : choose_isa(options.isa));
  machine.adds_apart = has_adds_apart(machine.isa);
  machine.half_units = has_half_units(machine.isa);
  machine.threads = options.threads ? options.threads : default_threads();
  set_if_known(machine.l1d, 1);
  set_if_known(machine.l2, 2);
  machine.l3 = machine.l2;  // a processor without a third level shares its second
  set_if_known(machine.l3, 3);
  machine.model = this_cpu();
  machine.force.assign(environment("MICA_FORCE"));  // a name that is too long is none that is known
  return machine;
}

}  // namespace mica
