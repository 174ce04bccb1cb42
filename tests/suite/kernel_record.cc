#include "kernel_record.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "device/cpu/every_isa.h"

namespace mica::suite {
namespace {

constexpr std::string_view kWork[] = {"reference", "nothing", "common", "kernels"};
std::string_view name_of(Work work) { return kWork[static_cast<int>(work)]; }

int64_t count_of(const KernelRecord::Counts& counts, Isa isa) {
  const auto found = counts.find(isa);
  return found == counts.end() ? 0 : found->second;
}

void print_row(const std::string& name, const KernelRecord::Counts& counts) {
  std::printf("%-64s", name.c_str());
  for (Isa isa : every_isa()) std::printf(" %8lld", static_cast<long long>(count_of(counts, isa)));
  std::printf("\n");
}

void print_head(const char* what) {
  std::printf("%-64s", what);
  for (Isa isa : every_isa()) std::printf(" %8s", std::string(mica::name_of(isa)).c_str());
  std::printf("\n");
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string json_of(const KernelRecord::Counts& counts) {
  std::string out;
  for (Isa isa : every_isa()) {
    out += (out.empty() ? "{" : ", ") + quoted(mica::name_of(isa)) + ": " + std::to_string(count_of(counts, isa));
  }
  return out + "}";
}

}  // namespace

void ProblemRecord::end(Isa isa, const std::string& run, const std::set<std::string, std::less<>>& steps) {
  Row row{.work = steps.empty() ? Work::kNothing : Work::kCommon};
  for (int index : Probes::get().met()) {
    const KernelSymbol& symbol = Probes::get().symbols()[static_cast<size_t>(index)];
    sum_.note_symbol(symbol);
    (symbol.isa == isa ? row.kernel : row.foreign) = symbol.name + " of " + symbol.file;
    if (symbol.isa == isa) row.work = Work::kKernels;
    if (symbol.isa != isa) row.foreign += ", " + std::string(mica::name_of(symbol.isa));
  }
  sum_.note_work(op_, isa, row.work);
  for (const std::string& step : steps) sum_.note_step(step, isa);
  rows_[run][isa] = row;
}

void ProblemRecord::left_to_reference(Isa isa, const std::string& run) {
  sum_.note_work(op_, isa, Work::kReference);
  rows_[run][isa] = {};
}

std::string ProblemRecord::fallbacks() const {
  std::string out;
  for (const auto& [run, rows] : rows_) {
    std::string best;
    for (const auto& [isa, row] : rows)
      if (row.work == Work::kKernels) best = std::string(mica::name_of(isa)) + " runs " + row.kernel;
    for (const auto& [isa, row] : rows) {
      const std::string who = op_ + ", " + run + ": " + std::string(mica::name_of(isa));
      if (!row.foreign.empty()) out += who + " runs " + row.foreign + "\n";
      if (row.work != Work::kKernels && !best.empty())
        out += who + " has no kernel of its own (" + std::string(name_of(row.work)) + "), " + best + "\n";
    }
  }
  return out;
}

KernelRecord& KernelRecord::get() {
  static KernelRecord record;
  return record;
}

// A name's instruction set is its last part, which the table has as a column.
void KernelRecord::note_step(std::string_view step, Isa isa) {
  ++steps_[std::string(step.substr(0, step.find("__")))][isa];
}

void KernelRecord::print() const {
  if (operators_.empty()) return;
  if (can_force_ > 0)
    std::printf("forced algorithm: %lld steps can take it, %lld do\n", static_cast<long long>(can_force_),
                static_cast<long long>(forced_));
  print_head("kernel function: problems that ran it");
  for (const auto& [key, counts] : symbols_) print_row(key.first + (key.first.empty() ? "" : " ") + key.second, counts);
  print_head("step: problems that ran it");
  for (const auto& [step, counts] : steps_) print_row(step, counts);
  print_head("operator, what did its problems");
  for (const auto& [op, works] : operators_)
    for (const auto& [work, counts] : works) print_row(op + ", " + std::string(name_of(work)), counts);
}

void KernelRecord::write_json(std::ostream& out) const {
  const char* comma = "";
  out << "{\n\"sets\": [";
  for (Isa isa : every_isa()) {
    out << comma << quoted(mica::name_of(isa));
    comma = ", ";
  }
  comma = "";
  out << "],\n\"kernels\": [";
  for (const auto& [key, counts] : symbols_) {
    out << comma << "\n  {\"source\": " << quoted(key.first) << ", \"function\": " << quoted(key.second)
        << ", \"problems\": " << json_of(counts) << "}";
    comma = ",";
  }
  comma = "";
  out << "\n],\n\"steps\": {";
  for (const auto& [step, counts] : steps_) {
    out << comma << "\n  " << quoted(step) << ": " << json_of(counts);
    comma = ",";
  }
  comma = "";
  out << "\n},\n\"operators\": {";
  for (const auto& [op, works] : operators_) {
    out << comma << "\n  " << quoted(op) << ": {";
    comma = "";
    for (const auto& [work, counts] : works) {
      out << comma << quoted(name_of(work)) << ": " << json_of(counts);
      comma = ", ";
    }
    out << "}";
    comma = ",";
  }
  out << "\n}\n}\n";
}

std::set<std::string> KernelRecord::idle_sources(Isa isa) const {
  std::set<std::string> idle;
  for (const KernelSymbol& symbol : Probes::get().symbols())
    if (!symbol.file.empty()) idle.insert(symbol.file);
  for (const auto& [key, counts] : symbols_)
    if (count_of(counts, isa)) idle.erase(key.first);
  return idle;
}

namespace {
class Printer final : public testing::Environment {
 public:
  void TearDown() override {
    KernelRecord::get().print();
    EXPECT_EQ(KernelRecord::get().forced(), KernelRecord::get().can_force());
    if (const char* path = std::getenv("MICA_KERNEL_TABLE")) {
      std::ofstream out(path);
      KernelRecord::get().write_json(out);
      EXPECT_TRUE(out.flush().good()) << "cannot write " << path;
    }
    if (testing::GTEST_FLAG(filter) != "*") return;  // some problems only: kernels may well be idle
    for (Isa isa : every_isa())
      for (const std::string& source : KernelRecord::get().idle_sources(isa))
        ADD_FAILURE() << "no problem ran a kernel of " << source << " on " << mica::name_of(isa);
  }
};
const testing::Environment* const kPrinter = testing::AddGlobalTestEnvironment(new Printer);
}  // namespace

}  // namespace mica::suite
