"""The texts of random kernels are CUDA C too."""

from __future__ import annotations

import numpy as np
import pytest

from tests.devices.cuda.test_nvcc import compile_with_nvcc, needs_nvcc
from tests.kernel_language.defining import function
from tests.kernel_language.programs import Program
from tests.kernel_language.test_programs import MIXED, SEEDS, given
from workbench.devices.cuda.runtime import LAYOUT
from workbench.devices.kernels.prelude import prelude
from workbench.kernel_language import helper, kernel, typed
from workbench.kernel_language.c_text import c_text


@needs_nvcc
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_nvcc_compiles_random_kernels(tmp_path, dtype):
    text = prelude(LAYOUT, np.dtype(dtype))
    for seed in SEEDS:
        of = kernel(sums=3)(function(Program(seed).text, mixed=helper(function(MIXED))))
        dtypes = {name: np.asarray(value).dtype for name, value in given(seed, dtype).items()}
        made = typed(of, dtypes | {"p": dtype, "q": dtype}, dtype, np.result_type(dtype, float))
        text += c_text(made, spread=True).replace("KERNEL program", f"KERNEL program_{seed}")
    compile_with_nvcc(text, tmp_path)
