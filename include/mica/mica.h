/* Mica: run compiled models. The C interface.
 *
 *   mica_context* context; mica_model* model; mica_session* session;
 *   mica_error* error = mica_context_create(NULL, &context);
 *   if (!error) error = mica_model_load_file(context, "net.mica", NULL, &model);
 *   if (!error) error = mica_session_create(model, NULL, &session);
 *   if (!error) error = mica_session_set_input(session, 0, &picture);
 *   if (!error) error = mica_session_run(session, NULL);
 *   if (!error) error = mica_session_output(session, 0, &result);
 *   if (error) { puts(mica_error_text(error)); mica_error_free(error); }
 *
 * Errors. A function that can fail returns a mica_error*: NULL when all went well, else what is wrong, owned by the
 * caller, who releases it with mica_error_free. Results are then untouched. The library never throws, aborts, prints or
 * exits. Functions of yours that it calls return their errors, too: an exception or a longjmp cannot pass through it.
 *
 * Structures. Those that may grow begin with their size: `mica_run_options options = MICA_INIT(mica_run_options);` sets
 * it and clears the rest, and a cleared field always means the default. NULL for options means all defaults.
 *
 * Ownership. What a `create` or `load` gives is released by the `free` of its kind, which takes NULL too. A model keeps
 * its context alive, and a session its model: the order of freeing does not matter. Texts belong to the object that
 * gave them and live as long.
 *
 * Threads. Contexts and models may be used by any number of threads at once, a session by one at a time;
 * mica_session_cancel is for any thread.
 */
#ifndef MICA_MICA_H_
#define MICA_MICA_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define MICA_API
#else
#define MICA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define MICA_INIT(type)      \
  [] {                       \
    type made{};             \
    made.size = sizeof made; \
    return made;             \
  }()
extern "C" {
#else
#define MICA_INIT(type) \
  { .size = sizeof(type) }
#endif

#define MICA_MAX_RANK 10

typedef struct mica_error mica_error;
typedef struct mica_context mica_context;
typedef struct mica_model mica_model;
typedef struct mica_session mica_session;

/* "0.1.0" */
MICA_API const char* mica_version(void);

/* ---- Errors ---- */

/* The number that docs/errors.md explains, as 3001. 0 for NULL. */
MICA_API int mica_error_code(const mica_error* error);
/* What is wrong, where (a file, a node, an input), and what to do about it. "" where there is nothing to say; never
 * NULL. */
MICA_API const char* mica_error_what(const mica_error* error);
MICA_API const char* mica_error_where(const mica_error* error);
MICA_API const char* mica_error_hint(const mica_error* error);
/* The error behind this one, or NULL; it belongs to `error`. */
MICA_API const mica_error* mica_error_cause(const mica_error* error);
/* All of it as lines: "error[MICA3001]: what\n  --> where\nhint: hint\n", causes below. */
MICA_API const char* mica_error_text(const mica_error* error);
MICA_API void mica_error_free(mica_error* error);

/* ---- Tensors ---- */

/* Element types. Elements below 8 bits lie packed along the last axis, low bits first, each row padded to a whole byte.
 */
typedef enum mica_dtype {
  MICA_NONE,
  MICA_F32,
  MICA_F64,
  MICA_F16,
  MICA_BF16,
  MICA_I8,
  MICA_I16,
  MICA_I32,
  MICA_I64,
  MICA_U8,
  MICA_U16,
  MICA_U32,
  MICA_U64,
  MICA_BOOL,
  MICA_I4,
  MICA_U4,
  MICA_I2,
  MICA_U2,
  MICA_F8E4M3FN,
  MICA_F8E4M3FNUZ,
  MICA_F8E5M2,
  MICA_F8E5M2FNUZ,
  MICA_F8E8M0,
  MICA_F4E2M1,
  MICA_STRING,
  MICA_C64,
  MICA_C128,
  MICA_DTYPE_LIMIT = 0x7fffffff /* not a type: any number that a caller passes is one of the enumeration */
} mica_dtype;

/* "f32"; "none" for a number that is no type. */
MICA_API const char* mica_dtype_name(mica_dtype dtype);
/* Bits of one element; 128 for MICA_STRING, whose elements are mica_string; 0 for MICA_NONE. */
MICA_API int mica_dtype_bits(mica_dtype dtype);

/* An element of a MICA_STRING tensor. Not ended by a zero. */
typedef struct mica_string {
  const char* data;
  int64_t size;
} mica_string;

/* A dense tensor in source order: the last axis varies fastest, no gaps. */
typedef struct mica_tensor {
  void* data;
  mica_dtype dtype;
  int32_t rank;
  int64_t dims[MICA_MAX_RANK];
} mica_tensor;

/* Bytes that a tensor spans; -1 when its rank or a dimension is negative or too large. */
MICA_API int64_t mica_tensor_bytes(const mica_tensor* tensor);

/* ---- Context: threads, processor, log, operators ---- */

typedef enum mica_log_level { MICA_LOG_ERROR, MICA_LOG_WARNING, MICA_LOG_INFO, MICA_LOG_DEBUG } mica_log_level;

/* The caller's threads in place of Mica's own. `parallel` calls fn(arg, i) once for each i from 0 to n-1, on any
 * threads, with n at most `concurrency`, and returns when all have returned. It may be called from several threads at a
 * time. */
typedef struct mica_executor {
  size_t size;
  void* user;
  int concurrency;
  void (*parallel)(void* user, void (*fn)(void* arg, int index), void* arg, int n);
} mica_executor;

typedef struct mica_context_options {
  size_t size;
  int threads;     /* with the caller; 0: what affinity mask and control group grant this process */
  const char* isa; /* "avx512", "avx2", "sse2", "neon", "portable"; NULL: the best that the processor has */
  const mica_executor* executor; /* copied; NULL: own threads, which sleep between runs */
  void (*log)(void* user, mica_log_level level, const char* text); /* from any thread; NULL: silence */
  void* log_user;
  mica_log_level log_most; /* remarks beyond this level are dropped; cleared: errors only */
} mica_context_options;

MICA_API mica_error* mica_context_create(const mica_context_options* options, mica_context** context);
MICA_API void mica_context_free(mica_context* context);
/* Threads that one run uses at most, the caller's included. */
MICA_API int mica_context_threads(const mica_context* context);
MICA_API const char* mica_context_isa(const mica_context* context);
/* The processor's name. */
MICA_API const char* mica_context_processor(const mica_context* context);

/* ---- Operators of the caller's ---- */

/* An attribute of a node: a list of integers ('i'), of floats ('f') or of texts ('S'), or one text ('s'). */
typedef struct mica_attribute {
  const char* name;
  char kind;
  size_t count; /* of the list, or bytes of the text */
  const int64_t* integers;
  const float* floats;
  const char* text; /* ended by a zero; of a list one text after the other, each ended by a zero */
} mica_attribute;

/* One use of an operator. A left-out operand, and an output that nobody wants, have the type MICA_NONE while computing.
 */
typedef struct mica_op_call {
  size_t size;
  size_t attribute_count, input_count, output_count;
  const mica_attribute* attributes;
  const mica_tensor* inputs;
  mica_tensor* outputs;
  void* scope; /* Mica's */
} mica_op_call;

typedef struct mica_operator {
  size_t size;
  const char* domain;          /* "" for a format's own; with the name of a built-in operator this one replaces it */
  const char* name;            /* as source models spell it */
  int input_least, input_most; /* operands; input_most -1: any number */
  int output_count;
  /* Sets dtype, rank and dims of every output from dtype, rank and dims of the inputs. rank -1: not known. A negative
   * dimension is not known yet: copying an input's to an output says that both are equal, -1 says nothing. An input
   * whose contents are known has data. Called when a model is converted and when a session meets new shapes;
   * deterministic. */
  int (*infer)(void* user, mica_op_call* call, char* message, size_t message_size);
  /* Fills the outputs, which have memory of their shape; those with a dimension that was not known beforehand, which is
   * -1, have data NULL until mica_op_allocate: leaving one so is error 6003. One thread; several sessions may call it
   * at once. */
  int (*compute)(void* user, mica_op_call* call, char* message, size_t message_size);
  /* Both return 0, or another number after writing what is wrong into `message` (cut at message_size, ended by a zero).
   */
  void* user; /* must live as long as the context and its models */
} mica_operator;

/* Copies `op`. Not while models of this context are being loaded or run. Errors: 6001 for fields that are missing, 6003
 * when the context has one of this domain and name already. */
MICA_API mica_error* mica_context_add_operator(mica_context* context, const mica_operator* op);
/* In `compute`: memory for an output whose shape was not known. Returns its data, also in call->outputs[output]; NULL
 * when the shape is impossible or memory is short, upon which `compute` should return a number other than 0. */
MICA_API void* mica_op_allocate(mica_op_call* call, size_t output, int32_t rank, const int64_t* dims);
/* The attribute of this name, or NULL. */
MICA_API const mica_attribute* mica_op_attribute(const mica_op_call* call, const char* name);

/* ---- Models ---- */

typedef struct mica_load_options {
  size_t size;
  const char* name;   /* what messages call the model; NULL: the file's path */
  int copy;           /* load_memory: copy the bytes; else they must outlive the model (unaligned ones are copied) */
  int verify_weights; /* compare the weights with their checksum too, which reads all of them */
  /* A file of measured choices, which `mica tune` makes; "": none. NULL: for a model from a file, PATH.tune if it is
   * there, and a damaged one is left alone with a warning. Choices made on another kind of processor or by another
   * version of Mica are left alone with a remark. */
  const char* tuning;
} mica_load_options;

/* Where a model is read from when it is neither a file nor memory. */
typedef struct mica_reader {
  size_t size;
  void* user;
  uint64_t bytes;                                                  /* of the whole model */
  int (*read)(void* user, uint64_t offset, void* to, size_t size); /* 0, or another number on failure */
} mica_reader;

/* A compiled model (`.mica`). A file is mapped, and must not be shortened while the model lives. Errors: 2001 to 2003
 * for bytes that are no usable model, 6002 for an operator that neither Mica nor the context has, 7001; of `tuning`
 * 2010 for damage and 7001 for a file that cannot be read. */
MICA_API mica_error* mica_model_load_file(mica_context* context, const char* path, const mica_load_options* options,
                                          mica_model** model);
MICA_API mica_error* mica_model_load_memory(mica_context* context, const void* bytes, size_t size,
                                            const mica_load_options* options, mica_model** model);
MICA_API mica_error* mica_model_load_reader(mica_context* context, const mica_reader* reader,
                                            const mica_load_options* options, mica_model** model);
MICA_API void mica_model_free(mica_model* model);

/* What goes in and out. A state is an output that becomes an input of the next run; its ports are listed as inputs and
 * outputs too. */
typedef enum mica_port { MICA_INPUT, MICA_OUTPUT, MICA_STATE } mica_port;

typedef struct mica_port_info {
  size_t size;
  const char* name;
  const char* type;                     /* "f32[N,3,224,224]", "seq(f32[?])" */
  mica_dtype dtype;                     /* of the tensor, or of the innermost one */
  int32_t rank;                         /* -1: not known */
  int64_t dims[MICA_MAX_RANK];          /* -1: depends on the run */
  const char* dim_names[MICA_MAX_RANK]; /* of those that depend on it, as "N" or "N + 1"; else NULL */
  int is_tensor;                        /* 0: a sequence, an optional or a map */
  size_t state_input, state_output;     /* MICA_STATE: positions of its ports */
} mica_port_info;

MICA_API size_t mica_model_count(const mica_model* model, mica_port port);
MICA_API mica_error* mica_model_info(const mica_model* model, mica_port port, size_t index, mica_port_info* info);
/* Errors: 6002 with the nearest name as a hint. A state has the name of its input. */
MICA_API mica_error* mica_model_find(const mica_model* model, mica_port port, const char* name, size_t* index);
/* What the model says of itself. Index and key of nothing give NULL. */
MICA_API size_t mica_model_metadata_count(const mica_model* model);
MICA_API const char* mica_model_metadata_key(const mica_model* model, size_t index);
MICA_API const char* mica_model_metadata(const mica_model* model, const char* key);

/* ---- Sessions ---- */

/* One stage has been computed. Texts and tensors are valid during the call. */
typedef struct mica_stage_event {
  size_t size;
  const char* name; /* of the node in the source model */
  const char* op;
  const char* kernel;       /* "" when the operator's reference ran */
  int64_t begin_ns, end_ns; /* of a clock that never goes back */
  size_t output_count;
  const mica_tensor* outputs;      /* data NULL unless `stage_outputs` was set */
  const char* const* output_names; /* values of the source model; "" for those that it does not name */
} mica_stage_event;

typedef struct mica_session_options {
  size_t size;
  size_t memory_cap; /* most bytes of buffers, and of forms of weights that it makes; 0: no cap */
  int exact;         /* the same bits on every instruction set with fused multiply-add */
  int low_memory;    /* no second, larger form of weights */
  int reference;     /* plain loops instead of kernels: slow, the truth that kernels are held against */
  int (*stage)(void* user,
               const mica_stage_event* event); /* behind each stage; another number than 0 ends the run as cancelled */
  void* stage_user;
  int stage_outputs; /* show the stages' results to `stage` */
  /* Stages that make their results row by row may run as one, in less memory and to the same bits: 0 where it is
   * faster, 1 wherever it can be, -1 never. With `stage_outputs` they never do. */
  int row_chains;
} mica_session_options;

typedef struct mica_memory {
  size_t size;
  size_t arena;          /* bytes for intermediate results of the shapes last prepared or run */
  size_t arena_bound;    /* the most that is alive at one time: no arena can be smaller */
  size_t total;          /* all buffers that the session holds: arena, outputs, states, scratch */
  size_t packed_weights; /* of the model: forms of weights made for this processor, shared by its sessions */
  uint64_t binds;        /* times that a part of the model was bound: to shapes, or contents that steer shapes, not met
                            before */
  uint64_t refreshes;    /* times that only the numbers of bounded dimensions changed: no memory was asked for */
  size_t weights;        /* of the model, in RAM once it has run: what runs read in the file, and packed_weights. With
                            `total`, what a run takes: known as soon as the session is prepared */
} mica_memory;

typedef struct mica_run_options {
  size_t size;
  int64_t timeout_ns;      /* the run ends with error 4003 when it takes longer; 0: no limit */
  int (*stop)(void* user); /* asked before each step, on the thread that runs; another number than 0 ends the run with
                              error 4002. NULL: nobody is asked */
  void* stop_user;
} mica_run_options;

MICA_API mica_error* mica_session_create(mica_model* model, const mica_session_options* options,
                                         mica_session** session);
/* Cancels and waits for a run that is under way. In the `done` of a run of its own it returns at once, and the session
 * is freed when `done` has returned: nothing may use it from then on. */
MICA_API void mica_session_free(mica_session* session);

/* The tensor's memory stays the caller's, and is read by every run until another is set: it must live that long. A
 * state whose input is set is not read by runs, which write it all the same. NULL: as if it had never been set. Errors:
 * 3001 to 3003 with what the model takes. */
MICA_API mica_error* mica_session_set_input(mica_session* session, size_t index, const mica_tensor* tensor);
/* A sequence's items, or the one item of an optional (none: empty; of an optional sequence, NULL: empty). Copied. */
MICA_API mica_error* mica_session_set_input_list(mica_session* session, size_t index, const mica_tensor* items,
                                                 size_t count);
/* The caller's memory for an output, of the shape that the run will give it. NULL takes it back. */
MICA_API mica_error* mica_session_set_output(mica_session* session, size_t index, const mica_tensor* tensor);

/* Chooses kernels and reserves memory for the shapes of the inputs that are set, without reading their contents; a run
 * of the same shapes then allocates nothing. `memory` may be NULL. Errors: 5002 when the cap is too low, with the bytes
 * that are needed. */
MICA_API mica_error* mica_session_prepare(mica_session* session, mica_memory* memory);
MICA_API mica_error* mica_session_memory(const mica_session* session, mica_memory* memory);

/* Returns when the outputs are there. */
MICA_API mica_error* mica_session_run(mica_session* session, const mica_run_options* options);
/* Runs on a thread of the session's own and returns at once. `done` (may be NULL) is called on that thread with the
 * error, which it owns, or NULL. Until then the session takes nothing but cancel and wait. Errors: 6003 when a run is
 * under way. */
MICA_API mica_error* mica_session_run_async(mica_session* session, const mica_run_options* options,
                                            void (*done)(void* user, mica_error* error), void* user);
/* Waits for the asynchronous run and `done`. Returns the run's error when there was no `done` to take it. */
MICA_API mica_error* mica_session_wait(mica_session* session);
/* The run under way, if any, ends soon with error 4002. */
MICA_API void mica_session_cancel(mica_session* session);

/* A result: memory of the session or the caller's own, valid until the next run; that of a state also until the state
 * is set. Errors: 6003 before a run, 3002 for an
 * output that is no tensor. */
MICA_API mica_error* mica_session_output(const mica_session* session, size_t index, mica_tensor* tensor);
/* Items of a sequence, or of an optional (0 or 1). */
MICA_API mica_error* mica_session_output_count(const mica_session* session, size_t index, size_t* count);
MICA_API mica_error* mica_session_output_item(const mica_session* session, size_t index, size_t item,
                                              mica_tensor* tensor);

/* States begin as zeros, an axis that grows as empty. This, and setting a state, takes back what the state's input was
 * given by mica_session_set_input: the next run reads the state. */
MICA_API mica_error* mica_session_reset(mica_session* session);
/* Valid until the next run, reset or set_state. */
MICA_API mica_error* mica_session_state(const mica_session* session, size_t index, mica_tensor* tensor);
/* Copies. Errors: 3001 to 3003 with what the model takes. */
MICA_API mica_error* mica_session_set_state(mica_session* session, size_t index, const mica_tensor* tensor);

#ifdef __cplusplus
}
#endif
#endif
