"""Tests of bench/peers: statistics, the rules by which a figure counts, the protocol with planted peers, the record.
Needs numpy and onnx. The last line is `N passed, N failed`."""
import json
import math
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parents[1] / "bench"), str(HERE.parents[1] / "bench" / "kernels")]

import numpy as np  # noqa: E402
import test_layers as layers  # noqa: E402
import test_record as records  # noqa: E402
from peer_table import ceiling, figures, models, nets, report, rounds, sampling  # noqa: E402
from peer_table.protocol import PeerFailed, Worker  # noqa: E402

REFERENCE = [np.arange(6, dtype=np.float32).reshape(2, 3) - 2]
FAST = rounds.Pace(turn_seconds=0, passes=1, warm_seconds=0, most_seconds=60)


def start(manner):
    return Worker([sys.executable, HERE / "planted.py", manner])


def table(manners, pace=FAST):
    """The summary of a network that programs with these manners are seated at. manners: name → manner."""
    seats = [rounds.Seat(name) for name in manners]
    with tempfile.TemporaryDirectory() as scratch:
        for seat in seats:
            rounds.open_seat(seat, lambda name: start(manners[name]), "file", "inputs")
            if seat.worker:
                rounds.check_answers(seat, REFERENCE, None, scratch)
    try:
        return rounds.summary(seats, pace, rounds.play(seats, pace))
    finally:
        for seat in seats:
            if seat.worker:
                seat.worker.close()


GOOD = {"mica": "right:2", "onnxruntime": "right:3", "openvino": "right:2.5", "mnn": "right:4"}


def test_quartiles():
    assert figures.quartiles([4]) == [4, 4, 4]
    assert figures.quartiles([1, 2, 3, 4, 5]) == [2, 3, 4]


def test_spread_of_bad_numbers_is_infinite():
    for values in ([], [1.0], [1.0, math.nan], [1.0, math.inf], [1.0, -1.0], [1.0, 0.0]):
        assert figures.spread(values) == math.inf, values
        assert not figures.settled(values, least=1)


def test_settling():
    assert figures.settled([1.0, 1.01, 0.99] * 3)
    assert not figures.settled([1.0, 1.01, 0.99])                 # too few rounds
    assert not figures.settled([1.0, 1.2, 0.9, 1.1] * 3)
    assert figures.settled([1.0] * 10 + [9.0])                    # one stall does not unsettle


def test_ratio_above_one_means_mica_is_faster():
    assert figures.ratios([3.0, 4.0], [2.0, 2.0]) == [1.5, 2.0]


def test_rounds_that_one_sat_out_have_no_ratio():
    assert figures.ratios([3.0, None, 4.0], [2.0, 2.0, 2.0]) == [1.5, 2.0]


def test_who_is_far_behind_plays_seldom():
    seats = [rounds.Seat(name, round_ms=[ms] * 5) for name, ms in (("mica", 9.0), ("a", 2.0), ("b", 2.3), ("c", 2.5))]
    passes = [[rounds.passes_of(seat, seats, played, "mica", 8) for seat in seats] for played in range(9)]
    assert passes == ([[8, 8, 8, 1]] + [[8, 8, 8, 0]] * 3) * 2 + [[8, 8, 8, 1]], passes
    made = table(GOOD | {"ncnn": "right:9"}, rounds.Pace(turn_seconds=0, passes=1, warm_seconds=0, least_rounds=9))
    turns = {name: sum(m is not None for m in peer["round_ms"]) for name, peer in made["peers"].items()}
    assert made["rounds"] >= 9 and turns["mica"] == turns["openvino"] == made["rounds"], turns
    assert turns["ncnn"] < made["rounds"] and made["peers"]["ncnn"]["median_ms"] > 0, turns


def test_a_round_is_the_mean_of_its_passes():
    told = [{"times_ms": [1.0, 2.0, 9.0], "peak_gflops": 100.0}, {"times_ms": [4.0], "peak_gflops": 50.0}]
    seat = rounds.Seat("mica")
    seat.take_round(told)
    seat.sit_out()
    for _ in range(2):
        seat.take_round(told[1:])
    assert seat.round_ms == [3.0, None, 4.0, 4.0] and seat.median() == 4.0 and seat.min_ms == 1.0
    # What it could have computed in 2 and 4 ms, over 6 ms.
    assert seat.peaks == [(2 * 100 + 4 * 50) / 6, None, 50.0, 50.0], seat.peaks
    made = table(GOOD, rounds.Pace(turn_seconds=0, passes=3, warm_seconds=0))
    assert made["rounds"] == figures.LEAST_ROUNDS and abs(made["ratio"] - 1.25) < 0.01


def test_two_rounds_become_one():
    seat = rounds.Seat("mica", round_ms=[1.0, 3.0, None, 4.0, None, None, 2.0, 2.0],
                       peaks=[8.0, 4.0, None, 7.0, None, None, 5.0, None])
    seat.merge_rounds()
    assert seat.round_ms == [2.0, 4.0, None, 2.0], seat.round_ms
    assert seat.peaks == [(1 * 8 + 3 * 4) / 4, 7.0, None, None], seat.peaks


def test_passes_settle_what_comes_and_goes():
    """Times that differ from turn to turn by half, whoever has it; so many rounds that none become one."""
    noisy = {name: manner.replace("right", "wavering") for name, manner in GOOD.items()}
    one, many = (table(noisy, rounds.Pace(turn_seconds=0, passes=passes, warm_seconds=0, least_rounds=1000,
                                          most_seconds=2)) for passes in (1, 64))
    assert one["spread"] > figures.SPREAD and one["spread"] > 3 * many["spread"], (one, many)
    assert many["rounds"] >= figures.LEAST_ROUNDS and many["spread"] < figures.SPREAD, many
    assert abs(many["ratio"] - 1.25) < 0.06, many["ratio_quartiles"]


def test_longer_rounds_settle_what_comes_and_goes():
    """Times that differ from turn to turn by half, whoever has it."""
    noisy = {name: manner.replace("right", "wavering") for name, manner in GOOD.items()}
    made = table(noisy, rounds.Pace(turn_seconds=0, passes=1, warm_seconds=0, most_seconds=30))
    assert made["missed"] is None and abs(made["ratio"] - 1.25) < 0.06, made["ratio_quartiles"]
    assert made["passes"] >= 8 and figures.LEAST_ROUNDS <= made["rounds"] < 2 * figures.LEAST_ROUNDS, made
    assert all(len(peer["round_ms"]) == made["rounds"] for peer in made["peers"].values())


def test_no_round_begins_that_would_end_too_late():
    began = time.monotonic()
    made = table(GOOD | {"mica": "growing"}, rounds.Pace(turn_seconds=0, passes=200, warm_seconds=0, most_seconds=1.5))
    assert 1 <= made["rounds"] < 100 and time.monotonic() - began < 6, made["rounds"]


def test_difference():
    assert figures.difference(REFERENCE, REFERENCE) == 0
    assert abs(figures.difference([REFERENCE[0] + 0.003], REFERENCE) - 0.001) < 1e-6
    for bad in ([], [REFERENCE[0][:1]], [REFERENCE[0] * np.nan], [np.full((2, 3), np.inf)],
                REFERENCE * 2):
        assert figures.difference(bad, REFERENCE) == math.inf
        assert not figures.agrees(figures.difference(bad, REFERENCE))
    assert figures.difference(REFERENCE, [REFERENCE[0] * np.nan]) == math.inf
    assert figures.difference([np.zeros(3)], [np.zeros(3)]) == 0
    assert figures.difference([np.ones(3)], [np.zeros(3)]) == math.inf
    assert not figures.agrees(math.nan)


def test_adopting_a_real_model():
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "models", "net", "ref")
        kept.mkdir(parents=True)
        Path(kept.parent, "net.onnx").write_bytes(b"")
        np.save(kept / "in0.npy", np.array([[0, 255]], np.uint8))
        np.save(kept / "out0.npy", np.array([1, 3], np.float32))
        picture = {"name": "x", "dtype": "float32", "shape": [1, 2], "file": "in0.npy", "scale": 2.0, "offset": -1.0}
        state = {"name": "h", "dtype": "float32", "shape": [3], "file": None}
        outputs = [{"name": "y", "dtype": "float32", "shape": [1, 4], "stride": 2, "file": "out0.npy"},
                   {"name": "inside", "inner": True}]
        Path(kept, "ref.json").write_text(json.dumps({"inputs": [picture, state], "outputs": outputs}))
        assert models.adopt(Path(folder, "models"), Path(folder, "nets")) == ["real_net"]
        inputs = np.load(Path(folder, "nets", "real_net.inputs.npz"))
        assert inputs["x"].tolist() == [[-1, 509]] and inputs["h"].tolist() == [0, 0, 0]
        about = json.loads(Path(folder, "nets", "real_net.json").read_text())
        assert about["kept"] == [{"shape": [1, 4], "stride": 2}] and about["bind"] == {"x": [1, 2], "h": [3]}


def test_difference_from_every_second_value():
    part, kept = [REFERENCE[0].reshape(-1)[::2]], [{"shape": (2, 3), "stride": 2}]
    assert figures.difference(REFERENCE, part, kept) == 0
    assert figures.difference([REFERENCE[0] + 0.003], part, kept) > 0.001
    assert figures.difference([REFERENCE[0][:, ::2]], part, kept) == math.inf
    assert figures.difference(REFERENCE, [part[0][:2]], kept) == math.inf


def test_a_network_of_older_makers_is_made_anew():
    with tempfile.TemporaryDirectory() as folder:
        def put(name, about):
            Path(folder, name).write_text(json.dumps(about))
        assert not nets.is_made(folder, "lstm")
        put("lstm.json", {"net": "lstm"})
        assert not nets.is_made(folder, "lstm")
        put("lstm.json", {"net": "lstm", "maker": "another"})
        assert not nets.is_made(folder, "lstm")
        put("lstm.json", {"net": "lstm", "maker": nets.maker()})
        assert nets.is_made(folder, "lstm") and len(nets.maker()) == 12
        put("lstm.mnn", {})
        put("lstm2.json", {})
        nets.forget(folder, "lstm")
        assert nets.is_made(folder, "lstm2")   # not one of the table's: whoever made it
        assert [file.name for file in Path(folder).iterdir()] == ["lstm2.json"]


def test_channels_last_answers_are_turned():
    picture = np.random.default_rng(1).standard_normal((1, 3, 4, 5))
    assert figures.difference([np.moveaxis(picture, 1, -1)], [picture]) == 0
    assert figures.difference([np.moveaxis(picture, 1, -1).ravel()], [picture]) > 0.1


def test_missed():
    whole = ["onnxruntime", "openvino", "mnn"]
    assert figures.missed(whole, 1.0, True) is None
    assert "settle" in figures.missed(whole, 1.0, False)
    assert "Mica" in figures.missed(whole, None, True)
    assert "third" in figures.missed(whole[:2], 1.0, True)
    assert "openvino" in figures.missed(["onnxruntime", "mnn", "ncnn"], 1.0, True)


def test_geometric_mean():
    assert abs(figures.geometric_mean([2, 8]) - 4) < 1e-12
    assert math.isnan(figures.geometric_mean([]))


def test_a_whole_table():
    made = table(GOOD)
    assert made["best_peer"] == "openvino" and made["missed"] is None, made
    assert abs(made["ratio"] - 1.25) < 0.01 and made["rounds"] == figures.LEAST_ROUNDS
    assert made["peers"]["mica"]["load_ms"] == 1.0 and made["peers"]["mica"]["difference"] == 0


def test_planted_wrong_answers_get_no_figure():
    for manner in ("wrong", "nan", "small"):
        made = table(GOOD | {"openvino": manner})
        assert "wrong answer" in made["peers"]["openvino"]["error"], made["peers"]["openvino"]
        assert "median_ms" not in made["peers"]["openvino"] and made["best_peer"] == "onnxruntime"
        assert made["missed"] == "no figure of openvino"


def test_own_wrong_answer_misses():
    made = table(GOOD | {"mica": "wrong"})
    assert made["missed"] == "Mica has no figure" and "ratio" not in made


def test_planted_failures_are_listed():
    wanted = {"refuses": "planted refusal", "dies": "exit code 7: a library talks", "babbles": "no JSON",
              "late_death": "exit code 9"}
    for manner, words in wanted.items():
        made = table(GOOD | {"mnn": manner})
        assert words in made["peers"]["mnn"]["error"], (manner, made["peers"]["mnn"])
        assert made["missed"] == "no figure of a third peer" and abs(made["ratio"] - 1.25) < 0.01


def test_a_hanging_peer_is_ended():
    worker, began = start("hangs"), time.monotonic()
    try:
        worker.ask("open", limit=0.5, file="", inputs="")
        raise AssertionError("no failure")
    except PeerFailed as failure:
        assert "too long" in str(failure)
    assert time.monotonic() - began < 20 and worker.process.returncode is not None


def test_what_drifts_does_not_settle():
    made = table(GOOD | {"mica": "growing"}, rounds.Pace(turn_seconds=0, passes=1, warm_seconds=0, most_seconds=5))
    assert made["passes"] > 8 and made["rounds"] >= figures.LEAST_ROUNDS, made
    assert made["missed"] == "the ratio did not settle" and made["spread"] > figures.SPREAD


def test_a_paused_worker_answers_again():
    worker = start("right")
    worker.pause()
    state = Path(f"/proc/{worker.process.pid}/stat")
    for _ in range(200):
        if state.read_text().split()[2] == "T":
            break
        time.sleep(0.01)
    assert state.read_text().split()[2] == "T"
    assert worker.ask("hello")["version"] == "1"
    worker.close()


def test_report_of_everything():
    threads = {"1": table(GOOD | {"mnn": "refuses"}), "2": table(GOOD | {"mica": "unmeasured:2"})}
    made = {"machine": {"processor": "p", "processors": 2, "caches": ["48K"], "load_average": 0.0}, "commit": "c",
            "date": "d", "pace": "quick", "clock": "wall", "instructions": {"mica": "AVX2 256 (90 %)"},
            "nets": {"net": {"flops": 10 ** 8, "threads": threads}, "gone": {"flops": None, "threads": {}}}}
    assert report.missed_count(made) == 2
    text, page = report.text(made), report.page(made, None)
    for words in ("planted refusal", "the network was not made", "1.25", "failed", "AVX2 256 (90 %)"):
        assert words in text and words in page, words
    assert abs(report.share_of_peak(threads["1"], 10 ** 8) - 0.5) < 0.01       # 1e8 in 2 ms of 100 GFLOP/s
    assert math.isnan(report.share_of_peak(threads["2"], 10 ** 8)) and math.isnan(report.peak_gflops(threads["2"]))
    assert abs(report.means(made)["2"][0] - 1.25) < 0.01
    assert report.means(made)["2"][1:] == (1, 1) and "over the 1 networks" in text and "; 1 missed or not" in text
    with tempfile.TemporaryDirectory() as folder:
        report.write(made, Path(folder))
        assert "NaN" not in (Path(folder) / "peers.json").read_text()


def test_the_share_of_the_peak_is_the_same_beside_a_neighbour():
    quiet = table(GOOD)
    # So many rounds that none become one.
    pace = rounds.Pace(turn_seconds=0, passes=1, warm_seconds=0, least_rounds=1000, most_seconds=1)
    disturbed = table(GOOD | {"mica": "disturbed:2"}, pace)
    for one, peaks in ((quiet, {100}), (disturbed, {50, 100})):
        assert abs(report.share_of_peak(one, 10 ** 8) - 0.5) < 0.01, one["peers"]["mica"]
        assert set(one["peers"]["mica"]["round_peaks_gflops"]) == peaks, one["peers"]["mica"]
    assert report.peak_gflops(quiet) == 100


def test_the_ceiling_is_what_the_processor_can_do():
    with tempfile.TemporaryDirectory() as folder:
        library = ceiling.build(folder)
        if library is None:
            return   # no compiler
        flops = ceiling_of(library, 1)
        assert ceiling_of(None, 1) is None
        assert 1 < flops < 2000, flops   # 2000: two units of 16 lanes at 30 GHz
        both = ceiling_of(library, 2)
        assert 0.6 * flops < both < 3 * flops, (flops, both)


def ceiling_of(library, threads):
    kept = os.environ.pop(ceiling.LIBRARY, None)
    try:
        if library:
            os.environ[ceiling.LIBRARY] = str(library)
        return ceiling.Ceiling(threads).measure()
    finally:
        os.environ.pop(ceiling.LIBRARY, None)
        if kept:
            os.environ[ceiling.LIBRARY] = kept


def test_words_of_samples():
    assert sampling.words([0] * 8) == "not sampled"
    assert sampling.words([10, 0, 0, 0, 0, 5, 85, 0]) == "AVX-512 512 (85 %), scalar (10 %)"


def main():
    passed = failed = 0
    for name, test in [*globals().items(), *vars(layers).items(), *vars(records).items()]:
        if not name.startswith("test_"):
            continue
        try:
            test()
            passed += 1
        except Exception:
            failed += 1
            print(f"FAILED {name}")
            traceback.print_exc()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
