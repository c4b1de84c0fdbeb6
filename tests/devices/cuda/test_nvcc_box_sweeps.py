"""The kernels of Jacobi sweeps are CUDA C as well, the persistent one included; no GPU needed."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from tests.devices.cuda.test_nvcc import compile_with_nvcc, needs_nvcc
from workbench.devices.accelerator import tile_plan
from workbench.devices.cuda.runtime import LAYOUT
from workbench.devices.kernels import box_sweeps as texts
from workbench.devices.kernels.prelude import prelude


@needs_nvcc
@pytest.mark.parametrize("constant", [True, False], ids=["constant", "variable"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nvcc_compiles_the_kernels_of_a_launch_for_some_sweeps(tmp_path, dtype, constant):
    tile = tile_plan.tile_in_local_memory(LAYOUT, np.dtype(dtype).itemsize)
    kernels = [texts.plain(constant=constant), texts.tiles(tile, constant=constant), texts.peaks()]
    kernels += [texts.begin(constant=constant, mixed=mixed) for mixed in (True, False)]
    kernels += [texts.end(mixed=mixed) for mixed in (True, False)]
    text = prelude(LAYOUT, np.dtype(dtype))
    for number, kernel in enumerate(kernels):
        text += re.sub(r"KERNEL (\w+)", lambda name, number=number: f"KERNEL {name[1]}_{number}", kernel)
    compile_with_nvcc(text, tmp_path)


@needs_nvcc
@pytest.mark.parametrize("constant", [True, False], ids=["constant", "variable"])
@pytest.mark.parametrize(("dtype", "side"), [("float32", 99), ("float32", 600), ("float64", 249)])
def test_nvcc_compiles_the_persistent_kernel(tmp_path, dtype, side, constant):
    tile = tile_plan.persistent_tile([(side, side)], np.dtype(dtype).itemsize, 132, 1, 1000)
    assert tile is not None
    layout = dataclasses.replace(LAYOUT, group=tile.group)
    compile_with_nvcc(prelude(layout, np.dtype(dtype)) + texts.persistent(tile, constant=constant), tmp_path)


def test_tiles_of_the_persistent_kernel_fit_the_chip():
    for side in (1, 20, 99, 249, 600):
        tile = tile_plan.persistent_tile([(side, side)], 4, 132, 1, 1000)
        assert tile is not None
        assert tile_plan.count([(side, side)], tile.edge) <= 132
        assert tile.local_bytes(4) <= tile_plan.LOCAL_MEMORY
    assert tile_plan.persistent_tile([(5000, 5000)], 4, 132, 4, 1000) is None
    assert tile_plan.persistent_tile([(9, 9)], 4, 132, 1, 2).halo <= 2
