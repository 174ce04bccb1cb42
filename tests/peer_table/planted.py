"""A peer with a planted manner: planted.py MANNER READ WRITE. It takes the words of a real worker.

Manners: right:MS and wrong, nan, small (another size of answer), which time MS or 1 each run; growing, whose times
never settle; wavering:MS, whose turns differ by up to a half; disturbed, half as fast every other turn, as is its
ceiling; unmeasured, without a ceiling; refuses, dies, hangs, babbles on opening; late_death after two turns.
"""
import os
import random
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from peer_table.protocol import serve  # noqa: E402


def main():
    manner, _, value = sys.argv[1].partition(":")
    read_from, write_to = int(sys.argv[2]), int(sys.argv[3])
    random_, state = random.Random(sys.argv[1]), {"turns": 0}
    print("a library talks on its standard output")

    def open_(file, inputs):
        if manner == "refuses":
            raise ValueError("planted refusal")
        if manner == "dies":
            print("planted last words", file=sys.stderr, flush=True)
            os._exit(7)
        if manner == "hangs":
            time.sleep(60)
        if manner == "babbles":
            os.write(write_to, b"no json\n")
        return {"load_ms": 1.0, "first_ms": 2.0, "memory_mb": 3.0}

    def time_(seconds, warm_seconds, clock):
        state["turns"] += 1
        if manner == "late_death" and state["turns"] > 2:
            os._exit(9)
        middle = float(value or 1)
        if manner == "growing":
            middle *= state["turns"]
        if manner == "wavering":
            middle *= random_.uniform(0.75, 1.25)
        # Every other turn the machine is at half its speed, and so is its ceiling.
        slow = 2 if manner == "disturbed" and state["turns"] % 2 else 1
        times = [middle * slow * (1 + 0.001 * random_.random()) for _ in range(5)]
        return {"times_ms": times, "peak_gflops": None if manner == "unmeasured" else 100.0 / slow}

    def answers(to):
        import numpy as np
        made = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
        if manner == "wrong":
            made[1, 1] += 0.01
        if manner == "nan":
            made[0, 0] = np.nan
        if manner == "small":
            made = made[:1]
        np.savez(to, made)

    serve({"hello": lambda: {"version": "1", "notes": ""}, "open": open_, "time": time_, "answers": answers},
          read_from, write_to)


if __name__ == "__main__":
    main()
