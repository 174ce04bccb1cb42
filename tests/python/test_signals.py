"""Ctrl-C and other signals while a model runs."""
import os
import signal
import threading
import time

import numpy as np
import pytest

import mica

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper


@pytest.fixture(scope="module")
def endless():
    """A model that counts as far as its input says: run(far) takes hours."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["goes_on"]),
            helper.make_node("Add", ["n", "one"], ["n_next"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("trip", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("n", TensorProto.INT64, []),
        ],
        [
            helper.make_tensor_value_info("goes_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("n_next", TensorProto.INT64, []),
        ],
        [helper.make_tensor("one", TensorProto.INT64, [], [1])],
    )
    graph = helper.make_graph(
        [helper.make_node("Loop", ["trips", "", "zero"], ["count"], body=body)],
        "count",
        [helper.make_tensor_value_info("trips", TensorProto.INT64, [])],
        [helper.make_tensor_value_info("count", TensorProto.INT64, [])],
        [helper.make_tensor("zero", TensorProto.INT64, [], [0])],
    )
    return mica.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), threads=1)


FAR = np.array(1 << 40)


@pytest.fixture
def on_alarm():
    """Installs a handler, and has the system call it in 0.2 seconds."""
    before = signal.getsignal(signal.SIGALRM)

    def install(handler):
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.2)

    yield install
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_it_counts(endless):
    assert endless(np.array(1000))["count"] == 1000


@pytest.fixture
def interactive():
    """Python's own handler of Ctrl-C: a job in the background of a shell begins without it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_run(endless, interactive):
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless.run({"trips": FAR}, deadline=60)
    timer.join()
    assert endless(np.array(3))["count"] == 3


def test_what_a_handler_raises_comes_out(endless, on_alarm):
    class TooLong(Exception):
        pass

    def handler(number, frame):
        raise TooLong

    on_alarm(handler)
    with pytest.raises(TooLong):
        endless(FAR)
    on_alarm(handler)
    with pytest.raises(TooLong):
        mica.bench(endless, {"trips": np.array(10)}, seconds=1000)


def test_a_handler_that_returns_stops_nothing(endless, on_alarm):
    codes = []

    def handler(number, frame):
        try:
            endless(np.array(1))
        except mica.Error as error:
            codes.append(error.code)

    on_alarm(handler)
    with pytest.raises(mica.Error) as caught:
        endless.run({"trips": FAR}, deadline=0.6)
    assert caught.value.code == 4003 and codes == [6003]


def test_a_handler_may_cancel(endless, on_alarm):
    on_alarm(lambda number, frame: endless.cancel())
    with pytest.raises(mica.Error) as caught:
        endless(FAR)
    assert caught.value.code == 4002


def test_other_threads_are_not_interrupted(endless, on_alarm):
    seen, ended = [], []
    on_alarm(lambda number, frame: seen.append(threading.current_thread()))

    def run():
        with pytest.raises(mica.Error) as caught:
            endless.run({"trips": FAR}, deadline=0.6)
        ended.append(caught.value.code)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        time.sleep(0.01)
    assert ended == [4003] and seen == [threading.main_thread()]
