// What a reference sees while a model runs.
#pragma once
#include "runtime/runner.h"

namespace mica {

class ReferenceRun final : public RunScope {
 public:
  struct Where {
    int depth;
    const RunControl& control;
  };
  ReferenceRun(Runner& runner, Frame& frame, const BoundSegment& segment, const ReferenceArguments& arguments,
               Where where)
      : runner_(runner),
        frame_(frame),
        segment_(segment),
        arguments_(arguments),
        where_(where),
        mark_(runner.temporary_.mark()) {}
  ~ReferenceRun() { runner_.temporary_.rewind(mark_); }
  Status begin();

  Status allocate_output(int i, std::span<const int64_t> dims) override;
  Status adopt_output(int i, OwnedTensor tensor) override;
  Result<void*> allocate(size_t bytes) override;
  Result<StringRef> keep(std::string_view text) override;
  Status call(int region, std::span<const RunValue> in, std::span<CallResult> out) override;
  Status check_stop() override { return mica::check_stop(where_.control); }

 private:
  RunValue value_of(uint32_t v) const;
  Runner& runner_;
  Frame& frame_;
  const BoundSegment& segment_;
  const ReferenceArguments& arguments_;
  Where where_;
  ReusablePool::Mark mark_;
};

}  // namespace mica
