"""Papers are reproduced without a network, and small."""

from __future__ import annotations

import collections
import functools
import types

import numpy as np
import pytest

from workbench.extensions.papers import PAPERS, Reproduction, hybrid_pipecg, reproduce, reproduction
from workbench.extensions.papers.results import Results
from workbench.plots.figures.style import NotebookFigure
from workbench.plots.scenes.scene import BarsOf, CurveOf, Scene
from workbench.problems import suitesparse


@pytest.fixture(autouse=True)
def no_downloads(monkeypatch, tmp_path):
    """No matrix is in the cache, and none can be fetched; compiled kernels are."""
    for module in (suitesparse, hybrid_pipecg):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)
    monkeypatch.setenv("WORKBENCH_SUITESPARSE_URL", (tmp_path / "nowhere").as_uri())
    monkeypatch.delenv("WORKBENCH_MATRICES", raising=False)


reproduced = functools.cache(reproduce)


def small(paper, target):
    """A target as small as it gets."""
    return reproduced(paper, target, PAPERS[paper][target].smallest)


def look_alikes(made: Reproduction) -> list[tuple[str, str]]:
    """The panels of a result with two curves of one colour and dash, or two kinds of bars of one colour, with their
    names; marks without a line differ by their marker too."""
    scenes = [scene for scene in made.alive if isinstance(scene, Scene)]
    if not scenes and isinstance(made.figure, NotebookFigure):
        scenes = made.figure.scenes
    found = []
    for scene in scenes:
        names = collections.defaultdict(list)
        for layer in scene.layers:
            if isinstance(layer, CurveOf):
                names[layer.look.colour, layer.look.dash, layer.look.marker if layer.only else ""].append(layer.name)
            if isinstance(layer, BarsOf) and not layer.faint:
                names[layer.colour].append(layer.name)
        found += [(scene.name, ", ".join(each)) for each in names.values() if len(each) > 1]
    return found


@pytest.fixture
def made(monkeypatch):
    """The configurations that items would solve, in order; nothing is solved, and nothing known from before."""
    configurations = []
    result = types.SimpleNamespace(
        iterations=10,
        converged=True,
        setup_seconds=1.0,
        iteration_seconds=0.5,
        summary={"setup_phases": []},
        record=lambda: types.SimpleNamespace(relative_residual=np.ones(11)),
    )
    monkeypatch.setattr(reproduction, "Run", lambda configuration: configurations.append(configuration))
    monkeypatch.setattr(reproduction, "run_through", lambda run: result)
    monkeypatch.setattr(reproduction, "RESULTS", Results())
    return configurations
