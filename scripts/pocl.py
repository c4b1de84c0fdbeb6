"""Patch PoCL's wheel to compile on processors newer than its compiler: `.venv/bin/python scripts/pocl.py`.

The wheel asks its LLVM for the processor. If LLVM does not know it, it returns the name "generic", which the same LLVM
then refuses for x86, so nothing compiles. In that case, and if the processor has the features of a Haswell of 2013, the
name in this environment's copy of the library is replaced by "haswell", which has the same length: in every string that
ends in it, since the linker shares string endings. The other strings concerned are not used by any kernel here. Nothing
is changed if PoCL compiles or fails for another reason, and a patch that does not help is reverted.
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
    """Patch the library if that is the cause."""
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
    """PoCL's error for a small kernel; empty if it compiles. Its kernel cache is not used."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "POCL_CACHE_DIR": cache, "PYOPENCL_NO_CACHE": "1"}
        made = subprocess.run([sys.executable, "-c", PROBE], env=env, capture_output=True, text=True, check=False)
    return made.stderr if made.returncode else ""


def flags() -> set[str]:
    """The processor's features, as reported by Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    return next((set(line.split(":", 1)[1].split()) for line in lines if line.startswith("flags")), set())


def libraries() -> list[Path]:
    """PoCL's libraries in the wheel."""
    found = subprocess.run(
        [sys.executable, "-c", "import pyopencl; print(pyopencl.__path__[0])"],
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted((Path(found.stdout.strip()) / ".libs").glob("libpocl*.so*"))


def replace(path: Path, content: bytes) -> None:
    """Replace the file atomically, also while another process has the old one loaded."""
    draft = path.with_name(path.name + ".draft")
    draft.write_bytes(content)
    draft.chmod(path.stat().st_mode)
    draft.replace(path)


if __name__ == "__main__":
    main()
