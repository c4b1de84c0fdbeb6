"""Functions of rows as constants of the loops around them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernel_language.defining import function
from workbench.compiler import words
from workbench.compiler.constants import named
from workbench.compiler.kinds import Row
from workbench.devices.ops.csr import csr
from workbench.jit.frames import each_row
from workbench.jit.threads import launch

TEXT = "def one(row, x, y, *, more):\n    y[row] = {} if inside(row + 1) else 2*wide(x[row])\n"


def of(text, dtype, **constants):
    """The loop over all rows of a text."""
    precisions = {".wide": np.dtype(np.result_type(dtype, float)), ".narrow": np.dtype(dtype)}
    row = Row(function(text, wide=words.wide, inside=words.inside), named(precisions | constants), edge=True)
    return each_row.of(inner=row, edge=row, reach=row, halo=False, tiles=())


def test_a_row_is_the_same_text_in_every_process():
    row = Row(csr.function, named({"paired": True, ".wide": np.dtype(float)}), returns=False)
    assert (
        repr(row)
        == "Row(workbench.devices.ops.csr.csr, (('.wide', dtype('float64')), ('paired', True)), False, False, '')"
    )


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_rows_that_have_all_neighbours_and_the_last_one(dtype):
    x, y, begins = np.arange(1, 6).astype(dtype), np.zeros(5, dtype), np.array([0, 2, 5])
    launch(5, of(TEXT.format("0.5*x[row + 1] + more"), dtype, more=3), (x, y), begins)
    assert list(y) == [4, 4.5, 5, 5.5, 10]


def test_two_texts_of_one_name_are_two_kernels():
    x, begins = np.arange(1.0, 6), np.array([0, 5])
    for number, text in ((1, "more"), (2, "2*more")):
        y = np.zeros(5)
        launch(5, of(TEXT.format(text), float, more=1), (x, y), begins)
        assert y[0] == number
