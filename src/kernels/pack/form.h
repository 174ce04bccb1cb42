// The packed forms that a file holds, as keys: what a key's numbers mean, how many bytes a form takes, and both
// directions.
//
// A key and the shape of the plain tensor say everything, so that a reader can check a packed constant's size and undo
// it without knowing which operator reads it. Only forms that come back to the bit have keys here; Winograd's is made
// at bind.
#pragma once
#include <cstddef>
#include <span>

#include "kernels/pack/pack.h"
#include "types/packing.h"

namespace mica {

// How the plain tensor's axes are a matrix K x N, or several of them.
enum class PackLayout : uint8_t {
  kMatrix,      // [..., K, N]: one matrix for each index of the leading axes
  kTransposed,  // [..., N, K]
  kConv,        // [O, I, taps...]: for each group N = O / groups, K = taps · I
};

struct PackForm {
  PackKind kind = PackKind::kPlain;
  PackLayout layout = PackLayout::kMatrix;
  int64_t groups = 1;  // of kConv; kDepthwise16 takes kConv with I = 1 and as many as O
};
// Parameters: of kConv the groups, then zeros; of matrices 0, whether they are transposed, the bits of the f32 factor
// that they were multiplied by (a file's: 1), then zeros.
PackKey key_of(const PackForm& form);

// Floats of the packed form of a plain f32 tensor; -1 when the key is not one of these, does not fit the shape, or the
// size overflows. Dims are >= 0 and the product of those that are not 0, times 16, fits.
int64_t packed_floats(const PackKey& key, std::span<const int64_t> dims);
// For keys and shapes that have a size.
void pack_by_key(const PackKey& key, std::span<const int64_t> dims, const float* plain, float* packed);
void unpack_by_key(const PackKey& key, std::span<const int64_t> dims, const float* packed, float* plain);

}  // namespace mica
