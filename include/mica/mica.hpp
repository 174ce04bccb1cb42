// Mica for C++17: owners and views over the C interface (mica.h says what each call means). Nothing here throws; a call
// that can fail gives a Status or a Result.
//
//   auto context = mica::Context::create();
//   auto model = context->load("net.mica");
//   auto session = model->session();
//   std::vector<float> pixels(3 * 224 * 224);
//   session->set_input("image", mica::Tensor::of(pixels.data(), {1, 3, 224, 224}));
//   if (auto status = session->run(); !status.ok()) std::cerr << status.error().text();
//   for (float score : session->output(0)->span<float>()) ...
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mica/mica.h"

namespace mica {
// The inline namespace keeps these names apart from those inside a statically linked library.
inline namespace api {

// Owns what went wrong. Converts to true when there is something.
class Error {
 public:
  Error() = default;
  explicit Error(mica_error* error) : error_(error) {}
  Error(Error&& other) noexcept : error_(std::exchange(other.error_, nullptr)) {}
  Error& operator=(Error&& other) noexcept { return std::swap(error_, other.error_), *this; }
  ~Error() { mica_error_free(error_); }
  explicit operator bool() const { return error_ != nullptr; }
  int code() const { return mica_error_code(error_); }
  const char* what() const { return mica_error_what(error_); }
  const char* where() const { return mica_error_where(error_); }
  const char* hint() const { return mica_error_hint(error_); }
  const char* text() const { return mica_error_text(error_); }

 private:
  mica_error* error_ = nullptr;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(mica_error* error) : error_(error) {}
  bool ok() const { return !error_; }
  const Error& error() const { return error_; }
  Error take_error() { return std::move(error_); }

 private:
  Error error_;
};

// A value, or the error that stands in its place.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(mica_error* error) : error_(error) {}
  bool ok() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Error& error() const { return error_; }
  Error take_error() { return std::move(error_); }

 private:
  std::optional<T> value_;
  Error error_;
};

template <class T>
class Span {
 public:
  Span() = default;
  Span(T* data, size_t size) : data_(data), size_(size) {}
  T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// The element type of a C++ type; MICA_NONE for others. Half-width floats are given by their bits, with their type
// named.
template <class T>
constexpr mica_dtype dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>) return MICA_F32;
  if constexpr (std::is_same_v<U, double>) return MICA_F64;
  if constexpr (std::is_same_v<U, bool>) return MICA_BOOL;
  if constexpr (std::is_same_v<U, mica_string>) return MICA_STRING;
  if constexpr (std::is_integral_v<U> && !std::is_same_v<U, bool>) {
    constexpr bool is_signed = std::is_signed_v<U>;
    if constexpr (sizeof(U) == 1) return is_signed ? MICA_I8 : MICA_U8;
    if constexpr (sizeof(U) == 2) return is_signed ? MICA_I16 : MICA_U16;
    if constexpr (sizeof(U) == 4) return is_signed ? MICA_I32 : MICA_U32;
    if constexpr (sizeof(U) == 8) return is_signed ? MICA_I64 : MICA_U64;
  }
  return MICA_NONE;
}

// A dense tensor in source order whose memory somebody else owns.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const mica_tensor& raw) : raw_(raw) {}
  // Dimensions beyond MICA_MAX_RANK make a tensor that every call refuses.
  Tensor(mica_dtype dtype, const void* data, Span<const int64_t> dims) {
    raw_.data = const_cast<void*>(data);
    raw_.dtype = dtype;
    raw_.rank = static_cast<int32_t>(dims.size());
    for (size_t i = 0; i < dims.size() && i < MICA_MAX_RANK; ++i) raw_.dims[i] = dims[i];
  }
  Tensor(mica_dtype dtype, const void* data, const std::vector<int64_t>& dims)
      : Tensor(dtype, data, Span<const int64_t>(dims.data(), dims.size())) {}
  template <class T>
  static Tensor of(T* data, std::initializer_list<int64_t> dims) {
    static_assert(dtype_of<T>() != MICA_NONE, "name the element type: Tensor(MICA_F16, data, dims)");
    return Tensor(dtype_of<T>(), data, Span<const int64_t>(dims.begin(), dims.size()));
  }
  template <class T>
  static Tensor of(T* data, const std::vector<int64_t>& dims) {
    static_assert(dtype_of<T>() != MICA_NONE, "name the element type: Tensor(MICA_F16, data, dims)");
    return Tensor(dtype_of<T>(), data, dims);
  }

  const mica_tensor& raw() const { return raw_; }
  mica_dtype dtype() const { return raw_.dtype; }
  int rank() const { return raw_.rank; }
  int64_t dim(int axis) const { return raw_.dims[axis]; }
  Span<const int64_t> shape() const { return {raw_.dims, static_cast<size_t>(raw_.rank)}; }
  std::vector<int64_t> dims() const { return {raw_.dims, raw_.dims + raw_.rank}; }
  int64_t count() const {
    int64_t n = 1;
    for (int64_t d : shape()) n *= d;
    return n;
  }
  int64_t bytes() const { return mica_tensor_bytes(&raw_); }
  void* data() const { return raw_.data; }
  // The elements; empty when T is another type than theirs.
  template <class T>
  Span<T> span() const {
    if (dtype_of<T>() != raw_.dtype) return {};
    return {static_cast<T*>(raw_.data), static_cast<size_t>(count())};
  }

 private:
  mica_tensor raw_{};
};

class Session {
 public:
  explicit Session(mica_session* session) : session_(session) {}
  Session(Session&& other) noexcept
      : session_(std::exchange(other.session_, nullptr)), model_(std::exchange(other.model_, nullptr)) {}
  Session& operator=(Session&& other) noexcept {
    std::swap(session_, other.session_);
    std::swap(model_, other.model_);
    return *this;
  }
  ~Session() { mica_session_free(session_); }
  mica_session* get() const { return session_; }

  Status set_input(size_t index, const Tensor& tensor) {
    return mica_session_set_input(session_, index, &tensor.raw());
  }
  Status set_input(const std::string& name, const Tensor& tensor) {
    size_t index = 0;
    if (mica_error* error = find(MICA_INPUT, name.c_str(), index)) return error;
    return set_input(index, tensor);
  }
  Status take_back_input(size_t index) { return mica_session_set_input(session_, index, nullptr); }
  Status set_input_list(size_t index, const std::vector<Tensor>& items) {
    std::vector<mica_tensor> raw;
    raw.reserve(items.size());
    for (const Tensor& item : items) raw.push_back(item.raw());
    return mica_session_set_input_list(session_, index, raw.data(), raw.size());
  }
  Status set_output(size_t index, const Tensor& tensor) {
    return mica_session_set_output(session_, index, &tensor.raw());
  }
  Status take_back_output(size_t index) { return mica_session_set_output(session_, index, nullptr); }
  Result<mica_memory> prepare() {
    mica_memory memory = MICA_INIT(mica_memory);
    if (mica_error* error = mica_session_prepare(session_, &memory)) return error;
    return memory;
  }
  Result<mica_memory> memory() const {
    mica_memory memory = MICA_INIT(mica_memory);
    if (mica_error* error = mica_session_memory(session_, &memory)) return error;
    return memory;
  }
  Status run() { return mica_session_run(session_, nullptr); }
  Status run(const mica_run_options& options) { return mica_session_run(session_, &options); }
  Status run_async(void (*done)(void* user, mica_error* error) = nullptr, void* user = nullptr) {
    return mica_session_run_async(session_, nullptr, done, user);
  }
  Status wait() { return mica_session_wait(session_); }
  void cancel() { mica_session_cancel(session_); }

  Result<Tensor> output(size_t index) const {
    mica_tensor tensor{};
    if (mica_error* error = mica_session_output(session_, index, &tensor)) return error;
    return Tensor(tensor);
  }
  Result<std::vector<Tensor>> output_list(size_t index) const {
    size_t count = 0;
    if (mica_error* error = mica_session_output_count(session_, index, &count)) return error;
    std::vector<Tensor> items;
    for (size_t i = 0; i < count; ++i) {
      mica_tensor tensor{};
      if (mica_error* error = mica_session_output_item(session_, index, i, &tensor)) return error;
      items.emplace_back(tensor);
    }
    return items;
  }
  Status reset() { return mica_session_reset(session_); }
  Result<Tensor> state(size_t index) const {
    mica_tensor tensor{};
    if (mica_error* error = mica_session_state(session_, index, &tensor)) return error;
    return Tensor(tensor);
  }
  Status set_state(size_t index, const Tensor& tensor) {
    return mica_session_set_state(session_, index, &tensor.raw());
  }

 private:
  friend class Model;
  Session(mica_session* session, mica_model* model) : session_(session), model_(model) {}
  mica_error* find(mica_port port, const char* name, size_t& index) const {
    return mica_model_find(model_, port, name, &index);
  }
  mica_session* session_ = nullptr;
  mica_model* model_ = nullptr;  // kept alive by the session
};

class Model {
 public:
  explicit Model(mica_model* model) : model_(model) {}
  Model(Model&& other) noexcept : model_(std::exchange(other.model_, nullptr)) {}
  Model& operator=(Model&& other) noexcept { return std::swap(model_, other.model_), *this; }
  ~Model() { mica_model_free(model_); }
  mica_model* get() const { return model_; }

  size_t inputs() const { return mica_model_count(model_, MICA_INPUT); }
  size_t outputs() const { return mica_model_count(model_, MICA_OUTPUT); }
  size_t states() const { return mica_model_count(model_, MICA_STATE); }
  // `index` is below the count.
  mica_port_info info(mica_port port, size_t index) const {
    mica_port_info info = MICA_INIT(mica_port_info);
    mica_error_free(mica_model_info(model_, port, index, &info));
    return info;
  }
  mica_port_info input(size_t index) const { return info(MICA_INPUT, index); }
  mica_port_info output(size_t index) const { return info(MICA_OUTPUT, index); }
  mica_port_info state(size_t index) const { return info(MICA_STATE, index); }
  Result<size_t> find(mica_port port, const char* name) const {
    size_t index = 0;
    if (mica_error* error = mica_model_find(model_, port, name, &index)) return error;
    return index;
  }
  // "" when the model says nothing under this key.
  const char* metadata(const char* key) const {
    const char* value = mica_model_metadata(model_, key);
    return value ? value : "";
  }
  Result<Session> session(const mica_session_options& options = MICA_INIT(mica_session_options)) const {
    mica_session* session = nullptr;
    if (mica_error* error = mica_session_create(model_, &options, &session)) return error;
    return Session(session, model_);
  }

 private:
  mica_model* model_ = nullptr;
};

class Context {
 public:
  explicit Context(mica_context* context) : context_(context) {}
  static Result<Context> create(const mica_context_options& options = MICA_INIT(mica_context_options)) {
    mica_context* context = nullptr;
    if (mica_error* error = mica_context_create(&options, &context)) return error;
    return Context(context);
  }
  Context(Context&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  Context& operator=(Context&& other) noexcept { return std::swap(context_, other.context_), *this; }
  ~Context() { mica_context_free(context_); }
  mica_context* get() const { return context_; }

  int threads() const { return mica_context_threads(context_); }
  const char* isa() const { return mica_context_isa(context_); }
  const char* processor() const { return mica_context_processor(context_); }
  Status add_operator(const mica_operator& op) { return mica_context_add_operator(context_, &op); }
  Result<Model> load(const char* path, const mica_load_options& options = MICA_INIT(mica_load_options)) const {
    mica_model* model = nullptr;
    if (mica_error* error = mica_model_load_file(context_, path, &options, &model)) return error;
    return Model(model);
  }
  Result<Model> load(const std::string& path, const mica_load_options& options = MICA_INIT(mica_load_options)) const {
    return load(path.c_str(), options);
  }
  // `copy` false: the bytes outlive the model and are 64-byte aligned.
  Result<Model> load(const void* bytes, size_t size, bool copy = true) const {
    mica_load_options options = MICA_INIT(mica_load_options);
    options.copy = copy;
    mica_model* model = nullptr;
    if (mica_error* error = mica_model_load_memory(context_, bytes, size, &options, &model)) return error;
    return Model(model);
  }
  Result<Model> load(const mica_reader& reader) const {
    mica_model* model = nullptr;
    if (mica_error* error = mica_model_load_reader(context_, &reader, nullptr, &model)) return error;
    return Model(model);
  }

 private:
  mica_context* context_ = nullptr;
};

}  // namespace api
}  // namespace mica
