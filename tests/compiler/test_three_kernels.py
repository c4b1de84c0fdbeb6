"""The kernels of docs/how_to_add.md: on the cores, through OpenCL, and as CUDA C, against NumPy and Python."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.all_pairs import on_accelerators
from tests.compiler.checking import check, launched
from tests.compiler.on_opencl import text_of
from tests.conftest import DTYPES
from tests.devices.cuda.test_nvcc import Keeping, compile_together, compile_with_nvcc, needs_nvcc
from workbench.compiler.kinds import real_of
from workbench.devices.accelerator.device import Accelerator
from workbench.devices.cuda.runtime import LAYOUT
from workbench.devices.kernels.prelude import prelude

PAGE = Path(__file__).parents[2] / "docs" / "how_to_add.md"


def module_of(heading, folder):
    """The module that the page says to write."""
    text = PAGE.read_text(encoding="utf-8").split(f"### {heading}\n")[1]
    name = heading.lower().replace(" ", "_")
    file = folder / f"{name}.py"
    file.write_text(text.split("```python\n")[1].split("```")[0], encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return module_of("Three kernels", tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def of_work_items(tmp_path_factory):
    return module_of("A kernel of work-items", tmp_path_factory.mktemp("page"))


def vector(size=101):
    return np.random.default_rng(size).standard_normal(size)


def test_a_loop(page):
    x = vector()
    for _, made in launched(page.scaled, 2.5, x.copy()):
        np.testing.assert_array_equal(made, 2.5 * x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_a_helper_with_an_array_of_its_own(page, dtype):
    x = (10 * vector()).astype(dtype)
    expected = np.median([x[:-2], x[1:-1], x[2:]], axis=0)
    for _, out in launched(page.median_filter, x, np.zeros_like(x)):
        np.testing.assert_array_equal(out[1:-1], expected)


@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_a_sum_in_chunks(page, size):
    x, y = vector(size), vector(size)[::-1].copy()
    for made in launched(page.dot, x, y, np.zeros((5, 1)), np.zeros(1)):
        np.testing.assert_allclose(made[-1], x @ y, rtol=1e-13, atol=1e-13)
    check(page.dot, x, y, np.zeros((5, 1)), np.zeros(1), rtol=1e-13)


@on_accelerators(size=[1, 1000, 70001], dtype=DTYPES)
def test_a_kernel_of_work_items(case, of_work_items, accelerator):
    size, dtype = case["size"], case["dtype"]
    x = vector(size).astype(dtype)
    x = x * (1 + 1j) if x.dtype.kind == "c" else x
    groups = accelerator.layout.groups_for(size)
    found = accelerator.empty((groups,), real_of(x.dtype))
    accelerator.function(of_work_items.largest, dtype).over(size, accelerator.array(x, x.dtype), found)
    np.testing.assert_allclose(accelerator.to_host(found).max(), np.abs(x).max(), rtol=1e-6)


@needs_nvcc
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_kernel_of_work_items_is_cuda(of_work_items, tmp_path, dtype):
    runtime = Keeping()
    Accelerator(runtime).function(of_work_items.largest, dtype)
    compile_together(runtime.texts, dtype, tmp_path)


@needs_nvcc
def test_they_are_cuda(page, tmp_path):
    x, sums = vector(5), (np.zeros((2, 1)), np.zeros(1))
    given = (page.scaled, 2.0, x), (page.median_filter, x, x), (page.dot, x, x, *sums)
    texts = (text_of(kernel, arguments, "cuda").text for kernel, *arguments in given)
    parts = (f"namespace part{k} {{\n{text.replace('made_', f'made{k}_')}}}" for k, text in enumerate(texts))
    compile_with_nvcc("\n".join([prelude(LAYOUT, np.dtype(float)), *parts]), tmp_path)


def test_an_error_names_the_line(page):
    lines = re.escape(page.__file__)
    with pytest.raises(ValueError, match=rf"{lines}:\d+: .*a number float64.*"):
        list(launched(page.scaled, 2.5, 1.0))
