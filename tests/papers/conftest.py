"""Papers are reproduced without a network, and small."""

from __future__ import annotations

import functools

import pytest

from workbench.papers import PAPERS, hybrid_pipecg, reproduce
from workbench.problems import suitesparse


@pytest.fixture(autouse=True)
def no_downloads(monkeypatch, tmp_path):
    """No matrix is in the cache, and none can be fetched; compiled kernels are."""
    for module in (suitesparse, hybrid_pipecg):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)
    monkeypatch.setenv("WORKBENCH_SUITESPARSE_URL", (tmp_path / "nowhere").as_uri())
    monkeypatch.delenv("WORKBENCH_MATRICES", raising=False)


@functools.cache
def small(paper, target):
    """A target as small as it gets."""
    return reproduce(paper, target, PAPERS[paper][target].smallest)
