"""The record of performance in the repository: one JSON file for each kind of machine, with the ceilings that were
measured on it and one entry for each commit that was. Ratios and shares, not times: another day's machine has others.

    {"kind", "processor", "ceilings": {"fma_avx512": GFLOP/s of one thread, ...},
     "entries": [{"commit", "date", "nets": {NET: {THREADS: {"ratio", "best_peer", "share_of_peak"}}}}]}
"""
import json
import math
import re
import statistics
from pathlib import Path

from peer_table import machine, report


def kind():
    """Vendor, family, model and stepping where the system tells them, else the processor's name; a file's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    told = {}
    for line in lines:
        key, _, value = line.partition(":")
        told.setdefault(key.strip(), value.strip())
    parts = [told[k] for k in ("vendor_id", "cpu family", "model", "stepping") if k in told] or [machine.processor()]
    return re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-")


def load(folder, name):
    path = Path(folder) / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {"kind": name, "ceilings": {}, "entries": []}


def ceilings(folder):
    """GFLOP/s that are recorded for this kind of machine; empty where none are."""
    return load(folder, kind())["ceilings"]


def entry(made):
    """What is kept of a run of the table: figures that count."""
    nets = {}
    for net, threads, one, flops in report.rows(made):
        if not one or one["missed"] or "ratio" not in one:
            continue
        share = report.share_of_peak(one, flops)
        nets.setdefault(net, {})[threads] = {"ratio": round(one["ratio"], 3), "best_peer": one["best_peer"],
                                             "share_of_peak": round(share, 3) if math.isfinite(share) else None}
    return {"commit": made["commit"], "date": made["date"], "nets": nets}


def keep(made, folder, isa):
    """Adds the run to its kind's file, in place of an entry of the same commit. A run's ceiling is the median over its
    networks, since a processor is faster for moments; the recorded one only grows: one that is measured on a busy
    machine would let slow kernels pass."""
    known = load(folder, kind())
    known["processor"] = made["machine"]["processor"]
    peaks = [report.peak_gflops(one) for _, threads, one, _ in report.rows(made)
             if one and threads == "1" and math.isfinite(report.peak_gflops(one))]
    key = f"fma_{isa}"
    if peaks:
        known["ceilings"][key] = round(max(known["ceilings"].get(key, 0), statistics.median(peaks)), 1)
    new = entry(made)
    known["entries"] = [e for e in known["entries"] if e["commit"] != new["commit"]] + [new]
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / f"{kind()}.json"
    path.write_text(json.dumps(known, indent=1) + "\n")
    return path
