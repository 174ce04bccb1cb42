#include "problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/os.h"
#include "device/cpu/every_isa.h"
#include "kernel_record.h"
#include "prepared.h"
#include "types/evaluate.h"

namespace mica::suite {
namespace {

// A shape of inference agrees with the truth: the rank and every number in it.
void expect_agrees(const Type& inferred, const TensorView& truth, std::string_view what) {
  EXPECT_EQ(name_of(inferred.dtype), name_of(truth.dtype)) << what;
  if (!inferred.shape.known()) return;
  ASSERT_EQ(inferred.shape.rank, truth.rank) << what;
  for (int i = 0; i < truth.rank; ++i) {
    const Dim d = inferred.shape[i];
    if (d.is_fixed()) {
      EXPECT_EQ(d.value(), truth.dim(i)) << what << ", axis " << i;
    }
  }
}

void check_inference(Prepared& p, const TestRunScope& truth) {
  for (Knowledge knowledge : {Knowledge::kConstants, Knowledge::kShapes, Knowledge::kSymbols, Knowledge::kDtypes}) {
    Inference found;
    infer(p, knowledge, found);
    const std::string what = "inference from " + std::string(kKnowledge[static_cast<int>(knowledge)]);
    if (!found.status.ok()) {
      ADD_FAILURE() << what << ": " << text_of(found.status.error());
      continue;
    }
    for (size_t i = 0; i < found.outputs.size(); ++i) {
      if (!truth.out_values[i].present || !found.outputs[i].type.is_tensor()) continue;
      // The symbol D<n> stands for n.
      Type type = found.outputs[i].type;
      std::vector<int64_t> sizes;
      for (size_t s = 0; s < found.dims.symbols(); ++s) {
        const std::string_view name = found.dims.symbol_info(s).name.view();
        sizes.push_back(name.starts_with("D") ? std::atoll(name.data() + 1) : -1);
      }
      for (int a = 0; a < type.shape.rank; ++a) {
        const int64_t size = found.dims.evaluate(type.shape[a], sizes);
        if (size != DimTable::kUnknown) type.shape[a] = size;
      }
      expect_agrees(type, truth.out_values[i].tensor, what);
    }
  }
}

void check_evaluate(Prepared& p, const TestRunScope& truth) {
  if (p.op->random || p.op->regions) return;
  Inference found;
  infer(p, Knowledge::kAll, found);
  Status status = evaluate(*p.op, found.scope, {.max_elements = int64_t{1} << 20});
  ASSERT_TRUE(status.ok()) << "evaluate: " << text_of(status.error());
  for (size_t i = 0; i < found.outputs.size(); ++i)
    if (const TensorView* view = found.outputs[i].constant; view && found.outputs[i].present) {
      EXPECT_EQ(compare(truth.out_values[i].tensor, *view, p.problem), "") << "evaluate";
    }
}

void check_expected(const Problem& problem, const TestRunScope& truth) {
  for (size_t i = 0; i < problem.expect.size(); ++i) {
    const Expect& expect = problem.expect[i];
    const TensorView& view = truth.out_values[i].tensor;
    if (expect.dims) {
      EXPECT_EQ(*expect.dims, std::vector<int64_t>(view.shape().begin(), view.shape().end())) << "output " << i;
    }
    if (expect.dtype != DType::kNone) {
      EXPECT_EQ(name_of(expect.dtype), name_of(view.dtype));
    }
    if (!expect.texts.empty()) {
      ASSERT_EQ(view.count(), static_cast<int64_t>(expect.texts.size()));
      for (size_t k = 0; k < expect.texts.size(); ++k)
        EXPECT_EQ(Elements(view).text(static_cast<int64_t>(k)).view(), expect.texts[k]);
    }
    if (expect.numbers.empty()) continue;
    ASSERT_EQ(view.count(), static_cast<int64_t>(expect.numbers.size()));
    Buffer wanted(view.dtype, view.shape(), Arrangement::kDense);
    fill(wanted.view(), list({}, expect.numbers, view.dtype));
    EXPECT_EQ(compare(wanted.view(), view, problem), "") << "reference against the expected output " << i;
  }
}

// Inputs of a problem in one arrangement of memory. Constants stay dense; operands of another rank than output 0 stay
// in source order.
struct Arranged {
  std::deque<Buffer> buffers;
  std::vector<RunValue> values;
};
Arranged arrange(Prepared& p, Arrangement arrangement, int full_rank) {
  Arranged out;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    RunValue value = p.inputs[i];
    if (value.present && !value.object && !p.problem.inputs[i].constant) {
      Arrangement own = arrangement;
      const bool same_order = value.tensor.rank == full_rank && (p.op->layout == LayoutRule::kAny || i == 0);
      if (own == Arrangement::kChannelsLast && !same_order) own = Arrangement::kDense;
      if (own == Arrangement::kSlicedChannelsLast && !same_order) own = Arrangement::kSliced;
      out.buffers.emplace_back(value.tensor.dtype, value.tensor.shape(), own);
      copy_elements(value.tensor, out.buffers.back().view());
      value.tensor = out.buffers.back().view();
    }
    out.values.push_back(value);
  }
  return out;
}

void check_strided_reference(Prepared& p, const TestRunScope& truth, std::span<const InferValue> types) {
  if (p.op->random) return;
  Arranged arranged = arrange(p, Arrangement::kSliced, -1);
  TestRunScope scope;
  Status status;
  refer(p, arranged.values, types, scope, status);
  ASSERT_TRUE(status.ok()) << "reference on slices: " << text_of(status.error());
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i].present && types[i].type.is_tensor()) {
      EXPECT_EQ(compare(truth.out_values[i].tensor, scope.out_values[i].tensor, p.problem), "")
          << "reference on slices, output " << i;
    }
}

void check_view(Prepared& p, TestRunScope& truth) {
  if (!p.op->view) return;
  for (Arrangement arrangement : kArrangements) {
    Arranged arranged = arrange(p, arrangement, p.inputs.empty() ? -1 : p.inputs[0].tensor.rank);
    if (arranged.values.empty() || arranged.values[0].object) return;
    truth.inputs = arranged.values;
    for (size_t i = 0; i < truth.out_values.size(); ++i) {
      if (!truth.out_values[i].present) continue;
      TensorView view = truth.out_values[i].tensor;
      if (!p.op->view(truth, arranged.values[0].tensor, view, static_cast<int>(i))) continue;
      EXPECT_EQ(compare(truth.out_values[i].tensor, view, p.problem), "")
          << "view of " << name_of(arrangement) << " input, output " << i;
    }
    truth.inputs = truth.in_values;
  }
}

// ---- run hooks ----

struct HookRun {
  Isa isa;
  Arrangement arrangement;
  Epilogue epilogue;
  Arrangement results = arrangement;
  std::string how() const {
    const std::string_view after = epilogue.count ? info_of(epilogue.ops[0].function).name : "nothing";
    const std::string to = results == arrangement ? "" : " to " + std::string(name_of(results));
    return std::string(name_of(arrangement)) + to + ", epilogue of " + std::string(after);
  }
  std::string what() const { return std::string(name_of(isa)) + ", " + how(); }
};

// The truth after the first `done` post-operations.
std::vector<double> with_epilogue(const TensorView& truth, const TensorView* residual, const Epilogue& epilogue,
                                  int done) {
  std::vector<double> out;
  for (int64_t k = 0; k < truth.count(); ++k) {
    double value = Elements(truth).number(k);
    for (int e = 0; e < done; ++e) {
      const PostOp& op = epilogue.ops[e];
      const double other = op.operand >= 0 ? Elements(*residual).number(k) : 0;
      value = op.swapped ? apply(op.function, other, value, op.a, op.b) : apply(op.function, value, other, op.a, op.b);
    }
    out.push_back(value);
  }
  return out;
}

class HookCheck {
 public:
  HookCheck(Prepared& p, const RunDef& run, const TestRunScope& truth)
      : p_(p), run_(run), truth_(truth), record_(std::string(p.op->name)) {}

  void left_to_reference(const HookRun& run) { record_.left_to_reference(run.isa, run.how()); }
  std::string fallbacks() const { return record_.fallbacks(); }

  // False when the hook leaves the problem to the reference.
  bool check(const HookRun& hook_run) {
    Arranged arranged = arrange(p_, hook_run.arrangement, truth_.out_values[0].tensor.rank);
    std::vector<BoundOperand> inputs, outputs;
    std::vector<void*> operands;
    for (size_t i = 0; i < arranged.values.size(); ++i)
      bind_input(arranged.values[i], p_.problem.inputs[i].constant, inputs, operands);
    Buffer residual;
    const TensorView& first = truth_.out_values[0].tensor;
    if (hook_run.epilogue.count && hook_run.epilogue.ops[0].operand >= 0) {
      residual = Buffer(first.dtype, first.shape(), hook_run.arrangement);
      fill(residual.view(), uniform({}, -1, 1, 77, first.dtype));
      bind_input({.present = true, .tensor = residual.view()}, false, inputs, operands);
    }
    std::deque<Buffer> made;
    for (size_t i = 0; i < truth_.out_values.size(); ++i) bind_output(i, hook_run.results, made, outputs, operands);
    TestBindScope scope;
    Machine machine;
    machine.isa = hook_run.isa;
    machine.threads = 3;
    machine.force.assign(environment("MICA_FORCE"));
    scope.machine = &machine;
    scope.inputs = inputs;
    scope.outputs = outputs;
    scope.op = p_.op;
    scope.attributes_blob = p_.blob;
    scope.epilogue = hook_run.epilogue;
    Result<bool> bound = run_.bind(scope);
    if (!bound.ok()) {
      ADD_FAILURE() << hook_run.what() << ": " << text_of(bound.error());
      return true;
    }
    if (!*bound) return false;
    if (hook_run.epilogue.count && scope.epilogue_done == 0) return true;
    if (!machine.force.empty()) KernelRecord::get().note_force(scope.steps);
    ProblemRecord::begin();
    compare_runs(scope, hook_run, operands, made, residual);
    record(scope, hook_run);
    check_in_place(scope, hook_run, operands, made, arranged);
    check_inputs(arranged, hook_run);
    return true;
  }

 private:
  void bind_output(size_t i, Arrangement arrangement, std::deque<Buffer>& made, std::vector<BoundOperand>& outputs,
                   std::vector<void*>& operands) {
    const RunValue& value = truth_.out_values[i];
    const bool full =
        value.tensor.rank == truth_.out_values[0].tensor.rank && (p_.op->layout == LayoutRule::kAny || i == 0);
    if (arrangement == Arrangement::kChannelsLast && !full) arrangement = Arrangement::kDense;
    if (arrangement == Arrangement::kSlicedChannelsLast && !full) arrangement = Arrangement::kSliced;
    made.emplace_back(value.tensor.dtype, value.tensor.shape(), arrangement);
    BoundOperand operand{.present = value.present, .view = made.back().view()};
    operand.view.data = nullptr;
    outputs.push_back(operand);
    operands.push_back(value.present ? made.back().view().data : nullptr);
  }
  void record(const TestBindScope& scope, const HookRun& hook_run) {
    bool expected = p_.problem.expect_kernel.empty();
    std::set<std::string, std::less<>> names;
    for (const StepSpec& step : scope.steps) {
      if (step.tasks > 0) names.emplace(step.name);
      expected = expected || step.name.starts_with(p_.problem.expect_kernel);
    }
    record_.end(hook_run.isa, hook_run.how(), names);
    EXPECT_TRUE(expected) << hook_run.what() << ": no step is a " << p_.problem.expect_kernel;
  }
  void compare_runs(const TestBindScope& scope, const HookRun& hook_run, const std::vector<void*>& operands,
                    std::deque<Buffer>& made, const Buffer& residual) {
    constexpr struct {
      int64_t chunk;
      bool reverse;
    } kSplits[] = {{0, false}, {3, true}, {1, false}, {7, true}};
    std::vector<std::vector<std::byte>> first(made.size());
    for (const auto& split : kSplits) {
      for (Buffer& buffer : made) buffer.poison();
      scope.run(operands, split.chunk, split.reverse);
      for (size_t i = 0; i < made.size(); ++i) {
        if (!truth_.out_values[i].present) continue;
        EXPECT_TRUE(made[i].gaps_untouched()) << hook_run.what() << ": wrote outside of output " << i;
        if (split.chunk) {
          EXPECT_TRUE(first[i] == made[i].bytes()) << hook_run.what() << ": bits depend on the split, output " << i;
          continue;
        }
        first[i] = made[i].bytes();
        EXPECT_EQ(difference(i, made[i].view(), hook_run.epilogue, scope.epilogue_done, residual), "")
            << hook_run.what() << ", output " << i << ", kernel "
            << (scope.steps.empty() ? "none" : scope.steps[0].name);
      }
    }
  }
  // The result may take input 0's memory where the operator says so and both lie alike.
  void check_in_place(const TestBindScope& scope, const HookRun& hook_run, std::vector<void*> operands,
                      std::deque<Buffer>& made, const Arranged& arranged) const {
    if (!p_.op->in_place || arranged.values.empty() || p_.problem.inputs[0].constant) return;
    const TensorView &in = arranged.values[0].tensor, &out = made[0].view();
    const auto used = [&](const auto& list) { return std::span(list.data(), static_cast<size_t>(in.rank)); };
    if (in.dtype != out.dtype || in.rank != out.rank || !std::ranges::equal(in.shape(), out.shape())) return;
    if (!std::ranges::equal(used(in.strides), used(out.strides))) return;
    const std::vector<std::byte> wanted = made[0].bytes();
    copy_elements(in, out);
    operands[0] = out.data;
    scope.run(operands, 0, false);
    EXPECT_TRUE(wanted == made[0].bytes()) << hook_run.what() << ": another result in input 0's place";
  }
  std::string difference(size_t i, const TensorView& actual, const Epilogue& epilogue, int done,
                         const Buffer& residual) const {
    const TensorView& truth = truth_.out_values[i].tensor;
    if (i != 0 || epilogue.count == 0) return compare(truth, actual, p_.problem);
    const TensorView other = residual.view();
    Buffer wanted(truth.dtype, truth.shape(), Arrangement::kDense);
    const std::vector<double> numbers = with_epilogue(truth, &other, epilogue, done);
    for (size_t k = 0; k < numbers.size(); ++k) Elements(wanted.view()).set_number(static_cast<int64_t>(k), numbers[k]);
    Problem loose = p_.problem;  // a sum with a residual below 1 may cancel: its error is that of the summands
    loose.scale = std::max(loose.scale, 1.0);
    for (int64_t k = 0; k < truth.count(); ++k)
      if (const double x = std::fabs(Elements(truth).number(k)); std::isfinite(x))
        loose.scale = std::max(loose.scale, x);
    return compare(wanted.view(), actual, loose);
  }
  void check_inputs(const Arranged& arranged, const HookRun& hook_run) const {
    for (size_t i = 0; i < arranged.values.size(); ++i) {
      if (!arranged.values[i].present || arranged.values[i].object) continue;
      Problem exact;
      exact.units = 0;
      EXPECT_EQ(compare(p_.inputs[i].tensor, arranged.values[i].tensor, exact), "")
          << hook_run.what() << ": changed input " << i;
    }
  }

  Prepared& p_;
  const RunDef& run_;
  const TestRunScope& truth_;
  ProblemRecord record_;
};

void check_hooks(Prepared& p, const TestRunScope& truth, const Inference& found) {
  const RunDef* run = find_run(*p.op);
  const bool must = !p.problem.expect_kernel.empty();
  if (!run || !hook_sees_it(p, found)) {
    for (Isa isa : every_isa()) KernelRecord::get().note_work(std::string(p.op->name), isa, Work::kReference);
    EXPECT_FALSE(must) << "operator " << p.op->name << " has no hook for this problem";
    return;
  }
  Epilogue none, relu, residual;
  relu.count = residual.count = 1;
  relu.ops[0] = {.function = Pointwise::kRelu};
  residual.ops[0] = {.function = Pointwise::kAdd, .operand = static_cast<int8_t>(p.inputs.size())};
  HookCheck hook(p, *run, truth);
  for (Isa isa : every_isa()) {
    for (Arrangement arrangement : kArrangements) {
      const bool last = arrangement == Arrangement::kChannelsLast || arrangement == Arrangement::kSlicedChannelsLast;
      if (last && (p.op->layout == LayoutRule::kSource || truth.out_values[0].tensor.rank < 3)) continue;
      if (!hook.check({isa, arrangement, none})) {
        hook.left_to_reference({isa, arrangement, none});
        EXPECT_FALSE(must && arrangement == Arrangement::kDense)
            << name_of(isa) << " leaves the problem to the reference";
        continue;
      }
      // What makes dense results of channels that stand last, as a network's last layer may. Most leave that to a copy.
      if (arrangement == Arrangement::kChannelsLast) hook.check({isa, arrangement, none, Arrangement::kDense});
      if (!p.problem.epilogues || !is_float(truth.out_values[0].tensor.dtype)) continue;
      hook.check({isa, arrangement, relu});
      hook.check({isa, arrangement, residual});
    }
  }
  EXPECT_EQ(hook.fallbacks(), "");
}

}  // namespace

void check(const Problem& problem) {
  Prepared p(problem);
  if (!p.op) return;
  SCOPED_TRACE("operator " + problem.op);
  Inference found;
  TestRunScope truth;
  Status status = run_truth(p, found, truth);
  ASSERT_TRUE(status.ok()) << text_of(status.error());
  for (size_t i = 0; i < found.outputs.size(); ++i)
    if (found.outputs[i].present && found.outputs[i].type.is_tensor())
      expect_agrees(found.outputs[i].type, truth.out_values[i].tensor, "inference");
  check_expected(problem, truth);
  check_inference(p, truth);
  check_evaluate(p, truth);
  check_strided_reference(p, truth, found.outputs);
  check_view(p, truth);
  check_hooks(p, truth, found);
  check_other_sizes(problem);
}

void check_error(const Problem& problem, Code code) {
  Prepared p(problem);
  if (!p.op) return;
  Inference found;
  TestRunScope truth;
  Status status = run_truth(p, found, truth);
  ASSERT_FALSE(status.ok()) << problem.op << " accepts what it should refuse";
  EXPECT_EQ(static_cast<int>(status.error().code()), static_cast<int>(code)) << text_of(status.error());
  check_hooks_refuse(p, found);
}

Outcome run_reference(const Problem& problem) {
  Prepared p(problem);
  Outcome outcome;
  if (!p.op) return outcome;
  Inference found;
  TestRunScope truth;
  outcome.status = run_truth(p, found, truth);
  for (InferValue& value : found.outputs) outcome.types.push_back(value.type);
  outcome.outputs = std::move(truth.results);
  return outcome;
}

}  // namespace mica::suite
