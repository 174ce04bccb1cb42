#include "measure/compare.h"

#include <cmath>
#include <deque>
#include <map>

#include "base/os.h"

namespace mica {
namespace {

using Held = std::map<std::string, OwnedTensor, std::less<>>;

constexpr size_t kMostKept = size_t{256} << 20;  // bytes of values inside, when the time is limited

size_t size_of(const OwnedTensor& value) {
  return static_cast<size_t>(dense_bytes(value.view().dtype, value.view().shape()));
}

// What the stages of the first form made, by name; beyond `most` bytes the oldest are dropped.
struct Keeper {
  size_t most = SIZE_MAX, bytes = 0, stages = 0;
  Held values;
  std::deque<std::string> order;
  Status status;

  void keep(std::string_view name, OwnedTensor value) {
    bytes += size_of(value);
    order.emplace_back(name);
    values.insert_or_assign(order.back(), std::move(value));
    for (; bytes > most && order.size() > 1; order.pop_front()) {
      const auto oldest = values.find(order.front());
      bytes -= size_of(oldest->second);
      values.erase(oldest);
    }
  }
  static bool on_stage(void* user, const StageEvent& event) {
    auto& self = *static_cast<Keeper*>(user);
    ++self.stages;
    for (size_t i = 0; i < event.outputs.size(); ++i) {
      const TensorView& view = event.outputs[i];
      if (event.output_names[i].empty() || view.dtype == DType::kString || !view.data) continue;
      auto copy = OwnedTensor::copy_of(view);
      if (!copy.ok()) {
        self.status = copy.take_error();
        return false;
      }
      self.keep(event.output_names[i], copy.take());
    }
    return true;
  }
};

// Compares as the stages of the second form come.
struct Judge {
  const Held& values;
  const CompareOptions& options;
  CompareResult& result;
  bool stop_behind;  // the last value that was kept; there are no outputs then
  static bool on_stage(void* user, const StageEvent& event) {
    auto& self = *static_cast<Judge*>(user);
    for (size_t i = 0; i < event.outputs.size(); ++i) {
      const auto held = self.values.find(event.output_names[i]);
      if (held == self.values.end() || !event.outputs[i].data) continue;
      ++self.result.compared;
      if (!self.result.first_op.empty()) continue;
      ValueError found = compare_values(held->first, held->second.view(), event.outputs[i], self.options);
      if (self.stop_behind) self.result.elements += found.elements, self.result.finite += found.finite;
      if (!found.different) continue;
      self.result.first = std::move(found);
      self.result.first_stage = event.name;
      self.result.first_op = event.op;
      self.result.first_kernel = event.kernel;
    }
    return !self.stop_behind || self.result.compared < self.values.size();
  }
};

std::string_view output_name(const Session& session, size_t i) {
  const Plan& plan = session.model().plan();
  return plan.name(plan.outputs[i].name);
}

void compare_texts(const TensorView& a, const TensorView& b, ValueError& found) {
  const Elements left(a), right(b);
  for (int64_t i = 0, n = a.count(); i < n; ++i) found.wrong += left.text(i).view() != right.text(i).view();
  found.finite = found.elements;
  found.different = found.wrong > 0;
}

void compare_integers(const TensorView& a, const TensorView& b, ValueError& found) {
  const Elements left(a), right(b);
  double squares = 0;
  for (int64_t i = 0, n = a.count(); i < n; ++i) {
    const int64_t x = left.integer(i), y = right.integer(i);
    const double apart = std::fabs(static_cast<double>(x) - static_cast<double>(y));
    found.wrong += x != y;
    found.max_abs = std::max(found.max_abs, apart);
    found.max_ref = std::max(found.max_ref, std::fabs(static_cast<double>(x)));
    squares += apart * apart;
  }
  found.rms = found.elements ? std::sqrt(squares / static_cast<double>(found.elements)) : 0;
  found.finite = found.elements;
  found.different = found.wrong > 0;
}

void compare_floats(const TensorView& a, const TensorView& b, const CompareOptions& options, ValueError& found) {
  const Elements left(a), right(b);
  const int64_t n = a.count();
  int64_t best_a = 0, best_b = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double x = left.number(i), y = right.number(i);
    found.finite += std::isfinite(x) && std::isfinite(y);
    if (std::isfinite(x)) found.max_ref = std::max(found.max_ref, std::fabs(x));
    if (x > left.number(best_a)) best_a = i;
    if (y > right.number(best_b)) best_b = i;
  }
  const double tolerance = std::max(options.absolute, options.relative * found.max_ref);
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double x = left.number(i), y = right.number(i);
    if (std::isnan(x) || std::isnan(y)) {
      const bool both = std::isnan(x) && std::isnan(y);
      found.nan |= !both;
      found.wrong += !both;
      continue;
    }
    if (x == y) continue;
    const double apart = std::fabs(x - y);
    found.max_abs = std::max(found.max_abs, apart);
    found.wrong += !(apart <= tolerance);
    squares += apart * apart;
  }
  found.rms = n ? std::sqrt(squares / static_cast<double>(n)) : 0;
  found.same_best = best_a == best_b;
  found.different = found.wrong > 0;
}

Status run_watched(Session& session, StageFn fn, void* user, const RunControl& control = {}) {
  session.runner().set_stage_callback(fn, user);
  Status status = session.run(control);
  session.runner().set_stage_callback(nullptr, nullptr);
  return status;
}

// Items of a sequence or an optional, one by one.
void compare_objects(const std::string& name, const Object& a, const Object& b, const CompareOptions& options,
                     CompareResult& result) {
  if (a.tensors.size() != b.tensors.size() || a.objects.size() != b.objects.size()) {
    ValueError found;
    found.name = name;
    found.reason = std::to_string(a.tensors.size()) + " items against " + std::to_string(b.tensors.size());
    found.different = true;
    result.outputs.push_back(std::move(found));
    return;
  }
  for (size_t i = 0; i < a.tensors.size(); ++i)
    result.outputs.push_back(
        compare_values(name + "[" + std::to_string(i) + "]", a.tensors[i].view(), b.tensors[i].view(), options));
  for (size_t i = 0; i < a.objects.size(); ++i)
    compare_objects(name + "[" + std::to_string(i) + "]", a.objects[i], b.objects[i], options, result);
}

Status compare_outputs(Session& a, Session& b, const CompareOptions& options, CompareResult& result) {
  for (size_t i = 0; i < a.output_count(); ++i)
    for (size_t k = 0; k < b.output_count(); ++k) {
      const std::string name(output_name(a, i));
      if (name != output_name(b, k) || a.output_type(i).is_tensor() != b.output_type(k).is_tensor()) continue;
      if (a.output_type(i).is_tensor()) {
        MICA_TRY(const TensorView left, a.output(i));
        MICA_TRY(const TensorView right, b.output(k));
        result.outputs.push_back(compare_values(name, left, right, options));
      } else {
        MICA_TRY(const Object* left, a.output_object(i));
        MICA_TRY(const Object* right, b.output_object(k));
        compare_objects(name, *left, *right, options, result);
      }
    }
  MICA_CHECK(!result.outputs.empty(), kMismatch, "the two models have no output of the same name");
  for (const ValueError& output : result.outputs) {
    result.different |= output.different;
    result.elements += output.elements;
    result.finite += output.finite;
  }
  return {};
}

}  // namespace

ValueError compare_values(std::string name, const TensorView& a, const TensorView& b, const CompareOptions& options) {
  ValueError found;
  found.name = std::move(name);
  found.elements = a.count();
  if (a.dtype != b.dtype) {
    found.reason = "type " + std::string(name_of(a.dtype)) + " against " + std::string(name_of(b.dtype));
  } else if (!std::ranges::equal(a.shape(), b.shape())) {
    found.reason = "another shape";
  }
  found.different = !found.reason.empty();
  if (found.different) return found;
  if (a.dtype == DType::kString)
    compare_texts(a, b, found);
  else if (is_integer(a.dtype) || a.dtype == DType::kBool)
    compare_integers(a, b, found);
  else
    compare_floats(a, b, options, found);
  return found;
}

Result<CompareResult> compare(Session& a, Session& b, const CompareOptions& options) {
  CompareResult result;
  const bool limited = options.seconds > 0;
  if (!options.stages && !limited) {
    MICA_TRY_STATUS(a.run());
    MICA_TRY_STATUS(b.run());
    MICA_TRY_STATUS(compare_outputs(a, b, options, result));
    return result;
  }
  const auto control = [&] {
    return limited ? RunControl{.deadline_ns = now_ns() + static_cast<int64_t>(options.seconds * 1e9)} : RunControl{};
  };
  Keeper keeper;
  if (limited) keeper.most = kMostKept;
  Status status = run_watched(a, Keeper::on_stage, &keeper, control());
  MICA_TRY_STATUS(std::move(keeper.status));
  result.cut = limited && !status.ok() && status.error().code() == Code::kDeadline;
  if (!result.cut) MICA_TRY_STATUS(std::move(status));
  result.ran = keeper.stages;
  result.stages = a.model().plan().functions[0].stages.size();
  Judge judge{keeper.values, options, result, result.cut};
  if (result.cut) {
    Status early = run_watched(b, Judge::on_stage, &judge, control());
    if (early.ok() || early.error().code() == Code::kCancelled || early.error().code() == Code::kDeadline) {
      result.different = !result.first_op.empty();
      return result;
    }
    return early.take_error();
  }
  MICA_TRY_STATUS(options.stages ? run_watched(b, Judge::on_stage, &judge) : b.run());
  MICA_TRY_STATUS(compare_outputs(a, b, options, result));
  if (!options.stages && result.different) MICA_TRY_STATUS(run_watched(b, Judge::on_stage, &judge));
  return result;
}

}  // namespace mica
