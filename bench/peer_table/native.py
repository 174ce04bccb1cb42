"""The small C sources of this folder as shared libraries."""
import subprocess
from pathlib import Path


def library(name, folder, *flags):
    """NAME.c compiled to FOLDER/NAME.so, or None where there is no C compiler."""
    made, source = Path(folder) / f"{name}.so", Path(__file__).with_name(f"{name}.c")
    command = ["cc", "-O2", *flags, "-shared", "-fPIC", "-o", str(made), str(source)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return made
