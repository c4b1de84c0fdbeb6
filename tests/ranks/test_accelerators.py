"""Ranks with an accelerator each: here two share the processor by OpenCL, and copies go through pinned memory."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.run import Run, configure, run_through

pytest.importorskip("pyopencl")

CASES = [
    # Boxes that lie in one slab each, and odd sizes where they do not.
    ("bubbles-3d", 16, {"preconditioner": "neumann:2", "deflation": "levelset:4", "coarse": "multilevel"}, 1e-8),
    ("bubbles-3d", 13, {"preconditioner": "jacobi", "deflation": "blocks:3", "coarse": "inverse"}, 1e-8),
]


@pytest.mark.parametrize(("problem", "n", "blocks", "rtol"), CASES)
def test_counts_and_x_are_those_of_the_cores(problem, n, blocks, rtol):
    choices = {"problem": problem, "n": n, **blocks, "stopping": {"rtol": rtol}}
    cores = run_through(Run(configure(**choices)))
    run = Run(configure(**choices, device="opencl", ranks=2), trace=True)
    ranks = run_through(run)
    assert (ranks.summary["converged"], ranks.iterations) == (True, cores.iterations)
    size = min(9, cores.iterations)
    np.testing.assert_allclose(ranks.history["residual"][:size], cores.history["residual"][:size], rtol=1e-5)
    np.testing.assert_allclose(ranks.x, cores.x, atol=100 * rtol * abs(cores.x).max())
    assert any("1 shared by 2 ranks" in note and "pinned" in note for note in ranks.provenance["notes"])
    # Halos and sums are events within the steps that make them.
    for lane in ("rank 0", "rank 1"):
        names = [event.name for event in ranks.trace if event.lane == lane]
        assert names.count("halo") >= run.iterations
        assert names.count("sum") >= run.iterations
        assert any(name.startswith("A ") for name in names)


def test_reduction_on_the_host_is_refused():
    with pytest.raises(InputError, match="reduction host does not run on ranks; use device"):
        Run(configure("two-layer", n=17, device="opencl", ranks=2, reduction="host"))
