// Nodes, regions and functions of a model to graph nodes, through the operators' spellings.
#pragma once
#include "import/custom.h"
#include "import/onnx/attributes.h"
#include "import/onnx/order.h"
#include "import/onnx/problems.h"

namespace mica::onnx {

// One import. A node that cannot be imported is noted and its results are stand-ins; what depends on them is only asked
// whether its operators are known. So one run finds every problem.
class Importer {
 public:
  // `release`: as in SourceNode.
  Importer(Model& model, std::span<const CustomOperator* const> custom, int release)
      : model_(model), custom_(custom), release_(release), tensors_(model.folder, model.written) {}

  Tensors& tensors() { return tensors_; }
  FreeNames& free_names() { return free_names_; }
  const Problems& problems() const { return problems_; }
  // From now on `map` stands for two lists: operators that take a map get both.
  void add_map(const Value* map, Value* keys, Value* values) { maps_[map] = {keys, values}; }
  // Imports the nodes of `scope` that the wanted names need.
  void body(NodeList& nodes, const std::vector<std::string>& wanted, Scope& scope);

 private:
  struct Call;  // one node under way

  void node(pb::Node& proto, Scope& scope);
  void spell(Call& call);
  Values operands_of(const Call& call) const;
  void call_function(Call& call, pb::Function& function);
  pb::Function* function_of(const pb::Node& proto) const;
  std::unique_ptr<Graph> region(Scope& around, const SourceNode& node, std::string_view key,
                                std::span<const Type> types, Values& captures);
  struct Branch {
    Scope& around;
    const SourceNode& node;
    std::string_view key;
    Values& captures;
  };
  std::unique_ptr<Graph> region_that_fits(const Branch& branch, std::string& misfit);
  void region_outputs(pb::Graph& proto, Scope& scope);
  bool read_inputs(Call& call);
  void define_outputs(Call& call, const Values& values);
  void stand_in(Call& call);
  void scan(NodeList& nodes, const Scope& scope);
  void scan_inside(pb::Node& proto, const Scope& scope);
  bool is_known(const pb::Node& proto, const Scope& scope, Problems::Kind* problem);
  Value* make_stand_in(Scope& scope, const std::string& name);
  void apply_hint(Value& value, const std::string& name, Scope& scope);

  Model& model_;
  std::span<const CustomOperator* const> custom_;  // the application's own operators
  int release_;
  Tensors tensors_;
  FreeNames free_names_;
  Problems problems_;
  std::deque<GraphRef> graphs_;
  std::unordered_set<const Value*> stand_ins_;
  std::vector<std::unique_ptr<Graph>> dropped_;
  std::unordered_map<const Value*, std::pair<Value*, Value*>> maps_;
  std::unordered_set<const pb::Function*> scanned_;
  int64_t nodes_ = 0;
};

}  // namespace mica::onnx
