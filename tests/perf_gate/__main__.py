"""Tests of the rule of tools/perf_gate: what is told from noise. The last line is `N passed, N failed`."""
import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from peer_table import verdict  # noqa: E402


def play(factor, noise, seed, most=400):
    """The verdict as the gate reaches it, on rounds of a build that takes `factor` times as long. Noise is one-sided,
    as disturbances are, on both sides of the ratio."""
    draw, ratios = random.Random(seed), []
    while len(ratios) < most:
        ratios.append(factor * (1 + draw.expovariate(1 / noise)) / (1 + draw.expovariate(1 / noise)))
        if verdict.looks(len(ratios)):
            word = verdict.verdict(ratios)[0]
            if word != "undecided":
                return word, len(ratios)
    return "undecided", most


def wrong(factor, noise, wanted, games=60):
    return sum(play(factor, noise, seed)[0] != wanted for seed in range(games))


def test_the_same_build_is_never_slower():
    assert wrong(1.0, 0.005, "ok") == 0
    assert wrong(1.0, 0.05, "ok") == 0
    assert all(play(1.0, 0.2, seed)[0] != "slower" for seed in range(60))


def test_a_planted_tenth_is_found():
    assert wrong(1.10, 0.005, "slower") == 0
    assert wrong(1.10, 0.03, "slower") == 0


def test_three_percent_is_no_regression_of_five():
    assert all(play(1.03, 0.03, seed)[0] != "slower" for seed in range(60))


def test_little_noise_needs_few_rounds():
    assert play(1.0, 0.002, 1) == ("ok", verdict.LEAST_ROUNDS)
    assert play(1.1, 0.002, 1) == ("slower", verdict.LEAST_ROUNDS)


def test_bad_numbers_are_no_pass():
    assert verdict.verdict([float("nan")] * 20)[0] == "undecided"
    assert verdict.verdict([1.0] * (verdict.LEAST_ROUNDS - 1))[0] == "undecided"


def test_looks_grow_apart():
    at = [n for n in range(1, 200) if verdict.looks(n)]
    assert at[0] == verdict.LEAST_ROUNDS and all(b >= a * 1.2 for a, b in zip(at, at[1:])) and at[-1] > 100


def main():
    passed = failed = 0
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            try:
                test()
                passed += 1
            except AssertionError as failure:
                failed += 1
                print(f"FAILED {name}: {failure}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
