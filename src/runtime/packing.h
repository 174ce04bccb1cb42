// Making packed forms of operands whose contents are known, and the memory that such forms stand in.
#pragma once
#include "base/memory.h"
#include "base/vector.h"
#include "step/run.h"

namespace mica {

class Threads;

// Memory for forms of weights, which live as long as it does: side by side in huge pages, since most forms are smaller
// than one and every run reads all of them. The first ones are not, so that few weights take little.
class WeightMemory {
 public:
  WeightMemory() = default;
  WeightMemory(const WeightMemory&) = delete;
  WeightMemory& operator=(const WeightMemory&) = delete;
  ~WeightMemory();
  // 64-byte aligned; null when memory is short.
  void* take(size_t bytes);
  // What was taken last, unused.
  void give_back(size_t bytes);

 private:
  struct Block {
    char* data;
    size_t size, used;
  };
  Vector<Block> blocks_;
  size_t last_ = 0;  // the block of what was taken last
};

// The form that `request` asks for, from what `source` holds in the form `stored` (kind 0: plain). `stored` is
// request.from, or plain. Parts run on `threads`, or here when there are none.
Status make_packed(const TensorView& source, const PackKey& stored, const PackRequest& request, void* to,
                   Threads* threads);

}  // namespace mica
