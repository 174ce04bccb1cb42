// The seeds and what is made of them.
#pragma once
#include <map>

#include "seeds.h"

namespace mica::mutate {

class Stock {
 public:
  // The models made here, then the files at `paths` (folders with all that is below them, in the order of their names)
  // of at most `most_bytes`.
  Stock(const std::vector<std::string>& paths, size_t most_bytes, const std::string& folder);

  size_t size() const { return seeds_.size(); }
  // File i of a run: first, as they are, the problems that were found (names that begin with `found-`) and the models
  // made here; then changed seeds, a few of them whole.
  File file(long i, Random& random);
  // The model made here that file i is, or null.
  const Seed* made(long i) const;

 private:
  const Seed& any(Random& random) const;
  // The seed's ONNX model as graph text or `.mica` file; empty when it cannot be converted.
  const std::string& form(const Seed& seed, Kind kind);
  void add(const std::string& path);

  std::vector<Seed> seeds_, found_;
  size_t made_ = 0;  // the first ones of the seeds
  std::map<std::pair<const Seed*, Kind>, std::string> forms_;
};

}  // namespace mica::mutate
