/* digit MODEL FLOATS: prints the class of the largest output for an input given as raw floats. Includes mica.h only. */
#include <mica/mica.h>
#include <stdio.h>

static int report(mica_error* error) {
  fputs(mica_error_text(error), stderr);
  mica_error_free(error);
  return 1;
}

static int best(const mica_tensor* scores) {
  const float* values = scores->data;
  const int64_t count = mica_tensor_bytes(scores) / (int64_t)sizeof(float);
  int64_t most = 0;
  for (int64_t i = 1; i < count; ++i)
    if (values[i] > values[most]) most = i;
  return (int)most;
}

static mica_error* classify(mica_session* session, float* pixels) {
  const mica_tensor image = {pixels, MICA_F32, 4, {1, 1, 8, 8}};
  mica_tensor scores;
  mica_error* error = mica_session_set_input(session, 0, &image);
  if (!error) error = mica_session_run(session, NULL);
  if (!error) error = mica_session_output(session, 0, &scores);
  if (!error) printf("%d\n", best(&scores));
  return error;
}

int main(int count, char** words) {
  float pixels[64];
  FILE* file = count == 3 ? fopen(words[2], "rb") : NULL;
  const int whole = file && fread(pixels, sizeof pixels, 1, file) == 1;
  if (file) fclose(file);
  if (!whole) return 2;

  mica_context* context = NULL;
  mica_model* model = NULL;
  mica_session* session = NULL;
  mica_error* error = mica_context_create(NULL, &context);
  if (!error) error = mica_model_load_file(context, words[1], NULL, &model);
  if (!error) error = mica_session_create(model, NULL, &session);
  if (!error) error = classify(session, pixels);
  mica_session_free(session);
  mica_model_free(model);
  mica_context_free(context);
  return error ? report(error) : 0;
}
