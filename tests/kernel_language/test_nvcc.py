"""The texts of random kernels are CUDA C too."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import DTYPES
from tests.devices.cuda.test_nvcc import Recorder, compile_together, needs_nvcc
from tests.kernel_language.defining import function
from tests.kernel_language.programs import ROWS, Program
from tests.kernel_language.test_programs import MIXED, SEEDS, WORDS, given
from workbench.devices.accelerator.device import Accelerator
from workbench.devices.bound import Request
from workbench.kernel_language.row_kernels import kernel


@needs_nvcc
@pytest.mark.parametrize("dtype", DTYPES)
def test_nvcc_compiles_random_kernels(tmp_path, dtype):

    class Keeping(Recorder):
        def compile(self, prelude, kernel):
            texts.append(kernel.text)
            return super().compile(prelude, kernel)

    texts, device = [], Accelerator(Keeping())
    for seed in SEEDS:
        of = kernel(sums=3)(function(Program(seed).text, mixed=function(MIXED, **WORDS), **WORDS))
        device.bind(Request(of, ROWS, np.dtype(dtype), given(seed, dtype)))
    compile_together(texts, dtype, tmp_path)
