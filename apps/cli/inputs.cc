#include "inputs.h"
#include "modules/modules.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace mica::cli {
namespace {

void write_log(void*, mica_log_level level, const char* text) {
  constexpr const char* kNames[] = {"error", "warning", "info", "debug"};
  say(fmt::format("{}: {}", kNames[level], text));
}

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
uint64_t next_random(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// Floats: uniform in [-1, 1); integers and bool: 0 or 1, which every table that they might index has.
Array random_array(mica_dtype dtype, const std::vector<int64_t>& dims, uint64_t seed) {
  if (dtype == MICA_STRING)
    return Array::of(std::vector<std::string>(static_cast<size_t>(Tensor(MICA_U8, nullptr, dims).count()), "a"), dims);
  Array made = Array::make(dtype, dims);
  const bool floating = dtype == MICA_F32 || dtype == MICA_F64 || dtype == MICA_F16 || dtype == MICA_BF16;
  if (!floating && mica_dtype_bits(dtype) < 8) {  // sub-byte codes: any bits are valid
    for (std::byte& b : made.bytes) b = static_cast<std::byte>(next_random(seed));
    return made;
  }
  if (dtype == MICA_C64 || dtype == MICA_C128 || (!floating && dtype >= MICA_F8E4M3FN)) return made;  // zeros
  for (int64_t i = 0, n = made.count(); i < n; ++i) {
    const uint64_t bits = next_random(seed);
    set_number(made, i, floating ? static_cast<double>(bits >> 40) / (1 << 23) - 1 : static_cast<double>(bits >> 63));
  }
  return made;
}

// The library stays loaded: contexts hold its functions.
void add_operators(const Context& context, const std::string& path) {
  check_not_written(path);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* problem = library ? nullptr : dlerror();
  if (!library) fail_usage(fmt::format("cannot load `{}`: {}", path, problem ? problem : "no reason given"));
  using Register = mica_error* (*)(mica_context*);
  const auto add = reinterpret_cast<Register>(dlsym(library, "mica_operators"));
  if (!add) fail_usage(fmt::format("`{}` has no function mica_operators", path));
  check(add(context.get()));
}

int64_t parse_bound(const std::string& text) {
  int64_t bound = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, bound);
  if (code != std::errc() || stop != end || bound < 1)
    fail_usage(fmt::format("`{}` in --bound is no largest size", text), "one number, as in --bound batch=8");
  return bound;
}

template <class T>
void add_once(std::map<std::string, T>& map, const std::string& name, T value, const char* what) {
  if (!map.emplace(name, std::move(value)).second) fail_usage(fmt::format("`{}` is given twice in {}", name, what));
}

class FeedMaker {
 public:
  FeedMaker(const Model& model, const InputFlags& flags) : model_(model), flags_(flags) {}

  Feed make() {
    feed_.recipe = make_recipe(model_.metadata("mica.preprocess"), flags_.recipe);
    for (const std::string& text : flags_.inputs) add_named(text);
    if (!flags_.data.empty()) add_data();
    for (size_t i = 0; i < model_.states(); ++i) given_.insert(model_.state(i).state_input);
    const auto sizes = sizes_at_run();
    for (size_t i = 0; i < model_.inputs(); ++i)
      if (!given_.count(i)) add_random(i, sizes);
    if (flags_.recipe.any() && !feed_.picture)
      fail_usage("a recipe for pictures is given, and no picture", "give arrays as the model takes them");
    return std::move(feed_);
  }

 private:
  void add(size_t index, const std::string& source, Array array) {
    const mica_port_info port = model_.input(index);
    if (!given_.insert(index).second) fail_usage(fmt::format("input `{}` is given twice", port.name));
    if (array.dtype == MICA_F64 && port.dtype == MICA_F32) {
      array = convert_to(array, MICA_F32);
      if (flags_.says_conversions)
        say(fmt::format("note: `{}` is f64, and is rounded to f32 for input `{}`", source, port.name));
    }
    feed_.items.push_back({index, port.name, source, std::move(array), false, state_of(index)});
  }

  std::optional<size_t> state_of(size_t index) const {
    for (size_t k = 0; k < model_.states(); ++k)
      if (model_.state(k).state_input == index) return k;
    return {};
  }

  void add_named(const std::string& text) {
    const auto [name, path] = split_pair(text, "NAME=FILE.npy");
    const size_t index = take(model_.find(MICA_INPUT, name.c_str()));
    const std::string bytes = read_text(path);
    if (bytes.compare(0, 2, "PK") == 0) {
      auto arrays = read_npz(bytes, path);
      if (!arrays.count(name)) fail_usage(fmt::format("`{}` holds no array `{}`", path, name));
      add(index, path, std::move(arrays.at(name)));
    } else if (is_image(bytes)) {
      add_picture(index, path, bytes);
    } else {
      add(index, path, read_npy(bytes, path));
    }
  }

  void add_picture(size_t index, const std::string& path, const std::string& bytes) {
    add(index, path, apply(feed_.recipe, decode_image(bytes, path), model_.input(index)));
    feed_.picture = true;
  }

  size_t only_input(const char* what) {
    std::vector<size_t> open;
    for (size_t i = 0; i < model_.inputs(); ++i) {
      const mica_port_info port = model_.input(i);
      if (!state_of(i) && !given_.count(i) && port.is_tensor) open.push_back(i);
    }
    if (open.empty()) fail_usage("the model has no input left for `" + flags_.data + "`");
    if (open.size() > 1)
      fail_usage(fmt::format("the model has {} inputs: which one takes {}?", open.size(), what),
                 "say --input NAME=" + flags_.data);
    return open[0];
  }

  void add_data() {
    const std::string bytes = read_text(flags_.data);
    if (bytes.compare(0, 2, "PK") == 0) {
      for (auto& [name, array] : read_npz(bytes, flags_.data))
        add(take(model_.find(MICA_INPUT, name.c_str())), flags_.data, std::move(array));
    } else if (bytes.compare(0, 6, "\x93NUMPY") == 0) {
      add(only_input("the array"), flags_.data, read_npy(bytes, flags_.data));
    } else if (is_image(bytes)) {
      const bool named = !feed_.recipe.input.empty();
      add_picture(named ? take(model_.find(MICA_INPUT, feed_.recipe.input.c_str())) : only_input("the picture"),
                  flags_.data, bytes);
    } else {
      fail_usage("`" + flags_.data + "` is no picture, .npy or .npz");
    }
  }

  std::map<std::string, std::vector<int64_t>> sizes_at_run() const {
    std::map<std::string, std::vector<int64_t>> sizes;
    for (const std::string& text : flags_.shapes_at_run) {
      const auto [name, dims] = split_pair(text, "NAME=1x3x8");
      take(model_.find(MICA_INPUT, name.c_str()));
      add_once(sizes, name, parse_dims(dims, "--run-shape"), "--run-shape");
    }
    return sizes;
  }

  // Axes that are open are 1, those of the same name as one that is known now are as long.
  void add_random(size_t index, const std::map<std::string, std::vector<int64_t>>& sizes) {
    const mica_port_info port = model_.input(index);
    if (!port.is_tensor) {
      feed_.items.push_back({index, port.name, "empty", {}, true, {}});
      return;
    }
    std::vector<int64_t> dims = dims_of(port);
    const auto given = sizes.find(port.name);
    if (given != sizes.end()) dims = given->second;
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d] < 0) dims[d] = port.dim_names[d] ? length_of(port.dim_names[d]) : 1;
    feed_.items.push_back(
        {index, port.name, "random", random_array(port.dtype, dims, flags_.seed * 1000 + index), false, {}});
  }

  int64_t length_of(const std::string& name) const {
    for (const Feed::Item& item : feed_.items) {
      const mica_port_info port = model_.input(item.index);
      for (size_t d = 0; d < item.array.dims.size() && static_cast<int>(d) < port.rank; ++d)
        if (port.dim_names[d] && port.dim_names[d] == name) return item.array.dims[d];
    }
    return 1;
  }

  const Model& model_;
  const InputFlags& flags_;
  Feed feed_;
  std::set<size_t> given_;
};

}  // namespace

std::vector<int64_t> dims_of(const mica_port_info& port) { return {port.dims, port.dims + std::max(port.rank, 0)}; }

void ModelFlags::add(Words& words, bool with_running) {
  words.option("MODEL", path, "a source model or a .mica file").required();
  words.option("--shape", shapes, "NAME=1x3x224x224: sizes of an input, fixed when the model is compiled");
  words.option("--bound", bounds, "DIM=256: largest size of a named dimension");
  words.option("--state", states, "OUTPUT=INPUT: the output is the input of the next run");
  words.option("--outputs", outputs, "values to return instead of the model's outputs").split_at(',');
  words.option("--without-rule", rules_off, "a rewriting rule that must not fire");
  words.option("--operators", operators,
               "a shared library with operators of your own: mica_error* mica_operators(mica_context*)");
  words.flag("--strict", strict, "declarations in the model that contradict what was inferred are errors");
  words.option("--onnx-release", onnx_release,
               "as 1.21: the release of ONNX whose definitions are meant, where a later one corrected them");
  words.option("--isa", isa, "instruction set: avx512, avx2, sse2, neon, portable");
  if (!with_running) return;
  words.option("--threads", threads, "threads, the caller's included; 0: what the machine grants");
  words.flag("--exact", exact, "the same bits on every instruction set with fused multiply-add");
  words.option("--memory", memory, "full, or low: no second, larger form of weights").one_of({"full", "low"});
  words.option("--tuning", tuning, "a file that `mica tune` made, or none; else MODEL.tune if it is there");
  words.flag("--reference", reference, "plain loops instead of kernels");
  words.option("--row-chains", row_chains, "run stages as one, by rows: auto (where it is faster), always, never")
      .one_of({"auto", "always", "never"});
}

tools::ConvertOptions ModelFlags::convert_options() const {
  tools::ConvertOptions options;
  for (const std::string& text : shapes) {
    const auto [name, dims] = split_pair(text, "NAME=1x3x224x224");
    add_once(options.shapes, name, parse_dims(dims, "--shape"), "--shape");
  }
  for (const std::string& text : bounds) {
    const auto [name, size] = split_pair(text, "DIM=256");
    add_once(options.bounds, name, parse_bound(size), "--bound");
  }
  for (const std::string& text : states) {
    const auto [output, input] = split_pair(text, "OUTPUT=INPUT");
    add_once(options.states, output, input, "--state");
  }
  options.outputs = outputs;
  options.written = written();
  options.rules_off = rules_off;
  options.strict = strict;
  options.preprocess = preprocess;
  options.pixels = pixels;
  options.onnx_release = onnx_release;
  options.fuse = !unfused;
  options.pack = !reference;  // plain loops read plain weights, which may stay where they lie
  return options;
}

mica_session_options ModelFlags::session_options() const {
  mica_session_options options = MICA_INIT(mica_session_options);
  options.exact = exact;
  options.low_memory = memory == "low";
  options.reference = reference;
  options.row_chains = row_chains == "always" ? 1 : row_chains == "never" ? -1 : 0;
  return options;
}

Context ModelFlags::context() const {
  if (threads < 0) fail_usage("--threads is negative");
  mica_context_options options = MICA_INIT(mica_context_options);
  options.threads = threads;
  options.isa = isa.empty() ? nullptr : isa.c_str();
  options.log = write_log;
  options.log_most = MICA_LOG_WARNING;
  Context context = take(Context::create(options));
  for (const std::string& library : operators) add_operators(context, library);
  check(mica_add_modules(context.get()));
  return context;
}

Model ModelFlags::load(const Context& context) const {
  tools::LoadOptions options = convert_options();
  if (tuning != "none") check_not_written(tuning.empty() ? path + ".tune" : tuning);
  if (!tuning.empty()) options.tuning = tuning == "none" ? "" : tuning;
  mica_model* model = nullptr;
  check(tools::load(context.get(), path, options, &model));
  return Model(model);
}

void InputFlags::add(Words& words, bool with_data) {
  if (with_data)
    words.option("DATA", data, "a picture (PNG, JPEG, …), a .npy or a .npz file; random numbers without it");
  words.option("--input", inputs, "NAME=FILE: .npy, .npz (the array of that name) or a picture");
  words.option("--run-shape", shapes_at_run, "NAME=2x3x64x64: sizes of a random input");
  words.option("--seed", seed, "of random inputs").whole();
  recipe.add(words);
}

bool Feed::has_state(size_t state, const std::string& source) const {
  return std::ranges::any_of(items, [&](const Item& item) { return item.state == state && item.source == source; });
}

void Feed::set(mica_session* session, const Feed* before) const {
  for (const Item& item : items) {
    if (item.state && before && before->has_state(*item.state, item.source)) continue;
    check(item.list    ? mica_session_set_input_list(session, item.index, nullptr, 0)
          : item.state ? mica_session_set_state(session, *item.state, &item.array.tensor().raw())
                       : mica_session_set_input(session, item.index, &item.array.tensor().raw()));
  }
}

Feed make_feed(const Model& model, const InputFlags& flags) { return FeedMaker(model, flags).make(); }

}  // namespace mica::cli
