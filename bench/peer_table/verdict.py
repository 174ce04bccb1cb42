"""Old against new: when a slowdown is one, and when it is noise. Standard library only.

Each round gives one ratio new / old, and their median is judged by the sign test: under any distribution of the noise,
the number of rounds below the true median is binomial with one half, which bounds the median between two of the sorted
ratios. The verdict stands when these lie on one side of the limit; until then more rounds are played. Looking several
times costs certainty, so each bound errs once in 500 looks.
"""
import math

LIMIT = 1.05         # a slowdown of more than 5 %
LEAST_ROUNDS = 9     # the fewest for which the bounds exist: 2 ** -9 < ERROR
ERROR = 0.002        # of each bound


def interval(ratios):
    """Bounds of the median: the sorted ratios at rank k from either end, k the largest with P(fewer than k of n are
    below the median) <= ERROR."""
    count, chance, rank = len(ratios), 0.0, 0
    while chance + math.comb(count, rank) / 2 ** count <= ERROR:
        chance += math.comb(count, rank) / 2 ** count
        rank += 1
    ordered = sorted(ratios)
    return ordered[rank - 1], ordered[-rank]


def verdict(ratios, limit=LIMIT):
    """`slower`, `ok` or `undecided`, with the interval."""
    if len(ratios) < LEAST_ROUNDS or not all(math.isfinite(r) and r > 0 for r in ratios):
        return "undecided", (0.0, float("inf"))
    low, high = interval(ratios)
    if low > limit:
        return "slower", (low, high)
    return ("ok" if high < limit else "undecided"), (low, high)


def looks(rounds):
    """Whether this is a round to look at the verdict: each time a third more have been played."""
    at = LEAST_ROUNDS
    while at < rounds:
        at = at * 4 // 3
    return at == rounds
