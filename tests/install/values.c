/* values MODEL FILE: runs a model on made-up inputs and writes its tensors of numbers as f32 (integers as they are,
   converted). Floats are spread over [0, 1), bytes over all their
   values, and other integers are 0, 1 or 2, the same each time; open dimensions are 1.
   Includes mica.h only. */
#include <mica/mica.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int report(mica_error* error) {
  fputs(mica_error_text(error), stderr);
  mica_error_free(error);
  return 1;
}

static void fill(mica_tensor* tensor, int64_t count) {
  uint32_t state = 12345;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    if (tensor->dtype == MICA_F32) ((float*)tensor->data)[i] = (float)(state >> 8) / 16777216.0f;
    if (tensor->dtype == MICA_U8) ((uint8_t*)tensor->data)[i] = (uint8_t)(state >> 24);
    if (tensor->dtype == MICA_I64) ((int64_t*)tensor->data)[i] = (int64_t)(state >> 8) % 3;
    if (tensor->dtype == MICA_I32) ((int32_t*)tensor->data)[i] = (int32_t)((state >> 8) % 3);
  }
}

static mica_error* set_input(const mica_model* model, mica_session* session, size_t index, void** memory) {
  mica_port_info info = {.size = sizeof info};
  mica_error* error = mica_model_info(model, MICA_INPUT, index, &info);
  if (error) return error;
  mica_tensor tensor = {NULL, info.dtype, info.rank, {0}};
  int64_t count = 1;
  for (int i = 0; i < info.rank; ++i) count *= tensor.dims[i] = info.dims[i] < 0 ? 1 : info.dims[i];
  *memory = tensor.data = calloc((size_t)count + 1, 8);
  if (tensor.data) fill(&tensor, count);
  return mica_session_set_input(session, index, &tensor);
}

static void write_numbers(const mica_tensor* tensor, FILE* out) {
  int64_t count = 1;
  for (int i = 0; i < tensor->rank; ++i) count *= tensor->dims[i];
  for (int64_t i = 0; i < count; ++i) {
    float value = 0;
    if (tensor->dtype == MICA_F32) value = ((const float*)tensor->data)[i];
    if (tensor->dtype == MICA_I64) value = (float)((const int64_t*)tensor->data)[i];
    if (tensor->dtype == MICA_I32) value = (float)((const int32_t*)tensor->data)[i];
    fwrite(&value, sizeof value, 1, out);
  }
}

static mica_error* run(const mica_model* model, mica_session* session, FILE* out) {
  enum { kMostInputs = 64 };
  void* memory[kMostInputs] = {NULL};
  mica_error* error = NULL;
  const size_t inputs = mica_model_count(model, MICA_INPUT), outputs = mica_model_count(model, MICA_OUTPUT);
  for (size_t i = 0; i < inputs && i < kMostInputs && !error; ++i) error = set_input(model, session, i, &memory[i]);
  if (!error) error = mica_session_run(session, NULL);
  for (size_t i = 0; i < outputs && !error; ++i) {
    mica_tensor tensor;
    error = mica_session_output(session, i, &tensor);
    if (!error) write_numbers(&tensor, out);
  }
  for (int i = 0; i < kMostInputs; ++i) free(memory[i]);
  return error;
}

int main(int count, char** words) {
  FILE* out = count == 3 ? fopen(words[2], "wb") : NULL;
  if (!out) return 2;
  mica_context* context = NULL;
  mica_model* model = NULL;
  mica_session* session = NULL;
  mica_error* error = mica_context_create(NULL, &context);
  if (!error) error = mica_model_load_file(context, words[1], NULL, &model);
  if (!error) error = mica_session_create(model, NULL, &session);
  if (!error) error = run(model, session, out);
  fclose(out);
  mica_session_free(session);
  mica_model_free(model);
  mica_context_free(context);
  return error ? report(error) : 0;
}
