/* A program in C with mica.h alone: c_api DIGITS.mica CUSTOM.mica. Prints `N passed, N failed`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mica/mica.h"

extern int scale_calls;
mica_error* mica_operators(mica_context* context);

static int passed = 0, failed = 0;

static void expect(int condition, const char* what) {
  if (condition) {
    ++passed;
  } else {
    ++failed;
    printf("failed: %s\n", what);
  }
}

static int fine(mica_error* error, const char* what) {
  if (error) printf("%s", mica_error_text(error));
  expect(error == NULL, what);
  mica_error_free(error);
  return error == NULL;
}

static void fails(mica_error* error, int code, const char* what) {
  if (mica_error_code(error) != code) printf("got %d: %s", mica_error_code(error), mica_error_text(error));
  expect(mica_error_code(error) == code, what);
  mica_error_free(error);
}

static int read_file(void* user, uint64_t offset, void* to, size_t size) {
  FILE* file = (FILE*)user;
  if (fseek(file, (long)offset, SEEK_SET) != 0) return 1;
  return fread(to, 1, size, file) == size ? 0 : 1;
}

static void done(void* user, mica_error* error) {
  *(int*)user = mica_error_code(error) + 1;
  mica_error_free(error);
}

static float pixels[64];

static mica_tensor picture(void) {
  mica_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = pixels;
  tensor.dtype = MICA_F32;
  tensor.rank = 4;
  tensor.dims[0] = tensor.dims[1] = 1;
  tensor.dims[2] = tensor.dims[3] = 8;
  return tensor;
}

static void run_digits(mica_model* model) {
  mica_session* session = NULL;
  mica_tensor input = picture(), wrong = picture(), output;
  mica_memory memory = MICA_INIT(mica_memory);
  mica_run_options options = MICA_INIT(mica_run_options);
  mica_port_info info = MICA_INIT(mica_port_info);
  float own[10], sum = 0;
  size_t index = 9;
  int i, told = 0;
  if (!fine(mica_session_create(model, NULL, &session), "a session")) return;
  fails(mica_session_run(session, NULL), 6003, "a run without inputs");
  fails(mica_session_output(session, 0, &output), 6003, "an output before a run");
  wrong.dims[3] = 7;
  fails(mica_session_set_input(session, 0, &wrong), 3001, "another shape");
  wrong.dims[3] = -7;
  fails(mica_session_set_input(session, 0, &wrong), 3001, "a negative dimension");
  wrong = picture();
  wrong.dtype = MICA_F64;
  fails(mica_session_set_input(session, 0, &wrong), 3002, "another type");
  fails(mica_model_find(model, MICA_INPUT, "imag", &index), 6002, "an unknown name");
  fine(mica_model_find(model, MICA_INPUT, "image", &index), "a known name");
  expect(index == 0 && mica_model_count(model, MICA_OUTPUT) == 1, "positions");
  fine(mica_model_info(model, MICA_INPUT, 0, &info), "information");
  expect(info.rank == 4 && info.dtype == MICA_F32 && strcmp(info.name, "image") == 0, "what an input is");
  expect(mica_model_metadata(model, "mica.labels") != NULL, "metadata");
  fine(mica_session_set_input(session, 0, &input), "an input");
  fine(mica_session_prepare(session, &memory), "preparing");
  expect(memory.arena > 0 && memory.arena >= memory.arena_bound && memory.total >= memory.arena, "memory");
  fine(mica_session_run(session, &options), "a run");
  fine(mica_session_output(session, 0, &output), "its output");
  for (i = 0; i < 10; ++i) sum += ((float*)output.data)[i];
  expect(fabsf(sum - 1) < 1e-5f, "probabilities");
  output.data = own;
  fine(mica_session_set_output(session, 0, &output), "memory of the caller's");
  fine(mica_session_run_async(session, NULL, done, &told), "an asynchronous run");
  fine(mica_session_wait(session), "waiting");
  expect(told == 1, "the end was told");
  for (sum = 0, i = 0; i < 10; ++i) sum += own[i];
  expect(fabsf(sum - 1) < 1e-5f, "probabilities in the caller's memory");
  options.timeout_ns = 1;
  fails(mica_session_run(session, &options), 4003, "a deadline");
  fine(mica_session_set_input(session, 0, NULL), "an input that is taken back");
  fails(mica_session_run(session, NULL), 6003, "a run without it");
  mica_session_free(session);
}

static void run_custom(const char* path) {
  mica_context* context = NULL;
  mica_model* model = NULL;
  mica_session* session = NULL;
  float x[3] = {-1, 2, 3};
  mica_tensor input, output;
  if (!fine(mica_context_create(NULL, &context), "a context")) return;
  fails(mica_model_load_file(context, path, NULL, &model), 1042, "an operator that nobody has");
  fine(mica_operators(context), "operators of the caller's");
  fails(mica_operators(context), 6003, "the same operators again");
  if (!fine(mica_model_load_file(context, path, NULL, &model), "a model with them")) return;
  mica_context_free(context); /* the model keeps it */
  fine(mica_session_create(model, NULL, &session), "a session");
  mica_model_free(model);
  memset(&input, 0, sizeof input);
  input.data = x;
  input.dtype = MICA_F32;
  input.rank = 1;
  input.dims[0] = 3;
  fine(mica_session_set_input(session, 0, &input), "an input");
  scale_calls = 0;
  fine(mica_session_run(session, NULL), "a run");
  fine(mica_session_output(session, 0, &output), "an output");
  expect(scale_calls == 2, "both were called"); /* Scale by 3, and Relu's replacement by 2 */
  expect(((float*)output.data)[0] == -6 && ((float*)output.data)[2] == 18, "their answer");
  mica_session_free(session);
}

int main(int argc, char** argv) {
  mica_context* context = NULL;
  mica_model* model = NULL;
  mica_context_options options = MICA_INIT(mica_context_options);
  mica_reader reader = MICA_INIT(mica_reader);
  FILE* file;
  if (argc != 3) return 2;
  options.threads = 2;
  options.isa = "no such set";
  fails(mica_context_create(&options, &context), 6001, "an unknown instruction set");
  options.isa = NULL;
  options.size = 4;
  fails(mica_context_create(&options, &context), 6001, "a structure without a size");
  options.size = sizeof options;
  if (!fine(mica_context_create(&options, &context), "a context")) return 1;
  expect(mica_context_threads(context) == 2, "threads");
  fails(mica_model_load_file(context, "no such file", NULL, &model), 7001, "a file that is not there");
  fails(mica_model_load_memory(context, "nonsense", 8, NULL, &model), 2001, "bytes that are no model");
  if (fine(mica_model_load_file(context, argv[1], NULL, &model), "a file")) run_digits(model);
  mica_model_free(model);
  model = NULL;
  file = fopen(argv[1], "rb");
  fseek(file, 0, SEEK_END);
  reader.user = file;
  reader.bytes = (uint64_t)ftell(file);
  reader.read = read_file;
  if (fine(mica_model_load_reader(context, &reader, NULL, &model), "a reader")) run_digits(model);
  fclose(file);
  mica_context_free(context);
  mica_model_free(model);
  run_custom(argv[2]);
  printf("%d passed, %d failed\n", passed, failed);
  return failed ? 1 : 0;
}
