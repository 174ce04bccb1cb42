// How many inputs came to which stage, in a file that outlives the process: a crash loses none, and the next run adds
// to it.
#pragma once
#include <string>

#include "attempt.h"

namespace mica::fuzz {

// A text file of rows `name count`, mapped. Without a path nothing is kept.
class Counts {
 public:
  explicit Counts(const char* path);
  ~Counts();
  Counts(const Counts&) = delete;
  void add(Stage stage);
  void longest(int64_t ns);  // of processor time for one input

 private:
  void set(int row, long value);
  long get(int row) const;
  char* rows_ = nullptr;
};

}  // namespace mica::fuzz
