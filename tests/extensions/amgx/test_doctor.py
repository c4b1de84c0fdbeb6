"""The steps that build pyamgx, as the doctor prints them."""

from __future__ import annotations

from pathlib import Path

from workbench.devices import discovery
from workbench.devices.discovery import NvidiaDriver
from workbench.extensions.amgx import doctor
from workbench.machines import packages


def test_pyamgx_is_suggested_only_with_a_gpu(monkeypatch):
    monkeypatch.setattr(packages, "version", lambda name: None)
    monkeypatch.setattr(discovery, "nvidia_driver", lambda: None)
    assert doctor.examine().missing == ()
    driver = NvidiaDriver("570.1", (12, 0), ("NVIDIA H200",))
    monkeypatch.setattr(discovery, "nvidia_driver", lambda: driver)
    (lack,) = doctor.examine().missing or ()
    steps = lack.commands
    assert "cmake" in steps[1]
    (prepare, install) = (step for step in steps if "pip install" in step)
    # pip 26 builds in an environment without NumPy, which pyamgx's setup imports, unless an option forbids it.
    assert {"setuptools", "Cython", "numpy"} <= set(prepare.split())
    assert {"--no-build-isolation", "./pyamgx"} <= set(install.split())
    assert steps.index(prepare) < steps.index(install)
    assert any(step.startswith("export AMGX_DIR=") and "AMGX_BUILD_DIR=" in step for step in steps[:3])
    assert all("{" not in step for step in steps)


def test_the_steps_for_pyamgx_are_those_of_environment_yml():
    text = (Path(__file__).resolve().parents[3] / "environment.yml").read_text()
    for step in doctor.PYAMGX_STEPS:
        assert f"#   {step.format(python='python')}\n" in text
