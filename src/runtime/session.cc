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
  return reset_states();
}

Status Session::reserve_state(size_t k) {
  const DimTable& dims = model_.plan().dims;
  MICA_TRY_STATUS(bounds_.assign(symbols_));
  for (size_t i = 0; i < bounds_.size(); ++i)
    if (dims.symbol_info(i).kind == SymbolKind::kBounded) bounds_[i] = dims.symbol_info(i).bound;
  const PlanState& state = model_.plan().states[k];
  for (const Type* type : {&input_type(state.input), &output_type(state.output)}) {
    int64_t sizes[kMaxRank];
    bool known = type->shape.known();
    for (int i = 0; known && i < type->shape.rank; ++i) {
      sizes[i] = dims.evaluate(type->shape[i], bounds_);
      known = sizes[i] >= 0 && sizes[i] < INT64_MAX;
    }
    if (known) MICA_TRY_STATUS(hold(k, type->dtype, {sizes, static_cast<size_t>(type->shape.rank)}));
  }
  return {};
}

// Makes a state a tensor of these dims; its contents are lost when it grows.
Status Session::hold(size_t k, DType dtype, std::span<const int64_t> dims) {
  State& state = states_[k];
  int64_t bytes = element_bytes(DType::kC128);
  for (int64_t d : dims)
    MICA_CHECK(d >= 0 && checked_mul<int64_t>(bytes, std::max<int64_t>(d, 1), bytes), kBadShape,
               "a state is too large");
  const TensorView view = dense_view(nullptr, dtype, dims);
  const auto size = static_cast<size_t>(dense_bytes(dtype, dims));
  if (size > state.memory.size()) {
    MICA_TRY_STATUS(runner_.charge(size - state.memory.size()));
    MICA_TRY_STATUS(state.memory.ensure(size));
  }
  state.view = view;
  state.view.data = state.memory.data();
  return {};
}

Status Session::reset_states() {
  for (size_t k = 0; k < states_.size(); ++k) MICA_TRY_STATUS(reset_state(k));
  return {};
}

Status Session::reset_state(size_t k) {
  given_[model_.plan().states[k].input] = false;
  std::ranges::fill(symbols_, -1);
  return begin_state(k);
}

// Zeros; an axis whose symbol has no number yet begins empty.
Status Session::begin_state(size_t k) {
  MICA_TRY_STATUS(reserve_state(k));
  const Type& type = input_type(model_.plan().states[k].input);
  int64_t dims[kMaxRank];
  for (int i = 0; i < type.shape.rank; ++i)
    dims[i] = std::max<int64_t>(model_.plan().dims.evaluate(type.shape[i], symbols_), 0);
  MICA_TRY_STATUS(hold(k, type.dtype, {dims, static_cast<size_t>(std::max<int>(type.shape.rank, 0))}));
  const TensorView& view = states_[k].view;
  if (!view.empty()) std::memset(view.data, 0, static_cast<size_t>(dense_bytes(view.dtype, view.shape())));
  states_[k].fresh = true;
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
  const size_t i = model_.plan().states[k].input;
  MICA_TRY_STATUS(check_input(i, tensor));
  given_[i] = false;
  return copy_to_state(k, tensor);
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

Status Session::clear_input(size_t i) {
  MICA_CHECK(i < main().inputs.size(), kNotFound, "there is no input {}", i);
  frame_->views[main().inputs[i]] = {};
  given_[i] = false;
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
  for (int d = 0; d < shape.rank; ++d) {
    if (model_.plan().dims.solve(shape[d], tensor.dim(d), symbols_)) continue;
    String dimension;
    MICA_TRY_STATUS(model_.plan().dims.print(shape[d], dimension));
    return error(Code::kBadShape, "input `{}` has {} at axis {}, which the dimension `{}` elsewhere contradicts",
                 model_.plan().name(model_.plan().inputs[i].name), tensor.dim(d), d, dimension.view());
  }
  return {};
}

bool Session::is_state(size_t i) const {
  return std::ranges::any_of(model_.plan().states, [&](const PlanState& s) { return s.input == i; });
}

Status Session::check_inputs() {
  std::ranges::fill(symbols_, -1);
  // Twice: a dimension of several symbols tells one of them when the others are known.
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 0; i < given_.size(); ++i) {
      MICA_CHECK(given_[i] || is_state(i), kState, "input `{}` has not been set",
                 model_.plan().name(model_.plan().inputs[i].name));
      if (given_[i] && input_type(i).is_tensor()) MICA_TRY_STATUS(bind_symbols(i, frame_->views[main().inputs[i]]));
    }
  for (size_t k = 0; k < states_.size(); ++k) {
    const size_t i = model_.plan().states[k].input;
    if (given_[i]) continue;
    if (states_[k].fresh) MICA_TRY_STATUS(begin_state(k));
    frame_->views[main().inputs[i]] = states_[k].view;
    frame_->bases[kBaseFirstSlot + main().inputs[i]] = states_[k].view.data;
    MICA_TRY_STATUS(bind_symbols(i, states_[k].view));
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
    const Burst burst(model_.context().threads);
    MICA_TRY_STATUS(runner_.run(*frame_, 0, control));
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

// `tensor` may stand in the state's own memory.
Status Session::copy_to_state(size_t k, const TensorView& tensor) {
  State& state = states_[k];
  const auto* begin = static_cast<const char*>(state.memory.data());
  const auto* from = static_cast<const char*>(tensor.data);
  const bool inside = begin && from >= begin && from < begin + state.memory.size();
  OwnedTensor copy;
  if (inside) {
    MICA_TRY(copy, OwnedTensor::copy_of(tensor));
  }
  MICA_TRY_STATUS(hold(k, tensor.dtype, tensor.shape()));
  if (!tensor.empty()) copy_elements(inside ? copy.view() : tensor, state.view);
  state.fresh = false;
  return {};
}

Status Session::carry_states() {
  for (size_t k = 0; k < states_.size(); ++k) {
    const uint32_t port = model_.plan().states[k].output;
    MICA_TRY(const TensorView view, output(port));
    Buffer& slot = frame_->slots[main().outputs[port]];
    if (slot.data() && view.data == slot.data() && view.contiguous()) {
      std::swap(slot, states_[k].memory);
      states_[k].view = view;
      states_[k].fresh = false;
    } else {
      MICA_TRY_STATUS(copy_to_state(k, view));
    }
  }
  return {};
}

size_t Session::memory_bytes() const {
  size_t sum = runner_.memory_bytes();
  for (const State& state : states_) sum += state.memory.size();
  return sum;
}

}  // namespace mica
