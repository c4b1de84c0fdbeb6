"""Every kernel is CUDA C as well: nvcc compiles all of them, no GPU needed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from workbench.devices.cuda.runtime import LAYOUT
from workbench.devices.kernels import deflation, passes, products, scalars
from workbench.devices.kernels.prelude import prelude
from workbench.devices.lines.language import Formula, parse
from workbench.devices.lines.plan import Pass, plan

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
BODY = """
    u = sqrt(1 + abs(t))*conj(x)/x if k < 0.25 else -t
    x = c*x + b*u
    g = (x, t)
    h = (u, x)
"""
SCALARS = "e = sqrt(1 + abs(g))/h if h >= 0 else -conj(c)\nc = e*e - 1"
SLOTS = {"c": 0, "b": 1, "g": 2, "h": 3, "e": 4}


def kernels(dtype):
    """The text of every kernel that there is, in all its forms."""
    for bands in (1, 2, 3):
        yield from (products.stencil(bands, constant=constant) for constant in (True, False))
        yield from (products.stencil_columns(bands, constant=constant) for constant in (True, False) if bands > 1)
        yield products.stencil_term(bands, upper=True)
        yield from (products.stencil_term(bands, upper=False, scaled=scaled) for scaled in (True, False))
    for lanes in (1, 8):
        yield products.csr(lanes)
        yield products.csr(lanes, based=True, summed=False)
        yield products.csr(lanes, based=True, scaled=True, summed=False)
        yield products.csr(lanes, based=True)
        yield from (products.csr(lanes, based=based, summed=False, part=True) for based in (True, False))
        yield deflation.runs(lanes)
    yield from (products.chebyshev(first=first) for first in (True, False))
    yield from (products.BLOCKS, products.LEVELS)
    yield from (value for value in vars(deflation).values() if isinstance(value, str) and value.startswith("KERNEL"))
    yield from (value for value in vars(scalars).values() if isinstance(value, str) and value.startswith("KERNEL"))
    names = {"u", "t", "x", "k"}
    (step,) = plan(parse(BODY), names, names - {"u"}, {})
    assert isinstance(step, Pass)
    yield passes.body(step, names, SLOTS, dtype)
    lines = [line for line in parse(SCALARS) if isinstance(line, Formula)]
    yield passes.finish([(0, 2), (1, 3)], lines, SLOTS, LAYOUT.accumulator(dtype))


@pytest.mark.skipif(not NVCC, reason="nvcc, the CUDA compiler, is not on this machine")
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_nvcc_compiles_every_kernel(tmp_path, dtype, index):
    text = prelude(LAYOUT, np.dtype(dtype), np.dtype(index))
    for number, kernel in enumerate(kernels(np.dtype(dtype))):
        text += re.sub(r"KERNEL (\w+)", lambda name, number=number: f"KERNEL {name[1]}_{number}", kernel)
    source = Path(tmp_path) / "kernels.cu"
    source.write_text(text)
    command = [str(NVCC), "-cubin", "-arch=sm_90", "-Werror", "all-warnings", "-diag-suppress", "177"]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "kernels.cubin"), str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
