#include "import/onnx/onnx.h"

#include <algorithm>
#include <charconv>
#include <new>

#include "import/onnx/importer.h"
#include "import/onnx/limits.h"
#include "import/onnx/types.h"
#include "ir/did_you_mean.h"

namespace mica {
namespace onnx {
namespace {

template <class Names>
std::string hint_for(const std::string& wanted, const Names& names) {
  Nearest nearest(wanted);
  for (const auto& name : names) nearest.offer(name);
  return did_you_mean(nearest);
}

// "1.21" as 1021.
int release_of(const std::string& text) {
  if (text.empty()) return kLatest;
  int minor = -1;
  const char* const end = text.data() + text.size();
  if (text.starts_with("1.") && std::from_chars(text.data() + 2, end, minor).ptr == end && minor >= 0 && minor < 1000)
    return 1000 + minor;
  throw Failure(error(Code::kUsage, "`{}` is no release of ONNX", text).hinting("releases are written as 1.21"));
}

// The main graph: its interface, and what a person says about it.
class ModelImport {
 public:
  ModelImport(Model& model, const ImportOptions& options)
      : model_(model),
        proto_(*model.proto->mutable_graph()),
        options_(options),
        importer_(model, options.operators, release_of(options.onnx_release)),
        symbols_(*graph_.dims, options),
        scope_(graph_, importer_.tensors(), model.opsets) {}

  Graph run(std::string_view where) {
    graph_.name = proto_.name();
    scope_.add_initializers(proto_);
    scope_.add_hints(proto_);
    add_inputs();
    symbols_.apply_bounds();
    ok_or_throw(graph_.dims->status().copy());
    const std::vector<std::string> wanted = wanted_outputs();
    add_metadata();
    importer_.body(*proto_.mutable_node(), wanted, scope_);
    if (importer_.problems().count()) throw Failure(importer_.problems().error(where));
    for (const std::string& name : wanted) add_output(name);
    add_states();
    return std::move(graph_);
  }

 private:
  bool is_input(const pb::ValueInfo& info) const { return !scope_.is_initializer(info.name()); }

  void add_inputs() {
    for (const auto& [name, sizes] : options_.shapes) fix_names(name, sizes);
    for (const pb::ValueInfo& info : proto_.input())
      if (is_input(info)) add_input(info);
  }

  void add_input(const pb::ValueInfo& info) {
    const Type type = input_type(info);
    scope_.define(info.name(),
                  type.kind == Kind::kMap ? add_map(type, info.name()) : graph_.add_input(type, info.name()));
  }

  // A map comes as two inputs, the lists NAME.keys and NAME.values; the metadata has the types that the source says.
  Value* add_map(const Type& type, const std::string& name) {
    const auto list = [&, length = symbols_.unnamed(name, 0)](DType dtype, const std::string& part) {
      Shape shape = Shape::of_rank(0);
      shape.push(length);
      Value* value = graph_.add_input(Type::tensor(dtype, shape), name + part);
      scope_.define(name + part, value);
      return value;
    };
    if (type.key == DType::kNone || type.dtype == DType::kNone)
      fail(Code::kBadModel, "the map `{}` has no types of keys and values", name);
    Value* map = graph_.make_value(type, name);
    importer_.add_map(map, list(type.key, ".keys"), list(type.dtype, ".values"));
    graph_.metadata.emplace("onnx.map." + name,
                            std::string(name_of(type.key)) + " " + std::string(name_of(type.dtype)));
    return map;
  }

  // A size that is given for a named dimension holds wherever the name stands.
  void fix_names(const std::string& name, const std::vector<int64_t>& sizes) {
    const auto info =
        std::ranges::find_if(proto_.input(), [&](const auto& i) { return i.name() == name && is_input(i); });
    if (info == proto_.input().end())
      throw Failure(error(Code::kNotFound, "the model has no input `{}`", name).hinting(hint_for(name, input_names())));
    if (sizes.size() > kMaxRank)
      fail(Code::kUsage, "{} sizes for `{}`: at most {} dimensions are supported", sizes.size(), name, kMaxRank);
    const pb::Shape& shape = info->type().tensor().shape();
    if (info->type().tensor().has_shape() && static_cast<size_t>(shape.dim_size()) != sizes.size())
      fail(Code::kUsage, "{} sizes are given for the input `{}`, which has {} dimensions", sizes.size(), name,
           shape.dim_size());
    for (int i = 0; i < shape.dim_size(); ++i)
      if (sizes[static_cast<size_t>(i)] >= 0 && has_name(shape.dim(i)))
        symbols_.fix(shape.dim(i).dim_param(), sizes[static_cast<size_t>(i)]);
  }

  std::vector<std::string> input_names() const {
    std::vector<std::string> names;
    for (const pb::ValueInfo& info : proto_.input())
      if (is_input(info)) names.push_back(info.name());
    return names;
  }

  Type input_type(const pb::ValueInfo& info) {
    const auto given = options_.shapes.find(info.name());
    const auto size_of = [&](int i) {
      return given == options_.shapes.end() ? -1 : given->second[static_cast<size_t>(i)];
    };
    Type type = read_type(info.type(), [&](int i, const pb::Shape::Dimension& dim) -> Dim {
      if (size_of(i) >= 0) return size_of(i);
      if (has_name(dim)) return symbols_.named(dim.dim_param());
      if (dim.has_dim_value() && dim.dim_value() >= 0) return dim.dim_value();
      return symbols_.unnamed(info.name(), i);
    });
    if (type.dtype == DType::kNone) fail(Code::kBadModel, "the input `{}` has no element type", info.name());
    if (!type.shape.known() && given != options_.shapes.end()) {
      type.shape = Shape::of_rank(0);
      for (size_t i = 0; i < given->second.size(); ++i)
        type.shape.push(given->second[i] >= 0 ? Dim(given->second[i])
                                              : symbols_.unnamed(info.name(), static_cast<int>(i)));
    }
    return type;
  }

  std::vector<std::string> wanted_outputs() const {
    std::vector<std::string> wanted = options_.outputs;
    if (wanted.empty())
      for (const pb::ValueInfo& info : proto_.output()) wanted.push_back(info.name());
    if (wanted.empty()) fail(Code::kBadModel, "the model has no outputs");
    std::vector<std::string> sorted = wanted;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      fail(Code::kBadModel, "two outputs are named `{}`", *twice);
    return wanted;
  }

  void add_output(const std::string& name) {
    Value* value = scope_.find(name);
    if (!value) {
      std::vector<std::string> names;
      for (const pb::Node& node : proto_.node()) names.insert(names.end(), node.output().begin(), node.output().end());
      const Code code = options_.outputs.empty() ? Code::kBadModel : Code::kNotFound;
      throw Failure(error(code, "nothing makes the output `{}`", name).hinting(hint_for(name, names)));
    }
    for (const pb::ValueInfo& info : proto_.output())
      if (info.name() == name && info.has_type()) merge(*value, info);
    if (value->type.kind == Kind::kMap) fail(Code::kUnsupportedModel, "the output `{}` is a map", name);
    graph_.add_output(value, name);
  }

  // The inferred type stands; the declared one fills what is unknown, and is compared when that is asked for.
  void merge(Value& value, const pb::ValueInfo& info) {
    const Type declared = read_type(info.type(), [&](int, const pb::Shape::Dimension& dim) -> Dim {
      return dim.has_dim_value() && dim.dim_value() >= 0 ? Dim(dim.dim_value()) : graph_.dims->fresh("dim");
    });
    const bool other_kind = declared.kind != value.type.kind;
    if (value.type.dtype == DType::kNone) value.type = declared;
    if (!options_.strict || declared.dtype == DType::kNone) return;
    bool agrees = !other_kind && declared.dtype == value.type.dtype;
    if (declared.shape.known() && value.type.shape.known()) {
      agrees &= declared.shape.rank == value.type.shape.rank;
      for (int i = 0; agrees && i < declared.shape.rank; ++i)
        agrees = !declared.shape[i].is_fixed() || !value.type.shape[i].is_fixed() ||
                 declared.shape[i] == value.type.shape[i];
    }
    if (agrees) return;
    String is, said;
    ok_or_throw(print(value.type, *graph_.dims, is));
    ok_or_throw(print(declared, *graph_.dims, said));
    fail(Code::kBadModel, "the output `{}` is {}, but declared as {}", info.name(), is, said);
  }

  void add_states() {
    const auto index = [](const std::string& name, const std::vector<std::string>& names, std::string_view what) {
      const auto found = std::ranges::find(names, name);
      if (found == names.end())
        throw Failure(error(Code::kNotFound, "the model has no {} `{}`", what, name).hinting(hint_for(name, names)));
      return static_cast<int>(found - names.begin());
    };
    for (const auto& [output, input] : options_.states) {
      const Graph::State state{index(input, graph_.input_names, "input"), index(output, graph_.output_names, "output")};
      const Type &from = graph_.outputs[static_cast<size_t>(state.output)]->type,
                 &to = graph_.inputs[static_cast<size_t>(state.input)]->type;
      if (from.kind != to.kind || from.dtype != to.dtype ||
          (from.shape.known() && to.shape.known() && from.shape.rank != to.shape.rank))
        fail(Code::kUsage, "the output `{}` cannot be the input `{}` of the next run: their types differ", output,
             input);
      if (std::ranges::any_of(graph_.states, [&](const auto& s) { return s.input == state.input; }))
        fail(Code::kUsage, "two outputs are to be the input `{}` of the next run", input);
      graph_.states.push_back(state);
    }
  }

  void add_metadata() {
    for (const pb::Node& node : proto_.node()) add_keys(node);
    for (const pb::Entry& entry : model_.proto->metadata_props()) graph_.metadata.emplace(entry.key(), entry.value());
    if (!model_.proto->producer_name().empty())
      graph_.metadata.emplace(
          "producer", model_.proto->producer_name() +
                          (model_.proto->producer_version().empty() ? "" : " " + model_.proto->producer_version()));
    const std::pair<const char*, std::string> fields[] = {
        {"onnx.producer_name", model_.proto->producer_version().empty() ? "" : model_.proto->producer_name()},
        {"onnx.domain", model_.proto->domain()},
        {"onnx.description", model_.proto->doc_string()},
        {"onnx.model_version", model_.proto->model_version() ? std::to_string(model_.proto->model_version()) : ""},
        {"onnx.graph_name", proto_.name()},
        {"onnx.graph_description", proto_.doc_string()},
    };
    for (const auto& [key, text] : fields)
      if (!text.empty()) graph_.metadata.emplace(key, text);
  }

  // The keys of outputs that are lists of maps in the source: a line that says their type, and a line for each.
  void add_keys(const pb::Node& node) {
    if (node.op_type() != "ZipMap" || node.domain() != "ai.onnx.ml" || node.output_size() != 1) return;
    std::string keys;
    for (const pb::Attribute& attribute : node.attribute()) {
      if (attribute.name() == "classlabels_int64s") {
        keys = "int64";
        for (const int64_t key : attribute.ints()) keys += "\n" + std::to_string(key);
      } else if (attribute.name() == "classlabels_strings") {
        keys = "string";
        for (const std::string& key : attribute.strings()) keys += "\n" + key;
      }
    }
    graph_.metadata.emplace("onnx.zipmap." + node.output(0), keys);
  }

  Model& model_;
  pb::Graph& proto_;
  const ImportOptions& options_;
  Graph graph_;
  Importer importer_;
  Symbols symbols_;
  Scope scope_;
};

}  // namespace
}  // namespace onnx

Result<Graph> import_onnx(const Source& source, const ImportOptions& options) {
  const std::string where = source.path.empty() ? "model" : source.path;
  try {
    onnx::Model model = onnx::read_model(source);
    model.written = options.written;
    return onnx::ModelImport(model, options).run(where);
  } catch (const Failure& failure) {
    Error error = failure.error->copy();
    return error.where() == where ? std::move(error) : std::move(error).at(where);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {
    return out_of_memory();
  }
}

bool looks_like_onnx(std::span<const std::byte> bytes) {
  size_t at = 0;
  const auto varint = [&](uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
      const auto byte = static_cast<uint64_t>(bytes[at++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  };
  constexpr uint64_t kVersion = 1, kModelVersion = 5, kGraph = 7, kLast = 26;
  for (uint64_t tag = 0, value = 0; at < bytes.size();) {
    if (!varint(tag) || !varint(value)) return false;
    const uint64_t field = tag >> 3, wire = tag & 7;
    const bool number = field == kVersion || field == kModelVersion;
    if (field == 0 || field > kLast || wire != (number ? 0u : 2u)) return false;
    if (field == kGraph) return true;
    if (!number && value > bytes.size() - at) return false;
    if (!number) at += value;
  }
  return false;
}

}  // namespace mica
