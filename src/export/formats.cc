// Diagrams as JSON and as DOT.
#include <nlohmann/json.hpp>

#include "export/diagram.h"

namespace mica {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(Diagram::Kind kind) {
  constexpr const char* kNames[] = {"input", "output", "constant", "node"};
  return kNames[static_cast<int>(kind)];
}

std::string dot_text(std::string_view text) {
  std::string made = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    if (c == '\n')
      made += "\\n";
    else
      made += c;
  }
  return made + "\"";
}

Json facts_json(const Diagram::Facts& facts) {
  Json made = Json::array();
  for (const auto& [what, value] : facts) made.push_back({what, value});
  return made;
}

}  // namespace

std::string to_json(const Diagram& diagram) {
  Json made = {{"title", diagram.title},
               {"facts", facts_json(diagram.facts)},
               {"nodes", Json::array()},
               {"edges", Json::array()}};
  for (const Diagram::Box& box : diagram.boxes)
    made["nodes"].push_back({{"kind", name_of(box.kind)},
                             {"op", box.title},
                             {"name", box.name},
                             {"group", box.group},
                             {"facts", facts_json(box.facts)}});
  for (const Diagram::Arrow& arrow : diagram.arrows)
    made["edges"].push_back({{"from", arrow.from}, {"to", arrow.to}, {"type", arrow.label}, {"value", arrow.value}});
  return made.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_dot(const Diagram& diagram) {
  std::string made =
      "digraph " + dot_text(diagram.title) +
      " {\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n  edge [fontname=\"sans-serif\", fontsize=8];\n";
  for (size_t i = 0; i < diagram.boxes.size(); ++i) {
    const Diagram::Box& box = diagram.boxes[i];
    std::string label = box.title + (box.name.empty() ? "" : "\n" + box.name);
    if (!box.group.empty()) label += "\n(" + box.group + ")";
    made += "  n" + std::to_string(i) + " [label=" + dot_text(label) +
            (box.kind == Diagram::Kind::kNode ? "" : ", style=rounded") + "];\n";
  }
  for (const Diagram::Arrow& arrow : diagram.arrows)
    made += "  n" + std::to_string(arrow.from) + " -> n" + std::to_string(arrow.to) +
            " [label=" + dot_text(arrow.label) + "];\n";
  return made + "}\n";
}

}  // namespace mica
