// If, Loop and Scan. Their regions are closed: what they use from outside follows the node's own operands.
#include "ops/control/loop.h"
#include "ops/control/misfit.h"
#include "ops/control/regions.import.h"
#include "ops/control/scan.h"

namespace mica {
MICA_DECLARE_OP(cond);
MICA_DECLARE_OP(loop);
MICA_DECLARE_OP(misfit);
MICA_DECLARE_OP(scan);
namespace {

// A branch that does not fit the sizes of its operands, beside one that does: it fails when it is taken.
std::unique_ptr<Graph> misfit_branch(const Graph& other, const std::string& reason) {
  auto made = std::make_unique<Graph>();
  made->dims = other.dims;
  made->name = other.name + "_misfit";
  Builder build(*made);
  for (const Value* output : other.outputs) {
    const Type& type = output->type;
    if (!type.is_tensor()) fail(Code::kUnsupportedOperator, "a branch of an If does not fit: {}", reason);
    Misfit a{.dtype = type.dtype, .ranked = type.shape.known()};
    for (int i = 0; i < type.shape.rank; ++i) a.shape.push(type.shape[i].is_fixed() ? type.shape[i].value() : -1);
    static_cast<void>(a.reason.assign(std::string_view(reason).substr(0, 250)));
    made->add_output(build.add(op_misfit, a, {}, 1)[0], output->name);
  }
  return made;
}

// A branch that the known condition never takes need not make sense: shapes that decide it may not fit the other.
Values import_if(const SourceNode& node, Builder& build) {
  Values own[2], captures;
  std::vector<std::unique_ptr<Graph>> regions;
  constexpr std::string_view kKeys[] = {"then_branch", "else_branch"};
  const TensorView* known = node.input(0)->contents();
  const bool decided = known && known->count() == 1, taken = decided && Elements(*known).integer(0) != 0;
  std::string misfits[2];
  for (size_t r = 0; r < 2; ++r) {
    node.ignore(kKeys[r]);
    const std::string_view key = !decided ? kKeys[r] : kKeys[taken ? 0 : 1];
    regions.push_back(node.region(node, key, {}, own[r], decided ? nullptr : &misfits[r]));
  }
  if (!regions[0] && !regions[1]) fail(Code::kBadShape, "neither branch fits the sizes of its inputs: {}", misfits[0]);
  for (size_t r = 0; r < 2; ++r) {
    if (!regions[r]) {
      own[r].clear();
      regions[r] = misfit_branch(*regions[1 - r], misfits[r]);
    }
    for (Value* capture : own[r])
      if (std::ranges::find(captures, capture) == captures.end()) captures.push_back(capture);
    if (regions[r]->outputs.size() < static_cast<size_t>(node.outputs()))
      fail(Code::kBadModel, "`{}` of If has {} outputs, expected {}", kKeys[r], regions[r]->outputs.size(),
           node.outputs());
  }
  for (const auto& region : regions) region::require_whole(*region);
  for (size_t r = 0; r < 2; ++r) region::take_captures(*regions[r], 0, own[r], captures);
  Values inputs{node.input(0)};
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  return build.add_with_regions(op_cond, nullptr, std::move(inputs), std::move(regions), node.outputs());
}

Values import_loop(const SourceNode& node, Builder& build) {
  node.ignore("body");
  Values inputs = node.inputs;
  inputs.resize(std::max<size_t>(inputs.size(), 2));
  const Loop attributes{.carried = static_cast<int64_t>(inputs.size()) - 2};
  std::vector<Type> types{Type::tensor(DType::kI64, Shape::of_rank(0)), Type::tensor(DType::kBool, Shape::of_rank(0))};
  for (size_t i = 2; i < inputs.size(); ++i) types.push_back(node.input(i)->type);
  Values captures;
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(
      region::carried_region(node, build.dims(), types, {2, 1, static_cast<int>(attributes.carried)}, captures));
  if (regions[0]->outputs.size() < static_cast<size_t>(node.outputs()) + 1)
    fail(Code::kBadModel, "the body of Loop has {} outputs, expected {}", regions[0]->outputs.size(),
         node.outputs() + 1);
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  return build.add_with_regions(op_loop, &attributes, std::move(inputs), std::move(regions), node.outputs());
}

// The type of one slice of a scanned input.
Type slice_type(const Type& whole, int64_t axis_attribute) {
  if (!whole.shape.known()) return whole;
  const int axis = value_or_throw(normalize_axis(axis_attribute, whole.shape.rank));
  Type type = Type::tensor(whole.dtype, Shape::of_rank(0));
  for (int i = 0; i < whole.shape.rank; ++i)
    if (i != axis) type.shape.push(whole.shape[i]);
  return type;
}

Values import_scan(const SourceNode& node, Builder& build) {
  node.ignore("body");
  Scan attributes;
  attributes.batched = node.version < 9;
  attributes.scanned = node.integer("num_scan_inputs");
  if (attributes.batched) {
    attributes.input_reverse = node.int_list("directions");
  } else {
    attributes.input_axes = node.int_list("scan_input_axes");
    attributes.output_axes = node.int_list("scan_output_axes");
    attributes.input_reverse = node.int_list("scan_input_directions");
    attributes.output_reverse = node.int_list("scan_output_directions");
  }
  Values inputs = node.inputs;
  const size_t lead = attributes.batched ? 1 : 0;
  attributes.states = static_cast<int64_t>(inputs.size()) - static_cast<int64_t>(lead) - attributes.scanned;
  if (attributes.scanned < 1 || attributes.states < 0)
    fail(Code::kBadAttribute, "Scan of {} inputs scans {}", inputs.size(), attributes.scanned);
  std::vector<Type> types;
  for (size_t i = lead; i < inputs.size(); ++i) {
    const size_t scanned = i - lead - static_cast<size_t>(attributes.states);
    Type type = node.input(i)->type;
    if (attributes.batched) type = slice_type(type, 0);
    types.push_back(i - lead < static_cast<size_t>(attributes.states)
                        ? type
                        : slice_type(type, attributes.input_axes.get(scanned, 0)));
  }
  Values captures;
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(
      region::carried_region(node, build.dims(), types, {0, 0, static_cast<int>(attributes.states)}, captures));
  if (regions[0]->outputs.size() < static_cast<size_t>(node.outputs()))
    fail(Code::kBadModel, "the body of Scan has {} outputs, expected {}", regions[0]->outputs.size(), node.outputs());
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  return build.add_with_regions(op_scan, &attributes, std::move(inputs), std::move(regions), node.outputs());
}

}  // namespace

MICA_SPELLINGS(control, {Format::kOnnx, "", "If", 1, kLatest, import_if},
               {Format::kOnnx, "", "Loop", 1, kLatest, import_loop},
               {Format::kOnnx, "", "Scan", 8, kLatest, import_scan});

}  // namespace mica
