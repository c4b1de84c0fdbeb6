"""Former names of packages and modules: they warn, and give what has taken their place."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from workbench.moved import MOVED

FORMER = {
    "workbench.analysis": ("advise", "workbench.advise"),
    "workbench.analysis.ritz": ("ritz_values", "workbench.spectra.convergence_estimates"),
    "workbench.analysis.block_costs": ("block_costs", "workbench.costs.block_costs"),
    "workbench.figures": ("draw", "workbench.plots.figures"),
    "workbench.analysis.storage": ("storage_of", "workbench.extensions.formats.comparison"),
    "workbench.costs.storage": ("storage_of", "workbench.extensions.formats.comparison"),
    "workbench.live.compare.storage": ("StorageView", "workbench.extensions.formats.page"),
    "workbench.operators.formats": ("in_format", "workbench.operators.conversion"),
    "workbench.plots.scenes.storage": ("arrays_of", "workbench.extensions.formats.scenes"),
    "workbench.scenes.storage": ("arrays_of", "workbench.extensions.formats.scenes"),
    "workbench.flow.sequence": ("Sequence", "workbench.sequences.sequence"),
    "workbench.flow.records": ("save", "workbench.extensions.flow.records"),
    "workbench.lessons": ("lesson", "workbench.extensions.lessons"),
    "workbench.machine.profile": ("profile", "workbench.machines.profile"),
    "workbench.machine.retime": ("retime", "workbench.machines.retime"),
    "workbench.models.clusters": ("expected_on_ranks", "workbench.extensions.models.ranks_model"),
    "workbench.models.retime": ("retime", "workbench.machines.retime"),
    "workbench.models.schedules": ("expected", "workbench.extensions.models.schedules"),
    "workbench.papers": ("reproduce", "workbench.extensions.papers"),
    "workbench.recording": ("load", "workbench.records"),
    "workbench.scenes.scene": ("Scene", "workbench.plots.scenes.scene"),
    "workbench.recording.archive": ("read_arrays", "workbench.files.arrays"),
    "workbench.run.jobs.sweep_files": ("to_csv", "workbench.run.jobs.sweeping"),
    "workbench.run.share_link": ("to_link", "workbench.run.choices.share_link"),
}
"""Former modules with a name in them, and where that is now."""
# A package on the way to a module warns too.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def imported_anew():
    for name in [
        name for name in sys.modules if any(name in (old, *FORMER) for old in MOVED if old != "workbench.run")
    ]:
        del sys.modules[name]


@pytest.mark.parametrize("former", FORMER)
def test_a_former_name_warns_and_gives_what_it_gave(former):
    name, present = FORMER[former]
    with pytest.warns(DeprecationWarning, match=f"{former} is .*{present}.* now; its former name goes with the next"):
        module = importlib.import_module(former)
    assert getattr(module, name) is getattr(importlib.import_module(present), name)


@pytest.mark.parametrize("name", ["workbench.analysis.none", "workbench.nothing", "workbench.run.nothing"])
def test_a_name_that_never_was_is_unknown(name):
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        importlib.import_module(name)


def test_a_former_package_lacks_what_it_lacked():
    module = importlib.import_module("workbench.analysis")
    with pytest.raises(AttributeError, match=r"module 'workbench.analysis' has no attribute 'nothing'"):
        module.nothing  # noqa: B018


def test_a_script_with_former_names_runs():
    program = "from workbench.analysis import ritz_values\nfrom workbench.recording import load\nprint(load.__module__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["workbench.records.record"]
