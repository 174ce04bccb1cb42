// stranger_convert MODEL OUT: what `mica convert` does, with a stranger's operators in the context.
#include <cstdio>

#include "mica/tools.hpp"
#include "operators.h"

int main(int count, char** words) {
  if (count != 3) return 2;
  mica_context* context = nullptr;
  mica_error* error = mica_context_create(nullptr, &context);
  if (!error) error = add_operators(context);
  if (!error) error = mica::tools::convert_file(context, words[1], words[2], {});
  if (error) std::fputs(mica_error_text(error), stderr);
  const int code = mica_error_code(error) ? 3 : 0;
  mica_error_free(error);
  mica_context_free(context);
  return code;
}
