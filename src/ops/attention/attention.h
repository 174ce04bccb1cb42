// Attributes of scaled dot-product attention.
#pragma once
#include "types/attr.h"

namespace mica {

struct Attention {
  int64_t q_heads = 0, kv_heads = 0;
  float scale = 0;
  bool causal = false;
  float softcap = 0;
  int64_t left_window = -1, right_window = -1;
  int64_t scores = 0;
  bool zero_nan = false, mask_first = false;
  template <class V>
  void visit(V&& v) {
    v("q_heads", q_heads, "heads of the queries, for operands of 3 dimensions");
    v("kv_heads", kv_heads, "heads of keys and values, for operands of 3 dimensions; a divisor of q_heads");
    v("scale", scale, "factor of the scores; 0: 1 / sqrt(head size)");
    v("causal", causal, "a query sees no key after its own place");
    v("softcap", softcap, "scores s become softcap * tanh(s / softcap); 0: as they are");
    v("left_window", left_window, "how many keys before its own place a query sees; -1: all");
    v("right_window", right_window, "how many keys after its own place a query sees; -1: all");
    v("scores", scores,
      "what output 3 holds: 0 the scaled products, 1 after softcap, 2 after the mask, 3 after softmax");
    v("mask_first", mask_first, "the mask comes before softcap, also in the numbers of `scores`");
    v("zero_nan", zero_nan, "a query whose softmax is NaN gives zeros, as one that sees no key always does");
  }
};

}  // namespace mica
