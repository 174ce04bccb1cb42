// Sessions of the C interface.
#include <new>

#include "api/session_handle.h"
#include "base/os.h"

namespace mica {
namespace {

Result<const char*> c_text(std::string_view text, Arena& arena) {
  MICA_TRY(const std::string_view copy, arena.copy_text(text));
  return copy.data();
}

// A dense form of a stage's result, which may be strided.
Result<mica_tensor> shown(const TensorView& view, mica_session& session) {
  mica_tensor made = tensor_of(view);
  if (!session.stage_outputs) made.data = nullptr;
  if (!made.data || view.contiguous() || view.empty()) return made;
  MICA_TRY(OwnedTensor copy, OwnedTensor::copy_of(view));
  made.data = copy.view().data;
  MICA_TRY_STATUS(session.event_copies.push_back(std::move(copy)));
  return made;
}

Result<int> tell_stage(mica_session& session, const StageEvent& event) {
  Arena& arena = session.event_memory;
  arena.reset();
  session.event_copies.clear();
  mica_stage_event told = MICA_INIT(mica_stage_event);
  MICA_TRY(told.name, c_text(event.name, arena));
  MICA_TRY(told.op, c_text(event.op, arena));
  MICA_TRY(told.kernel, c_text(event.kernel, arena));
  told.begin_ns = event.begin_ns;
  told.end_ns = event.end_ns;
  MICA_TRY(const auto outputs, arena.make_array<mica_tensor>(event.outputs.size()));
  MICA_TRY(const auto names, arena.make_array<const char*>(event.outputs.size()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    MICA_TRY(outputs[i], shown(event.outputs[i], session));
    MICA_TRY(names[i], c_text(event.output_names[i], arena));
  }
  told.outputs = outputs.data();
  told.output_names = names.data();
  told.output_count = outputs.size();
  return session.stage(session.stage_user, &told);
}

// Without memory for the event the run ends, rather than with a stage that nobody was told of.
bool on_stage(void* user, const StageEvent& event) {
  auto told = tell_stage(*static_cast<mica_session*>(user), event);
  return told.ok() && *told == 0;
}

Result<mica_session*> make_session(mica_model* model, const mica_session_options* given) {
  MICA_CHECK(model, kUsage, "a session needs a model");
  MICA_TRY(const mica_session_options options, read_struct(given));
  RunnerOptions runner;
  if (options.memory_cap) runner.memory_cap = options.memory_cap;
  runner.exact = options.exact != 0;
  runner.low_memory = options.low_memory != 0;
  runner.reference_only = options.reference != 0;
  runner.row_chains = options.row_chains < 0   ? RowChainMode::kNever
                      : options.row_chains > 0 ? RowChainMode::kAlways
                                               : RowChainMode::kChoose;
  void* place = allocate(sizeof(mica_session), alignof(mica_session));
  if (!place) return out_of_memory();
  auto* session = new (place) mica_session();
  session->model = model;
  retain(model);
  Status status = session->lists.resize(model->ports[MICA_INPUT].size());
  if (status.ok()) {
    auto core = Session::create(*model->core, runner);
    if (core.ok())
      session->core = *core;
    else
      status = core.take_error();
  }
  if (!status.ok()) {
    destroy(session);
    return status.take_error();
  }
  session->stage = options.stage;
  session->stage_user = options.stage_user;
  session->stage_outputs = options.stage_outputs != 0;
  if (options.stage) session->core->runner().set_stage_callback(on_stage, session, options.stage_outputs);
  return session;
}

Status check_idle(const mica_session* session) {
  MICA_CHECK(session, kUsage, "the session is null");
  MICA_CHECK(!session->busy.load(std::memory_order_acquire), kState, "a run of this session is under way");
  return {};
}

Status set_input(mica_session* session, size_t index, const mica_tensor* tensor) {
  MICA_TRY_STATUS(check_idle(session));
  if (!tensor) return session->core->clear_input(index);
  MICA_TRY(const TensorView view, view_of(tensor));
  return session->core->set_input(index, view);
}

Status set_list(mica_session* session, size_t index, const mica_tensor* items, size_t count) {
  MICA_TRY_STATUS(check_idle(session));
  MICA_CHECK(index < session->core->input_count(), kNotFound, "there is no input {}", index);
  MICA_CHECK(items || count == 0, kUsage, "the list of items is null");
  // Of an optional sequence, no list at all is no sequence; a list without items is an empty one.
  const Type& type = session->core->input_type(index);
  const bool nested = type.kind == Kind::kOptional && type.of == Kind::kSequence;
  MICA_CHECK((type.kind == Kind::kSequence || type.kind == Kind::kOptional) && (type.of == Kind::kTensor || nested),
             kBadType, "input {} is neither a sequence nor an optional of tensors", index);
  MICA_CHECK(type.kind == Kind::kSequence || nested || count <= 1, kUsage, "an optional holds at most one item, got {}",
             count);
  Object list;
  list.kind = nested ? Kind::kSequence : type.kind;
  list.dtype = type.dtype;
  for (size_t i = 0; i < count; ++i) {
    MICA_TRY(const TensorView view, view_of(items + i));
    MICA_CHECK(view.dtype == type.dtype, kBadType, "input {} holds {}, item {} is {}", index, name_of(type.dtype), i,
               name_of(view.dtype));
    MICA_TRY(OwnedTensor copy, OwnedTensor::copy_of(view));
    MICA_TRY_STATUS(list.tensors.push_back(std::move(copy)));
  }
  Object& held = session->lists[index];
  if (nested) {
    held = Object();
    held.kind = Kind::kOptional;
    held.dtype = type.dtype;
    if (items) MICA_TRY_STATUS(held.objects.push_back(std::move(list)));
  } else {
    held = std::move(list);
  }
  return session->core->set_input_object(index, &held);
}

Status set_output(mica_session* session, size_t index, const mica_tensor* tensor) {
  MICA_TRY_STATUS(check_idle(session));
  if (!tensor) return session->core->set_output(index, TensorView());
  MICA_TRY(const TensorView view, view_of(tensor));
  MICA_CHECK(index < session->core->output_count(), kNotFound, "there is no output {}", index);
  const Type& type = session->core->output_type(index);
  MICA_CHECK(type.is_tensor() && type.dtype == view.dtype, kBadType, "output {} is not of type {}", index,
             name_of(view.dtype));
  return session->core->set_output(index, view);
}

Status memory_of(const mica_session& session, mica_memory* memory) {
  if (!memory) return {};
  Runner& runner = session.core->runner();
  mica_memory made{};
  made.arena = runner.arena_bytes();
  made.arena_bound = runner.arena_bound();
  made.total = session.core->memory_bytes();
  made.binds = runner.binds();
  made.refreshes = runner.refreshes();
  made.packed_weights = session.model->core->packed_bytes();
  made.weights = session.model->core->weight_bytes();
  return write_struct(made, memory);
}

Status prepare(mica_session* session, mica_memory* memory) {
  MICA_TRY_STATUS(check_idle(session));
  MICA_TRY_STATUS(session->core->prepare());
  return memory_of(*session, memory);
}

// Marks the session busy, which one caller at a time succeeds in, and works out what may stop the run.
Result<RunControl> begin_run(mica_session* session, const mica_run_options* given) {
  MICA_CHECK(session, kUsage, "the session is null");
  MICA_TRY(const mica_run_options options, read_struct(given));
  MICA_CHECK(options.timeout_ns >= 0, kUsage, "the time allowed is negative");
  MICA_CHECK(!session->busy.exchange(true, std::memory_order_acq_rel), kState, "a run of this session is under way");
  session->cancel.store(false, std::memory_order_relaxed);
  int64_t deadline = 0;
  if (options.timeout_ns && __builtin_add_overflow(now_ns(), options.timeout_ns, &deadline)) deadline = 0;
  return RunControl{&session->cancel, deadline, options.stop, options.stop_user};
}

Status run(mica_session* session, const mica_run_options* options) {
  MICA_TRY(const RunControl control, begin_run(session, options));
  return run_now(*session, control);
}

Status run_async(mica_session* session, const mica_run_options* options, DoneFn done, void* user) {
  MICA_TRY(const RunControl control, begin_run(session, options));
  if (!session->worker) {
    auto worker = Worker::create(*session);
    if (!worker.ok()) {
      session->busy.store(false, std::memory_order_release);
      return worker.take_error();
    }
    session->worker = *worker;
  }
  session->worker->start({control, done, user});
  return {};
}

Status output(const mica_session* session, size_t index, mica_tensor* tensor) {
  MICA_TRY_STATUS(check_idle(session));
  MICA_CHECK(tensor, kUsage, "there is no place for the tensor");
  MICA_CHECK(index >= session->core->output_count() || session->core->output_type(index).is_tensor(), kBadType,
             "output {} is no tensor: ask for its items", index);
  MICA_TRY(const TensorView view, session->core->output(index));
  MICA_CHECK(view.contiguous(), kInternal, "output {} is not dense", index);
  *tensor = tensor_of(view);
  return {};
}

// The tensors in an output that is a sequence, or an optional.
Result<const Object*> items_of(const mica_session* session, size_t index) {
  MICA_TRY_STATUS(check_idle(session));
  MICA_TRY(const Object* object, session->core->output_object(index));
  MICA_CHECK(object, kState, "output {} has no value", index);
  if (object->kind == Kind::kOptional && !object->objects.empty()) object = &object->objects[0];
  MICA_CHECK(object->objects.empty(), kBadType, "output {} does not hold tensors", index);
  return object;
}

Status output_item(const mica_session* session, size_t index, size_t item, mica_tensor* tensor) {
  MICA_TRY(const Object* object, items_of(session, index));
  MICA_CHECK(tensor, kUsage, "there is no place for the tensor");
  MICA_CHECK(item < object->tensors.size(), kNotFound, "output {} has {} items, there is no item {}", index,
             object->tensors.size(), item);
  *tensor = tensor_of(object->tensors[item].view());
  return {};
}

Status output_count(const mica_session* session, size_t index, size_t* count) {
  MICA_TRY(const Object* object, items_of(session, index));
  MICA_CHECK(count, kUsage, "there is no place for the count");
  *count = object->tensors.size();
  return {};
}

Status reset(mica_session* session) {
  MICA_TRY_STATUS(check_idle(session));
  return session->core->reset_states();
}

Status state(const mica_session* session, size_t index, mica_tensor* tensor) {
  MICA_TRY_STATUS(check_idle(session));
  MICA_CHECK(tensor, kUsage, "there is no place for the tensor");
  MICA_CHECK(index < session->model->ports[MICA_STATE].size(), kNotFound, "there is no state {}", index);
  *tensor = tensor_of(session->core->state(index));
  return {};
}

Status set_state(mica_session* session, size_t index, const mica_tensor* tensor) {
  MICA_TRY_STATUS(check_idle(session));
  MICA_CHECK(index < session->model->ports[MICA_STATE].size(), kNotFound, "there is no state {}", index);
  MICA_TRY(const TensorView view, view_of(tensor));
  return session->core->set_state(index, view);
}

}  // namespace

void destroy(mica_session* session) {
  if (!session) return;
  session->cancel.store(true);
  if (!Worker::destroy(session->worker)) return;
  Session::destroy(session->core);
  mica_model* model = session->model;
  session->~mica_session();
  deallocate(session);
  drop(model);
}

Status run_now(mica_session& session, const RunControl& control) {
  Status status = session.core->run(control);
  session.busy.store(false, std::memory_order_release);
  return status;
}

}  // namespace mica

extern "C" {

mica_error* mica_session_create(mica_model* model, const mica_session_options* options, mica_session** session) {
  if (!session) return mica::give(mica::error(mica::Code::kUsage, "there is no place for the session"));
  auto made = mica::make_session(model, options);
  if (!made.ok()) return mica::give(made.take_error());
  *session = *made;
  return nullptr;
}
void mica_session_free(mica_session* session) { mica::destroy(session); }
mica_error* mica_session_set_input(mica_session* session, size_t index, const mica_tensor* tensor) {
  return mica::give(mica::set_input(session, index, tensor));
}
mica_error* mica_session_set_input_list(mica_session* session, size_t index, const mica_tensor* items, size_t count) {
  return mica::give(mica::set_list(session, index, items, count));
}
mica_error* mica_session_set_output(mica_session* session, size_t index, const mica_tensor* tensor) {
  return mica::give(mica::set_output(session, index, tensor));
}
mica_error* mica_session_prepare(mica_session* session, mica_memory* memory) {
  return mica::give(mica::prepare(session, memory));
}
mica_error* mica_session_memory(const mica_session* session, mica_memory* memory) {
  mica::Status status = mica::check_idle(session);
  return mica::give(status.ok() ? mica::memory_of(*session, memory) : std::move(status));
}
mica_error* mica_session_run(mica_session* session, const mica_run_options* options) {
  return mica::give(mica::run(session, options));
}
mica_error* mica_session_run_async(mica_session* session, const mica_run_options* options,
                                   void (*done)(void* user, mica_error* error), void* user) {
  return mica::give(mica::run_async(session, options, done, user));
}
mica_error* mica_session_wait(mica_session* session) {
  return session && session->worker ? mica::give(session->worker->wait()) : nullptr;
}
void mica_session_cancel(mica_session* session) {
  if (session) session->cancel.store(true, std::memory_order_relaxed);
}
mica_error* mica_session_output(const mica_session* session, size_t index, mica_tensor* tensor) {
  return mica::give(mica::output(session, index, tensor));
}
mica_error* mica_session_output_count(const mica_session* session, size_t index, size_t* count) {
  return mica::give(mica::output_count(session, index, count));
}
mica_error* mica_session_output_item(const mica_session* session, size_t index, size_t item, mica_tensor* tensor) {
  return mica::give(mica::output_item(session, index, item, tensor));
}
mica_error* mica_session_reset(mica_session* session) { return mica::give(mica::reset(session)); }
mica_error* mica_session_state(const mica_session* session, size_t index, mica_tensor* tensor) {
  return mica::give(mica::state(session, index, tensor));
}
mica_error* mica_session_set_state(mica_session* session, size_t index, const mica_tensor* tensor) {
  return mica::give(mica::set_state(session, index, tensor));
}

}  // extern "C"
