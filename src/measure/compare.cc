#include "measure/compare.h"

#include <cmath>
#include <map>

namespace mica {
namespace {

using Held = std::map<std::string, OwnedTensor, std::less<>>;

// What the stages of the first form made, by name.
struct Keeper {
  Held values;
  Status status;
  static bool on_stage(void* user, const StageEvent& event) {
    auto& self = *static_cast<Keeper*>(user);
    for (size_t i = 0; i < event.outputs.size(); ++i) {
      const TensorView& view = event.outputs[i];
      if (event.output_names[i].empty() || view.dtype == DType::kString || !view.data) continue;
      auto copy = OwnedTensor::copy_of(view);
      if (!copy.ok()) {
        self.status = copy.take_error();
        return false;
      }
      self.values.insert_or_assign(std::string(event.output_names[i]), copy.take());
    }
    return true;
  }
};

// Compares as the stages of the second form come.
struct Judge {
  const Held& values;
  const CompareOptions& options;
  CompareResult& result;
  static bool on_stage(void* user, const StageEvent& event) {
    auto& self = *static_cast<Judge*>(user);
    for (size_t i = 0; i < event.outputs.size(); ++i) {
      const auto held = self.values.find(event.output_names[i]);
      if (held == self.values.end() || !event.outputs[i].data) continue;
      ++self.result.compared;
      if (!self.result.first_op.empty()) continue;
      ValueError found = compare_values(held->first, held->second.view(), event.outputs[i], self.options);
      if (!found.different) continue;
      self.result.first = std::move(found);
      self.result.first_stage = event.name;
      self.result.first_op = event.op;
      self.result.first_kernel = event.kernel;
    }
    return true;
  }
};

std::string_view output_name(const Session& session, size_t i) {
  const Plan& plan = session.model().plan();
  return plan.name(plan.outputs[i].name);
}

void compare_texts(const TensorView& a, const TensorView& b, ValueError& found) {
  const Elements left(a), right(b);
  for (int64_t i = 0, n = a.count(); i < n; ++i) found.wrong += left.text(i).view() != right.text(i).view();
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
  found.different = found.wrong > 0;
}

void compare_floats(const TensorView& a, const TensorView& b, const CompareOptions& options, ValueError& found) {
  const Elements left(a), right(b);
  const int64_t n = a.count();
  int64_t best_a = 0, best_b = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double x = left.number(i), y = right.number(i);
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

Status run_watched(Session& session, StageFn fn, void* user) {
  session.runner().set_stage_callback(fn, user);
  Status status = session.run();
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
  for (const ValueError& output : result.outputs) result.different |= output.different;
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
  if (!options.stages) {
    MICA_TRY_STATUS(a.run());
    MICA_TRY_STATUS(b.run());
  } else {
    Keeper keeper;
    Status status = run_watched(a, Keeper::on_stage, &keeper);
    MICA_TRY_STATUS(std::move(keeper.status));
    MICA_TRY_STATUS(std::move(status));
    Judge judge{keeper.values, options, result};
    MICA_TRY_STATUS(run_watched(b, Judge::on_stage, &judge));
  }
  MICA_TRY_STATUS(compare_outputs(a, b, options, result));
  return result;
}

}  // namespace mica
