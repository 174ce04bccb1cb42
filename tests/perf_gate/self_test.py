"""self_test.py BUILD: tools/perf_gate holds a build against itself, and against itself with a planted slowdown of 10 %,
on MobileNetV2. For a machine without other work. The last line is `N passed, N failed`."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import mobilenet_v2  # noqa: E402


def main():
    with tempfile.TemporaryDirectory() as folder:
        net = f"{folder}/mobilenet_v2"
        Path(f"{net}.onnx").write_bytes(mobilenet_v2.model().SerializeToString())
        Path(f"{net}.json").write_text(json.dumps({}))
        np.savez(f"{net}.inputs.npz", image=np.random.default_rng(7).standard_normal((1, 3, 224, 224), np.float32))
        gate = [sys.executable, ROOT / "tools/perf_gate", "--self-test", sys.argv[1], "--nets", folder]
        return subprocess.run(gate).returncode


if __name__ == "__main__":
    sys.exit(main())
