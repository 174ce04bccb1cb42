#include "measure/first_states.h"

namespace mica {

Result<FirstStates> FirstStates::of(Session& session) {
  FirstStates made(session);
  const auto& states = session.model().plan().states;
  for (size_t k = 0; k < states.size(); ++k) {
    if (session.is_given(states[k].input)) continue;
    Held held{k, {}};
    if (!session.is_fresh(k)) MICA_TRY_STATUS(held.copy.assign(session.state(k)));
    made.held_.push_back(std::move(held));
  }
  return made;
}

Status FirstStates::put_back() const {
  for (const Held& held : held_) {
    const TensorView& view = held.copy.view();
    MICA_TRY_STATUS(view.dtype == DType::kNone ? session_->reset_state(held.index)
                                               : session_->set_state(held.index, view));
  }
  return {};
}

}  // namespace mica
