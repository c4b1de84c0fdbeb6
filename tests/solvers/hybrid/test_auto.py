"""Solver `hybrid`: the schedule that its performance model selects, and the reasons in the notes."""

from __future__ import annotations

import dataclasses

import pytest

from workbench.devices.dry_run import Sizes
from workbench.devices.pair import Rates
from workbench.errors import InputError
from workbench.run import Run, configure, run_through
from workbench.solvers.hybrid.cost import iteration_seconds
from workbench.solvers.hybrid.hybrid1 import Hybrid1
from workbench.solvers.hybrid.hybrid2 import Hybrid2
from workbench.solvers.hybrid.hybrid3 import Hybrid3
from workbench.solvers.pipecg import PipelinedCG

EVEN = Rates(
    cpu_bandwidth=1e11,
    cpu_launch=1e-6,
    accelerator_bandwidth=1e11,
    accelerator_launch=1e-6,
    to_host_bandwidth=5e10,
    to_host_latency=1e-6,
    to_device_bandwidth=5e10,
    to_device_latency=1e-6,
    product_cpu=1e-2,
    product_accelerator=1e-2,
    basis="made up",
)
"""Cores and accelerator of equal speed, and a fast link."""
SIZE = 10**6
SCHEDULES = {
    "pipecg-cpu": PipelinedCG(),
    "pipecg": PipelinedCG(),
    "hybrid1": Hybrid1(),
    "hybrid2": Hybrid2(),
    "hybrid3": Hybrid3(),
}


def seconds(rates):
    """Modelled seconds per iteration of each schedule, for 10^6 unknowns with 50 entries per row."""
    sizes = Sizes(SIZE, 50 * SIZE)
    return {
        name: iteration_seconds(solver, rates, sizes, cores=name == "pipecg-cpu") for name, solver in SCHEDULES.items()
    }


def fastest(rates):
    expected = seconds(rates)
    return min(expected, key=lambda name: expected[name])


def test_equal_sides_select_hybrid3():
    assert fastest(EVEN) == "hybrid3"
    expected = seconds(EVEN)
    assert expected["pipecg"] / 2 < expected["hybrid3"] < 0.7 * expected["pipecg"]


def test_a_slow_link_selects_one_device():
    slow = dataclasses.replace(EVEN, to_host_bandwidth=1e8, to_device_bandwidth=1e8)
    assert fastest(slow) in ("pipecg", "pipecg-cpu")
    assert fastest(dataclasses.replace(slow, product_cpu=1.0)) == "pipecg"
    assert fastest(dataclasses.replace(slow, product_accelerator=1.0)) == "pipecg-cpu"


def test_copies_cost_hybrid1_more_than_hybrid2():
    slow = dataclasses.replace(EVEN, to_host_bandwidth=1e9)
    expected = seconds(slow)
    # Hybrid 1 copies three vectors per iteration, hybrid 2 one; two products hide at most 2e-2 s.
    assert expected["hybrid1"] > expected["hybrid2"] + 0.9 * 2 * 8 * SIZE / 1e9 - 2e-2


def notes_of(result):
    return "\n".join(result.provenance["notes"])


@pytest.mark.parametrize("first", ["jacobi", "none"])
def test_it_measures_and_gives_reasons(accelerator, first):
    configuration = configure("poisson27", n=8, solver="hybrid", preconditioner=first, device=accelerator.spec)
    result = run_through(Run(configuration))
    assert result.converged
    notes = notes_of(result)
    assert "solver hybrid chose " in notes
    assert "measured just now" in notes
    assert all(name in notes for name in ("pipecg", "hybrid1", "hybrid2", "hybrid3"))
    assert result.summary["solver"] in ("pipecg", "hybrid1", "hybrid2", "hybrid3")
    assert result.provenance["configuration"]["solver"]["name"] == "hybrid"


def profile_text(kind, bandwidth, link=None):
    def number(name, value):
        return f'[{name}]\nvalue = {value!r}\nbasis = "nominal"\nsource = "made up"\n'

    text = f'name = "{kind}-of-a-test"\ntitle = "made up"\nkind = "{kind}"\n' + number("bandwidth_nominal", bandwidth)
    if link:
        text += number("to_host_bandwidth", link) + number("to_device_bandwidth", link)
    return text


@pytest.mark.parametrize(
    ("cpu", "gpu", "link", "chosen", "why"),
    [
        (1e11, 1e11, 5e10, "hybrid3", "chose hybrid3"),
        (1e10, 1e12, 1e8, "pipecg", "on device opencl alone"),
        (1e12, 1e10, 1e8, "pipecg", "on the cores alone"),
    ],
)
def test_profiles_determine_the_selection(accelerator, tmp_path, cpu, gpu, link, chosen, why):
    (tmp_path / "cpu.toml").write_text(profile_text("cpu", cpu))
    (tmp_path / "gpu.toml").write_text(profile_text("gpu", gpu, link))
    spec = f"hybrid:cpu={tmp_path / 'cpu.toml'},accelerator={tmp_path / 'gpu.toml'}"
    result = run_through(Run(configure("poisson27", n=8, solver=spec, device=accelerator.spec)))
    assert result.converged
    assert result.summary["solver"].partition(":")[0] == chosen
    assert why.replace("opencl", accelerator.name) in notes_of(result)
    assert ("does not pay" in notes_of(result)) == (chosen == "pipecg")


def test_a_single_profile_is_refused(accelerator):
    with pytest.raises(InputError, match="needs two profiles"):
        Run(configure("poisson5", n=8, solver="hybrid:cpu=i5-8250u", device=accelerator.spec))


def test_infeasible_schedules_are_listed_with_their_reason(accelerator):
    choices = {"preconditioner": "neumann:1", "device": accelerator.spec}
    notes = notes_of(run_through(Run(configure("poisson5", n=8, solver="hybrid", **choices))))
    assert "hybrid2 cannot run" in notes
    assert "hybrid3 cannot run" in notes


def test_a_matrix_beyond_device_memory_is_split_or_stays_on_the_cores(accelerator):
    choices = {"n": 10, "device": accelerator.spec, "memory_limit": 200_000}
    result = run_through(Run(configure("poisson27", solver="hybrid", **choices)))
    assert result.converged
    assert "pipecg cannot run: device" in notes_of(result)
    assert "hybrid1 cannot run" in notes_of(result)
    assert result.summary["solver"] in ("pipecg", "hybrid3")
