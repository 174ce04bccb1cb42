// mica doctor: what this machine has, and what it can do.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "ceilings.h"
#include "inputs.h"
#include "table.h"
#include "verbs.h"

namespace mica::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DoctorFlags {
  std::string format, isa;
  int threads = 0;
  bool measure = true;
};

int run(const DoctorFlags& flags) {
  ModelFlags model;
  model.threads = flags.threads;
  model.isa = flags.isa;
  const Context context = model.context();
  const tools::Machine machine = tools::describe_machine(context.get());
  tools::MachinePeak peak;
  if (flags.measure) check(tools::measure_peak(context.get(), peak));
  const size_t operators = tools::all_operators().size(), spellings = tools::all_spellings().size(),
               rules = tools::all_rules().size();
  if (flags.format == "json") {
    Json made = {{"version", mica_version()},
                 {"processor", machine.processor},
                 {"isa", machine.isa},
                 {"isas", machine.isas},
                 {"threads", machine.threads},
                 {"usable_processors", machine.usable_processors},
                 {"cpu_quota", machine.cpu_quota},
                 {"l1d_bytes", machine.l1d},
                 {"l2_bytes", machine.l2},
                 {"l3_bytes", machine.l3},
                 {"page_bytes", machine.page},
                 {"operators", operators},
                 {"spellings", spellings},
                 {"rules", rules},
                 {"devices", {"cpu"}}};
    if (flags.measure)
      made.update({{"peak_gflops_one", peak.flops_one * 1e-9},
                   {"peak_gflops_all", peak.flops_all * 1e-9},
                   {"copy_gbytes_one", peak.bytes_one * 1e-9},
                   {"copy_gbytes_all", peak.bytes_all * 1e-9},
                   {"ceilings", ceilings_json(peak)}});
    put("{}\n", made.dump(2));
    return kOk;
  }
  Table table;
  table.column("what"), table.column("here");
  table.row({"mica", mica_version()});
  table.row({"processor", machine.processor});
  table.row({"instruction set", fmt::format("{} (has {})", machine.isa, fmt::join(machine.isas, ", "))});
  table.row({"threads", fmt::format("{} of {} processors{}", machine.threads, machine.usable_processors,
                                    machine.cpu_quota > 0 ? fmt::format(", quota {:.2g}", machine.cpu_quota) : "")});
  table.row({"caches",
             fmt::format("L1 {}, L2 {}, L3 {}", bytes_text(static_cast<double>(machine.l1d)),
                         bytes_text(static_cast<double>(machine.l2)), bytes_text(static_cast<double>(machine.l3)))});
  if (flags.measure) {
    add_ceilings(table, peak);
    table.row({"copies",
               fmt::format("{:.1f} GB/s on one thread, {:.1f} on all", peak.bytes_one * 1e-9, peak.bytes_all * 1e-9)});
  }
  table.row({"devices", "cpu"});
  table.row({"formats", "onnx, mica"});
  table.row({"built in", fmt::format("{} operators, {} spellings, {} rewriting rules", operators, spellings, rules)});
  put("{}", table.text(flags.format));
  return kOk;
}

}  // namespace

std::function<int()> add_doctor(Words& words) {
  auto flags = std::make_shared<DoctorFlags>();
  words.option("--threads", flags->threads, "threads to measure with; 0: what the machine grants");
  words.option("--isa", flags->isa, "instruction set to measure");
  words.flag("--measure,!--no-measure", flags->measure, "arithmetic peak and memory bandwidth (about a second)");
  words.format(flags->format, {"table", "json", "csv", "md"});
  return [flags] { return run(*flags); };
}

}  // namespace mica::cli
