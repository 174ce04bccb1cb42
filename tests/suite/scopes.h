// The three doors of an operator (InferScope, RunScope, BindScope), implemented plainly for tests.
#pragma once
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "kernels/pack/form.h"
#include "operand.h"
#include "step/run.h"

namespace mica::suite {

// Zeroed 64-byte aligned memory that lives as long as the pool.
class Pool {
 public:
  void* get(size_t bytes) {
    blocks_.emplace_back(allocate(bytes, kCacheLine), deallocate);
    std::memset(blocks_.back().get(), 0, bytes);
    return blocks_.back().get();
  }

 private:
  std::vector<std::unique_ptr<void, void (*)(void*)>> blocks_;
};

class TestInferScope final : public InferScope {
 public:
  Status infer_region(int, std::span<const InferValue>, std::span<InferValue>) override {
    return error(Code::kUnsupportedOperator, "operators with regions are tested in graphs");
  }
  int regions() const override { return 0; }
  void* allocate(size_t bytes) override { return pool_.get(bytes); }

 private:
  Pool pool_;
};

class TestRunScope final : public RunScope {
 public:
  std::vector<RunValue> in_values, out_values;
  std::vector<CallResult> results;  // outputs that this scope made
  std::vector<Type> known;          // inferred types: a fixed shape must be kept

  Status allocate_output(int i, std::span<const int64_t> dims) override {
    const auto k = static_cast<size_t>(i);
    if (k >= out_values.size()) return {};
    for (int64_t d : dims) MICA_CHECK(d >= 0, kBadShape, "output {} has a negative dimension {}", i, d);
    TensorView& view = out_values[k].tensor;
    if (view.data) {
      MICA_CHECK(std::ranges::equal(view.shape(), dims), kBadShape, "output {} has another shape than was inferred", i);
      return {};
    }
    MICA_TRY(OwnedTensor made, OwnedTensor::make(known[k].dtype, dims));
    view = made.view();
    results[k].tensor = std::move(made);
    return {};
  }
  Status adopt_output(int i, OwnedTensor tensor) override {
    const auto k = static_cast<size_t>(i);
    out_values[k].tensor = tensor.view();
    results[k].tensor = std::move(tensor);
    return {};
  }
  Result<void*> allocate(size_t bytes) override {
    if (bytes > size_t{1} << 31) return out_of_memory();
    void* place = pool_.get(bytes);
    std::memset(place, 0xff, bytes);
    return place;
  }
  Result<StringRef> keep(std::string_view text) override {
    kept_.emplace_back(text);
    return StringRef{kept_.back().data(), static_cast<int64_t>(text.size())};
  }
  Status call(int, std::span<const RunValue>, std::span<CallResult>) override {
    return error(Code::kUnsupportedOperator, "operators with regions are tested in graphs");
  }
  Status check_stop() override { return {}; }

 private:
  Pool pool_;
  std::deque<std::string> kept_;
};

// Collects steps and runs them.
class TestBindScope final : public BindScope {
 public:
  std::deque<StepSpec> steps;

  Result<void*> memory(size_t bytes) override { return pool_.get(bytes); }
  Result<const void*> packed(int index, const PackRequest& request) override {
    const BoundOperand& operand = input(index);
    MICA_CHECK(operand.present && operand.constant && operand.view.contiguous(), kState,
               "input {} is no plain constant", index);
    MICA_CHECK(request.pack || request.pack_parts, kState, "no packing function");
    void* place = pool_.get(request.bytes);
    if (request.pack) {
      request.pack(operand.view, place, request.context);
      return place;
    }
    const auto floats = static_cast<size_t>(packed_floats(request.from, operand.view.shape()));
    auto* from = static_cast<float*>(pool_.get(floats * sizeof(float)));
    pack_by_key(request.from, operand.view.shape(), operand.view.as<const float>(), from);
    for (int64_t i = request.parts; i-- > 0;) request.pack_parts(from, place, request.context, i, i + 1);
    return place;
  }
  Result<int> temporary(size_t bytes) override {
    temporaries_.push_back(bytes);
    return static_cast<int>(inputs.size() + outputs.size() + temporaries_.size()) - 1;
  }
  Status add(const StepSpec& step) override {
    steps.push_back(step);
    return {};
  }

  // Runs all steps. `chunk` tasks at a time (0: all at once), from the last chunk to the first when `reverse`, as
  // changing workers. Scratch and temporaries hold NaN before.
  void run(std::vector<void*> operands, int64_t chunk, bool reverse) const {
    Pool pool;
    for (size_t bytes : temporaries_) operands.push_back(poisoned(pool, bytes));
    for (const StepSpec& step : steps) {
      const int64_t size = chunk ? chunk : std::max<int64_t>(step.tasks, 1), pieces = (step.tasks + size - 1) / size;
      for (int64_t k = 0; k < pieces; ++k) {
        const int64_t piece = reverse ? pieces - 1 - k : k;
        const TaskRange range{piece * size, std::min(step.tasks, (piece + 1) * size), static_cast<int>(k % 3),
                              poisoned(pool, step.scratch_bytes)};
        step.kernel(step.arguments, operands.data(), range);
      }
    }
  }

 private:
  static void* poisoned(Pool& pool, size_t bytes) {
    void* place = pool.get(bytes + kCacheLine);
    std::memset(place, 0xff, bytes + kCacheLine);
    return place;
  }
  Pool pool_;
  std::vector<size_t> temporaries_;
};

}  // namespace mica::suite
