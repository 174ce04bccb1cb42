#include "runtime/packing.h"

#include "base/fp_mode.h"
#include "base/os.h"
#include "base/threads.h"
#include "kernels/pack/form.h"

namespace mica {
namespace {

constexpr size_t kHugeFrom = size_t{2} << 20;

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

void* take_weights(size_t bytes) { return bytes < kHugeFrom ? allocate(bytes, kCacheLine) : map_memory(bytes, true); }

void release_weights(void* memory, size_t bytes) {
  if (bytes < kHugeFrom)
    deallocate(memory);
  else
    unmap_memory(memory, bytes);
}

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
  void* between = take_weights(bytes);
  if (!between) return out_of_memory();
  pack_by_key(request.from, source.shape(), source.as<const float>(), static_cast<float*>(between));
  run_parts(request, between, to, threads);
  release_weights(between, bytes);
  return {};
}

}  // namespace mica
