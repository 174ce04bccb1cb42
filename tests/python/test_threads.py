"""Sessions of several Python threads: right, and side by side."""
import os
import threading
import time

import numpy as np
import pytest

import mica


def in_threads(works):
    failures = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    return time.perf_counter() - began


def test_each_thread_gets_its_own_answers(digits_path, held_back):
    pictures = held_back[0]
    model = mica.load(digits_path, threads=1)
    parts = [pictures[k : k + 1 + k % 7] for k in range(0, 400, 5)]
    expected = [model(part)["probabilities"] for part in parts]

    def work(session, first):
        for k in range(first, first + 120):
            np.testing.assert_array_equal(session(parts[k % 80])["probabilities"], expected[k % 80])

    # Two sessions of one model, and one session that two threads share.
    sessions = [model.session(), model.session(), model, model]
    in_threads([lambda s=session, f=97 * i: work(s, f) for i, session in enumerate(sessions)])


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_threads_does_not_change_a_bit(digits_path, held_back, threads):
    expected = mica.load(digits_path, threads=1)(held_back[0])["probabilities"]
    np.testing.assert_array_equal(mica.load(digits_path, threads=threads)(held_back[0])["probabilities"], expected)


def test_the_interpreter_goes_on_during_a_run(digits_path):
    model = mica.load(digits_path, threads=1)
    pictures = np.zeros((40000, 1, 8, 8), np.float32)
    counted, running = 0, threading.Event()

    def run():
        running.set()
        model(pictures)
        running.clear()

    thread = threading.Thread(target=run)
    thread.start()
    running.wait()
    while running.is_set():
        counted += 1
    thread.join()
    assert counted > 1000


def test_cancel(digits_path):
    model = mica.load(digits_path, threads=1)
    pictures = np.zeros((40000, 1, 8, 8), np.float32)
    codes = []

    def run():
        try:
            while True:
                model(pictures)
        except mica.Error as error:
            codes.append(error.code)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        model.cancel()
        time.sleep(0.001)
    assert codes == [4002]


@pytest.mark.skipif("MICA_TIMING" not in os.environ, reason="measures: needs two processors to itself (MICA_TIMING=1)")
def test_two_sessions_run_side_by_side(digits_path):
    model = mica.load(digits_path, threads=1)
    pictures = np.random.default_rng(0).random((2000, 1, 8, 8), np.float32)
    sessions = [model.session(), model.session()]

    def work(session):
        for _ in range(20):
            session(pictures)

    for session in sessions:
        session(pictures)
    one = min(in_threads([lambda: work(sessions[0])]) for _ in range(3))
    two = min(in_threads([lambda s=s: work(s) for s in sessions]) for _ in range(3))
    print(f"figure two_threads_over_one {2 * one / two:.2f}")
    assert 2 * one / two >= 1.8
