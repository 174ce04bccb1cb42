"""The rules of the kernel gates: shares of ceilings, and when a measurement does not count. Standard library only."""
import math
import statistics

RECORDED = 0.9      # a measurement under a ceiling below this share of the recorded one is invalid, not passed


def valid(ceiling, recorded):
    """`recorded`: the ceilings that are known for this kind of machine."""
    return math.isfinite(ceiling) and ceiling > 0 and ceiling >= RECORDED * recorded


def reference_ceiling(recorded, seen):
    """What a ceiling must come near to: the recorded one, else the median of three measurements, None before there are
    three."""
    if recorded:
        return recorded
    return statistics.median(seen[:3]) if len(seen) >= 3 else None


def passed(value, least):
    return value >= least    # false for NaN


def sum_line(results):
    """`N passed, N failed` over the words of the results."""
    good = sum(r == "passed" for r in results)
    return f"{good} passed, {len(results) - good} failed"
