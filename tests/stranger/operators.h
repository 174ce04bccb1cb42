/* Two operators of a stranger's, through mica.h alone. */
#ifndef MICA_TESTS_STRANGER_OPERATORS_H_
#define MICA_TESTS_STRANGER_OPERATORS_H_

#include <mica/mica.h>

#ifdef __cplusplus
extern "C" {
#endif

/* org.example Ramp(x, slope = 1): x * slope + its position along the last axis. And a Relu in place of ONNX's own that
 * gives max(x, 0) + 100, so that one sees which of the two ran. */
mica_error* add_operators(mica_context* context);

#ifdef __cplusplus
}
#endif
#endif
