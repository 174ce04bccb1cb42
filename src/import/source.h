// Where a source model comes from, and what a person may say about it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mica {

struct CustomOperator;

// Bytes in memory when `bytes` has data, else the file at `path`.
struct Source {
  std::string path;                  // also the name in messages
  std::span<const std::byte> bytes;  // stay the caller's; not needed after the import
  std::string folder;                // where external data of a model in memory lies; empty: external data is refused
};

// The folder that a file stands in.
inline std::string folder_of(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

struct ImportOptions {
  // Sizes for inputs, by name: one number per axis, -1 keeps the axis as the model has it. A named dimension that gets
  // a number has it in every input.
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, int64_t> bounds;      // named dimension → largest value: it becomes a parameter of each run
  std::map<std::string, std::string> states;  // output → input of the next run
  std::vector<std::string>
      outputs;  // values to return instead of the model's outputs; what they do not need is left out
  std::vector<const CustomOperator*> operators;  // the application's own, before Mica's
  std::vector<std::string> written;  // files that the caller is going to write: the model may be in none of them
  bool strict = false;               // declarations in the model that contradict what was inferred are errors
  // The release of ONNX whose definitions are meant, as "1.21", where a later one corrected them within an opset.
  // Empty: the newest that is known.
  std::string onnx_release;
};

}  // namespace mica
