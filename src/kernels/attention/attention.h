// Scaled dot-product attention, fp32: for each batch and head, y = softmax(cap(scale · q · kᵀ) + mask) · v.
//
// Keys and values are packed first, once for all queries. A task is a block of queries of one head; a tile of their
// scores stays in scratch between the two products and the softmax. More than one block of keys go by one after the
// other: where a block has a larger score than those before it, the sums of powers and of values so far are scaled down
// to it (Milakov and Gimelshein, Online normalizer calculation for softmax, arXiv:1805.02867; Dao et al.,
// FlashAttention, arXiv:2205.14135). The blocks depend on the shape alone, so that the number of threads changes no
// bit. A query that sees no key gives zeros.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace mica {

enum class Isa : uint8_t;

// Floats from one to the next; the elements of a row are neighbours.
struct AttentionSteps {
  int64_t batch = 0, head = 0, row = 0;
};

struct AttentionShape {
  int64_t batch = 1, heads = 1, kv_heads = 1;  // heads / kv_heads queries' heads share one of keys and values
  int64_t queries = 0, keys = 0;
  int64_t size = 0, value_size = 0;  // of a row of q and k, and of v and y
};

struct AttentionArgs {
  AttentionShape shape;
  AttentionSteps q, k, v, y;
  float scale = 1, softcap = 0;  // softcap 0: none
  bool zero_nan = false;         // a query with NaN among its weights gives zeros
  // Query i stands at place i + past, or, with lengths, at i + lengths[batch] - queries; it sees the keys from its
  // place - left to its place + right, where -1 is no limit, and none from `lengths[batch]` on.
  int64_t past = 0, left = -1, right = -1;
  bool has_lengths = false;
  // The mask's elements for one query are neighbours; its last keys - mask_keys are hidden.
  bool has_mask = false, truth_mask = false;
  AttentionSteps mask;  // elements
  int64_t mask_keys = 0;
  bool half_units = false;  // as GemmLimits
  // Set by prepare_attention. pack_tasks 0: so few queries that keys and values are read where they stand.
  int64_t row_block = 0, blocks = 0, tasks = 0, key_block = 0, score_stride = 0, scratch_floats = 0;
  int64_t pack_tasks = 0, packed_head = 0, packed_floats = 0;  // of one head of keys and values, of all
};

struct AttentionOperands {
  const float *q, *k, *v;
  const void* mask;        // f32 summands, or bytes: 0 hides
  const int64_t* lengths;  // of each batch's keys, each 0 to keys: the caller has checked
  float* y;
  float* packed;  // packed_floats, 64-byte aligned; null without pack_tasks
};

// Chooses the blocks. Every dimension of the shape is at least 1. Pure.
void prepare_attention(AttentionArgs& args);

struct AttentionKernels {
  // Tasks begin to end of pack_tasks; all of them before the first of `run`.
  void (*pack)(const AttentionArgs& args, const AttentionOperands& at, int64_t begin, int64_t end);
  // `scratch` holds scratch_floats, 64-byte aligned.
  void (*run)(const AttentionArgs& args, const AttentionOperands& at, int64_t begin, int64_t end, float* scratch);
};
const AttentionKernels& attention_kernels(Isa isa);

}  // namespace mica
