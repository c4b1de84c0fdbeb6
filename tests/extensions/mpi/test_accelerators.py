"""Ranks with accelerators: two share a processor by OpenCL, or a GPU, or have a GPU each, with NCCL between them."""

import numpy as np
import pytest

from workbench import devices
from workbench.devices.discovery import cuda_devices
from workbench.errors import InputError
from workbench.run import Run, configure, run_through

CASES = [
    # Boxes that lie in one slab each, and odd sizes where they do not.
    ("bubbles-3d", 16, {"preconditioner": "neumann:2", "deflation": "levelset:4", "coarse": "multilevel"}, 1e-8),
    ("bubbles-3d", 13, {"preconditioner": "jacobi", "deflation": "blocks:3", "coarse": "inverse"}, 1e-8),
    # Boxes of 13824 cells, which the host numbers.
    ("bubbles-3d", 48, {"preconditioner": "jacobi", "deflation": "levelset:2", "coarse": "multilevel"}, 1e-8),
    # Vectors that a GPU sweeps, and an E that stays there.
    ("bubbles-3d", 128, {"preconditioner": "neumann:2", "deflation": "levelset:32", "coarse": "multilevel"}, 1e-8),
]
ON_DEVICES = [
    # Boxes and levels on ranks with OpenCL are also in test_operators_on_ranks.py.
    pytest.param(*case, device, marks=[pytest.mark.slow] * (device == "opencl" and case[1] == 16))
    for device in ("opencl", "cuda")
    for case in CASES
    if device == "cuda" or case[1] < 100
]


@pytest.mark.parametrize(("problem", "n", "blocks", "rtol", "device"), ON_DEVICES)
def test_counts_and_x_are_those_of_the_cores(problem, n, blocks, rtol, device):
    try:
        devices.device(device)
    except InputError as error:
        pytest.skip(str(error))
    choices = {"problem": problem, "n": n, **blocks, "stopping": {"rtol": rtol}}
    cores = run_through(Run(configure(**choices)))
    run = Run(configure(**choices, device=device, ranks=2), trace=True)
    ranks = run_through(run)
    assert ranks.summary["converged"]
    assert abs(ranks.iterations - cores.iterations) <= 1
    size = min(9, cores.iterations)
    # Levels of E are in single precision, and a GPU may choose another cycle over them than the cores.
    rtol_of_levels = 1e-4 if n < 100 else 1e-2
    np.testing.assert_allclose(ranks.history["residual"][:size], cores.history["residual"][:size], rtol=rtol_of_levels)
    np.testing.assert_allclose(ranks.x, cores.x, atol=100 * rtol * abs(cores.x).max())
    apart = device == "cuda" and len(cuda_devices().devices) > 1
    which, link = ("one for each rank", "NCCL") if apart else ("1 shared by 2 ranks", "pinned")
    assert any(which in note and link in note for note in ranks.provenance["notes"])
    # Halos and sums are events within the steps that make them.
    for lane in ("rank 0", "rank 1"):
        names = [event.name for event in ranks.trace if event.lane == lane]
        assert names.count("halo") >= run.iterations
        assert names.count("sum") >= run.iterations
        assert any(name.startswith("A ") for name in names)


def test_reduction_on_the_host_is_refused():
    pytest.importorskip("pyopencl")
    with pytest.raises(InputError, match="reduction host does not run on ranks; use device"):
        Run(configure("two-layer", n=17, device="opencl", ranks=2, reduction="host"))
