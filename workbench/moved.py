"""Former names of packages, kept for one release: importing one of them warns and gives what has taken its place."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
import warnings
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec

MOVED = {
    "workbench.analysis": (
        "workbench.spectra",
        "workbench.costs",
        "workbench.advise",
        "workbench.extensions.models",
        "workbench.stepping",
    ),
    "workbench.figures": ("workbench.plots.figures",),
    "workbench.flow": ("workbench.extensions.flow", "workbench.sequences"),
    "workbench.lessons": ("workbench.extensions.lessons",),
    "workbench.machine": ("workbench.machines",),
    "workbench.models": ("workbench.extensions.models", "workbench.machines"),
    "workbench.papers": ("workbench.extensions.papers",),
    "workbench.recording": ("workbench.records",),
    "workbench.scenes": ("workbench.plots.scenes",),
    "workbench.run": (
        "workbench.run.choices",
        "workbench.run.setup",
        "workbench.run.loop",
        "workbench.run.jobs",
        "workbench.run.results",
    ),
}
"""By former package, those that have its modules and names now."""
MERGED = {
    "analysis": {
        "spectra.convergence_estimates": ("error_bounds", "ritz"),
        "advise.level_pairs": ("candidates",),
        "advise.predictions": ("candidates",),
        "advise.sequence_search": ("pair_search",),
        "extensions.models.host_and_gpu": ("size_sweep",),
        "extensions.models.ranks_model": ("clusters",),
        "extensions.models.schedules": ("cuts", "dry_run"),
        "extensions.models.shared_rows": ("fabric",),
        "stepping.line_by_line": ("linewise",),
        "stepping.step_spaces": ("step_sides",),
    },
    "costs": {"extensions.formats.comparison": ("storage",)},
    "figures": {
        "plots.figures.drawing": ("lanes",),
        "plots.figures.edited": ("columns",),
        "plots.figures.pictures": ("boundaries", "pattern"),
        "plots.figures.saving": ("plotted_data", "provenance"),
        "plots.figures.style": ("colormaps",),
    },
    "models": {"extensions.models.ranks_model": ("clusters",)},
    "live.builders": {
        "live.builders.bubble_editor": ("bubble_pictures",),
        "live.builders.live_solve": ("live_panel", "live_solver"),
    },
    "live.compare": {"extensions.formats.page": ("storage",)},
    "live.ui": {"live.ui.declared_form": ("undoable_form",)},
    "operators": {"operators.conversion": ("formats",), "devices.host.storage": ("formats",)},
    "plots.scenes": {"extensions.formats.scenes": ("storage",)},
    "records": {"files.arrays": ("archive",)},
    "devices.programs": {"devices.programs.on_cores": ("stepwise",)},
    "run.choices": {
        "run.choices.configuration": ("vector_files",),
        "run.setup.right_hand_side": ("vector_files",),
    },
    "run.jobs": {"run.jobs.sweeping": ("sweep_files",)},
    "run.loop": {"run.loop.history_writer": ("vectorized_check",), "run.loop.iterations": ("run_state",)},
    "recording": {"records.kernels": ("overlap",)},
    "scenes": {
        "plots.scenes.mpcg": ("vectors",),
        "plots.scenes.plane": ("colormap",),
        "plots.scenes.scaling": ("crossover",),
    },
}
"""By former package, the modules that now have the names of some of its modules."""
OF_MODULES: dict[str, list[str]] = {}
"""By former module, those that have its names now."""
for _package, _merged in MERGED.items():
    for _present, _modules in _merged.items():
        for _module in _modules:
            OF_MODULES.setdefault(f"workbench.{_package}.{_module}", []).append(f"workbench.{_present}")


class Finder:
    """The last finder of the process: it is asked for a module that no other one has."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a former name; None for any other."""
        found = _now(name)
        return ModuleSpec(name, _Alias(found), is_package=True) if found else None


class _Alias(Loader):
    """The loader of a former name."""

    def __init__(self, now: list[str]) -> None:
        self._now = now

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        now = " and ".join(self._now)
        warnings.warn(
            f"{spec.name} is {now} now; its former name goes with the next release", DeprecationWarning, stacklevel=2
        )
        return types.ModuleType(spec.name, f"A former name of {now}.")

    def exec_module(self, module: types.ModuleType) -> None:
        now = self._now

        def get(name: str) -> object:
            for place in now:
                try:
                    return getattr(importlib.import_module(place), name)
                except AttributeError:
                    continue
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

        module.__dict__["__getattr__"] = get


def _now(name: str) -> list[str]:
    """The present names of a module by its former one."""
    if name in MOVED and name != "workbench.run":
        return list(MOVED[name])
    if name in OF_MODULES:
        return OF_MODULES[name]
    package, _, module = name.rpartition(".")
    places = (f"{place}.{module}" for place in MOVED.get(package, ()))
    for place in places:
        if place in OF_MODULES:
            return OF_MODULES[place]
        if importlib.util.find_spec(place) is not None:
            return [place]
    return []


def install() -> None:
    """Let former names be imported."""
    if Finder not in sys.meta_path:
        sys.meta_path.append(Finder)
