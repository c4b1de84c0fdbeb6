"""Right-hand sides solved at once and one by one."""

from workbench.analysis.block_comparison import COLUMN_BY_COLUMN, METHODS, TOTALS, compared, markdown, totals
from workbench.analysis.block_costs import block_costs


def test_the_same_columns_are_solved_at_once_and_one_by_one():
    runs = compared("two-layer", 16, columns=3)
    assert list(runs) == [*METHODS, COLUMN_BY_COLUMN]
    singles = runs[COLUMN_BY_COLUMN]
    assert len(singles) == 3
    # The recurrences are those of CG, and end with the slowest.
    slowest = max(single.summary["iterations"] for single in singles)
    assert abs(runs["pseudo-block-cg"].summary["iterations"] - slowest) <= 1
    assert runs["block-cg"].summary["iterations"] < slowest


def test_totals_are_iterations_times_the_cost_of_one():
    runs = compared("poisson5", 8, columns=4)
    cost = next(cost for cost in block_costs("poisson5", columns=4) if cost.solver == "block-cg")
    k = runs["block-cg"].summary["iterations"]
    first, second = totals("poisson5", runs, columns=4)
    assert first == ("poisson5", "block-cg", str(k), f"{k * cost.bytes:.0f}", f"{k * cost.flops:.0f}")
    assert second[1] == "pseudo-block-cg"
    text = markdown(TOTALS, [first, second])
    assert text.splitlines()[1] == "| --- | --- | --- | --- | --- |"
    assert len(text.splitlines()) == 4
