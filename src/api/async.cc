// Asynchronous runs.
#include <new>
#include <utility>

#include "api/session_handle.h"
#include "base/os.h"

namespace mica {

Result<Worker*> Worker::create(mica_session& session) {
  void* place = allocate(sizeof(Worker));
  if (!place) return out_of_memory();
  auto* worker = new (place) Worker(session);
  if (const int code = pthread_create(&worker->thread_, nullptr, main, worker); code != 0) {
    worker->~Worker();
    deallocate(worker);
    return error(Code::kSystem, "cannot start a thread: system error {}", code);
  }
  return worker;
}

bool Worker::destroy(Worker* worker) {
  if (!worker) return true;
  const bool own = pthread_equal(pthread_self(), worker->thread_);
  pthread_mutex_lock(&worker->mutex_);
  worker->quit_ = true;
  const bool later = worker->frees_session_ = own && worker->working_;
  pthread_cond_broadcast(&worker->changed_);
  pthread_mutex_unlock(&worker->mutex_);
  if (later) return false;
  if (own)
    pthread_detach(worker->thread_);
  else
    pthread_join(worker->thread_, nullptr);
  pthread_cond_destroy(&worker->changed_);
  pthread_mutex_destroy(&worker->mutex_);
  worker->~Worker();
  deallocate(worker);
  return true;
}

void Worker::start(const Job& job) {
  pthread_mutex_lock(&mutex_);
  job_ = job;
  asked_ = true;
  result_ = Status();
  pthread_cond_broadcast(&changed_);
  pthread_mutex_unlock(&mutex_);
}

Status Worker::wait() {
  MICA_CHECK(!pthread_equal(pthread_self(), thread_), kState, "a run's `done` cannot wait for the run");
  pthread_mutex_lock(&mutex_);
  while (asked_ || working_) pthread_cond_wait(&changed_, &mutex_);
  Status result = std::move(result_);
  result_ = Status();
  pthread_mutex_unlock(&mutex_);
  return result;
}

void* Worker::main(void* self) {
  static_cast<Worker*>(self)->loop();
  return nullptr;
}

void Worker::loop() {
  pthread_mutex_lock(&mutex_);
  for (;;) {
    while (!asked_ && !quit_) pthread_cond_wait(&changed_, &mutex_);
    if (!asked_) break;  // one that was asked for before the end still runs: its `done` is owed
    const Job job = job_;
    asked_ = false;
    working_ = true;
    pthread_mutex_unlock(&mutex_);
    Status status = run_now(session_, job.control);
    if (job.done) job.done(job.user, give(std::exchange(status, Status())));
    pthread_mutex_lock(&mutex_);
    if (!job.done) result_ = std::move(status);
    working_ = false;
    pthread_cond_broadcast(&changed_);
  }
  pthread_mutex_unlock(&mutex_);
  if (frees_session_) mica::destroy(&session_);  // this worker is gone then
}

}  // namespace mica
