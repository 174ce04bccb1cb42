// Sessions: inputs in, a run without the interpreter, outputs out.
#include <nanobind/stl/vector.h>

#include <cstring>

#include "objects.h"

namespace mica::python {
namespace {

struct SessionFlags {
  size_t memory_cap = 0;
  bool exact = false, low_memory = false, reference = false;
};

mica_session_options options_of(const SessionFlags& flags) {
  mica_session_options options = MICA_INIT(mica_session_options);
  options.memory_cap = flags.memory_cap;
  options.exact = flags.exact;
  options.low_memory = flags.low_memory;
  options.reference = flags.reference;
  return options;
}

nb::object from_items(mica_session* session, size_t index, bool optional_tensor, bool optional) {
  size_t count = 0;
  check(mica_session_output_count(session, index, &count));
  if (optional && count == 0) return nb::none();
  nb::list items;
  for (size_t i = 0; i < count; ++i) {
    mica_tensor item{};
    check(mica_session_output_item(session, index, i, &item));
    items.append(from_tensor(item));
  }
  return optional_tensor ? nb::object(items[0]) : nb::object(items);
}

// The caller's memory for outputs, for the time of one run.
class Places {
 public:
  Places(PySession& session, const std::vector<size_t>& wanted, const nb::list& given) : session_(session.get()) {
    if (given.size() != 0 && given.size() != wanted.size()) fail(6001, "one place per wanted output is needed");
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i].is_none()) continue;
      tensors_.emplace_back(nb::cast<nb::tuple>(given[i]), BorrowedTensor::Use::kWrite);
      indices_.push_back(wanted[i]);
    }
  }
  Places(const Places&) = delete;
  ~Places() {
    for (const size_t index : indices_) mica_error_free(mica_session_set_output(session_, index, nullptr));
  }
  // Under the session's lock.
  void set() {
    for (size_t i = 0; i < indices_.size(); ++i)
      check(mica_session_set_output(session_, indices_[i], &tensors_[i].tensor()));
  }

 private:
  mica_session* session_;
  std::vector<BorrowedTensor> tensors_;
  std::vector<size_t> indices_;
};

// What ends runs from any thread, those that begin later included.
struct Stop {
  std::atomic<bool> asked{false};
};

struct Call {
  std::vector<size_t> wanted;
  nb::list places;  // by wanted output the caller's memory or None; empty: none
  int64_t timeout_ns = 0;
  const Stop* stop = nullptr;
};

// What a run asks before each step.
struct Watch {
  Signals signals;
  const Stop* stop = nullptr;
  bool stops() {
    return (stop && stop->asked.load(std::memory_order_relaxed)) || (signals.are_mine() && signals.raised());
  }
};

// The outputs that are wanted; None for those that went to the caller's memory.
nb::list call(PySession& session, const nb::list& values, const Call& asked) {
  std::vector<Input> inputs = to_inputs(session, values);
  const auto lock = locked(session);
  Places places(session, asked.wanted, asked.places);
  places.set();
  session.set(inputs);
  Watch watch{{}, asked.stop};
  mica_run_options options = MICA_INIT(mica_run_options);
  options.timeout_ns = asked.timeout_ns;
  if (watch.stop || watch.signals.are_mine()) {
    options.stop = [](void* user) { return static_cast<int>(static_cast<Watch*>(user)->stops()); };
    options.stop_user = &watch;
  }
  mica_error* error = nullptr;
  {
    nb::gil_scoped_release release;
    error = mica_session_run(session.get(), &options);
  }
  watch.signals.rethrow(error);
  check(error);
  nb::list outputs;
  for (size_t i = 0; i < asked.wanted.size(); ++i) {
    const bool placed = asked.places.size() != 0 && !asked.places[i].is_none();
    outputs.append(placed ? nb::none() : session.output(asked.wanted[i]));
  }
  return outputs;
}

nb::object state(PySession& session, size_t index) {
  const auto lock = locked(session);
  mica_tensor tensor{};
  check(mica_session_state(session.get(), index, &tensor));
  return from_tensor(tensor);
}

void set_state(PySession& session, size_t index, const nb::tuple& value) {
  const BorrowedTensor tensor(value);
  const auto lock = locked(session);
  check(mica_session_set_state(session.get(), index, &tensor.tensor()));
}

void reset(PySession& session) {
  const auto lock = locked(session);
  check(mica_session_reset(session.get()));
}

// With inputs, memory for their shapes; without, what the last ones took.
nb::dict memory(PySession& session, const nb::list& values) {
  std::vector<Input> inputs = to_inputs(session, values);
  const auto lock = locked(session);
  session.set(inputs);
  mica_memory memory = MICA_INIT(mica_memory);
  if (values.size() != 0)
    check(mica_session_prepare(session.get(), &memory));
  else
    check(mica_session_memory(session.get(), &memory));
  nb::dict made;
  made["arena"] = memory.arena;
  made["arena_bound"] = memory.arena_bound;
  made["total"] = memory.total;
  made["packed_weights"] = memory.packed_weights;
  made["weights"] = memory.weights;
  made["binds"] = memory.binds;
  made["refreshes"] = memory.refreshes;
  return made;
}

}  // namespace

PySession::PySession(const PyModel& model, const mica_session_options& options) : model_(model.handle.get()) {
  const size_t count = mica_model_count(model_, MICA_INPUT);
  held_.resize(count);
  state_of_.assign(count, -1);
  for (size_t i = 0; i < mica_model_count(model_, MICA_STATE); ++i)
    state_of_[port_info(model_, MICA_STATE, i).state_input] = static_cast<int64_t>(i);
  mica_session* session = nullptr;
  check(mica_session_create(model_, &options, &session));
  handle_.reset(session);
}

void PySession::check_not_mine() const {
  if (owner_.load(std::memory_order_relaxed) == std::this_thread::get_id())
    fail(6003, "a run of this session is under way", "give the handler a session of its own: model.session()");
}

void PySession::lock() {
  mutex_.lock();
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

bool PySession::try_lock() {
  if (!mutex_.try_lock()) return false;
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  return true;
}

void PySession::unlock() {
  owner_.store(std::thread::id(), std::memory_order_relaxed);
  mutex_.unlock();
}

mica_error* PySession::set_one(size_t index, const Input& input) {
  switch (input.kind) {
    case Input::Kind::kNotGiven: return nullptr;
    case Input::Kind::kNoValue: return mica_session_set_input_list(get(), index, nullptr, 0);
    case Input::Kind::kTensor:
      return state_of_[index] >= 0
                 ? mica_session_set_state(get(), static_cast<size_t>(state_of_[index]), &input.tensors[0].tensor())
                 : mica_session_set_input(get(), index, &input.tensors[0].tensor());
    case Input::Kind::kList: break;
  }
  std::vector<mica_tensor> items;
  for (const BorrowedTensor& item : input.tensors) items.push_back(item.tensor());
  const mica_tensor nothing{};
  return mica_session_set_input_list(get(), index, items.empty() ? &nothing : items.data(), items.size());
}

void PySession::set(std::vector<Input>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind == Input::Kind::kNotGiven) continue;
    check(set_one(i, inputs[i]));
    if (inputs[i].kind == Input::Kind::kTensor && state_of_[i] < 0) std::swap(held_[i], inputs[i]);
  }
}

nb::object PySession::output(size_t index) const {
  const mica_port_info info = port_info(model_, MICA_OUTPUT, index);
  if (!info.is_tensor) {
    const bool optional = std::strncmp(info.type, "opt(", 4) == 0;
    const bool sequence = std::strstr(info.type, "seq(") != nullptr;
    return from_items(get(), index, optional && !sequence, optional);
  }
  mica_tensor tensor{};
  check(mica_session_output(get(), index, &tensor));
  return from_tensor(tensor);
}

std::vector<Input> to_inputs(const PySession& session, const nb::list& values) {
  std::vector<Input> inputs;
  if (values.size() != 0 && values.size() != mica_model_count(session.model(), MICA_INPUT))
    fail(6001, "one value per input of the model is needed");
  for (nb::handle value : values) inputs.push_back(to_input(value));
  return inputs;
}

void add_sessions(nb::module_& module) {
  nb::class_<Stop>(module, "Stop")
      .def(nb::init<>())
      .def_prop_rw(
          "asked", [](const Stop& self) { return self.asked.load(std::memory_order_relaxed); },
          [](Stop& self, bool asked) { self.asked.store(asked, std::memory_order_relaxed); });
  nb::class_<PySession>(module, "Session")
      .def(
          "__init__",
          [](PySession* place, const PyModel& model, size_t memory_cap, bool exact, bool low_memory, bool reference) {
            new (place) PySession(model, options_of({memory_cap, exact, low_memory, reference}));
          },
          nb::arg("model"), nb::kw_only(), nb::arg("memory_cap"), nb::arg("exact"), nb::arg("low_memory"),
          nb::arg("reference"))
      .def(
          "call",
          [](PySession& self, const nb::list& values, std::vector<size_t> wanted, int64_t timeout_ns,
             const nb::list& places, const Stop* stop) {
            return call(self, values, {std::move(wanted), places, timeout_ns, stop});
          },
          nb::arg("values"), nb::arg("wanted"), nb::arg("timeout_ns"), nb::arg("places"), nb::arg("stop").none())
      .def("cancel", [](const PySession& self) { mica_session_cancel(self.get()); })
      .def("state", &state, nb::arg("index"))
      .def("set_state", &set_state, nb::arg("index"), nb::arg("value"))
      .def("reset", &reset)
      .def("memory", &memory, nb::arg("values"));
}

}  // namespace mica::python
