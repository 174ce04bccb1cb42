#include "runtime/packing.h"

#include <algorithm>

#include "base/fp_mode.h"
#include "base/os.h"
#include "base/threads.h"
#include "kernels/pack/form.h"

namespace mica {
namespace {

// Forms in small pages, so that what is left of a huge one is a part of more; and how much is asked for at a time then:
// of what has not been written, nothing is in RAM.
constexpr size_t kSmallBytes = size_t{1} << 20, kBlock = size_t{64} << 20;

void run_parts(const PackRequest& request, const void* from, void* to, Threads* threads) {
  const auto parts = [&](int64_t first, int64_t last, int) {
    request.pack_parts(from, to, request.context, first, last);
  };
  if (threads)
    threads->run(request.parts, parts);
  else
    parts(0, request.parts, 0);
}

}  // namespace

WeightMemory::~WeightMemory() {
  for (Block& block : blocks_) release_memory(block.data, block.size);
}

void* WeightMemory::take(size_t bytes) {
  if (bytes > static_cast<size_t>(PTRDIFF_MAX)) return nullptr;
  bytes = round_up(bytes, kCacheLine);
  size_t total = bytes;
  for (last_ = 0; last_ < blocks_.size() && blocks_[last_].size - blocks_[last_].used < bytes; ++last_)
    total += blocks_[last_].used;
  if (last_ == blocks_.size()) {
    size_t size = total <= kSmallBytes ? bytes : std::max(bytes, kBlock);
    char* data = static_cast<char*>(take_memory(size));
    if (!data) data = static_cast<char*>(take_memory(size = bytes));
    if (!data) return nullptr;
    if (!blocks_.push_back({data, size, 0}).ok()) {
      release_memory(data, size);
      return nullptr;
    }
  }
  Block& block = blocks_[last_];
  block.used += bytes;
  return block.data + block.used - bytes;
}

void WeightMemory::give_back(size_t bytes) { blocks_[last_].used -= round_up(bytes, kCacheLine); }

Status make_packed(const TensorView& source, const PackKey& stored, const PackRequest& request, void* to,
                   Threads* threads) {
  const FlushDenormals flush;  // as in a run, whoever binds
  if (!request.pack_parts) {
    request.pack(source, to, request.context);
    return {};
  }
  if (stored == request.from) {
    run_parts(request, source.data, to, threads);
    return {};
  }
  const int64_t floats = packed_floats(request.from, source.shape());
  MICA_CHECK(floats >= 0, kInternal, "the weights do not fit the form that they are to be packed from");
  const auto bytes = static_cast<size_t>(floats) * sizeof(float);
  void* between = take_memory(bytes);
  if (!between) return out_of_memory();
  pack_by_key(request.from, source.shape(), source.as<const float>(), static_cast<float*>(between));
  run_parts(request, between, to, threads);
  release_memory(between, bytes);
  return {};
}

}  // namespace mica
