// Building regions for importers: what several regions of one node use from outside becomes one list of operands.
#pragma once
#include <algorithm>

#include "ir/spelling.h"
#include "ops/control/region.h"

namespace mica::region {

// A result without a type stands in for a node that could not be imported, which the importer has noted.
inline void require_whole(const Graph& body) {
  for (const Value* output : body.outputs)
    if (output->type.is_tensor() && output->type.dtype == DType::kNone)
      fail(Code::kUnsupportedOperator, "the graph `{}` is not whole", body.name);
}

// Gives a region that has `formal` inputs of its own and then `own` captures the inputs for all of `captures` instead.
inline void take_captures(Graph& body, size_t formal, const Values& own, const Values& captures) {
  const std::vector<Value*> inputs(body.inputs.begin() + static_cast<std::ptrdiff_t>(formal), body.inputs.end());
  const std::vector<std::string> names(body.input_names.begin() + static_cast<std::ptrdiff_t>(formal),
                                       body.input_names.end());
  body.inputs.resize(formal);
  body.input_names.resize(formal);
  for (Value* capture : captures) {
    const auto at = static_cast<size_t>(std::ranges::find(own, capture) - own.begin());
    if (at < own.size()) {
      body.inputs.push_back(inputs[at]);
      body.input_names.push_back(names[at]);
    } else {
      body.add_input(capture->type, capture->name);
    }
  }
}

// Builds the region `body` with inputs of `types`, of which those from `first` on are carried and come out again from
// `first_result` on. They are widened until what comes out is among them.
inline std::unique_ptr<Graph> carried_region(const SourceNode& node, DimTable& dims, std::vector<Type>& types,
                                             const Carried& carried, Values& captures) {
  std::vector<uint32_t> open(static_cast<size_t>(carried.count));
  for (int turn = 0; turn < kMaxRank + 2; ++turn) {
    captures.clear();
    auto body = node.region(node, "body", types, captures, nullptr);
    if (body->outputs.size() < static_cast<size_t>(carried.first_result + carried.count))
      fail(Code::kBadModel, "the body of {} has {} outputs, expected {} or more", node.op, body->outputs.size(),
           carried.first_result + carried.count);
    bool changed = false;
    for (int i = 0; i < carried.count; ++i) {
      const auto index = static_cast<size_t>(i);
      const Type& made = body->outputs[static_cast<size_t>(carried.first_result) + index]->type;
      changed |= value_or_throw(widen(types[static_cast<size_t>(carried.first) + index], made, open[index], dims));
    }
    if (!changed) return body;
  }
  fail(Code::kInternal, "the types of carried values do not settle");
}

}  // namespace mica::region
