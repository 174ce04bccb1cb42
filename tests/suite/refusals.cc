#include <algorithm>

#include "device/cpu/every_isa.h"
#include "prepared.h"

namespace mica::suite {

void check_hooks_refuse(const Prepared& p, const Inference& found) {
  const RunDef* run = find_run(*p.op);
  if (!found.status.ok() || !run || !hook_sees_it(p, found)) return;
  for (Isa isa : every_isa()) {
    std::vector<BoundOperand> inputs, outputs;
    std::vector<void*> operands;
    for (size_t i = 0; i < p.inputs.size(); ++i)
      bind_input(p.inputs[i], p.problem.inputs[i].constant, inputs, operands);
    for (const InferValue& out : found.outputs) {
      TensorView view{.dtype = out.type.dtype, .rank = out.type.shape.rank};
      for (int i = 0; i < view.rank; ++i) view.dims[static_cast<size_t>(i)] = out.type.shape[i].value();
      set_dense_strides(view);
      outputs.push_back({.present = out.present, .view = view});
    }
    Machine machine;
    machine.isa = isa;
    TestBindScope scope;
    scope.machine = &machine;
    scope.inputs = inputs;
    scope.outputs = outputs;
    scope.op = p.op;
    scope.attributes_blob = p.blob;
    const Result<bool> bound = run->bind(scope);
    if (!bound.ok() || !*bound) continue;
    EXPECT_TRUE(std::ranges::any_of(
        scope.steps,
        [&](const StepSpec& step) { return step.check && !step.check(step.arguments, operands.data()).ok(); }))
        << p.problem.op << ": a kernel of " << name_of(isa) << " takes what the reference refuses";
  }
}

void check_other_sizes(const Problem& problem) {
  constexpr int64_t kMostElements = 4096;
  const auto small = [](const Spec& spec) {
    int64_t count = 1;
    for (int64_t dim : spec.dims) count *= dim;
    return spec.kind == Kind::kTensor && count <= kMostElements;
  };
  if (!find_run(*find_op(problem.op)) || !std::ranges::all_of(problem.inputs, small)) return;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    if (problem.inputs[i].absent) continue;
    const std::vector<int64_t>& dims = problem.inputs[i].dims;
    std::vector<std::vector<int64_t>> others{dims};
    others[0].push_back(1);
    if (!dims.empty()) others.emplace_back(dims.begin() + 1, dims.end());
    for (size_t axis = 0; axis < dims.size(); ++axis)
      for (int64_t change : {-1, 1}) others.emplace_back(dims)[axis] += change;
    for (std::vector<int64_t>& other : others) {
      if (std::ranges::count_if(other, [](int64_t dim) { return dim < 0; }) || other.size() > kMaxRank) continue;
      Problem changed = problem;
      changed.inputs[i].dims = std::move(other);
      Prepared p(changed);
      Inference found;
      TestRunScope truth;
      if (run_truth(p, found, truth).ok()) continue;
      SCOPED_TRACE("input " + std::to_string(i) + " of " + std::to_string(changed.inputs[i].dims.size()) +
                   " dimensions, " + testing::PrintToString(changed.inputs[i].dims));
      check_hooks_refuse(p, found);
    }
  }
}

}  // namespace mica::suite
