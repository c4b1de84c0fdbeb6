"""Every number in data/papers is shown by a table or figure, or is named here with the reason why not."""

from __future__ import annotations

import tomllib
import types

import pytest

from tests.papers.conftest import small
from workbench.data_files import data_folder
from workbench.papers import PAPERS, reproduce, two_level
from workbench.papers.items import FILES

UNUSED = {
    ("two-level", "year"): "of the paper",
    ("two-level", "claims.explicit_inverse_over_triangular_solve"): "of dense solves on its GPU; a note says it",
    ("hybrid-pipecg", "year"): "of the paper",
    ("hybrid-pipecg", "earlier.year"): "of the earlier paper",
    ("hybrid-pipecg", "claims.best_method_by_rows.hybrid1"): "a range, by which the printed best method is found",
    ("hybrid-pipecg", "claims.best_method_by_rows.hybrid2"): "the same",
    ("hybrid-pipecg", "claims.best_method_by_rows.hybrid3"): "the same",
    ("block-cg", "table2.once"): "multiples, shown as formulas",
    ("block-cg", "table2.per_iteration"): "multiples, shown as formulas",
    ("block-cg", "fig6.m_t1"): "between the numbers of right-hand sides that are measured",
    ("block-cg", "fig6.parabolic_fem"): "the same",
    ("block-cg", "claims.gflops_at_most"): "a note says it",
    ("mpcg", "year"): "of the paper",
    ("mpcg", "claims.sweeps_per_unknown"): "by which the sweeps are counted",
    ("mpcg", "claims.master_cores"): "of a machine that is not modelled",
    ("mpcg", "claims.master_workers"): "of a machine that is not modelled",
}
"""Numbers by paper and place that no row holds."""


def numbers(value, at=""):
    """All numbers of plain data, each with its place."""
    if isinstance(value, dict):
        return [found for key, part in value.items() for found in numbers(part, f"{at}.{key}".lstrip("."))]
    if isinstance(value, (list, tuple)):
        return [found for part in value for found in numbers(part, at)]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value:
        return [(at, value)]
    return []


def shown(paper, monkeypatch):
    """Numbers in the rows of all targets; of sizes that take long the solves are left out."""
    made = {name: small(paper, name) for name in PAPERS[paper]}
    if paper == "two-level":
        result = types.SimpleNamespace(iterations=10, converged=True, setup_seconds=1.0, iteration_seconds=0.5)
        monkeypatch.setattr(two_level, "Run", lambda configuration: configuration)
        monkeypatch.setattr(two_level, "run_through", lambda run: result)
        made["table2"] = reproduce("two-level", "table2", 1024)
    return {value for one in made.values() for _, value in numbers(one.rows)}


@pytest.mark.slow
@pytest.mark.parametrize("paper", FILES)
def test_every_printed_number_is_shown_or_named_as_unused(paper, monkeypatch):
    stored = tomllib.loads((data_folder() / "papers" / f"{FILES[paper]}.toml").read_text(encoding="utf-8"))
    there = shown(paper, monkeypatch)
    missing = {(paper, at) for at, value in numbers(stored) if value not in there}
    assert missing <= set(UNUSED)
