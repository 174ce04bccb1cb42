// Declared types, and the names of dimensions as symbols.
#pragma once
#include <functional>
#include <map>
#include <set>

#include "import/onnx/reader.h"

namespace mica::onnx {

// Whether a dimension has a name: exporters also write `?`, `-1` or `None` where they know nothing, and two of these
// are not one dimension.
bool has_name(const pb::Shape::Dimension& dim);

// A model's named dimensions. Names become symbols of the same name; what a symbol cannot be called (control
// characters, backquotes, more than 63 bytes) is replaced. A name that reads as a sum or product of names ("past +
// sequence") is that expression.
class Symbols {
 public:
  Symbols(DimTable& dims, const ImportOptions& options) : dims_(dims), options_(options) {}

  // A name that a size was given for is that number. Throws kUsage when two sizes contradict each other.
  void fix(const std::string& name, int64_t size);
  Dim named(const std::string& name);
  // Of an input's axis that has neither a number nor a name.
  Dim unnamed(std::string_view input, int axis);
  // Gives symbols their bounds. Throws kNotFound for a bound whose dimension does not exist.
  void apply_bounds();

 private:
  Dim plain(const std::string& name);
  std::string clean(const std::string& name);
  std::string unused(const std::string& name);  // a symbol's name made from this one, which no other has

  DimTable& dims_;
  const ImportOptions& options_;
  std::map<std::string, int64_t> fixed_;
  std::map<std::string, std::string> cleaned_;
  std::set<std::string> taken_;
};

// `axis_of(i, dimension)` says what axis i is. Throws Failure for kinds of values that are not supported.
using DimOf = std::function<Dim(int, const pb::Shape::Dimension&)>;
Type read_type(const pb::Type& type, const DimOf& axis_of);
// With a new data-dependent symbol for each dimension: of inner values only element type and rank are believed, because
// the numbers stay behind when a person gives the inputs other sizes.
Type read_type(const pb::Type& type, DimTable& dims, std::string_view stem);

}  // namespace mica::onnx
