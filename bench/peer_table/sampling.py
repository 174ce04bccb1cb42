"""The instruction set that a program really uses: the kinds of instruction that it spends processor time on, sampled
in a process of its own that no timing comes from (sampler.c)."""
import struct
from pathlib import Path

from peer_table import native
from peer_table.protocol import PeerFailed

KINDS = ("scalar", "SSE", "AVX 128", "AVX2 256", "AVX-512 128", "AVX-512 256", "AVX-512 512", "other")
LEAST = 0.1   # of the vector samples: less is glue


def build(folder):
    """The preloaded library, or None where there is no C compiler."""
    return native.library("sampler", folder)


def read(path):
    return struct.unpack("8Q", Path(path).read_bytes())


def words(counts):
    """`AVX-512 512 (83 %), scalar (10 %)`: the widest vectors with more than a tenth of the vector samples first."""
    total, vectors = sum(counts), sum(counts[1:7])
    if total == 0:
        return "not sampled"
    wide = [k for k in range(6, 0, -1) if vectors and counts[k] >= LEAST * vectors]
    return ", ".join(f"{KINDS[k]} ({100 * counts[k] / total:.0f} %)" for k in [*wide, 0]) or "none"


def sample(start, library, case, scratch, seconds=0.5):
    """start(name, environment) → Worker; case: (name of the program, its file, the inputs). Returns the words."""
    name, file, inputs = case
    path = Path(scratch) / f"{name}.samples"
    path.write_bytes(bytes(64))
    worker = None
    try:
        worker = start(name, {"LD_PRELOAD": str(library), "SAMPLER_FILE": str(path)})
        worker.ask("open", file=str(file), inputs=str(inputs))
        worker.ask("time", seconds=0.1)
        before = read(path)
        worker.ask("time", seconds=seconds)
        return words([after - b for after, b in zip(read(path), before)])
    except (PeerFailed, OSError) as failure:
        return f"not sampled: {failure}"
    finally:
        if worker:
            worker.close()
