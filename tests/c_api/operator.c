/* An operator of a stranger's, with mica.h alone: y = factor * x. `mica_operators` makes it known to the command. */
#include <stdio.h>

#include "mica/mica.h"

static int infer(void* user, mica_op_call* call, char* message, size_t message_size) {
  const mica_tensor* x = &call->inputs[0];
  mica_tensor* y = &call->outputs[0];
  int i;
  (void)user;
  if (x->dtype != MICA_F32) {
    snprintf(message, message_size, "takes f32, got %s", mica_dtype_name(x->dtype));
    return 1;
  }
  y->dtype = x->dtype;
  y->rank = x->rank;
  for (i = 0; i < x->rank; ++i) y->dims[i] = x->dims[i];
  return 0;
}

static int compute(void* user, mica_op_call* call, char* message, size_t message_size) {
  const mica_attribute* factor = mica_op_attribute(call, "factor");
  const float* x = (const float*)call->inputs[0].data;
  float* y = (float*)call->outputs[0].data;
  int64_t i, n = mica_tensor_bytes(&call->inputs[0]) / 4;
  const float f = factor && factor->kind == 'f' ? factor->floats[0] : 2.0f;
  (void)message;
  (void)message_size;
  ++*(int*)user;
  for (i = 0; i < n; ++i) y[i] = f * x[i];
  return 0;
}

int scale_calls = 0;

mica_error* scale_operator(mica_context* context, const char* domain, const char* name) {
  mica_operator op = MICA_INIT(mica_operator);
  op.domain = domain;
  op.name = name;
  op.input_least = op.input_most = 1;
  op.output_count = 1;
  op.infer = infer;
  op.compute = compute;
  op.user = &scale_calls;
  return mica_context_add_operator(context, &op);
}

MICA_API mica_error* mica_operators(mica_context* context);
mica_error* mica_operators(mica_context* context) {
  mica_error* error = scale_operator(context, "com.example", "Scale");
  return error ? error : scale_operator(context, "", "Relu"); /* in place of the built-in one */
}
