/* app MODEL [plain]: runs a `.mica` file that holds a stranger's operators on -1, 2, -3, 4 and prints the results; with
 * `plain` the context does not get the operators, and loading must fail. */
#include <stdio.h>
#include <string.h>

#include "operators.h"

static mica_error* run(mica_model* model, mica_session** session, mica_tensor* result) {
  static float values[] = {-1, 2, -3, 4};
  const mica_tensor x = {values, MICA_F32, 2, {2, 2}};
  mica_error* error = mica_session_create(model, NULL, session);
  if (!error) error = mica_session_set_input(*session, 0, &x);
  if (!error) error = mica_session_run(*session, NULL);
  return error ? error : mica_session_output(*session, 0, result);
}

int main(int count, char** words) {
  if (count < 2) return 2;
  mica_context* context = NULL;
  mica_model* model = NULL;
  mica_session* session = NULL;
  mica_tensor result = {0};
  mica_error* error = mica_context_create(NULL, &context);
  if (!error && !(count > 2 && strcmp(words[2], "plain") == 0)) error = add_operators(context);
  if (!error) error = mica_model_load_file(context, words[1], NULL, &model);
  if (!error) error = run(model, &session, &result);
  for (int i = 0; !error && i < 4; ++i) printf("%g%s", ((const float*)result.data)[i], i < 3 ? " " : "\n");
  const int code = mica_error_code(error);
  if (error) fputs(mica_error_text(error), stderr);
  mica_error_free(error);
  mica_session_free(session);
  mica_model_free(model);
  mica_context_free(context);
  return code ? 3 : 0;
}
