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


def busy_seconds():
    """Seconds of the processors that anybody has used since the machine began, those stolen from it included."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal = (int(n) for n in file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Rounds:
    """Threads that do their work at the same time when told: seconds from the first start to the last end."""

    def __init__(self, works):
        self.works, self.times, self.failures = works, [(0.0, 0.0)] * len(works), []
        self.barrier = threading.Barrier(len(works) + 1)
        self.active = len(works)
        self.threads = [threading.Thread(target=self.loop, args=(i,), daemon=True) for i in range(len(works))]
        for thread in self.threads:
            thread.start()

    def loop(self, i):
        try:
            while True:
                self.barrier.wait()
                if self.active == 0:
                    return
                began = time.perf_counter()
                if i < self.active:
                    self.works[i]()
                self.times[i] = (began, time.perf_counter())
                self.barrier.wait()
        except BaseException as error:
            self.failures.append(error)
            self.barrier.abort()

    def run(self, active):
        self.active = active
        self.barrier.wait()
        if active:
            self.barrier.wait()
        times = self.times[:active]
        return max((end for _, end in times), default=0) - min((began for began, _ in times), default=0)


def test_two_sessions_run_side_by_side(digits_path, capsys):
    """Short rounds of one thread and of two in turn, the best of each: a neighbour that comes and goes spoils rounds,
    not the result. Without the result after a minute it is the neighbours' doing only if they used the processors."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor")
    model = mica.load(digits_path, threads=1)
    pictures = np.random.default_rng(0).random((500, 1, 8, 8), np.float32)

    def work(session):
        for _ in range(3):
            session(pictures)

    rounds = Rounds([lambda s=session: work(s) for session in (model.session(), model.session())])
    one, two, count = float("inf"), float("inf"), 0
    began, all_began, own_began = time.perf_counter(), busy_seconds(), time.process_time()
    while count < 50 or (2 * one / two < 1.8 and time.perf_counter() - began < 60):
        one, two, count = min(one, rounds.run(1)), min(two, rounds.run(2)), count + 1
    took = time.perf_counter() - began
    others = (busy_seconds() - all_began - (time.process_time() - own_began)) / (took * os.cpu_count())
    rounds.run(0)
    assert not rounds.failures
    ratio = 2 * one / two
    with capsys.disabled():
        print(f"\nbest of {count} rounds: one thread {one * 1e3:.2f} ms, two {two * 1e3:.2f} ms for twice the work")
        print(f"other processes used {others:.0%} of the processors")
        print(f"figure two_threads_over_one {ratio:.2f}")
    if ratio < 1.8 and others > 0.1:
        pytest.skip(f"other processes used {others:.0%} of the processors; two threads reached {ratio:.2f}x of one")
    assert ratio >= 1.8
