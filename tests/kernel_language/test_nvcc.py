"""The texts of random kernels are CUDA C too."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import DTYPES
from tests.devices.cuda.test_nvcc import compile_together, needs_nvcc
from tests.kernel_language.defining import function
from tests.kernel_language.programs import Program
from tests.kernel_language.test_programs import MIXED, SEEDS, given
from workbench.kernel_language import helper, kernel, typed
from workbench.kernel_language.c_text import c_text


@needs_nvcc
@pytest.mark.parametrize("dtype", DTYPES)
def test_nvcc_compiles_random_kernels(tmp_path, dtype):

    def text_of(seed):
        of = kernel(sums=3)(function(Program(seed).text, mixed=helper(function(MIXED))))
        dtypes = {name: np.asarray(value).dtype for name, value in given(seed, dtype).items()}
        made = typed(of, dtypes | {"p": dtype, "q": dtype}, dtype, np.result_type(dtype, float))
        return c_text(made, spread=True)

    compile_together(map(text_of, SEEDS), dtype, tmp_path)
