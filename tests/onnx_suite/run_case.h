// Runs one case folder of the ONNX project's layout: model.onnx and test_data_set_<k>/{input,output}_<j>.pb.
#pragma once
#include <filesystem>
#include <string>

#include "runtime/row_chains.h"
#include "value.h"

namespace mica::suite {

struct CaseOptions {
  std::string isa;  // forced instruction set; empty: the best
  int threads = 1;
  RowChainMode row_chains = RowChainMode::kChoose;
  bool reference = false;    // the plain definitions
  bool random = false;       // compare type, shape and statistics
  bool unfused = false;      // every node a stage of its own
  std::string onnx_release;  // as of ImportOptions
  bool flip = false;         // spoil one expected value: the case must fail
};
struct CaseResult {
  std::string op;       // the model's first operator that is no constant
  std::string problem;  // empty: passed
  // Under MICA_FORCE: stages that could take the forced algorithm, and those that did.
  int can_force = 0, forced = 0;
};
CaseResult run_case(const std::filesystem::path& folder, const CaseOptions& options);

}  // namespace mica::suite
