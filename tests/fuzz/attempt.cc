#include "attempt.h"

#include <algorithm>
#include <cstring>

#include "base/os.h"
#include "convert/convert.h"
#include "convert/write.h"
#include "ir/text.h"
#include "runtime/load.h"
#include "runtime/session.h"
#include "seeds.h"

namespace mica::fuzz {
namespace {

constexpr size_t kMemoryCap = size_t{16} << 20;  // references of moving operators ask between runs over such a one
constexpr int64_t kDeadlineNs = 3'000'000'000;
constexpr int64_t kMostElements = 1 << 20;  // of an input
Context context;
std::string data_folder;

Bytes view_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

// Small numbers, some of them outside what indices may be.
void fill(const TensorView& view, Random& random) {
  const auto bytes = static_cast<size_t>(dense_bytes(view.dtype, view.shape()));
  auto* at = static_cast<unsigned char*>(view.data);
  if (view.dtype == DType::kString) return;
  if (view.dtype == DType::kF32)
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
      const float v =
          random() % 256 ? static_cast<float>(random() % 64) / 16 - 2 : std::bit_cast<float>(uint32_t(random()));
      std::memcpy(at + i, &v, 4);
    }
  else if (view.dtype == DType::kBool)
    for (size_t i = 0; i < bytes; ++i) at[i] = random() % 2;
  else if (view.dtype == DType::kI64 || view.dtype == DType::kI32)
    for (size_t i = 0, step = view.dtype == DType::kI64 ? 8 : 4; i + step <= bytes; i += step) {
      const int64_t v = random() % 16 ? static_cast<int64_t>(random() % 4) : static_cast<int64_t>(random());
      std::memcpy(at + i, &v, step);
    }
  else
    std::memset(at, random() % 4 == 0 ? 0xff : 0, bytes);
}

// Dimensions that the model leaves open are small, and equal where it says so.
class OpenDims {
 public:
  explicit OpenDims(Random& random) : random_(random) {}
  int64_t operator()(Dim dim) {
    if (dim.is_fixed()) return dim.value();
    for (const auto& [known, size] : sizes_)
      if (known == dim) return size;
    sizes_.emplace_back(dim, 1 + static_cast<int64_t>(random_() % 3));
    return sizes_.back().second;
  }

 private:
  Random& random_;
  std::vector<std::pair<Dim, int64_t>> sizes_;
};

bool feed(Session& session, std::vector<OwnedTensor>& inputs, Random& random) {
  OpenDims sizes(random);
  for (size_t i = 0; i < session.input_count(); ++i) {
    const Type& type = session.input_type(i);
    if (!type.is_tensor()) return false;
    std::vector<int64_t> dims;
    double count = 1;
    for (Dim d : type.shape.span()) {
      dims.push_back(sizes(d));
      count *= static_cast<double>(dims.back());
    }
    if (count > kMostElements) return false;
    Result<OwnedTensor> tensor = OwnedTensor::make(type.dtype, dims);
    if (!tensor.ok()) return false;
    inputs.push_back(tensor.take());
    fill(inputs.back().view(), random);
    if (!session.set_input(i, inputs.back().view()).ok()) return false;
  }
  return true;
}

// Twice: states are carried, segments are found again, other shapes are bound.
Stage run_session(Session& session, Random& random) {
  Stage reached = Stage::kFeed;
  for (int k = 0; k < 2; ++k) {
    std::vector<OwnedTensor> inputs;
    if (!feed(session, inputs, random)) break;
    if (reached == Stage::kFeed) reached = Stage::kRun;
    if (!session.run({.deadline_ns = now_ns() + kDeadlineNs}).ok()) break;
    reached = Stage::kRan;
    for (size_t i = 0; i < session.output_count(); ++i) (void)session.output(i).ok();
  }
  return reached;
}

Stage run_model(Model& model, Random& random) {
  Result<Session*> made = Session::create(model, {.memory_cap = kMemoryCap});
  if (!made.ok()) return Stage::kOpen;
  Session* session = made.take();
  const Stage reached = run_session(*session, random);
  Session::destroy(session);
  return reached;
}

Result<Lowered> compile_text(const std::string& text, const ConvertOptions& options, ConvertReport& report) {
  try {
    return compile(graph_from_text(text), options, report);
  } catch (const Failure& failure) {
    return failure.error->copy();
  }
}

// The bytes of the compiled model, or none and where it was refused.
Stage compile_file(const std::string& bytes, Kind kind, std::vector<std::byte>& to) {
  Stage reached = Stage::kImport;
  ConvertReport report;
  report.watch = [&](std::string_view stage, const Graph&) {
    reached = stage == "import" ? Stage::kDeclutter : Stage::kLower;
  };
  ConvertOptions options;
  options.import = import_options(bytes);
  options.declutter.fold = {.bytes = 32 << 20, .total = 32 << 20, .flops = 1 << 27};  // sanitizers: ten times as slow
  Source source;
  source.bytes = view_of(bytes);
  source.folder = data_folder;
  Result<Lowered> lowered =
      kind == Kind::kText ? compile_text(bytes, options, report) : convert(source, options, report);
  if (!lowered.ok()) return reached;
  const Lowered compiled = lowered.take();
  Result<std::vector<std::byte>> written = mica_bytes(compiled.plan);
  if (written.ok()) to = written.take();
  return Stage::kWrite;
}

}  // namespace

Kind kind_of(const std::string& bytes) {
  if (looks_like_plan(view_of(bytes)) || bytes.find("MICA") == 1) return Kind::kMica;
  return bytes.starts_with("graph \"") ? Kind::kText : Kind::kOnnx;
}

void begin_attempts(const std::string& folder) {
  context.machine = describe_machine({.threads = 2}).take();
  data_folder = folder;
}

Stage attempt(const std::string& file, Kind kind, Random& random) {
  std::vector<std::byte> made;
  Bytes bytes = view_of(file);
  if (kind != Kind::kMica) {
    const Stage reached = compile_file(file, kind, made);
    if (made.empty()) return reached;
    bytes = made;
  }
  Result<Model*> loaded = load_model_from_memory(context, bytes, true);
  if (!loaded.ok()) return Stage::kLoad;
  Model* model = loaded.take();
  const Stage reached = run_model(*model, random);
  model->drop();
  return reached;
}

}  // namespace mica::fuzz
