// Making packed forms of operands whose contents are known, and the memory that such forms stand in.
#pragma once
#include "step/run.h"

namespace mica {

class Threads;

// Memory for a form of weights: in huge pages where they are many, since every run reads all of it. Null when memory is
// short. Released with the same `bytes`.
void* take_weights(size_t bytes);
void release_weights(void* memory, size_t bytes);

// The form that `request` asks for, from what `source` holds in the form `stored` (kind 0: plain). `stored` is
// request.from, or plain. Parts run on `threads`, or here when there are none.
Status make_packed(const TensorView& source, const PackKey& stored, const PackRequest& request, void* to,
                   Threads* threads);

}  // namespace mica
