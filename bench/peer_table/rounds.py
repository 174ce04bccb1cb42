"""One network on one number of threads: all programs opened one after the other, checked, then timed in turns."""
import math
import random
import statistics
import time
from dataclasses import dataclass, field

from peer_table import figures
from peer_table.protocol import PeerFailed


@dataclass
class Pace:
    """A round is several passes: in each every program has one turn, so that what comes and goes within seconds (other
    guests, clocks) meets all of them, and a round's figures are means over its passes."""
    turn_seconds: float = 0.06    # of timed runs in a turn
    passes: int = 8               # of the first rounds: see play
    warm_seconds: float = 0.4     # before the first round, for each program
    least_rounds: int = figures.LEAST_ROUNDS
    most_seconds: float = 300     # for all rounds of one network on one number of threads
    clock: str = "wall"           # or cpu: processor time, which other programs on the machine lengthen less


QUICK = dict(turn_seconds=0.04, passes=4, warm_seconds=0.2, most_seconds=25)
# Enough to find what stands out among hundreds of networks, by the ratio of minima; little of it settles.
GLANCE = dict(turn_seconds=0.1, passes=1, warm_seconds=0.1, least_rounds=3, most_seconds=1)
PACES = {"full": {}, "quick": QUICK, "glance": GLANCE}
# A peer so much slower than the best one plays a single pass of every so many rounds, so that those whose ratio is
# reported meet more often and sooner after each other.
FAR_BEHIND, SELDOM = 1.2, 4


@dataclass(eq=False)
class Seat:
    """One program at the table."""
    name: str
    worker: object = None
    error: str = ""
    opened: dict = field(default_factory=dict)
    difference: float = float("nan")
    # For each round, None where it sat out: milliseconds of a run, the mean over turns of each one's median; GFLOP/s
    # that its process could have computed in that time, None also where the ceiling was not measured.
    round_ms: list = field(default_factory=list)
    peaks: list = field(default_factory=list)
    min_ms: float = math.inf                      # of all runs
    version: str = ""
    notes: str = ""

    def sit_out(self):
        self.round_ms.append(None)
        self.peaks.append(None)

    def take_round(self, turns):
        """turns: what the worker told of each."""
        self.min_ms = min(self.min_ms, *(ms for told in turns for ms in told["times_ms"]))
        self.keep([(statistics.median(told["times_ms"]), told["peak_gflops"]) for told in turns])

    def merge_rounds(self):
        """Each two rounds become one; of one that sat out half of it, the other half."""
        played = list(zip(self.round_ms, self.peaks))
        self.round_ms, self.peaks = [], []
        for pair in zip(played[::2], played[1::2]):
            self.keep([part for part in pair if part[0] is not None])

    def keep(self, parts):
        """parts: of a round, each (milliseconds of a run, GFLOP/s that could have been computed)."""
        if not parts:
            return self.sit_out()
        times, peaks = zip(*parts)
        self.round_ms.append(statistics.fmean(times))
        if None in peaks:
            self.peaks.append(None)
            return
        least = min(peaks)   # and the mean of what is more, over time: exact where all are alike
        self.peaks.append(least + statistics.fmean((peak - least for peak in peaks), times))

    def median(self):
        return statistics.median(one for one in self.round_ms if one is not None)

    def fail(self, error):
        self.error = str(error)
        self.round_ms, self.peaks, self.min_ms = [], [], math.inf
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


def passes_of(seat, seats, rounds, own, passes):
    """How many passes of a round a program plays: all, or few where it is too far behind the best peer."""
    if seat.name == own or not seat.round_ms:
        return passes
    best = min(other.median() for other in seats if other.name != own and other.round_ms)
    return passes if seat.median() <= FAR_BEHIND * best else int(rounds % SELDOM == 0)


def play_round(passes, pace, shuffle):
    """One round. passes: how many each program plays. The order changes from pass to pass, so that nobody always
    follows the same neighbour. A program that fails has no turns at all any more."""
    playing, told = list(passes), {seat.name: [] for seat in passes}
    for number in range(max(passes.values())):
        shuffle.shuffle(playing)
        for seat in (one for one in playing if one.worker and number < passes[one]):
            # A short warm-up: caches hold the last program's data.
            told[seat.name].append(turn(seat, pace.turn_seconds, pace.turn_seconds / 5, pace.clock))
    for seat in (one for one in playing if one.worker):
        seat.take_round(told[seat.name])


def play(seats, pace, progress=lambda rounds, share: None, own="mica"):
    """Rounds until the ratio of the best peer to Mica has settled, or the next one would end after the last moment.
    Returns the passes of a round.

    What the machine does to programs for longer than a round sets its rounds apart, however many there are. So when
    twice the least number have not settled, each two become one, and those to come are twice as long: batch means, as
    A. M. Law and J. S. Carson, "A sequential procedure for determining the length of a steady-state simulation",
    Operations Research 27 (1979), double theirs."""
    for seat in (one for one in seats if one.worker):
        turn(seat, 0, pace.warm_seconds, pace.clock)
    began, shuffle, rounds, passes, spent = time.monotonic(), random.Random(1), 0, pace.passes, 0.0
    while any(seat.worker for seat in seats) and (rounds == 0 or spent * (rounds + 1) / rounds <= pace.most_seconds):
        present = [seat for seat in seats if seat.worker]
        played = {seat: passes_of(seat, seats, rounds, own, passes) for seat in present}
        for seat in (one for one in present if played[one] == 0):
            seat.sit_out()
        play_round({seat: count for seat, count in played.items() if count > 0}, pace, shuffle)
        rounds, spent = rounds + 1, time.monotonic() - began
        if rounds == 2 * pace.least_rounds:
            rounds, passes = pace.least_rounds, 2 * passes
            for seat in seats:
                seat.merge_rounds()
        progress(rounds, spent / pace.most_seconds)
        ratios = ratio_to_best(seats, own)[1]   # none when Mica or all peers have failed: nothing will settle
        if rounds >= pace.least_rounds and (not ratios or figures.settled(ratios, pace.least_rounds)):
            break
    return passes


def ratio_to_best(seats, own="mica"):
    """(name of the fastest peer, its ratio to Mica round by round)."""
    mine = next((seat for seat in seats if seat.name == own and seat.round_ms), None)
    peers = {seat.name: seat.median() for seat in seats if seat.name != own and seat.round_ms}
    best = figures.best_peer(peers)
    if mine is None or best is None:
        return best, []
    theirs = next(seat for seat in seats if seat.name == best)
    return best, figures.ratios(theirs.round_ms, mine.round_ms)


def summary(seats, pace, passes, own="mica"):
    """What the table, the chart and the JSON show of one network on one number of threads. passes: what play tells."""
    best, ratios = ratio_to_best(seats, own)
    settled = figures.settled(ratios, pace.least_rounds)
    peers = {}
    for seat in seats:
        peers[seat.name] = {"version": seat.version, "notes": seat.notes, "error": seat.error}
        if seat.round_ms:
            peers[seat.name] |= {"median_ms": seat.median(), "min_ms": seat.min_ms,
                                 "round_ms": seat.round_ms, "round_peaks_gflops": seat.peaks,
                                 "difference": seat.difference, **seat.opened}
    with_figure = [seat.name for seat in seats if seat.round_ms and seat.name != own]
    own_figure = peers.get(own, {}).get("median_ms")
    made = {"best_peer": best, "rounds": max((len(seat.round_ms) for seat in seats), default=0), "passes": passes,
            "peers": peers, "missed": figures.missed(with_figure, own_figure, settled)}
    if ratios:
        low, middle, high = figures.quartiles(ratios)
        made |= {"ratio": middle, "ratio_quartiles": [low, middle, high], "spread": figures.spread(ratios),
                 "ratio_of_minima": min(peers[n]["min_ms"] for n in with_figure) / peers[own]["min_ms"]}
    return made
