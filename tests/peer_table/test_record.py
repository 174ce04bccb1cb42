"""Tests of the record and of the kernel gates' rules; run by the folder's __main__.py."""
import math
import tempfile

import judge
from peer_table import record


def made(commit, ratio, peak=100.0, missed=None):
    mica = {"round_ms": [2.0, None], "round_peaks_gflops": [peak, None], "notes": "avx2"}
    one = {"peers": {"mica": mica}, "best_peer": "openvino", "ratio": ratio, "missed": missed}
    return {"machine": {"processor": "p"}, "commit": commit, "date": "d",
            "nets": {"net": {"flops": 10 ** 8, "threads": {"1": one}}}}


def test_the_record_keeps_ratios_by_commit():
    with tempfile.TemporaryDirectory() as folder:
        record.keep(made("a", 1.2), folder, "avx2")
        record.keep(made("b", 1.3), folder, "avx2")
        record.keep(made("b", 1.4), folder, "avx2")
        known = record.load(folder, record.kind())
        assert [e["commit"] for e in known["entries"]] == ["a", "b"]
        assert known["entries"][1]["nets"]["net"]["1"] == {"ratio": 1.4, "best_peer": "openvino", "share_of_peak": 0.5}


def test_what_is_missed_is_not_recorded():
    assert record.entry(made("a", 1.2, missed="the ratio did not settle"))["nets"] == {}


def test_recorded_ceilings_only_grow():
    with tempfile.TemporaryDirectory() as folder:
        assert record.ceilings(folder) == {}
        for peak in (100.0, 60.0, None):
            record.keep(made("a", 1.2, peak), folder, "avx2")
        assert record.ceilings(folder) == {"fma_avx2": 100.0}


def test_a_runs_ceiling_is_the_median_of_its_networks():
    with tempfile.TemporaryDirectory() as folder:
        run = made("a", 1.2, 100.0)
        for name, peak in (("fast for a moment", 130.0), ("slow for a moment", 80.0)):
            run["nets"][name] = made("a", 1.2, peak)["nets"]["net"]
        record.keep(run, folder, "avx2")
        assert record.ceilings(folder) == {"fma_avx2": 100.0}


def test_a_low_ceiling_is_invalid():
    assert judge.valid(95, 100) and not judge.valid(89, 100)
    assert not judge.valid(math.nan, 100) and not judge.valid(math.inf, 100) and not judge.valid(0, 0)


def test_the_median_of_three_stands_in_for_a_record():
    assert judge.reference_ceiling(100, []) == 100
    assert judge.reference_ceiling(0, [90, 50]) is None
    assert judge.reference_ceiling(0, [90, 50, 100, 10]) == 90


def test_gates_judge():
    assert judge.passed(0.9, 0.9) and not judge.passed(0.89, 0.9) and not judge.passed(math.nan, 0.9)
    assert judge.sum_line(["passed", "failed", "passed"]) == "2 passed, 1 failed"
