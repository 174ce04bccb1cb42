// Words that every verb with a model takes, and what becomes of them: context, model, a session's inputs.
#pragma once
#include <deque>
#include <optional>

#include "mica/tools.hpp"
#include "recipe.h"

namespace mica::cli {

struct ModelFlags {
  std::string path, isa, onnx_release;
  int threads = 0;
  std::vector<std::string> shapes, bounds, states, outputs, rules_off, operators;
  std::string row_chains = "auto", memory = "full";
  std::string preprocess;  // a recipe instead of the model's own
  std::string tuning;      // a file of measured choices, "none", or "": MODEL.tune if it is there
  bool strict = false, exact = false, reference = false, unfused = false, pixels = false;

  void add(Words& words, bool with_running = true);
  tools::ConvertOptions convert_options() const;
  mica_session_options session_options() const;
  Context context() const;  // with the log on stderr at warnings
  Model load(const Context& context) const;
};

struct InputFlags {
  std::vector<std::string> inputs, shapes_at_run;  // NAME=FILE, NAME=1x3x8
  std::string data;
  uint64_t seed = 1;
  bool says_conversions = true;
  RecipeFlags recipe;
  void add(Words& words, bool with_data);
  bool given() const { return !inputs.empty() || !shapes_at_run.empty(); }  // something to go by for a model's inputs
};

// What a session is fed, and where each came from.
struct Feed {
  struct Item {
    size_t index;
    std::string name, source;  // "random", a file
    Array array;
    bool list = false;  // a sequence or an optional, given empty
    std::optional<size_t> state;
  };
  std::deque<Item> items;
  Recipe recipe;
  bool picture = false;
  // What a state is given is what it begins with. `before`: what the session was fed for the run before: a state that
  // came from the same file goes on.
  void set(Session& session, const Feed* before = nullptr) const { set(session.get(), before); }
  void set(mica_session* session, const Feed* before = nullptr) const;

 private:
  bool has_state(size_t state, const std::string& source) const;
};

// Every input that is no state gets its array from --input, from DATA (a picture, .npy or .npz), else random numbers.
// f64, which is numpy's default, becomes f32 where the model takes that, and a note says so.
Feed make_feed(const Model& model, const InputFlags& flags);
std::vector<int64_t> dims_of(const mica_port_info& port);

}  // namespace mica::cli
