"""Every number in the data of the papers is shown by a table or figure, or is named here with the reason why not."""

from __future__ import annotations

import pytest

from tests.extensions.papers.conftest import small
from workbench.extensions.papers import PAPERS, item_of
from workbench.extensions.papers.printed import FILES, printed_in

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
    ("block-cg", "fig6.rates.m_t1"): "between the numbers of right-hand sides that are measured",
    ("block-cg", "fig6.rates.parabolic_fem"): "the same",
    ("mpcg", "year"): "of the paper",
    ("mpcg", "claims.sweeps_per_unknown"): "by which the sweeps are counted",
    ("hysing", "year"): "of the paper",
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


def shown(paper):
    """Numbers in the rows of all targets; of sizes that take long the solves are left out."""
    made = {name: small(paper, name) for name in PAPERS[paper]}
    rows = [one.rows for one in made.values()]
    if paper == "two-level":
        item = item_of(paper, "table2")
        rows.append([case.row for case in item.cases(item.paper_values)])
    return {value for _, value in numbers(rows)}


@pytest.mark.slow
@pytest.mark.parametrize("paper", FILES)
def test_every_printed_number_is_shown_or_named_as_unused(paper):
    stored = printed_in(paper)
    there = shown(paper)
    missing = {(paper, at) for at, value in numbers(stored) if value not in there}
    assert missing <= set(UNUSED)
