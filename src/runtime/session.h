// One stream of runs over a model: its inputs, outputs, states and memory. Not thread-safe; as many per model as
// wanted.
#pragma once
#include "runtime/runner.h"

namespace mica {

class Session {
 public:
  // Keeps the model alive.
  static Result<Session*> create(Model& model, const RunnerOptions& options = {});
  static void destroy(Session* session);

  Model& model() const { return model_; }
  Runner& runner() { return runner_; }

  // The input's type with symbols where the model has them. Positions are those of Plan::inputs and Plan::outputs.
  const Type& input_type(size_t i) const { return main().values[main().inputs[i]].type; }
  const Type& output_type(size_t i) const { return main().values[main().outputs[i]].type; }
  size_t input_count() const { return main().inputs.size(); }
  size_t output_count() const { return main().outputs.size(); }

  // Dense memory in source order that stays the caller's and must live until the run ends. Checks type and shape at the
  // door.
  Status set_input(size_t i, const TensorView& tensor);
  Status set_input_object(size_t i, Object* object);
  // What is set, or what the last prepare or run took from a state, of which only the sizes are to be relied on; null
  // when there is neither, and for what is no tensor.
  const TensorView* input(size_t i) const {
    const TensorView& view = frame_->views[main().inputs[i]];
    return view.dtype == DType::kNone ? nullptr : &view;
  }
  // Whether the caller has set it: of a state's input, the state is not read then.
  bool is_given(size_t i) const { return given_[i]; }
  // An input as it was before it was set: a state's input reads the state again.
  Status clear_input(size_t i);
  // Dense memory for an output; its shape is checked when the run knows it. A view without data takes it back.
  Status set_output(size_t i, const TensorView& tensor);
  // Binds for the inputs' shapes (their contents are not read) and reserves memory.
  Status prepare();
  Status run(const RunControl& control = {});
  // Valid until the next run; memory of the session or of the caller.
  Result<TensorView> output(size_t i) const;
  Result<const Object*> output_object(size_t i) const;

  // States: an output that feeds an input of the next run. Zeros at first. Setting or resetting one takes back what its
  // input was given.
  Status reset_states();
  Status reset_state(size_t k);
  Status set_state(size_t k, const TensorView& tensor);  // copies
  TensorView state(size_t k) const { return states_[k].view; }
  // Zeros that no run has read yet: their sizes come with the inputs.
  bool is_fresh(size_t k) const { return states_[k].fresh; }

  size_t memory_bytes() const;  // all that the session holds for its runs

 private:
  Session(Model& model, const RunnerOptions& options) : model_(model), runner_(model, options) {}
  const PlanFunction& main() const { return model_.plan().functions[0]; }
  Status begin();
  Status check_input(size_t i, const TensorView& tensor) const;
  Status bind_symbols(size_t i, const TensorView& tensor);
  Status check_inputs();
  bool is_state(size_t i) const;
  Status deliver();
  // Memory for a state at the bounds of its dimensions, as far as those are known.
  Status reserve_state(size_t k);
  Status hold(size_t k, DType dtype, std::span<const int64_t> dims);
  Status begin_state(size_t k);
  Status copy_to_state(size_t k, const TensorView& tensor);
  Status carry_states();

  Model& model_;
  Runner runner_;
  Frame* frame_ = nullptr;
  Vector<TensorView> caller_out_;
  Vector<bool> given_;  // inputs that the caller has set
  // A state's memory and that of the output it comes from change places behind each run: what was written is read next,
  // and nothing is copied.
  struct State {
    Buffer memory;
    TensorView view;
    bool fresh = true;  // zeros, of the size that the inputs ask for
  };
  Vector<State> states_;
  Vector<int64_t> symbols_, bounds_;  // numbers of the run's symbols; the same with bounded ones at their bounds
  bool ran_ = false;
};

}  // namespace mica
