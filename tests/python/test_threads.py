"""Sessions of several Python threads: right, and side by side."""
import multiprocessing
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


class Rounds:
    """Threads that do their work at the same time when told. Each work gives the times of its own begin and end."""

    def __init__(self, works):
        self.works, self.times, self.failures = works, [(0.0, 0.0)] * len(works), []
        self.barrier = threading.Barrier(len(works) + 1)
        self.active = range(0)
        self.threads = [threading.Thread(target=self.loop, args=(i,), daemon=True) for i in range(len(works))]
        for thread in self.threads:
            thread.start()

    def loop(self, i):
        try:
            while True:
                self.barrier.wait()
                if not self.active:
                    return
                if i in self.active:
                    self.times[i] = self.works[i]()
                self.barrier.wait()
        except BaseException as error:
            self.failures.append(error)
            self.barrier.abort()

    def run(self, active):
        """Seconds from the first begin to the last end of the works whose numbers are given."""
        self.active = active
        self.barrier.wait()
        self.barrier.wait()
        times = [self.times[i] for i in active]
        return max(end for _, end in times) - min(began for began, _ in times)

    def end(self):
        self.active = range(0)
        self.barrier.wait()


def timed(session, pictures):
    began = time.perf_counter()
    for _ in range(3):
        session(pictures)
    return began, time.perf_counter()


def serve(path, pictures, connection):
    """A process of its own: does the work as often as it is told, until the other end closes."""
    session = mica.load(path, threads=1).session()
    try:
        while True:
            connection.recv()
            connection.send(timed(session, pictures))
    except EOFError:
        pass


def in_process(path, pictures):
    """Work as Rounds takes it, done in another process. Its clock is the system's, the same for all."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    spawn.Process(target=serve, args=(path, pictures, there), daemon=True).start()
    there.close()

    def work():
        here.send(None)
        return here.recv()

    return work


def test_two_sessions_run_side_by_side(digits_path, capsys):
    """Short rounds of one thread, of two, and of two processes in turn, the best of each: a neighbour that comes and
    goes spoils rounds, not the result. Two threads reach 1.8 times the work of one. Two processes share nothing but
    the machine: where they do not reach 1.9 within a minute, two threads reach 0.95 times what they do."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor")
    model = mica.load(digits_path, threads=1)
    pictures = np.random.default_rng(0).random((500, 1, 8, 8), np.float32)
    threads = [lambda s=session: timed(s, pictures) for session in (model.session(), model.session())]
    rounds = Rounds(threads + [in_process(digits_path, pictures) for _ in range(2)])
    one = two = apart = float("inf")
    count, began = 0, time.perf_counter()
    while count < 50 or (2 * one / two < 1.8 and time.perf_counter() - began < 60):
        one = min(one, rounds.run(range(1)))
        two = min(two, rounds.run(range(2)))
        apart = min(apart, rounds.run(range(2, 4)))
        count += 1
    rounds.end()
    assert not rounds.failures
    with capsys.disabled():
        print(f"\nbest of {count} rounds: one thread {one * 1e3:.2f} ms, two {two * 1e3:.2f} ms for twice the work,")
        print(f"two processes {apart * 1e3:.2f} ms")
        print(f"figure two_threads_over_one {2 * one / two:.2f}")
        print(f"figure two_processes_over_one {2 * one / apart:.2f}")
    assert 2 * one / two >= min(1.8, 0.95 * 2 * one / apart)
