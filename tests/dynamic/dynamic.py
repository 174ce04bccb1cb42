"""Shapes that change from run to run, each answer beside ONNX Runtime's: a text encoder at 30 lengths, a detector at 10
picture sizes, and decoders whose keys and values grow over 200 steps. Behind the first steps nothing is bound and no
memory grows; a decoder's step asks for none.

    dynamic.py --steps build/tests/steps [--only TEXT] [MODEL ...]

A MODEL is a decoder's export whose inputs past... are fed by the outputs behind the first;
two such are kept beside this.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def encoder_case(folder):
    random = np.random.default_rng(5)
    lengths = [int(n) for n in random.permutation(np.arange(1, 129))[:30]]
    one_round = []
    for length in lengths:
        mask = np.ones((1, length), np.int64)
        mask[0, length - length // 4 :] = 0
        one_round.append({"ids": random.integers(0, 50, (1, length)), "mask": mask})
    return {"model": networks.encoder(f"{folder}/encoder.onnx"), "feeds": 2 * one_round, "bounds": ["length=128"],
            "warm": 30, "binds": 1, "asks": 4}


def detector_case(folder):
    random = np.random.default_rng(6)
    sizes = [(96, 128), (64, 64), (33, 70), (128, 96), (40, 40), (101, 57), (80, 128), (16, 24), (128, 128), (72, 88)]
    one_round = [{"picture": random.standard_normal((1, 3, *size)).astype(np.float32)} for size in sizes]
    # What stands before the choice of boxes is bound once, the choice once, and what follows once for each number of
    # boxes.
    return {"model": networks.detector(f"{folder}/detector.onnx"), "feeds": 3 * one_round,
            "bounds": ["height=128", "width=128"], "warm": 12, "binds": 2 + len(sizes), "asks": 16}


def decoder_case(model, steps=200):
    """Of a decoder that takes one word at a time, with keys and values that begin empty."""
    session = machinery.reference_session(model)
    ports = {port.name: port.shape for port in session.get_inputs()}
    pasts = [name for name in ports if name.startswith("past")]
    states = dict(zip(pasts, [port.name for port in session.get_outputs()][1:]))
    others = [name for name in ports if name not in states]
    growing = ports[pasts[0]][2]
    words, random = 50, np.random.default_rng(7)
    feeds = []
    for step in range(steps):
        feed = {others[0]: random.integers(0, words, (1, 1)), others[1]: np.ones((1, step + 1), np.int64)}
        if len(others) > 2:
            feed[others[2]] = np.array([[step]])
        feeds.append(feed)
    return {"model": model, "feeds": feeds, "bounds": [f"{growing}=256"], "states": states, "warm": 2,
            "binds": 1, "asks": 0}


def cases(folder, models):
    yield "text encoder", lambda: encoder_case(folder)
    yield "detector", lambda: detector_case(folder)
    yield "decoder", lambda: decoder_case(networks.decoder(f"{folder}/decoder.onnx"))
    yield "decoder, grouped", lambda: decoder_case(networks.grouped_decoder(f"{folder}/grouped.onnx"))
    for model in sorted((HERE / "kept").glob("*.onnx")) + [Path(m) for m in models]:
        yield f"decoder {model.stem}", lambda model=model: decoder_case(model)


def judge(program, case):
    session = machinery.reference_session(case["model"])
    want = machinery.reference(session, case["feeds"], case.get("states", {}))
    got, records = machinery.run_steps(program, case, session)
    trouble = machinery.wrong(got, want) or machinery.grown(records, case["warm"], case["binds"], case["asks"])
    last = records[-1]
    figures = f"{len(records)} runs, {last['binds']} binds, {last['held'] / 1024:.0f} KiB held, "
    return trouble, figures + f"{np.median([record['us'] for record in records]):.0f} us"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("models", nargs="*")
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, make in cases(folder, args.models):
            if args.only not in name:
                continue
            try:
                trouble, figures = judge(args.steps, make())
            except RuntimeError as error:
                trouble, figures = str(error), ""
            passed, failed = passed + (not trouble), failed + bool(trouble)
            print(f"{name:<32} {'FAILED ' + trouble if trouble else 'ok'} {figures}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    try:
        import machinery
        import networks
    except ImportError as missing:
        print(f"dynamic was left out: {missing}\n0 passed, 0 failed, 1 skipped")
        sys.exit(0)
    sys.exit(main())
