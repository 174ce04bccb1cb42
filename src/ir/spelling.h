// How source formats spell operators. An importer turns bytes into SourceNodes and knows no operator; the functions in
// `ops/<family>/<op>.import.cc` turn SourceNodes into graph nodes.
//
//   static Values import_softmax(const SourceNode& node, Builder& build) { ... }
//   MICA_SPELLINGS(softmax, {Format::kOnnx, "", "Softmax", 13, kLatest, import_softmax}, {Format::kOnnx, "", "Softmax",
//   1, 12, flat});
#pragma once
#include <functional>
#include <optional>
#include <set>

#include "ir/builder.h"

namespace mica {

enum class Format : uint8_t { kOnnx, kTflite, kTensorflow, kCaffe };
inline constexpr int kLatest = 1 << 20;

struct SourceAttribute {
  enum class Kind : uint8_t { kInt, kFloat, kText, kTensor, kGraph, kInts, kFloats, kTexts, kTensors, kGraphs, kType };
  Kind kind = Kind::kInt;
  int64_t i = 0;
  float f = 0;
  std::string text;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> texts;
  std::vector<ConstantPtr> tensors;  // kTensor: one; a sparse tensor comes as the dense one that it stands for
  std::vector<const void*> graphs;   // the importer's own, for `SourceNode::region`
  Type type;
};

// One node of a source model. Accessors throw Failure when an attribute has another kind than asked, and note which
// attributes were read: one that nobody read is an error, so that no meaning is silently lost.
struct SourceNode {
  Format format = Format::kOnnx;
  std::string_view domain, op, name;      // domain "" is ai.onnx
  std::string_view maker;                 // the program that wrote the model, as it calls itself; "": unknown
  int version = 0;                        // the opset that the model imports for the domain
  int release = kLatest;                  // of the format, whose definitions are meant: 1021 for ONNX 1.21
  Values inputs;                          // null: left out
  std::vector<std::string> output_names;  // "" : not wanted
  std::map<std::string, SourceAttribute, std::less<>> attributes;
  // Builds attribute `name`'s graph as a closed region whose inputs have `types`, then those of `captures`: outer
  // values that are in the list already become inputs in its order, further ones that the graph uses are appended to
  // both. (Of If's two regions, the first has to be given inputs for what only the second captured:
  // `Graph::add_input`.)
  // With `misfit`: where nothing stands against the graph but the sizes of its operands, there is none, and `misfit`
  // has the first reason.
  std::function<std::unique_ptr<Graph>(const SourceNode&, std::string_view name, std::span<const Type> types,
                                       Values& captures, std::string* misfit)>
      region;
  mutable std::set<std::string, std::less<>> read;

  const SourceAttribute* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  int64_t integer(std::string_view key, int64_t otherwise) const;
  int64_t integer(std::string_view key) const;  // required
  float number(std::string_view key, float otherwise) const;
  std::string text(std::string_view key, std::string_view otherwise) const;
  std::vector<int64_t> ints(std::string_view key, std::vector<int64_t> otherwise = {}) const;
  Ints int_list(std::string_view key,
                Ints otherwise = {}) const;  // the same as an attribute value; kLimit when too long
  std::vector<float> floats(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  ConstantPtr tensor(std::string_view key) const;                 // null when absent
  void ignore(std::string_view key) const { read.emplace(key); }  // known to have no meaning here

  Value* input(size_t i) const;  // throws when left out
  Value* optional(size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
  bool has_input(size_t i) const { return optional(i) != nullptr; }
  int outputs() const { return static_cast<int>(output_names.size()); }
  bool wants(size_t i) const { return i < output_names.size() && !output_names[i].empty(); }
  // The known contents of input i, from a constant or from inference; throws kUnsupportedOperator naming the input
  // otherwise.
  std::vector<int64_t> constant_ints(size_t i) const;
};

using SpellingFn = Values (*)(const SourceNode&, Builder&);
struct Spelling {
  Format format;
  std::string_view domain, op;
  int since, until;  // versions of the domain, both inclusive
  SpellingFn import;
};
struct SpellingTable {
  std::span<const Spelling> rows;
};
std::span<const TableRow<SpellingTable>> all_spellings();

// The spelling of an operator, or null; defined with the importers, who own the table. `nearest` (optional) receives
// the closest known name when there is none, or the versions that are known: "Softmax", "Upsample of versions 7 to 9",
// "TopK since version 10".
const Spelling* find_spelling(Format format, std::string_view domain, std::string_view op, int version,
                              std::string* nearest = nullptr);

// Throws kBadAttribute naming each attribute that no accessor was asked for.
void check_all_read(const SourceNode& node);

// The element type that a format writes as this number; kNone when there is none.
DType source_dtype(Format format, int64_t code);

// Fills an attribute struct from source attributes of the same names (enums by their names, in any case).
void read_attributes_by_name(const SourceNode& node, const AttrClass& attributes, void* blob);
Values import_direct(const SourceNode& node, Builder& build, const OpDef& op);
// For operators whose inputs, outputs and attribute names are the source's.
template <const OpDef& op>
Values direct(const SourceNode& node, Builder& build) {
  return import_direct(node, build, op);
}

#define MICA_SPELLINGS(id, ...)                                        \
  static constexpr ::mica::Spelling kSpellings_##id[] = {__VA_ARGS__}; \
  extern const ::mica::SpellingTable spellings_##id;                   \
  constinit const ::mica::SpellingTable spellings_##id = {kSpellings_##id}

}  // namespace mica
