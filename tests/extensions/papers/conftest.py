"""Papers are reproduced without a network, and small."""

from __future__ import annotations

import functools
import types

import numpy as np
import pytest

from workbench.extensions.papers import PAPERS, hybrid_pipecg, reproduce, reproduction
from workbench.extensions.papers.results import Results
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
