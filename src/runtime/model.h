// A plan that sessions run: immutable, shared between threads. Owns packed forms of weights that the file does not
// hold.
#pragma once
#include <pthread.h>

#include "runtime/bind.h"
#include "runtime/packing.h"
#include "types/custom.h"

namespace mica {

class Threads;

// What sessions share: the machine, its workers, and operators added at run time. Outlives its models.
struct Context {
  Machine machine;
  Threads* threads = nullptr;
  // Operators of the caller's; searched before the built-in ones.
  Vector<const CustomOperator*> operators;
  const OpDef* find_operator(std::string_view name) const {
    for (const CustomOperator* custom : operators)
      if (custom->def.name == name) return &custom->def;
    return find_op(name);
  }
};

class Model final : public PackCache {
 public:
  // Owns the bytes that a plan's constants point into, and releases them.
  struct Keep {
    void* owner = nullptr;
    void (*release)(void*) = nullptr;
    bool pages = false;  // of a file: what leaves RAM comes back when it is read
  };
  // Takes both.
  static Result<Model*> create(Context& context, Plan plan, const Keep& keep);
  void retain();
  void drop();  // the last one destroys it

  const Plan& plan() const { return plan_; }
  Context& context() const { return context_; }
  Result<const void*> packed(uint32_t index, const PackRequest& request) override;
  Result<const void*> plain(uint32_t index) override;
  // Whether `packed`, or `plain` for the key of kind 0, takes no more memory.
  bool has_form(uint32_t index, const PackKey& key) const;
  size_t plain_bytes(uint32_t index) const;
  size_t packed_bytes() const { return packed_bytes_; }
  // Measured choices for this machine. Set before the model is shared.
  const Tuning& tuning() const { return tuning_; }
  void set_tuning(Tuning tuning) { tuning_ = std::move(tuning); }
  // What runs read: the forms that were made, and the constants that none was made of.
  size_t weight_bytes() const;

 private:
  Model(Context& context, Plan plan) : context_(context), plan_(std::move(plan)) {}
  ~Model();
  struct Packed {
    uint32_t constant;
    PackKey key;
    const void* data;
  };
  const void* find_packed(uint32_t index, const PackKey& key) const;
  Result<const void*> keep_packed(uint32_t index, const PackKey& key, const void* data, size_t bytes);
  Context& context_;
  Plan plan_;
  Tuning tuning_;
  Keep keep_;
  int references_ = 1;
  mutable pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  WeightMemory memory_;
  Vector<Packed> packed_;  // in memory_
  size_t packed_bytes_ = 0;
};

}  // namespace mica
