"""Let PoCL's wheel compile on processors that are newer than its compiler: `.venv/bin/python scripts/pocl.py`.

The wheel asks its own LLVM what processor this is. For one that LLVM does not know it gets the name "generic", which
the same LLVM then refuses for x86, so nothing compiles. Where that happens, and the processor has what a Haswell of
2013 had, the name in this environment's copy of the library is replaced by "haswell", which has as many letters:
wherever a text ends in it, since the linker lets texts share their ends. The others of those texts name things that no
kernel here uses. Nothing is done where PoCL compiles, or fails for another reason, and nothing is kept that does not
help.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

UNKNOWN, KNOWN = b"generic\0", b"haswell\0"
NEEDED = {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
PROBE = """
import pyopencl as cl
device = next(d for p in cl.get_platforms() if p.name.startswith("Portable") for d in p.get_devices())
cl.Program(cl.Context([device]), "__kernel void probe(__global int* a) { a[0] = 1; }").build()
"""


def main() -> None:
    """Mend the library where that is what stands in the way."""
    if "unknown target CPU 'generic'" not in complaint() or not flags() >= NEEDED:
        return
    before = {library: library.read_bytes() for library in libraries()}
    for library, content in before.items():
        replace(library, content.replace(UNKNOWN, KNOWN))
    if complaint():
        for library, content in before.items():
            replace(library, content)
        print("PoCL does not know this processor; device opencl needs another OpenCL driver here", file=sys.stderr)


def complaint() -> str:
    """What PoCL says to a small kernel; empty when it compiles. Kernels that it keeps from before are left aside."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "POCL_CACHE_DIR": cache, "PYOPENCL_NO_CACHE": "1"}
        made = subprocess.run([sys.executable, "-c", PROBE], env=env, capture_output=True, text=True, check=False)
    return made.stderr if made.returncode else ""


def flags() -> set[str]:
    """What the processor can do, by Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    return next((set(line.split(":", 1)[1].split()) for line in lines if line.startswith("flags")), set())


def libraries() -> list[Path]:
    """PoCL's library, and what it may load from beside it."""
    found = subprocess.run(
        [sys.executable, "-c", "import pyopencl; print(pyopencl.__path__[0])"],
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted((Path(found.stdout.strip()) / ".libs").glob("libpocl*.so*"))


def replace(path: Path, content: bytes) -> None:
    """Put the file there whole or not at all, also while another process has the old one loaded."""
    draft = path.with_name(path.name + ".draft")
    draft.write_bytes(content)
    draft.chmod(path.stat().st_mode)
    draft.replace(path)


if __name__ == "__main__":
    main()
