"""The extension of how_to_extend.md, installed next to the wheel of the workbench: all that it adds is there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.packaging import example_extension, wheels
from tests.packaging.wheels import done, run
from workbench import devices
from workbench.errors import InputError
from workbench.run import configure

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
PROBLEM = ["two-layer", "--n", "24", "--x0", "zero"]
RTOL = 1e-6


@pytest.fixture(scope="module")
def core(tmp_path_factory) -> Path:
    """The wheel of the workbench."""
    return wheels.built(ROOT, tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> Path:
    """The folder of the example's files."""
    return example_extension.save(tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="module")
def extended(core, example, tmp_path_factory) -> Path:
    """The commands of an environment with the workbench and the example."""
    wheel = wheels.built(example, tmp_path_factory.mktemp("wheel"))
    return wheels.environment(tmp_path_factory.mktemp("extended"), core, wheel)


@pytest.fixture(scope="module")
def plain(core, tmp_path_factory) -> Path:
    """The commands of an environment without the example."""
    return wheels.environment(tmp_path_factory.mktemp("plain"), core)


def iterations_of(sweeps: int, weight: float = 1.5) -> int:
    """The iterations of CG with damped sweeps on the problem, by dense algebra."""
    system = configure("two-layer", n=24).problem.assemble()
    A, b = system.operator.to_csr().toarray(), system.b
    diagonal = np.diag(A)
    omega = weight / np.max(np.sum(np.abs(A), axis=1) / diagonal)
    iteration = np.eye(b.size) - omega * A / diagonal[:, None]
    powers = sum(np.linalg.matrix_power(iteration, k) for k in range(sweeps))
    inverse = powers * (omega / diagonal)
    x, r, p, gamma = np.zeros_like(b), b.copy(), np.zeros_like(b), 1.0
    for count in range(b.size):
        if np.linalg.norm(r) <= RTOL * np.linalg.norm(b):
            return count
        u = inverse @ r
        before, gamma = gamma, r @ u
        p = u + (gamma / before if count else 0) * p
        s = A @ p
        x, r = x + gamma / (p @ s) * p, r - gamma / (p @ s) * s
    raise AssertionError("it does not converge")


def test_its_files_are_those_of_the_page(example):
    names = {path.relative_to(example).as_posix() for path in example.rglob("*") if path.is_file()}
    assert names == set(example_extension.files())
    assert {f"{example_extension.PACKAGE}/{name}.py" for name in ("extension", "preconditioner", "view")} < names


def test_commands_list_it(extended, plain, tmp_path):
    listed = run([extended / "workbench", "blocks"], tmp_path)
    assert "  damped          damped Jacobi sweeps\n    sweeps = 2: steps" in listed
    report = run([extended / "workbench", "doctor"], tmp_path)
    assert "damped" in report
    assert "the kernel of damped sweeps runs on cpu" in report
    assert "iterations by the number of damped sweeps" in run([extended / "workbench", "--help"], tmp_path)
    assert "damped" not in run([plain / "workbench", "blocks"], tmp_path)


@pytest.mark.parametrize("device", ["cpu", "opencl"])
@pytest.mark.parametrize(("block", "sweeps", "weight"), [("damped", 2, 1.5), ("damped:sweeps=3,weight=1.2", 3, 1.2)])
def test_a_solve_takes_the_iterations_of_dense_algebra(extended, device, block, sweeps, weight, tmp_path):
    try:
        devices.device(device)
    except InputError as sentence:
        pytest.skip(str(sentence))
    options = ["--preconditioner", block, "--device", device, "--rtol", str(RTOL), "--json"]
    found = json.loads(run([extended / "workbench", "solve", *PROBLEM, *options], tmp_path))
    assert (found["converged"], found["device"]) == (True, device)
    assert found["iterations"] == iterations_of(sweeps, weight)


def test_it_races(extended, tmp_path):
    lines = f"""
from workbench.run import configure, race
raced = race([configure("two-layer", n=24, x0="zero", preconditioner=each, stopping={{"rtol": {RTOL}}})
              for each in ("jacobi", "damped")])
print([result.iterations for result in raced], raced[1].record().label)
"""
    # Damping by a constant changes nothing.
    jacobi, damped = iterations_of(1), iterations_of(2)
    printed = run([extended / "python", "-c", lines], tmp_path)
    assert printed == f"[{jacobi}, {damped}] CG, 2 damped Jacobi sweeps\n"


def test_its_command(extended, plain, tmp_path):
    rows = run([extended / "workbench", "damping", "two-layer", "--most", "2"], tmp_path).splitlines()
    assert rows[0] == "sweeps  iterations  products with A"
    assert [row.split()[0] for row in rows[1:]] == ["1", "2"]
    refused = done([plain / "workbench", "damping", "two-layer"], tmp_path)
    assert refused.returncode == 2
    assert "damping" in refused.stderr


WRITE = """
from workbench.run import configure
from workbench.run.choices.share_link import to_link
print(to_link(configure("two-layer", n=24, preconditioner="damped:3")))
"""


def test_a_share_link_opens_there_and_says_elsewhere_what_to_install(extended, plain, tmp_path):
    link = run([extended / "python", "-c", WRITE], tmp_path).strip()
    assert "converged, verified" in run([extended / "workbench", "solve", link], tmp_path)
    refused = done([plain / "workbench", "solve", link], tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "workbench: preconditioner 'damped' is of the extension cg-workbench-damped, which is not installed; if you "
        "trust the author, run: pip install cg-workbench-damped\n"
    )


def test_its_view_is_on_the_page_and_among_the_widgets(extended, tmp_path):
    lines = """
from workbench.live import Workbench, DampingView
from workbench.run import configure
page = Workbench(configure("two-layer", n=16))
print("learn.damping" in page.frame.places)
print(page.view("Damping").chart.scene.spoken)
page.close()
alone = DampingView()
print(alone.chart.scene.spoken)
alone.close()
"""
    assert run([extended / "python", "-c", lines], tmp_path).splitlines() == [
        "True",
        "Choose Damped Jacobi as the preconditioner in Solve.",
        "2 sweeps of weight 1.5: the upper half lies between 0.75 and 1.",
    ]


def test_a_broken_one_is_listed_and_all_else_goes_on(core, example, tmp_path):
    folder = tmp_path / "broken"
    example_extension.save(folder)
    module = folder / example.name / example_extension.PACKAGE / "preconditioner.py"
    module.write_text(module.read_text(encoding="utf-8") + "\nraise RuntimeError('no kernel')\n", encoding="utf-8")
    commands = wheels.environment(tmp_path / "commands", core, wheels.built(folder / example.name, folder))
    said = (
        "extension damped is broken: cg_workbench_damped.preconditioner cannot be imported (its import failed by a "
        "RuntimeError: no kernel)"
    )
    listed = run([commands / "workbench", "blocks"], tmp_path)
    blocks, _, of_extensions = listed.partition("\nextensions\n")
    assert "  jacobi  " in blocks
    assert "  damped  " not in blocks
    assert said in of_extensions
    assert said in run([commands / "workbench", "doctor"], tmp_path)
    for verb in (["solve", "two-layer", "--n", "16", "--preconditioner", "damped"], ["damping", "two-layer"]):
        refused = done([commands / "workbench", *verb], tmp_path)
        assert refused.returncode == 2
        assert "(its import failed by a RuntimeError: no kernel)" in refused.stderr
    assert "converged, verified" in run([commands / "workbench", "solve", "two-layer", "--n", "16"], tmp_path)
