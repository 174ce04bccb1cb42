"""The command: bench/peers. See its --help."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peer_table import ceiling, convert, install, machine, record, report, rounds, sampling
from peer_table.adapters import FILES, TITLES
from peer_table.install import CACHE
from peer_table.nets import NAMES, is_made
from peer_table.protocol import Worker

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def arguments():
    parser = argparse.ArgumentParser(prog="bench/peers", description="""Mica beside its peers on the standard networks:
        installs the peers, makes the networks, runs all programs interleaved, checks that the answers agree, and writes
        table, JSON, chart and page. Exit code 0 when every network has a settled figure.""")
    add = parser.add_argument
    add("--only", default="", metavar="NET,...", help="networks whose names contain one of these")
    add("--peers", default=",".join(n for n in FILES if n != "mica"), metavar="PEER,...")
    add("--threads", default="1,2", metavar="N,...")
    paces = parser.add_mutually_exclusive_group()
    for name, text in (("quick", "short turns, at most 25 s of rounds for each figure"),
                       ("glance", "a second of rounds: which of many networks stand out, by the ratio of minima")):
        paces.add_argument(f"--{name}", dest="pace", action="store_const", const=name, default="full", help=text)
    add("--clock", choices=("wall", "cpu"), default="wall", help="cpu: processor time, for a machine with other work; "
        "only with one thread")
    add("--out", default=str(ROOT / "build" / "bench"), help="folder for the results")
    add("--build", type=lambda path: str(Path(path).resolve()), default=str(ROOT / "build"),
        help="build tree with mica and libmica.so")
    add("--venv", default=str(CACHE / "peers"), help="virtual environment of the peers; made when missing")
    add("--makers-venv", default=str(CACHE / "makers"), help="that of the networks' makers")
    add("--nets", default=str(CACHE / "nets"), help="the networks; made when missing")
    add("--models", metavar="FOLDER",
        help="also real ONNX models: FOLDER/NAME/*.onnx with ref/ref.json, or the --cache of tests/arch/run.py")
    add("--largest", type=int, metavar="N", help="of those, the N with the most multiply-adds")
    add("--record", action="store_true", help="keep the ratios in bench/record")
    add("--prepare", action="store_true", help="install, make and convert only")
    return parser.parse_args()


class Bar:
    """One line on stderr that says how far the run is; plain lines where stderr is no terminal."""

    def __init__(self, total):
        self.total, self.done, self.began, self.live = total, 0, time.monotonic(), sys.stderr.isatty()

    def show(self, text, share=0.0):
        if not self.live:
            return
        whole = (self.done + min(share, 1.0)) / max(self.total, 1)
        bar = "#" * int(30 * whole)
        spent = time.monotonic() - self.began
        print(f"\r\033[K[{bar:<30}] {100 * whole:3.0f} %  {spent:4.0f} s  {text}", end="", file=sys.stderr, flush=True)

    def step(self):
        self.done += 1
        if self.live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def make_nets(args, names):
    """Networks that are missing or of older makers, in one process of the makers' environment; one that ends the
    process is left out by the next."""
    folder = Path(args.nets)
    folder.mkdir(parents=True, exist_ok=True)
    missing = [n for n in names if n in NAMES and not is_made(folder, n)]
    while missing:
        python = install.environment(args.makers_venv, install.MAKERS)
        done = subprocess.run([str(python), str(HERE / "nets" / "make.py"), str(folder), *missing])
        left = [n for n in missing if not is_made(folder, n)]
        if done.returncode == 0 or not left:
            break
        missing = left[1:] if left == missing or done.returncode else left
    return [n for n in names if is_made(folder, n)]


def starter(args, threads):
    """start(name, environment) → Worker, pinned."""
    processors = machine.processors_for(threads)
    base = {"MICA_LIBRARY": str(Path(args.build) / "libmica.so"), "OMP_NUM_THREADS": str(threads)}

    def start(name, environment=None):
        command = [install.python_of(args.venv), HERE / "worker.py", name, threads]
        return Worker(command, processors, {**base, **(environment or {})})
    return start


def seats_for(args, net, scratch):
    """One seat for each program, those without a file already failed; with the files by name."""
    seats, files = [], {}
    for name in ["mica", *args.peers.split(",")]:
        seat, reason = rounds.Seat(name), None
        if name == "mica":
            files[name] = f"{scratch}/{net}.mica"
            reason = convert.convert_mica(Path(args.build) / "mica", args.nets, net, files[name])
        else:
            files[name], reason = convert.file_of(args.nets, net, name)
        seat.error = reason or ""
        seats.append(seat)
    return seats, files


def one_figure(args, case, bar, scratch):
    """case: (network, threads). The summary of its rounds."""
    import numpy as np
    net, threads = case
    base, start = f"{args.nets}/{net}", starter(args, threads)
    seats, files = seats_for(args, net, scratch)
    with np.load(f"{base}.reference.npz") as stored:
        references = [stored[name] for name in stored.files]
    kept = json.loads(Path(f"{base}.json").read_text()).get("kept")
    for seat in (s for s in seats if not s.error):
        bar.show(f"{net} {threads}T: {TITLES[seat.name]} loads")
        rounds.open_seat(seat, start, files[seat.name], f"{base}.inputs.npz")
        if seat.worker:
            rounds.check_answers(seat, references, kept, scratch)
    pace = rounds.Pace(clock=args.clock, **rounds.PACES[args.pace])
    try:
        passes = rounds.play(seats, pace, lambda k, share: bar.show(f"{net} {threads}T: round {k}", share))
        made = rounds.summary(seats, pace, passes)
    finally:
        for seat in seats:
            if seat.worker:
                seat.worker.close()
    if files.get("mica"):
        Path(files["mica"]).unlink(missing_ok=True)
    return made


def sample_sets(args, nets, scratch):
    """peer → the instructions that it spends its time on, on the first network that it takes."""
    library, told = sampling.build(scratch), {}
    if library is None:
        return told
    start = starter(args, 1)
    for net in nets:
        seats, files = seats_for(args, net, scratch)
        for seat in (s for s in seats if not s.error and told.get(s.name, "not").startswith("not")):
            case = (seat.name, files[seat.name], f"{args.nets}/{net}.inputs.npz")
            told[seat.name] = sampling.sample(start, library, case, scratch)
        if len(told) == len(seats) and not any(v.startswith("not") for v in told.values()):
            break
    return told


def commit():
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def wanted_nets(args):
    parts = [part for part in args.only.split(",") if part]
    names = list(NAMES)
    if args.models:
        from peer_table import models
        names += models.adopt(args.models, args.nets, args.largest, f"{args.build}/mica")
    return [n for n in names if not parts or any(part in n for part in parts)]


def measure(args, nets):
    made = {"machine": machine.about(), "commit": commit(), "date": time.strftime("%Y-%m-%d %H:%M"),
            "pace": args.pace, "clock": args.clock, "nets": {}}
    threads = [int(t) for t in args.threads.split(",")]
    bar, out = Bar(len(nets) * len(threads)), Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        bar.show("sampling instruction sets")
        made["instructions"] = sample_sets(args, nets[:3], scratch)
        # Only now: the ceiling's own loop would be among the samples.
        library = ceiling.build(scratch)
        if library:
            os.environ[ceiling.LIBRARY] = str(library)
        else:
            print("no share of the peak: there is no C compiler to make its loop with (cc)", file=sys.stderr)
        for net in nets:
            about = json.loads((Path(args.nets) / f"{net}.json").read_text())
            made["nets"][net] = {"flops": about.get("flops"), "threads": {}}
            for count in threads:
                made["nets"][net]["threads"][str(count)] = one_figure(args, (net, count), bar, scratch)
                bar.step()
                print(report.line(net, count, made["nets"][net]), flush=True)
            report.write(made, out)
    return made


def main():
    args = arguments()
    python = install.enter(args.venv, HERE.parent / "peers")
    names = wanted_nets(args)
    if not names:
        sys.exit("no network has such a name: " + ", ".join(NAMES))
    nets = make_nets(args, names)
    for number, net in enumerate(nets):
        print(f"\r\033[Kconverting {net} ({number + 1} of {len(nets)})", end="", file=sys.stderr, flush=True)
        convert.convert(python, args.nets, net, args.peers.split(","))
    print("\r\033[K", end="", file=sys.stderr)
    if args.prepare:
        print(f"{len(nets)} of {len(names)} networks are ready in {args.nets}")
        return 0 if len(nets) == len(names) else 1
    made = measure(args, nets)
    for name in sorted(set(names) - set(nets)):
        made["nets"][name] = {"flops": None, "threads": {}, "missed": "the network was not made"}
    report.write(made, Path(args.out))
    print(report.text(made))
    if args.record:
        seen = [one["peers"]["mica"]["notes"] for _, _, one, _ in report.rows(made) if one]
        print("kept in", record.keep(made, HERE.parent / "record", next(filter(None, seen), "unknown")))
    return 0 if report.missed_count(made) == 0 else 1
