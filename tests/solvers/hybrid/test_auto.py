"""Solver `hybrid`: the schedule that its performance model selects, and the reasons in the notes."""

from __future__ import annotations

import pytest

from workbench.errors import InputError
from workbench.run import Run, configure, run_through


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
