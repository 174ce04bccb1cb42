#!/usr/bin/env python3
"""Operators that a program hands to a context: one added, one in place of ONNX's Relu, against an install tree.

    run_time.py BUILD     BUILD: a build tree with the libraries, the command and stranger_convert

The model is converted with the operators, and run by a C program that includes mica.h only and is built in an empty
folder through pkg-config. A context without them must refuse the file, and the command's converter the model. The
last line is `N passed, N failed`.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "install"))
from install import Installed, run  # noqa: E402


def refusal(*command, env=None):
    """What a command says that must end with 3, the exit code for models."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env)
    return done.stderr if done.returncode == 3 else f"exit {done.returncode}"


def main():
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="mica-stranger-") as place:
        folder = Path(place)
        model, compiled = folder / "model.onnx", folder / "model.mica"
        proto = ROOT / "src/import/onnx/onnx.proto"
        with open(HERE / "model.txt") as text, open(model, "wb") as out:
            command = ["protoc", f"-I{ROOT / 'src'}", "--encode=mica_onnx.Model", proto]
            subprocess.run(command, stdin=text, stdout=out, check=True)
        run(build / "tests/stranger_convert", model, compiled)
        installed = Installed(build, folder)
        app = folder / "app"
        strict = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
        run("cc", *strict, HERE / "app.c", HERE / "operators.c", "-o", app, *installed.flags("mica"))
        answer = run(app, compiled, env=installed.env).strip()
        without = refusal(app, compiled, "plain", env=installed.env)
        unknown = refusal(build / "mica", "convert", model, "-o", compiled)
        print(f"answer: {answer}\nwithout the operators:\n{without}\nconverting without them:\n{unknown}")
        # 2 * (max(x, 0) + 100) + the position along the last axis
        good = [answer == "200 205 200 209", "error[MICA" in without and ("Ramp" in without or "Relu" in without),
                "error[MICA" in unknown and "Ramp" in unknown]
    print(f"{good.count(True)} passed, {good.count(False)} failed")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
