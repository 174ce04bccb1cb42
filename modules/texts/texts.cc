// The module of operators on texts.
#include "modules/texts/texts.h"

// Each is added whatever becomes of the others: the application may have one of them itself.
mica_error* mica_add_texts(mica_context* context) {
  mica_error* first = nullptr;
  const mica_operator* const operators[] = {&mica_texts::regex_full_match, &mica_texts::tokenizer};
  for (const mica_operator* op : operators) {
    mica_error* error = mica_context_add_operator(context, op);
    if (!first)
      first = error;
    else
      mica_error_free(error);
  }
  return first;
}
