#include "operators.h"

#include <stdio.h>

static int same_type(void* user, mica_op_call* call, char* message, size_t message_size) {
  (void)user;
  if (call->inputs[0].dtype != MICA_F32) {
    snprintf(message, message_size, "the input is %s, expected f32", mica_dtype_name(call->inputs[0].dtype));
    return 1;
  }
  call->outputs[0].dtype = MICA_F32;
  call->outputs[0].rank = call->inputs[0].rank;
  for (int i = 0; i < call->inputs[0].rank; ++i) call->outputs[0].dims[i] = call->inputs[0].dims[i];
  return 0;
}

static int64_t count_of(const mica_tensor* tensor) { return mica_tensor_bytes(tensor) / (int64_t)sizeof(float); }

static int ramp(void* user, mica_op_call* call, char* message, size_t message_size) {
  (void)user, (void)message, (void)message_size;
  const mica_tensor* x = &call->inputs[0];
  const mica_attribute* slope = mica_op_attribute(call, "slope");
  const float factor = slope && slope->kind == 'f' && slope->count == 1 ? slope->floats[0] : 1;
  const int64_t row = x->rank > 0 ? x->dims[x->rank - 1] : 1;
  for (int64_t i = 0; i < count_of(x); ++i)
    ((float*)call->outputs[0].data)[i] = ((const float*)x->data)[i] * factor + (float)(i % row);
  return 0;
}

static int relu_and_100(void* user, mica_op_call* call, char* message, size_t message_size) {
  (void)user, (void)message, (void)message_size;
  for (int64_t i = 0; i < count_of(&call->inputs[0]); ++i) {
    const float x = ((const float*)call->inputs[0].data)[i];
    ((float*)call->outputs[0].data)[i] = (x > 0 ? x : 0) + 100;
  }
  return 0;
}

static mica_error* add(mica_context* context, const char* domain, const char* name,
                       int (*compute)(void*, mica_op_call*, char*, size_t)) {
  mica_operator op = MICA_INIT(mica_operator);
  op.domain = domain;
  op.name = name;
  op.input_least = op.input_most = op.output_count = 1;
  op.infer = same_type;
  op.compute = compute;
  return mica_context_add_operator(context, &op);
}

mica_error* add_operators(mica_context* context) {
  mica_error* error = add(context, "org.example", "Ramp", ramp);
  return error ? error : add(context, "", "Relu", relu_and_100);
}
