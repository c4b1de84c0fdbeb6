"""The C of kernels: what nvcc compiles, what is in no text of an accelerator, names."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler import test_constants, test_texts
from tests.compiler.on_opencl import text_of
from tests.devices.cuda.test_nvcc import compile_with_nvcc, needs_nvcc
from workbench.compiler.c_expressions import in_c, number
from workbench.compiler.kinds import INT, Array, KernelError
from workbench.compiler.words import acquired, member, members, publish, published, shared_array
from workbench.devices.cuda import repeated
from workbench.devices.cuda.runtime import LAYOUT
from workbench.devices.kernels.device_kernels import printed
from workbench.devices.kernels.prelude import prelude
from workbench.jit import compiled


def _examples():
    whole, real = np.zeros(3, np.int32), np.zeros(3)
    yield compiled.generated(test_texts.INTEGERS), whole, whole, np.zeros((3, 10), np.int64)
    for dtype in ("float32", "float64", "complex64", "complex128"):
        x = np.zeros(3, dtype)
        yield compiled.generated(test_texts.NUMBERS), x, x, 0.5, x
    yield compiled.generated(test_texts.SLICES), np.zeros((5, 7)), whole, (real, real), real
    yield compiled.generated(test_texts.TRUTHS), np.zeros(3, bool), True, np.zeros(3, np.uint8), real
    yield compiled.generated(test_texts.TUPLES.replace("math", "np")), real, real, real
    yield compiled.generated(test_texts.SHARED), real, np.zeros((3, 2)), real
    for dtype in ("float32", "complex128"):
        x = np.zeros((3, 5), dtype)
        yield test_constants.gram.of(tiles=((0, 4), (4, 1)), conjugate=True), x, x, x
        yield test_constants.sorted_rows.of(count=5, dtype=x.dtype), x, x


@needs_nvcc
def test_nvcc_compiles_what_the_cores_run(tmp_path):
    parts = []
    for k, (kernel, *arguments) in enumerate(_examples()):
        # Texts define the same helpers.
        parts.append(f"namespace part{k} {{\n{text_of(kernel, arguments, 'cuda').text.replace('made_', f'made{k}_')}}}")
    compile_with_nvcc(prelude(LAYOUT, np.dtype(float)) + "\n".join(parts), tmp_path)


@compiled.kernel()
def waiting(taken, states, x):
    if acquired(states, 0):
        publish(states, 0, 0)


@compiled.kernel()
def _reading(taken, states, x):
    x[0] = published(states, 0)


@pytest.mark.parametrize(("kernel", "word"), [(waiting, "acquired"), (_reading, "published")])
def test_threads_that_wait_are_for_the_cores(kernel, word):
    sentence = rf"test_c.py:\d+: {word} is a word of the cores, whose threads may wait for one another: "
    with pytest.raises(KernelError, match=sentence + kernel.source.name):
        text_of(kernel, (np.zeros((1, 16), np.int64), np.zeros(3)))


def test_no_two_variables_have_one_name():
    names = ["x", "x_", "x.0", "x_.0", "x.of2.0", "x_of2.0", "x_.of2.0", ".5", "_.5", "_5", "long"]
    assert len(set(map(in_c, names))) == len(names)


def test_constants_are_exact():
    assert number("i", -(2**63)) == "(-9223372036854775807 - 1)"
    assert number("f", 0.1) == "0.10000000149011612f"
    assert (number("d", -0.0), number("d", float("inf"))) == ("(-0.0)", "(1.0/0.0)")
    assert number("f", float("nan")) == "(0.0f/0.0f)"


def _of_places(y):
    room = shared_array(np.uint8, 2 * members())
    room[member()] = 1
    y[0] = member() * 134217728 * 64


def test_places_of_work_items_are_integers_of_64_bits():
    double = np.dtype(float)
    text = printed(_of_places, "kernel", (Array(INT, 1),), (double, double), {}).text
    assert "y_0[0] = (((I64)LOCAL_ID * 134217728) * 64);" in text.text
    # The step of a persistent kernel knows how much memory of a group it needs.
    launch = repeated.Launch(prelude(LAYOUT, double), text, 1, LAYOUT.group, (), spread=False)
    assert repeated.shared_bytes(launch) == 2 * LAYOUT.group
