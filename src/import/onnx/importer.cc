#include "import/onnx/importer.h"

#include <algorithm>

#include "import/onnx/limits.h"
#include "import/onnx/types.h"

namespace mica::onnx {
namespace {

std::string title_of(const pb::Node& proto, const Scope& scope) {
  if (!proto.name().empty()) return scope.prefix + proto.name();
  for (const std::string& output : proto.output())
    if (!output.empty()) return scope.prefix + output;
  return scope.prefix + proto.op_type();
}

int version_of(const Opsets& opsets, std::string_view domain) {
  const auto found = opsets.find(domain);
  return found == opsets.end() ? 1 : found->second;
}

Problems::Kind kind_of_problem(const pb::Node& proto, const Scope& scope) {
  const std::string domain(plain_domain(proto.domain()));
  return {proto.op_type(), domain, version_of(scope.opsets, domain), {}, {}};
}

// Limits, memory and files concern the whole model; contradictions of the format too.
bool concerns_one_node(Code code) {
  switch (code) {
    case Code::kLimit:
    case Code::kOutOfMemory:
    case Code::kUsage:
    case Code::kIo:
    case Code::kInternal: return false;
    default: return true;
  }
}

bool is_of_sizes(Code code) { return code == Code::kBadShape || code == Code::kBadRank || code == Code::kBadValue; }

}  // namespace

struct Importer::Call {
  pb::Node& proto;
  Scope& scope;
  std::string title;
  Problems::Kind kind;
  Values inputs;
  Bindings attributes;
};

pb::Function* Importer::function_of(const pb::Node& proto) const {
  const auto found =
      model_.functions.find({std::string(plain_domain(proto.domain())), proto.op_type(), proto.overload()});
  return found == model_.functions.end() ? nullptr : found->second;
}

bool Importer::is_known(const pb::Node& proto, const Scope& scope, Problems::Kind* problem) {
  if (function_of(proto)) return true;
  *problem = kind_of_problem(proto, scope);
  if (find_custom(custom_, problem->domain, problem->op)) return true;
  std::string nearest;
  if (find_spelling(Format::kOnnx, problem->domain, problem->op, problem->version, &nearest)) return true;
  problem->reason = "no such operator";
  if (nearest.starts_with(problem->op + " "))
    problem->reason = "not known in this version, but " + nearest;
  else if (!nearest.empty())
    problem->hint = "the nearest known name is `" + nearest + "`";
  return false;
}

void Importer::body(NodeList& nodes, const std::vector<std::string>& wanted, Scope& scope) {
  for (int index : dependency_order(nodes, wanted, free_names_)) node(nodes[index], scope);
}

void Importer::node(pb::Node& proto, Scope& scope) {
  if (++nodes_ > kMaxNodes)
    fail(Code::kLimit, "the model has more than {} nodes, functions counted wherever they are called", kMaxNodes);
  Call call{proto, scope, title_of(proto, scope), kind_of_problem(proto, scope), {}, {}};
  const size_t before = problems_.count();
  Problems::Kind unknown;
  try {
    if (!is_known(proto, scope, &unknown)) {
      problems_.add(unknown, call.title);
      scan_inside(proto, scope);
      return stand_in(call);
    }
    if (!read_inputs(call)) {
      scan_inside(proto, scope);
      return stand_in(call);
    }
    call.attributes = read_attributes(*proto.mutable_attribute(), scope, tensors_, graphs_);
    if (pb::Function* function = function_of(proto))
      call_function(call, *function);
    else
      spell(call);
  } catch (const Failure& failure) {
    if (!concerns_one_node(failure.error->code())) throw Failure(failure.error->copy().at("node `" + call.title + "`"));
    if (problems_.count() == before) {  // otherwise it follows from one that is noted already
      call.kind.reason = failure.error->what();
      call.kind.hint = failure.error->hint();
      call.kind.of_sizes = is_of_sizes(failure.error->code());
      problems_.add(call.kind, call.title);
    }
    stand_in(call);
  }
}

// False when a stand-in is among them, also among those that regions capture.
bool Importer::read_inputs(Call& call) {
  bool whole = true;
  const auto look = [&](const std::string& name) -> Value* {
    Value* value = call.scope.find(name);
    if (!value) {
      const std::string_view nearest = call.scope.nearest(name);
      throw Failure(error(Code::kBadModel, "nothing makes the value `{}`", name)
                        .hinting(nearest.empty() ? "" : "the nearest name is `" + std::string(nearest) + "`"));
    }
    if (stand_ins_.contains(value)) whole = false;
    return value;
  };
  for (const std::string& name : call.proto.input())
    call.inputs.push_back(name.empty() || call.scope.is_left_out(name) ? nullptr : look(name));
  const std::vector<std::string> all = free_names_.of(call.proto);
  const auto own = std::ranges::count_if(call.proto.input(), [](const std::string& name) { return !name.empty(); });
  for (auto name = all.begin() + own; name != all.end(); ++name) look(*name);
  return whole;
}

// A map's keys and values in its place, for the two operators that the standard has for maps.
Values Importer::operands_of(const Call& call) const {
  const bool takes_map =
      call.kind.domain == "ai.onnx.ml" && (call.kind.op == "CastMap" || call.kind.op == "DictVectorizer");
  Values operands;
  for (Value* input : call.inputs) {
    const auto map = maps_.find(input);
    if (map != maps_.end() && takes_map) {
      operands.insert(operands.end(), {map->second.first, map->second.second});
      continue;
    }
    if (input && input->type.kind == Kind::kMap)
      fail(Code::kUnsupportedOperator,
           "its input `{}` is a map: CastMap and DictVectorizer take inputs of the model "
           "that are maps, and nothing else does",
           input->name);
    operands.push_back(input);
  }
  return operands;
}

void Importer::spell(Call& call) {
  SourceNode node;
  node.domain = call.kind.domain;
  node.op = call.kind.op;
  node.name = call.title;
  node.maker = model_.proto->producer_name();
  node.version = call.kind.version;
  node.release = release_;
  node.inputs = operands_of(call);
  node.output_names.assign(call.proto.output().begin(), call.proto.output().end());
  while (!node.output_names.empty() && node.output_names.back().empty()) node.output_names.pop_back();
  node.attributes = std::move(call.attributes);
  node.region = [&](const SourceNode& of, std::string_view key, std::span<const Type> types, Values& captures,
                    std::string* misfit) {
    return misfit ? region_that_fits({call.scope, of, key, captures}, *misfit)
                  : region(call.scope, of, key, types, captures);
  };
  const CustomOperator* custom = find_custom(custom_, node.domain, node.op);
  const size_t before = problems_.count();
  Builder build(call.scope.graph);
  build.set_name(call.title);
  const Values values = custom ? import_custom(node, build, *custom)
                               : find_spelling(Format::kOnnx, node.domain, node.op, node.version)->import(node, build);
  check_all_read(node);
  if (problems_.count() != before) return stand_in(call);  // something inside a region
  define_outputs(call, values);
}

void Importer::define_outputs(Call& call, const Values& values) {
  for (int i = 0; i < call.proto.output_size(); ++i) {
    const std::string& name = call.proto.output(i);
    if (name.empty()) continue;
    Value* value = static_cast<size_t>(i) < values.size() ? values[static_cast<size_t>(i)] : nullptr;
    if (!value) fail(Code::kUnsupportedOperator, "output {} (`{}`) is not made", i, name);
    if (value->name.empty()) value->name = call.scope.prefix + name;
    apply_hint(*value, name, call.scope);
    call.scope.define(name, value);
  }
}

// Declarations of inner values help where inference knows nothing.
void Importer::apply_hint(Value& value, const std::string& name, Scope& scope) {
  const auto hint = scope.hints.find(name);
  if (hint == scope.hints.end() || value.constant || (value.type.dtype != DType::kNone && value.type.shape.known()))
    return;
  if (!value.type.is_tensor() || hint->second->type().value_case() != pb::Type::kTensor) return;
  const Type declared = read_type(hint->second->type(), *scope.graph.dims, "dim");
  if (value.type.dtype == DType::kNone) value.type.dtype = declared.dtype;
  if (!value.type.shape.known()) value.type.shape = declared.shape;
}

Value* Importer::make_stand_in(Scope& scope, const std::string& name) {
  Value* value = scope.graph.make_value({}, scope.prefix + name);
  stand_ins_.insert(value);
  return value;
}

void Importer::stand_in(Call& call) {
  for (const std::string& name : call.proto.output())
    if (!name.empty() && !call.scope.find(name)) call.scope.define(name, make_stand_in(call.scope, name));
}

// Looks for unknown operators only. Depth: the reader bounds that of graphs, and each function is looked at once.
void Importer::scan(NodeList& nodes, const Scope& scope) {
  nodes_ += nodes.size();
  if (nodes_ > kMaxNodes)
    fail(Code::kLimit, "the model has more than {} nodes, functions counted wherever they are called", kMaxNodes);
  for (pb::Node& proto : nodes) {
    Problems::Kind unknown;
    if (!is_known(proto, scope, &unknown)) problems_.add(unknown, title_of(proto, scope));
    scan_inside(proto, scope);
  }
}

void Importer::scan_inside(pb::Node& proto, const Scope& scope) {
  for (pb::Attribute& a : *proto.mutable_attribute())
    if (a.has_g()) scan(*a.mutable_g()->mutable_node(), scope);
  pb::Function* function = function_of(proto);
  if (!function || !scanned_.insert(function).second) return;
  const Opsets opsets = read_opsets(function->opset_import());
  Scope inner(scope.graph, tensors_, opsets);
  inner.prefix = title_of(proto, scope) + "/";
  scan(*function->mutable_node(), inner);
}

void Importer::call_function(Call& call, pb::Function& function) {
  if (call.scope.calls >= kMaxCalls) fail(Code::kLimit, "functions call each other deeper than {}", kMaxCalls);
  if (call.proto.input_size() > function.input_size() || call.proto.output_size() > function.output_size())
    fail(Code::kBadModel, "the function `{}` has {} inputs and {} outputs", function.name(), function.input_size(),
         function.output_size());
  const Opsets opsets = read_opsets(function.opset_import());
  Scope inner(call.scope.graph, tensors_, opsets);
  inner.prefix = call.title + "/";
  inner.depth = call.scope.depth;
  inner.calls = call.scope.calls + 1;
  Bindings defaults = read_attributes(*function.mutable_attribute_proto(), inner, tensors_, graphs_);
  for (auto& [name, value] : defaults) call.attributes.emplace(name, std::move(value));
  for (const auto& [name, value] : call.attributes)
    if (!defaults.contains(name) && std::ranges::find(function.attribute(), name) == function.attribute().end())
      fail(Code::kBadAttribute, "the function `{}` has no attribute `{}`", function.name(), name);
  inner.bindings = &call.attributes;
  call.inputs.resize(static_cast<size_t>(function.input_size()));
  for (int i = 0; i < function.input_size(); ++i)
    if (Value* input = call.inputs[static_cast<size_t>(i)])
      inner.define(function.input(i), input);
    else
      inner.leave_out(function.input(i));
  const size_t before = problems_.count();
  std::vector<std::string> wanted;
  for (int i = 0; i < call.proto.output_size(); ++i)
    if (!call.proto.output(i).empty()) wanted.push_back(function.output(i));
  body(*function.mutable_node(), wanted, inner);
  if (problems_.count() != before) return stand_in(call);
  Values values;
  for (int i = 0; i < call.proto.output_size(); ++i)
    values.push_back(call.proto.output(i).empty() ? nullptr : inner.find(function.output(i)));
  define_outputs(call, values);
}

std::unique_ptr<Graph> Importer::region(Scope& around, const SourceNode& node, std::string_view key,
                                        std::span<const Type> types, Values& captures) {
  const SourceAttribute* attribute = node.find(key);
  if (!attribute || attribute->kind != SourceAttribute::Kind::kGraph)
    fail(Code::kBadModel, "attribute `{}` is no graph", key);
  const auto& ref = *static_cast<const GraphRef*>(attribute->graphs[0]);
  pb::Graph& proto = *ref.graph;
  if (static_cast<size_t>(proto.input_size()) != types.size())
    fail(Code::kBadModel, "the graph `{}` takes {} inputs, expected {}", key, proto.input_size(), types.size());
  if (&ref.scope->graph != &around.graph)
    fail(Code::kUnsupportedOperator, "the graph `{}` is handed through a function to another graph", key);
  if (ref.scope->depth >= kMaxNesting) fail(Code::kLimit, "graphs are nested deeper than {}", kMaxNesting);
  auto graph = std::make_unique<Graph>();
  graph->name = proto.name();
  graph->dims = around.graph.dims;
  Scope inner(*graph, tensors_, ref.scope->opsets);
  inner.bindings = ref.scope->bindings;
  inner.prefix = ref.scope->prefix;
  inner.depth = ref.scope->depth + 1;
  inner.calls = ref.scope->calls;
  for (int i = 0; i < proto.input_size(); ++i) {
    Type type = types[static_cast<size_t>(i)];
    if (type.dtype == DType::kNone && proto.input(i).has_type())
      type = read_type(proto.input(i).type(), *graph->dims, "dim");
    inner.define(proto.input(i).name(), graph->add_input(type, proto.input(i).name()));
  }
  inner.surround(*ref.scope, captures);
  inner.add_initializers(proto);
  inner.add_hints(proto);
  region_outputs(proto, inner);
  return graph;
}

// Null when only sizes stand against the region. Its graph is kept: stand-ins are known by their addresses.
std::unique_ptr<Graph> Importer::region_that_fits(const Branch& branch, std::string& misfit) {
  const Problems before = problems_;
  std::unique_ptr<Graph> made = region(branch.around, branch.node, branch.key, {}, branch.captures);
  if (problems_.count() == before.count() || !problems_.only_sizes_since(before, &misfit)) return made;
  problems_ = before;
  dropped_.push_back(std::move(made));
  return nullptr;
}

void Importer::region_outputs(pb::Graph& proto, Scope& scope) {
  std::vector<std::string> wanted;
  for (const auto& output : proto.output()) wanted.push_back(output.name());
  body(*proto.mutable_node(), wanted, scope);
  for (const std::string& name : wanted) {
    Value* value = scope.find(name);
    if (!value) fail(Code::kBadModel, "nothing makes the output `{}` of the graph `{}`", name, proto.name());
    scope.graph.add_output(value, name);
  }
}

}  // namespace mica::onnx
