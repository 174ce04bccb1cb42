"""Exports architectures with torch, runs them by Mica, and compares.

    run.py --python VENV/bin/python --mica build/mica --cache FOLDER [--kinds script,dynamo-open] [--only PART ...]

--python has torch, torchvision, timm, transformers, diffusers, torchaudio, onnx and onnxruntime; this script needs
numpy alone. Exports are kept in --cache and made once, and so are answers of one build of Mica: a run that was ended
goes on where it stood. Results go to CACHE/results.json. What torch cannot export, or exports wrongly, is set apart:
counted as skipped, with what was said.
"""

import argparse
import json
import os
import select
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from architectures import load
from compare import run_folder

KINDS = ("script", "dynamo", "script-open", "dynamo-open")
HERE = os.path.dirname(os.path.abspath(__file__))


def processor_seconds(process):
    """Processor time that a process has used: limits of time hold on a busy machine as well."""
    try:
        with open(f"/proc/{process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return time.monotonic()  # a system without this file


class Worker:
    """The process that exports; ended and started again when a task takes too long or kills it."""

    def __init__(self, python):
        self.python, self.process = python, None

    def ask(self, task, seconds):
        if self.process is None or self.process.poll() is not None:
            environment = dict(os.environ, OMP_NUM_THREADS="1")
            self.process = subprocess.Popen(
                [self.python, os.path.join(HERE, "worker.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            )
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        begin, ready = processor_seconds(self.process), []
        while not ready and processor_seconds(self.process) - begin < seconds:
            ready, _, _ = select.select([self.process.stdout], [], [], 2)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.close()
        late = f"no export in {seconds:.0f} s of processor time"
        return {"state": "apart", "detail": "the exporter died" if ready else late}

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def export(worker, architecture, kind, folder, seconds):
    """The record of an export, from the cache when it was made before."""
    record = os.path.join(folder, "export.json")
    if os.path.exists(record):
        with open(record) as file:
            return json.load(file)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    result = worker.ask({"name": architecture.name, "kind": kind, "folder": folder}, seconds)
    if result["state"] != "exported":
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
    with open(record, "w") as file:
        json.dump(result, file)
    return result


def judge(python, folder):
    """What a second engine finds wrong with the export: where both differ from torch, the export is at fault."""
    command = [python, os.path.join(HERE, "judge.py"), folder]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout.strip()
    except subprocess.TimeoutExpired:
        return ""


def answer(options, folder):
    """(state, detail) of Mica's run of an export; kept for the binary that gave it."""
    path, binary = os.path.join(folder, "answer.json"), os.stat(options.mica)
    build = f"{binary.st_size} {binary.st_mtime_ns}"
    if os.path.exists(path):
        with open(path) as file:
            known = json.load(file)
        if known["build"] == build:
            return known["state"], known["detail"]
    detail = run_folder(options.mica, folder, options.seconds)
    state = "failed" if detail else "passed"
    if detail and (second := judge(options.python, folder)):
        state, detail = "apart", f"the export: ONNX Runtime says {second}; Mica says {detail}"
    with open(path, "w") as file:
        json.dump({"build": build, "state": state, "detail": detail}, file)
    return state, detail


def chosen(options):
    for kind in options.kinds.split(","):
        for name, architecture in load().items():
            if options.only and not any(part in name or part == architecture.family for part in options.only):
                continue
            if kind.endswith("-open") and not architecture.vary:
                continue
            yield architecture, kind


def progress(done, total, passed, failed, started):
    if not sys.stderr.isatty():
        return
    filled = 30 * done // max(total, 1)
    left = (time.time() - started) / max(done, 1) * (total - done)
    sys.stderr.write(
        f"\r[{'#' * filled}{'.' * (30 - filled)}] {done}/{total} {passed} passed {failed} failed, {left:.0f} s left "
    )
    sys.stderr.flush()


def report(results, cache):
    """Writes CACHE/results.json; returns the counts of all, and a table of them by kind of export."""
    with open(os.path.join(cache, "results.json"), "w") as file:
        json.dump(results, file, indent=1)
    rows = [f"{'export':14}{'right':>7}{'wrong':>7}{'set apart':>11}"]
    for kind in KINDS:
        states = [result["state"] for result in results if result["kind"] == kind]
        if states:
            counts = [states.count(state) for state in ("passed", "failed", "apart")]
            rows.append(f"{kind:14}{counts[0]:7}{counts[1]:7}{counts[2]:11}")
    right = {result["name"] for result in results if result["state"] == "passed"}
    rows.append(f"{len(right)} architectures with at least one right export")
    count = {state: sum(r["state"] == state for r in results) for state in ("passed", "failed", "apart")}
    return count, "\n".join(rows)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--mica", default="build/mica")
    parser.add_argument("--cache", required=True)
    parser.add_argument("--kinds", default="script")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=120, help="limit of one export (processor time) and one run")
    parser.add_argument("--export-only", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    worker, results, started = Worker(options.python), [], time.time()
    tasks = list(chosen(options))
    count = {"passed": 0, "failed": 0, "apart": 0}
    for architecture, kind in tasks:
        folder = os.path.join(options.cache, f"{architecture.name}.{kind}")
        record = export(worker, architecture, kind, folder, options.seconds)
        state, detail = record["state"], record.get("detail", "")
        if state == "exported" and not options.export_only:
            state, detail = answer(options, folder)
        results.append(
            {"name": architecture.name, "family": architecture.family, "kind": kind, "state": state, "detail": detail}
        )
        if state not in ("passed", "exported") or not sys.stderr.isatty():
            print(f"{state:8} {architecture.name:44} {kind:12} {detail}", flush=True)
        count, table = report(results, options.cache)
        progress(len(results), len(tasks), count["passed"], count["failed"], started)
    worker.close()
    if results:
        print(table)
    print(f"{count['passed']} passed, {count['failed']} failed, {count['apart']} skipped")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
