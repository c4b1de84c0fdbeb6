"""Functions that are printed while the program runs: they are read like those of files, and never run."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.compiler.kinds import KernelError, Row
from workbench.compiler.source import function_of_text, source_of
from workbench.jit.compiled import kinds_of
from workbench.jit.frames import one_pass
from workbench.jit.threads import launch
from workbench.jit.work_stealing import counters

TEXT = "def row(row, arrays, given):\n    x, = arrays\n    x[row] = 2.5 * x[row]\n    return (x[row],)\n"
NOTHING = "def {0}:\n    {1}\n"


def frame(text, dtype):
    made = [NOTHING.format("before(scalars, slots)", "pass"), NOTHING.format("numbers(scalars, slots)", "return ()")]
    made += [text, NOTHING.format("after(scalars, slots, sums)", "scalars[slots[0]] = sums[0]")]
    precisions = ((".narrow", np.dtype(dtype)), (".wide", np.dtype(float)))
    rows = dict(zip(("before", "numbers", "row", "after"), (Row(_of(each), precisions) for each in made), strict=True))
    return one_pass.of(**rows, dtype=np.dtype(float), count=1)


def _of(text):
    return function_of_text(text, {})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_printed_function_is_compiled(dtype):
    x, scalars, begins = np.arange(5, dtype=dtype), np.zeros(1), np.array([0, 2, 5])
    slots, partial, sums = np.zeros(1, np.int64), np.zeros((2, 1)), np.zeros(1)
    launch(5, frame(TEXT, dtype), (x,), scalars, slots, begins, partial, sums)
    np.testing.assert_array_equal(x, 2.5 * np.arange(5))
    assert scalars[0] == 25.0


def test_equal_texts_have_one_name_and_others_another():
    one, two, other = _of(TEXT), _of(TEXT), _of(TEXT.replace("2.5", "3.5"))
    assert Row(one, ()).name == Row(two, ()).name != Row(other, ()).name
    assert source_of(one).text == TEXT


def test_nothing_of_the_text_runs(tmp_path):
    (tmp_path / "here").touch()
    harmful = f"import os\nos.remove({str(tmp_path / 'here')!r})\ndef row(row):\n    return 1\n"
    assert _of(harmful).__name__ == "row"
    assert (tmp_path / "here").exists()


def test_a_wrong_line_is_named():
    with pytest.raises(KernelError, match=r"<[0-9a-f]{24}>:3: no such expression in kernels: \{2\}"):
        frame(TEXT.replace("2.5", "{2}"), "float64").compile(_kinds())


def _kinds():
    given = (np.zeros(1),), np.zeros(1), np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros((1, 1)), np.zeros(1)
    return kinds_of((counters(1), *given))
