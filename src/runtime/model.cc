#include "runtime/model.h"

#include <new>

namespace mica {

Result<Model*> Model::create(Context& context, Plan plan, void* keep, void (*release)(void*)) {
  void* place = allocate(sizeof(Model));
  if (!place) {
    if (release) release(keep);
    return out_of_memory();
  }
  auto* model = new (place) Model(context, std::move(plan));
  model->keep_ = keep;
  model->release_ = release;
  return model;
}

Model::~Model() {
  for (Packed& packed : packed_) deallocate(packed.data);
  if (release_) release_(keep_);
  pthread_mutex_destroy(&mutex_);
}

void Model::retain() { __atomic_add_fetch(&references_, 1, __ATOMIC_RELAXED); }

void Model::drop() {
  if (__atomic_sub_fetch(&references_, 1, __ATOMIC_ACQ_REL) > 0) return;
  this->~Model();
  deallocate(this);
}

Result<const void*> Model::packed(uint32_t index, const PackRequest& request) {
  const PlanConstant& constant = plan_.constants[index];
  if (constant.packing == request.key) return constant.data;
  MICA_TRY(const void* plain_data, plain(index));
  pthread_mutex_lock(&mutex_);
  const void* found = nullptr;
  for (const Packed& packed : packed_)
    if (packed.constant == index && packed.key == request.key) found = packed.data;
  Status status;
  if (!found) {
    void* data = allocate(request.bytes, kCacheLine);
    if (data) {
      int64_t dims[kMaxRank];
      for (int i = 0; i < constant.shape.rank; ++i) dims[i] = constant.shape[i].value();
      request.pack(dense_view(const_cast<void*>(plain_data), constant.dtype, {dims, static_cast<size_t>(constant.shape.rank)}), data, request.context);
      status = packed_.push_back({index, request.key, data});
      if (!status.ok()) deallocate(data); else packed_bytes_ += request.bytes;
    } else {
      status = out_of_memory();
    }
    found = data;
  }
  pthread_mutex_unlock(&mutex_);
  if (!status.ok()) return status.take_error();
  return found;
}

Result<const void*> Model::plain(uint32_t index) {
  const PlanConstant& constant = plan_.constants[index];
  MICA_CHECK(constant.packing.kind == 0, kInternal, "constant {} is stored packed and has no plain form here", index);
  return constant.data;
}

}  // namespace mica
