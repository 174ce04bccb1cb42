// A session of the C interface, and the thread that runs it asynchronously.
#pragma once
#include <pthread.h>

#include "api/handles.h"

namespace mica {

using DoneFn = void (*)(void* user, mica_error* error);

// One thread that waits for runs. Made when the first asynchronous run is asked for.
class Worker {
 public:
  struct Job {
    RunControl control;
    DoneFn done = nullptr;
    void* user = nullptr;
  };
  // Errors: kSystem when the thread cannot be made, kOutOfMemory.
  static Result<Worker*> create(mica_session& session);
  // Waits for the job under way. False in a job of its own: the thread frees the session, and itself, behind the job.
  static bool destroy(Worker* worker);
  void start(const Job& job);  // not before the one under way has run; its `done` may start the next
  // Waits until no job is under way; the error of the last one when nobody took it.
  Status wait();

 private:
  explicit Worker(mica_session& session) : session_(session) {}
  static void* main(void* self);
  void loop();
  mica_session& session_;
  pthread_t thread_;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  Job job_;
  bool asked_ = false, working_ = false, quit_ = false, frees_session_ = false;
  Status result_;
};

}  // namespace mica

struct mica_session {
  mica_model* model = nullptr;
  mica::Session* core = nullptr;
  std::atomic<bool> cancel{false}, busy{false};
  mica::Vector<mica::Object> lists;  // by input
  mica::Worker* worker = nullptr;
  // The caller's stage callback, and room for C forms of what it is shown.
  int (*stage)(void* user, const mica_stage_event* event) = nullptr;
  void* stage_user = nullptr;
  bool stage_outputs = false;
  mica::Arena event_memory;
  mica::Vector<mica::OwnedTensor> event_copies;
};

namespace mica {

void destroy(mica_session* session);
// Runs on the calling thread, with the session marked busy beforehand.
Status run_now(mica_session& session, const RunControl& control);

}  // namespace mica
