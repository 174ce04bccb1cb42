"""Statistics over rounds, and the rules by which a figure counts. Standard library only.

A round gives each program one turn; a turn's figure is the median over its runs. The ratio of a round is the peer's
figure over Mica's, so that above 1 Mica is faster; drift of the machine that lasts longer than a round cancels in it.
"""
import math
import statistics

SPREAD = 0.05       # most interquartile range of a settled ratio, as a share of its median
LEAST_ROUNDS = 7
TOLERANCE = 1e-3    # of max|reference|: ten times the error that a whole float network may have
NEEDED = ("onnxruntime", "openvino")   # with one more, what a net's comparison must rest on


def quartiles(values):
    """Lower quartile, median, upper quartile; of one value, itself."""
    if len(values) < 2:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def ratios(theirs, ours):
    """One for each round that both have played."""
    return [t / o for t, o in zip(theirs, ours) if t is not None and o is not None]


def spread(values):
    """Interquartile range as a share of the median; infinite for too few values or ones that are not numbers."""
    if len(values) < 2 or not all(math.isfinite(v) and v > 0 for v in values):
        return math.inf
    low, middle, high = quartiles(values)
    return (high - low) / middle


def settled(values, least=LEAST_ROUNDS, limit=SPREAD):
    return len(values) >= least and spread(values) < limit


def difference(answers, references, kept=None):
    """The largest max|a - b| / max|b| over all outputs; infinite for another count, another size, or what is not
    finite in either. An output whose axes stand in another order (channels last) is turned first.
    kept: for each reference of which only a part is there, {"shape", "stride"}: every stride-th value of that shape."""
    import numpy as np
    if len(answers) != len(references) or not references:
        return math.inf
    worst = 0.0
    kept = kept or [{"shape": reference.shape, "stride": 1} for reference in references]
    for answer, reference, part in zip(answers, references, kept):
        answer = turned(np.asarray(answer, np.float64), part["shape"])
        answer = None if answer is None else answer.reshape(-1)[::part["stride"]]
        reference = np.asarray(reference, np.float64).reshape(-1)
        if answer is None or answer.size != reference.size:
            return math.inf
        if not np.isfinite(answer).all() or not np.isfinite(reference).all():
            return math.inf
        scale = np.abs(reference).max()
        error = np.abs(answer - reference).max()
        worst = max(worst, float(error / scale) if scale > 0 else (0.0 if error == 0 else math.inf))
    return worst


def turned(answer, shape):
    """`answer` in `shape`, from channels last where only that has these lengths; None when nothing fits."""
    import numpy as np
    if answer.size != math.prod(shape):
        return None
    if answer.ndim == len(shape) and answer.ndim > 2 and answer.shape != tuple(shape):
        last = np.moveaxis(answer, -1, 1)
        if last.shape == tuple(shape):
            return last
    return answer.reshape(shape)


def agrees(value, tolerance=TOLERANCE):
    return value <= tolerance   # false for NaN


def best_peer(medians):
    """Name of the fastest; medians: name → milliseconds. None without any."""
    return min(medians, key=medians.get) if medians else None


def missed(peers_with_figure, own_figure, is_settled):
    """Why a net does not count, or None."""
    if own_figure is None:
        return "Mica has no figure"
    absent = [name for name in NEEDED if name not in peers_with_figure]
    if absent:
        return "no figure of " + " and ".join(absent)
    if len(set(peers_with_figure) - set(NEEDED)) < 1:
        return "no figure of a third peer"
    return None if is_settled else "the ratio did not settle"


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan
