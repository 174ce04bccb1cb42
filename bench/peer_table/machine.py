"""What machine this is, and what it can do at most as `mica bench` measures it."""
import json
import os
import platform
import subprocess
from pathlib import Path


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((l.split(":", 1)[1].strip() for l in lines if l.startswith("model name")), platform.machine())


def about():
    def first(path):
        try:
            return Path(path).read_text().strip()
        except OSError:
            return ""
    caches = [first(f"/sys/devices/system/cpu/cpu0/cache/index{k}/size") for k in range(4)]
    return {"processor": processor(), "processors": len(os.sched_getaffinity(0)), "caches": [c for c in caches if c],
            "system": platform.platform(), "load_average": os.getloadavg()[0]}


def processors_for(threads):
    """The last ones that this process may use: the first takes more of the system's own work."""
    allowed = sorted(os.sched_getaffinity(0))
    if threads > len(allowed):
        raise SystemExit(f"{threads} threads, but this process may use {len(allowed)} processors")
    return set(allowed[-threads:])


def peak_gflops(mica, model, threads):
    """The multiply-add ceiling of that many threads, or NaN."""
    command = [mica, "bench", model, "--layers", "--seconds", "0", "--threads", threads, "--format", "json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, processors_for(threads)))
    try:
        return float(json.loads(done.stdout)["peak_gflops"])
    except (ValueError, KeyError):
        return float("nan")
