// The seeds and what is made of them.
#pragma once
#include <map>

#include "attempt.h"
#include "seeds.h"

namespace mica::fuzz {

class Stock {
 public:
  // The models made here, then the files at `paths` (folders with all that is below them, in the order of their names)
  // of at most `most_bytes`. `folder` is where external data is put.
  Stock(const std::vector<std::string>& paths, size_t most_bytes, const std::string& folder);

  size_t size() const { return seeds_.size(); }
  const std::vector<Seed>& seeds() const { return seeds_; }
  const std::vector<Seed>& found() const { return found_; }
  // File i of a run: first, as they are, the problems that were found (names that begin with `found-`) and the models
  // made here; then changed seeds, a few of them whole.
  std::string file(long i, Random& random);
  // The model made here that file i is, or null.
  const Seed* made(long i) const;
  // The seed's ONNX model as graph text or `.mica` file; empty when it cannot be converted.
  const std::string& form(const Seed& seed, Kind kind);

 private:
  const Seed& any(Random& random) const;
  void add(const std::string& path);

  std::string folder_;
  std::vector<Seed> seeds_, found_;
  size_t made_ = 0;  // the first ones of the seeds
  std::map<std::pair<const Seed*, Kind>, std::string> forms_;
};

// The bytes after one change that fits their kind; parts of `other`, an ONNX model, may be put into one.
std::string changed(const std::string& bytes, Kind kind, const std::string& other, Random& random);

}  // namespace mica::fuzz
