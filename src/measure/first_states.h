// The states that a session came with, so that every run of a measurement begins from them: all runs do the same work,
// and a state that grows stays within its bound.
#pragma once
#include <vector>

#include "runtime/session.h"

namespace mica {

class FirstStates {
 public:
  // Copies them. Those that the caller gives as inputs are not read by a run, and are left alone. Errors: kOutOfMemory.
  static Result<FirstStates> of(Session& session);
  Status put_back() const;

 private:
  explicit FirstStates(Session& session) : session_(&session) {}
  struct Held {
    size_t index;
    OwnedTensor copy;  // without a type: zeros, of the size that the inputs ask for
  };
  Session* session_;
  std::vector<Held> held_;
};

}  // namespace mica
