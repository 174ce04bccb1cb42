#pragma once
#include "types/attr.h"

namespace mica {

struct Scan {
  int64_t states = 0, scanned = 0;
  bool batched = false;
  Ints input_axes, output_axes, input_reverse, output_reverse;
  template <class V>
  void visit(V&& v) {
    v("states", states, "values that go from one turn to the next");
    v("scanned", scanned, "inputs of which each turn takes a slice");
    v("batched", batched, "axis 0 of states, scanned inputs and outputs is a batch, and input 0 its sequence lengths");
    v("input_axes", input_axes, "the axis along which each scanned input is cut; empty: the first");
    v("output_axes", output_axes, "the axis along which each collected output grows; empty: the first");
    v("input_reverse", input_reverse, "1 for scanned inputs that are taken from the end");
    v("output_reverse", output_reverse, "1 for outputs whose first slice is the last turn's");
  }
};

}  // namespace mica
