"""Mica through mica.h; MICA_LIBRARY names the library, MICA_ISA may force an instruction set."""
import ctypes
import os

MAX_RANK = 10
TYPES = {"float32": 1, "float64": 2, "float16": 3, "int8": 5, "int16": 6, "int32": 7, "int64": 8, "uint8": 9,
         "bool": 13}
INPUT, OUTPUT = 0, 1


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_int32),
                ("dims", ctypes.c_int64 * MAX_RANK)]


class ContextOptions(ctypes.Structure):
    """The head of mica_context_options; `size` tells the library how much of it there is."""
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int), ("isa", ctypes.c_char_p)]


def library():
    found = ctypes.CDLL(os.environ["MICA_LIBRARY"])
    for name in ("mica_version", "mica_error_text", "mica_context_isa", "mica_dtype_name"):
        getattr(found, name).restype = ctypes.c_char_p
    for name in ("mica_context_create", "mica_model_load_file", "mica_model_find", "mica_session_create",
                 "mica_session_set_input", "mica_session_run", "mica_session_output"):
        getattr(found, name).restype = ctypes.c_void_p
    found.mica_model_count.restype = ctypes.c_size_t
    return found


class Adapter:
    def __init__(self, threads):
        self.library, self.context = library(), ctypes.c_void_p()
        isa = os.environ.get("MICA_ISA", "").encode() or None
        options = ContextOptions(ctypes.sizeof(ContextOptions), threads, isa)
        self.call("mica_context_create", ctypes.byref(options), ctypes.byref(self.context))

    def call(self, name, *arguments):
        error = getattr(self.library, name)(*arguments)
        if error:
            raise RuntimeError(self.library.mica_error_text(ctypes.c_void_p(error)).decode())

    def version(self):
        return self.library.mica_version().decode()

    def notes(self):
        return self.library.mica_context_isa(self.context).decode()

    def load(self, file, feed):
        model, session = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("mica_model_load_file", self.context, file.encode(), None, ctypes.byref(model))
        self.call("mica_session_create", model, None, ctypes.byref(session))
        for name, value in feed.items():
            index = ctypes.c_size_t()
            self.call("mica_model_find", model, INPUT, name.encode(), ctypes.byref(index))
            dims = (ctypes.c_int64 * MAX_RANK)(*value.shape)
            tensor = Tensor(value.ctypes.data, TYPES[value.dtype.name], value.ndim, dims)
            self.call("mica_session_set_input", session, index, ctypes.byref(tensor))
        return Runner(self, model, session)


class Runner:
    def __init__(self, adapter, model, session):
        self.adapter, self.session = adapter, session
        self.outputs = adapter.library.mica_model_count(model, OUTPUT)
        self.function = adapter.library.mica_session_run

    def run(self):
        if self.function(self.session, None):
            raise RuntimeError("the run failed")

    def answers(self):
        import numpy as np
        names, made = {number: name for name, number in TYPES.items()}, []
        for index in range(self.outputs):
            tensor = Tensor()
            self.adapter.call("mica_session_output", self.session, ctypes.c_size_t(index), ctypes.byref(tensor))
            shape, dtype = tuple(tensor.dims[:tensor.rank]), np.dtype(names[tensor.dtype])
            size = int(np.prod(shape)) * dtype.itemsize
            made.append(np.frombuffer(ctypes.string_at(tensor.data, size), dtype).reshape(shape))
        return made
