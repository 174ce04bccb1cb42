// The library's objects as Python holds them, and what each file of the module adds to it.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "mica/tools.hpp"
#include "values.h"

namespace mica::python {

struct FreeContext {
  void operator()(mica_context* context) const { mica_context_free(context); }
};
struct FreeModel {
  void operator()(mica_model* model) const { mica_model_free(model); }
};
struct FreeSession {
  void operator()(mica_session* session) const { mica_session_free(session); }
};

struct PyContext {
  std::unique_ptr<mica_context, FreeContext> handle;
};

struct PyModel {
  std::unique_ptr<mica_model, FreeModel> handle;
};

mica_port_info port_info(const mica_model* model, mica_port port, size_t index);

// A session of one model. Any number of threads may call it: they wait for each other, without holding the
// interpreter.
class PySession {
 public:
  PySession(const PyModel& model, const mica_session_options& options);
  mica_session* get() const { return handle_.get(); }
  mica_model* model() const { return model_; }
  void check_not_mine() const;
  void lock();
  bool try_lock();
  void unlock();

  // Under the lock: hands the inputs to the library, and keeps them until others replace them. Inputs that were
  // replaced are left in `inputs`, for the caller to drop. An input of a state becomes the state.
  void set(std::vector<Input>& inputs);
  // Under the lock, after a run.
  nb::object output(size_t index) const;

 private:
  mica_error* set_one(size_t index, const Input& input);
  mica_model* model_;              // kept alive by the session
  std::vector<int64_t> state_of_;  // by input; -1: none
  std::vector<Input> held_;
  std::unique_ptr<mica_session, FreeSession> handle_;
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};  // of the lock
};

// The inputs of a session, in the model's order.
std::vector<Input> to_inputs(const PySession& session, const nb::list& values);

// Locks without holding the interpreter while waiting. Errors: 6003 when this thread has the lock already, as a signal
// handler has that calls the model which it interrupts.
template <class... Sessions>
auto locked(Sessions&... sessions) {
  (sessions.check_not_mine(), ...);
  nb::gil_scoped_release release;
  return std::scoped_lock<Sessions...>(sessions...);
}

void add_models(nb::module_& module);
void add_sessions(nb::module_& module);
void add_tools(nb::module_& module);

}  // namespace mica::python
