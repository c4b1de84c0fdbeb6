"""The kernels of fast diagonalization are CUDA C as well; no GPU needed."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from tests.devices.cuda.test_nvcc import compile_with_nvcc, needs_nvcc
from workbench.devices.cuda.runtime import LAYOUT
from workbench.devices.kernels import fast_diagonalization as texts
from workbench.devices.kernels.prelude import prelude


@needs_nvcc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nvcc_compiles_every_form(tmp_path, dtype):
    text = prelude(LAYOUT, np.dtype(dtype))
    for number, flags in enumerate(itertools.product((True, False), repeat=4)):
        names = ("mixed", "first", "divided", "last")
        kernel = texts.product(chunked=False, **dict(zip(names, flags, strict=True)))
        text += re.sub(r"KERNEL (\w+)", lambda name, number=number: f"KERNEL {name[1]}_{number}", kernel)
    compile_with_nvcc(text, tmp_path)
