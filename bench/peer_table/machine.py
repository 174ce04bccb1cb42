"""What machine this is."""
import os
import platform
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
