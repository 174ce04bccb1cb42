#!/usr/bin/env python3
"""The kernel gates: single layers as a share of the ceilings that the same process measures.

    bench/kernels/gates.py --mica build/mica [--record FOLDER] [--minutes 10] [--only TEXT]

Each layer runs through `mica bench --layers`, which measures the machine's ceilings in the same process. A measurement
whose multiply-add ceiling is below 90 % of the recorded one of this kind of machine (bench/record; the median of three
where none is recorded) is invalid and made again; what is still invalid after some minutes has failed. Ceilings are
those of the fastest of several tries, so a layer's fastest run is held against them, or against the recorded ceiling
where that is higher; its median is printed beside. The last line is `N passed, N failed`. For a machine without other
work.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
sys.path.append(str(HERE))

import judge  # noqa: E402
import layers  # noqa: E402
from peer_table import machine, record  # noqa: E402

# Pixels, inputs, outputs: K, N >= 64 and M >= 49.
POINTWISE = ((3136, 64, 128), (784, 128, 256), (784, 256, 256), (196, 256, 512), (196, 512, 512), (49, 512, 1024))
# Side and channels: C >= 64 and H >= 14.
WINOGRAD = ((56, 64), (28, 128), (14, 256))
VECTORS = ((2048, 4096), (4096, 4096))
POINTWISE_LEAST, WINOGRAD_LEAST, VECTOR_LEAST = 0.90, 1.8, 0.90
# A neighbour on the same core slows a product, not the multiply-add loop, so that no ceiling shows it: the best valid
# measurement of so many counts, about a minute's.
TRIES = 50
# Of two layers beside each other so many runs at least: a slow one of the direct product alone would pass.
LEAST_PAIRS = 5


class Gates:
    def __init__(self, args, folder):
        self.args, self.folder, self.seen, self.results = args, folder, {}, []
        self.recorded = record.ceilings(args.record)
        self.deadline = time.monotonic() + 60 * args.minutes

    def layer(self, model, isa, force=""):
        """The figures of one process: milliseconds and floating-point operations a second of the fastest run, how much
        longer the median takes, ceilings of one thread. Row chains would hide the layer among its neighbours."""
        command = [self.args.mica, "bench", model, "--threads", "1", "--seconds", "0.5", "--layers", "--format", "json",
                   "--row-chains", "never", *(["--isa", isa] if isa else [])]
        environment = {**os.environ, **({"MICA_FORCE": force} if force else {})}
        done = subprocess.run(command, capture_output=True, text=True, env=environment,
                              preexec_fn=lambda: os.sched_setaffinity(0, machine.processors_for(1)))
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip()[:300])
        made = json.loads(done.stdout)
        stage = next(s for s in made["stages"] if s["name"] == "gate")
        slower = stage["ms"] / stage["min_ms"]
        return {"ms": stage["min_ms"], "flops": stage["gflops"] * 1e9 * slower, "slower": slower,
                "kernel": stage["kernel"], "isa": made["isa"],
                "fma": made["ceilings"]["fma_gflops"][0] * 1e9, "levels": made["ceilings"]["levels"]}

    def measure(self, name, isa, model, force=""):
        """Runs until the ceiling is a valid one: the figures, or None when time is up."""
        while True:
            found = self.layer(model, isa, force)
            key = f"fma_{found['isa']}"
            self.seen.setdefault(key, []).append(found["fma"])
            reference = judge.reference_ceiling(self.recorded.get(key, 0) * 1e9, self.seen[key])
            if reference and judge.valid(found["fma"], reference):
                found["ceiling"] = max(found["fma"], reference)  # of many tries, a ceiling on the low side passes one
                return found
            if time.monotonic() > self.deadline:
                print(f"{name}: still invalid: the ceiling is {found['fma'] * 1e-9:.0f} GFLOP/s, "
                      f"that of this kind of machine {(reference or 0) * 1e-9:.0f}")
                return None
            if reference:
                time.sleep(1)

    def close(self, name, share, least, note):
        word = "passed" if judge.passed(share, least) else "FAILED"
        self.results.append("passed" if word == "passed" else "failed")
        print(f"{word}  {name:<44} {share:6.3f} of {least:.2f}  {note}", flush=True)

    def lost(self, name):
        self.results.append("failed")
        print(f"FAILED  {name:<44} no valid measurement", flush=True)

    def pointwise(self, isa):
        for pixels, inputs, outputs in POINTWISE:
            name, model = f"pointwise {pixels}x{inputs}x{outputs} {isa or 'best'}", f"{self.folder}/pointwise.onnx"
            if self.args.only not in name:
                continue
            layers.pointwise(model, pixels, inputs, outputs)
            best, note = None, ""
            for _ in range(TRIES):
                found = self.measure(name, isa, model)
                if found is None:
                    break
                share = found["flops"] / found["ceiling"]
                if best is None or share > best:
                    best, note = share, f"{found['kernel']}, median {share / found['slower']:.3f}"
                if judge.passed(best, POINTWISE_LEAST):
                    break
            if best is None:
                self.lost(name)
            else:
                self.close(name, best, POINTWISE_LEAST, note)

    def winograd(self):
        """Against the direct product of the same layer."""
        for side, channels in WINOGRAD:
            name, model = f"winograd {side}x{side}x{channels}", f"{self.folder}/winograd.onnx"
            if self.args.only not in name:
                continue
            layers.three_by_three(model, side, channels)
            fast_ms = plain_ms = math.inf
            for pair in range(1, TRIES + 1):
                fast, plain = self.measure(name, "", model), self.measure(name, "", model, "implicit")
                if fast is None or plain is None:
                    break
                fast_ms, plain_ms = min(fast_ms, fast["ms"]), min(plain_ms, plain["ms"])
                note = f"{fast['kernel']} beside {plain['kernel']}"
                if pair >= LEAST_PAIRS and judge.passed(plain_ms / fast_ms, WINOGRAD_LEAST):
                    break
            if math.isinf(fast_ms):
                self.lost(name)
            else:
                self.close(name, plain_ms / fast_ms, WINOGRAD_LEAST, note)

    def vectors(self):
        """Weights beyond the second-level cache, as a share of reading at the level that holds them."""
        for inputs, outputs in VECTORS:
            name, model = f"vector {inputs}x{outputs}", f"{self.folder}/vector.onnx"
            if self.args.only not in name:
                continue
            layers.one_row(model, inputs, outputs)
            found = self.measure(name, "", model)
            if found is None:
                self.lost(name)
                continue
            weights = 4 * inputs * outputs
            level = next(l for l in found["levels"] if weights <= l.get("bytes", weights))
            reads = weights / (found["ms"] * 1e-3)
            share = reads / (level["gbytes"][0] * 1e9)
            self.close(name, share, VECTOR_LEAST, f"{found['kernel']} from {level['name']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mica", required=True)
    parser.add_argument("--record", default=str(HERE.parent / "record"))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gates = Gates(args, folder)
        sets = json.loads(subprocess.run([args.mica, "doctor", "--no-measure", "--format", "json"], check=True,
                                         capture_output=True, text=True).stdout)["isas"]
        gates.pointwise("")
        if "avx2" in sets:
            gates.pointwise("avx2")
        gates.winograd()
        gates.vectors()
    print(judge.sum_line(gates.results))
    return 0 if gates.results and all(r == "passed" for r in gates.results) else 1


if __name__ == "__main__":
    sys.exit(main())
