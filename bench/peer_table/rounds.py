"""One network on one number of threads: all programs opened one after the other, checked, then timed in turns."""
import random
import statistics
import time
from dataclasses import dataclass, field

from peer_table import figures
from peer_table.protocol import PeerFailed


@dataclass
class Pace:
    turn_seconds: float = 0.25    # of timed runs in a turn
    warm_seconds: float = 0.4     # before the first round, for each program
    least_rounds: int = figures.LEAST_ROUNDS
    most_seconds: float = 300     # for all rounds of one network on one number of threads
    clock: str = "wall"           # or cpu: processor time, which other programs on the machine lengthen less


QUICK = dict(turn_seconds=0.08, warm_seconds=0.2, most_seconds=25)
# Enough to find what stands out among hundreds of networks, by the ratio of minima; little of it settles.
# A peer so much slower than the best one plays every so many rounds only, so that those whose ratio is reported meet
# more often and sooner after each other.
FAR_BEHIND, SELDOM = 1.5, 4
GLANCE = dict(turn_seconds=0.1, warm_seconds=0.1, least_rounds=3, most_seconds=1)
PACES = {"full": {}, "quick": QUICK, "glance": GLANCE}


@dataclass
class Seat:
    """One program at the table."""
    name: str
    worker: object = None
    error: str = ""
    opened: dict = field(default_factory=dict)
    difference: float = float("nan")
    times: list = field(default_factory=list)     # one list of milliseconds for each round, None where it sat out
    peaks: list = field(default_factory=list)     # the multiply-add ceiling of its process in each round, or None
    version: str = ""
    notes: str = ""

    def medians(self):
        return [statistics.median(turn) if turn else None for turn in self.times]

    def median(self):
        return statistics.median(median for median in self.medians() if median is not None)

    def fail(self, error):
        self.error = str(error)
        self.times, self.peaks = [], []
        if self.worker:
            self.worker.close()
            self.worker = None


def open_seat(seat, start, file, inputs):
    """Starts the process and loads the network; a failure is noted in the seat."""
    try:
        seat.worker = start(seat.name)
        told = seat.worker.ask("hello", limit=60)
        seat.version = told["version"]
        seat.opened = seat.worker.ask("open", file=str(file), inputs=str(inputs))
        seat.notes = seat.worker.ask("hello", limit=60)["notes"]
        seat.worker.pause()
    except (PeerFailed, OSError) as failure:
        seat.fail(failure)


def check_answers(seat, references, kept, scratch):
    """A program whose answers are wrong gets no figure. kept: see figures.difference."""
    import numpy as np
    try:
        path = f"{scratch}/{seat.name}.npz"
        seat.worker.ask("answers", to=path)
        seat.worker.pause()
        with np.load(path) as stored:
            answers = [stored[name] for name in stored.files]
        seat.difference = figures.difference(answers, references, kept)
        if not figures.agrees(seat.difference):
            seat.fail(f"wrong answer: max|a-b| is {seat.difference:.2g} of max|b|")
    except PeerFailed as failure:
        seat.fail(failure)


def turn(seat, seconds, warm_seconds, clock="wall"):
    """What one program tells of its turn, or None; the others stand still."""
    try:
        return seat.worker.ask("time", seconds=seconds, warm_seconds=warm_seconds, clock=clock)
    except PeerFailed as failure:
        seat.fail(failure)
        return None
    finally:
        if seat.worker:
            seat.worker.pause()


def sits_out(seat, seats, rounds, own):
    """Whether the program is too far behind the best peer to play every round."""
    if seat.name == own or rounds % SELDOM == 0 or not seat.times:
        return False
    return seat.median() > FAR_BEHIND * min(other.median() for other in seats if other.name != own and other.times)


def play(seats, pace, progress=lambda rounds, share: None, own="mica"):
    """Rounds until the ratio of the best peer to Mica has settled, or time is up. The order changes from round to
    round, so that nobody always follows the same neighbour."""
    playing = [seat for seat in seats if seat.worker]
    for seat in playing:
        turn(seat, 0, pace.warm_seconds, pace.clock)
    began, shuffle, rounds = time.monotonic(), random.Random(1), 0
    while any(seat.worker for seat in playing):
        playing = [seat for seat in playing if seat.worker]
        shuffle.shuffle(playing)
        for seat in playing:
            if sits_out(seat, seats, rounds, own):
                seat.times.append(None)
                seat.peaks.append(None)
                continue
            # A short warm-up: caches hold the last program's data.
            told = turn(seat, pace.turn_seconds, pace.turn_seconds / 5, pace.clock)
            if told is not None:
                seat.times.append(told["times_ms"])
                seat.peaks.append(told["peak_gflops"])
        rounds += 1
        spent = time.monotonic() - began
        progress(rounds, spent / pace.most_seconds)
        done = rounds >= pace.least_rounds and figures.settled(ratio_to_best(seats, own)[1], pace.least_rounds)
        if done or spent >= pace.most_seconds:
            break


def ratio_to_best(seats, own="mica"):
    """(name of the fastest peer, its ratio to Mica round by round)."""
    mine = next((seat for seat in seats if seat.name == own and seat.times), None)
    peers = {seat.name: seat.median() for seat in seats if seat.name != own and seat.times}
    best = figures.best_peer(peers)
    if mine is None or best is None:
        return best, []
    theirs = next(seat for seat in seats if seat.name == best)
    return best, figures.ratios(theirs.medians(), mine.medians())


def summary(seats, pace, own="mica"):
    """What the table, the chart and the JSON show of one network on one number of threads."""
    best, ratios = ratio_to_best(seats, own)
    settled = figures.settled(ratios, pace.least_rounds)
    peers = {}
    for seat in seats:
        peers[seat.name] = {"version": seat.version, "notes": seat.notes, "error": seat.error}
        if seat.times:
            runs = [value for one in seat.times if one for value in one]
            peers[seat.name] |= {"median_ms": seat.median(), "min_ms": min(runs),
                                 "round_medians_ms": seat.medians(), "round_peaks_gflops": seat.peaks,
                                 "difference": seat.difference, **seat.opened}
    with_figure = [seat.name for seat in seats if seat.times and seat.name != own]
    own_figure = peers.get(own, {}).get("median_ms")
    made = {"best_peer": best, "rounds": max((len(seat.times) for seat in seats), default=0), "peers": peers,
            "missed": figures.missed(with_figure, own_figure, settled)}
    if ratios:
        low, middle, high = figures.quartiles(ratios)
        made |= {"ratio": middle, "ratio_quartiles": [low, middle, high], "spread": figures.spread(ratios),
                 "ratio_of_minima": min(peers[n]["min_ms"] for n in with_figure) / peers[own]["min_ms"]}
    return made
