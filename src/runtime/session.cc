#include "runtime/session.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/checked.h"
#include "base/fp_mode.h"
#include "base/threads.h"

namespace mica {

Result<Session*> Session::create(Model& model, const RunnerOptions& options) {
  void* place = allocate(sizeof(Session), alignof(Session));
  if (!place) return out_of_memory();
  auto* session = new (place) Session(model, options);
  model.retain();
  if (Status status = session->begin(); !status.ok()) {
    destroy(session);
    return status.take_error();
  }
  return session;
}

void Session::destroy(Session* session) {
  if (!session) return;
  Model& model = session->model_;
  session->~Session();
  deallocate(session);
  model.drop();
}

Status Session::begin() {
  MICA_TRY(frame_, runner_.main_frame());
  MICA_TRY_STATUS(caller_out_.resize(main().outputs.size()));
  MICA_TRY_STATUS(given_.resize(main().inputs.size()));
  MICA_TRY_STATUS(states_.resize(model_.plan().states.size()));
  MICA_TRY_STATUS(symbols_.resize(model_.plan().dims.symbols()));
  for (size_t k = 0; k < states_.size(); ++k) {
    const Type& type = input_type(model_.plan().states[k].input);
    if (!type.shape.fixed()) continue;  // begins empty
    MICA_TRY(const int64_t count, element_count(type.shape));
    int64_t bytes = 0;
    MICA_CHECK(checked_mul<int64_t>(count, element_bytes(type.dtype), bytes), kBadShape, "a state is too large");
    MICA_TRY_STATUS(runner_.charge(static_cast<size_t>(bytes)));
  }
  return reset_states();
}

Status Session::reset_states() {
  for (size_t k = 0; k < states_.size(); ++k) {
    const Type& type = input_type(model_.plan().states[k].input);
    int64_t dims[kMaxRank];
    for (int i = 0; i < type.shape.rank; ++i)
      dims[i] = type.shape[i].is_fixed() ? type.shape[i].value() : 0;  // a growing axis begins empty
    MICA_TRY(states_[k], OwnedTensor::make(type.dtype, {dims, static_cast<size_t>(std::max<int>(type.shape.rank, 0))}));
    const TensorView& view = states_[k].view();
    std::memset(view.data, 0, static_cast<size_t>(dense_bytes(view.dtype, view.shape())));
  }
  return {};
}

// What both a caller and a state may give to input i.
Status Session::check_input(size_t i, const TensorView& tensor) const {
  const Type& type = input_type(i);
  const std::string_view name = model_.plan().name(model_.plan().inputs[i].name);
  MICA_CHECK(type.is_tensor(), kBadType, "input `{}` is not a tensor", name);
  MICA_CHECK(tensor.dtype == type.dtype, kBadType, "input `{}` takes {}, got {}", name, name_of(type.dtype),
             name_of(tensor.dtype));
  MICA_CHECK(!type.shape.known() || tensor.rank == type.shape.rank, kBadRank, "input `{}` takes rank {}, got {}", name,
             static_cast<int>(type.shape.rank), tensor.rank);
  for (int d = 0; d < type.shape.rank; ++d)
    MICA_CHECK(!type.shape[d].is_fixed() || type.shape[d].is(tensor.dim(d)), kBadShape,
               "input `{}` takes {} at axis {}, got {}", name, type.shape[d].value(), d, tensor.dim(d));
  MICA_CHECK(tensor.contiguous(), kUsage, "input `{}` must be dense", name);
  return {};
}

Status Session::set_state(size_t k, const TensorView& tensor) {
  MICA_CHECK(k < states_.size(), kNotFound, "there is no state {}", k);
  MICA_TRY_STATUS(check_input(model_.plan().states[k].input, tensor));
  MICA_TRY(states_[k], OwnedTensor::copy_of(tensor));
  return {};
}

Status Session::set_input(size_t i, const TensorView& tensor) {
  MICA_CHECK(i < main().inputs.size(), kNotFound, "there is no input {}", i);
  MICA_TRY_STATUS(check_input(i, tensor));
  const uint32_t v = main().inputs[i];
  frame_->views[v] = tensor;
  frame_->bases[kBaseFirstSlot + v] = tensor.data;
  given_[i] = true;
  return {};
}

Status Session::set_input_object(size_t i, Object* object) {
  MICA_CHECK(i < main().inputs.size(), kNotFound, "there is no input {}", i);
  MICA_CHECK(!input_type(i).is_tensor(), kBadType, "input {} takes a tensor", i);
  frame_->object_at[main().inputs[i]] = object;
  given_[i] = true;
  return {};
}

Status Session::set_output(size_t i, const TensorView& tensor) {
  MICA_CHECK(i < main().outputs.size(), kNotFound, "there is no output {}", i);
  MICA_CHECK(!tensor.data || tensor.contiguous(), kUsage, "the memory for output {} must be dense", i);
  caller_out_[i] = tensor;
  return {};
}

// A symbol must have one value in all inputs.
Status Session::bind_symbols(size_t i, const TensorView& tensor) {
  const Shape& shape = input_type(i).shape;
  for (int d = 0; d < shape.rank; ++d)
    MICA_CHECK(model_.plan().dims.solve(shape[d], tensor.dim(d), symbols_), kBadShape,
               "input `{}` has {} at axis {}, which other inputs contradict",
               model_.plan().name(model_.plan().inputs[i].name), tensor.dim(d), d);
  return {};
}

Status Session::check_inputs() {
  for (size_t k = 0; k < states_.size(); ++k) {
    const size_t i = model_.plan().states[k].input;
    if (given_[i]) continue;
    frame_->views[main().inputs[i]] = states_[k].view();
    frame_->bases[kBaseFirstSlot + main().inputs[i]] = states_[k].view().data;
  }
  std::ranges::fill(symbols_, -1);
  for (size_t i = 0; i < given_.size(); ++i) {
    const bool is_state = std::ranges::any_of(model_.plan().states, [&](const PlanState& s) { return s.input == i; });
    MICA_CHECK(given_[i] || is_state, kState, "input `{}` has not been set",
               model_.plan().name(model_.plan().inputs[i].name));
    if (input_type(i).is_tensor()) MICA_TRY_STATUS(bind_symbols(i, frame_->views[main().inputs[i]]));
  }
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const SymbolInfo& info = model_.plan().dims.symbol_info(i);
    MICA_CHECK(info.kind != SymbolKind::kBounded || symbols_[i] <= info.bound, kBadShape,
               "dimension `{}` is {}, beyond its bound of {}", info.name.view(), symbols_[i], info.bound);
  }
  for (uint32_t k = 0; k < main().outputs.size();
       ++k) {  // the caller's memory, where the value is not an operand itself
    const uint32_t v = main().outputs[k];
    if (main().values[v].kind == ValueKind::kFrame) frame_->given[v] = caller_out_[k];
  }
  return {};
}

Status Session::prepare() {
  MICA_TRY_STATUS(check_inputs());
  return runner_.prepare(*frame_);
}

Status Session::run(const RunControl& control) {
  ran_ = false;
  MICA_TRY_STATUS(check_inputs());
  runner_.begin_run();
  {
    const FlushDenormals flush;  // the caller's floating-point mode comes back at the brace
    Threads* threads = model_.context().threads;
    if (threads) threads->begin_burst();
    Status status = runner_.run(*frame_, 0, control);
    if (threads) threads->end_burst();
    MICA_TRY_STATUS(std::move(status));
  }
  ran_ = true;
  MICA_TRY_STATUS(deliver());
  return carry_states();
}

Result<TensorView> Session::output(size_t i) const {
  MICA_CHECK(i < main().outputs.size(), kNotFound, "there is no output {}", i);
  MICA_CHECK(ran_, kState, "no run has been completed yet");
  const uint32_t v = main().outputs[i];
  const PlanValue& value = main().values[v];
  if (value.kind != ValueKind::kConstant) return frame_->views[v];
  const PlanConstant& constant = model_.plan().constants[value.constant];
  int64_t dims[kMaxRank];
  for (int d = 0; d < constant.shape.rank; ++d) dims[d] = constant.shape[d].value();
  return dense_view(const_cast<void*>(constant.data), constant.dtype, {dims, static_cast<size_t>(constant.shape.rank)});
}

Result<const Object*> Session::output_object(size_t i) const {
  MICA_CHECK(i < main().outputs.size() && !output_type(i).is_tensor(), kNotFound, "output {} is not an object", i);
  MICA_CHECK(ran_, kState, "no run has been completed yet");
  return static_cast<const Object*>(frame_->object_at[main().outputs[i]]);
}

// Outputs that could not be written where the caller wants them.
Status Session::deliver() {
  for (size_t i = 0; i < caller_out_.size(); ++i) {
    if (!caller_out_[i].data || !output_type(i).is_tensor()) continue;
    MICA_TRY(const TensorView view, output(i));
    MICA_CHECK(view.dtype == caller_out_[i].dtype && std::ranges::equal(view.shape(), caller_out_[i].shape()),
               kBadShape, "the memory given for output {} has another type or shape than the result", i);
    if (view.data != caller_out_[i].data && !view.empty()) copy_elements(view, caller_out_[i]);
  }
  return {};
}

Status Session::carry_states() {
  for (size_t k = 0; k < states_.size(); ++k) {
    const PlanState& state = model_.plan().states[k];
    MICA_TRY(const TensorView view, output(state.output));
    const TensorView& held = states_[k].view();
    if (held.dtype == view.dtype && std::ranges::equal(held.shape(), view.shape())) {
      if (!view.empty()) copy_elements(view, held);
    } else {
      MICA_TRY(states_[k], OwnedTensor::copy_of(view));
    }
  }
  return {};
}

}  // namespace mica
