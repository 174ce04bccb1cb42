#include "runtime/model.h"

#include <algorithm>
#include <new>

#include "base/os.h"
#include "kernels/pack/form.h"

namespace mica {

Result<Model*> Model::create(Context& context, Plan plan, const Keep& keep) {
  void* place = allocate(sizeof(Model));
  if (!place) {
    if (keep.release) keep.release(keep.owner);
    return out_of_memory();
  }
  auto* model = new (place) Model(context, std::move(plan));
  model->keep_ = keep;
  return model;
}

Model::~Model() {
  if (keep_.release) keep_.release(keep_.owner);
  pthread_mutex_destroy(&mutex_);
}

void Model::retain() { __atomic_add_fetch(&references_, 1, __ATOMIC_RELAXED); }

void Model::drop() {
  if (__atomic_sub_fetch(&references_, 1, __ATOMIC_ACQ_REL) > 0) return;
  this->~Model();
  deallocate(this);
}

namespace {

// Holds a mutex while it lives.
class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

struct ConstantDims {
  int64_t list[kMaxRank];
  int rank;
  explicit ConstantDims(const PlanConstant& constant) : rank(constant.shape.rank) {
    for (int i = 0; i < rank; ++i) list[i] = constant.shape[i].value();
  }
  std::span<const int64_t> span() const { return {list, static_cast<size_t>(rank)}; }
};

}  // namespace

const void* Model::find_packed(uint32_t index, const PackKey& key) const {
  for (const Packed& packed : packed_)
    if (packed.constant == index && packed.key == key) return packed.data;
  return nullptr;
}

bool Model::has_form(uint32_t index, const PackKey& key) const {
  if (plan_.constants[index].packing == key) return true;
  Lock lock(mutex_);
  return find_packed(index, key) != nullptr;
}

size_t Model::plain_bytes(uint32_t index) const {
  const PlanConstant& constant = plan_.constants[index];
  return static_cast<size_t>(dense_bytes(constant.dtype, ConstantDims(constant).span()));
}

size_t Model::weight_bytes() const {
  Lock lock(mutex_);
  size_t sum = packed_bytes_;
  for (uint32_t i = 0; i < plan_.constants.size(); ++i)
    if (std::ranges::find(packed_, i, &Packed::constant) == packed_.end()) sum += plan_.constants[i].bytes;
  return sum;
}

// What memory_ gave last.
Result<const void*> Model::keep_packed(uint32_t index, const PackKey& key, const void* data, size_t bytes) {
  if (Status status = packed_.push_back({index, key, data}); !status.ok()) {
    memory_.give_back(bytes);
    return status.take_error();
  }
  packed_bytes_ += bytes;
  return data;
}

Result<const void*> Model::packed(uint32_t index, const PackRequest& request) {
  const PlanConstant& constant = plan_.constants[index];
  if (constant.packing == request.key) return constant.data;
  const bool direct = request.pack_parts && constant.packing == request.from;
  const void* source = constant.data;
  if (!direct) {
    MICA_TRY(source, plain(index));
  }
  Lock lock(mutex_);
  if (const void* found = find_packed(index, request.key)) return found;
  void* data = memory_.take(request.bytes);
  if (!data) return out_of_memory();
  const TensorView view = dense_view(const_cast<void*>(source), constant.dtype, ConstantDims(constant).span());
  if (Status made = make_packed(view, direct ? request.from : PackKey(), request, data, context_.threads); !made.ok()) {
    memory_.give_back(request.bytes);
    return made.take_error();
  }
  // Runs read the form that was made: what the file holds need not stay in RAM beside it.
  if (keep_.pages && constant.owned.empty() && source == constant.data) forget_pages(source, constant.bytes);
  return keep_packed(index, request.key, data, request.bytes);
}

// The file's packed forms are all of f32; `validate` has checked that key, shape and size agree.
Result<const void*> Model::plain(uint32_t index) {
  const PlanConstant& constant = plan_.constants[index];
  if (constant.packing.kind == 0) return constant.data;
  Lock lock(mutex_);
  if (const void* found = find_packed(index, PackKey())) return found;
  const ConstantDims dims(constant);
  MICA_CHECK(packed_floats(constant.packing, dims.span()) >= 0, kInternal,
             "constant {} has a packed form that cannot be undone", index);
  const auto bytes = static_cast<size_t>(dense_bytes(constant.dtype, dims.span()));
  void* data = memory_.take(bytes);
  if (!data) return out_of_memory();
  unpack_by_key(constant.packing, dims.span(), static_cast<const float*>(constant.data), static_cast<float*>(data));
  return keep_packed(index, PackKey(), data, bytes);
}

}  // namespace mica
