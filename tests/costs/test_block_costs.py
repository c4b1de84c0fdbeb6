"""Counted costs of block methods agree with those that their sources state."""

import pytest

from workbench.costs.block_costs import block_costs


@pytest.fixture(scope="module")
def costs():
    return {cost.solver: cost for cost in block_costs("poisson7", 6, "jacobi", columns=4)}


def test_every_method_applies_both_operators_once(costs):
    assert {(cost.with_a, cost.with_m) for cost in costs.values()} == {(1, 1)}


@pytest.mark.parametrize(
    ("method", "grams", "products"),
    [("pseudo-block-cg", 0, 0), ("block-cg-oleary", 2, 3), ("bf-block-cg", 4, 4), ("block-cg", 4, 7)],
)
def test_gram_matrices_and_products_are_those_of_the_docstrings(costs, method, grams, products):
    assert (costs[method].grams, costs[method].products) == (grams, products)


def test_operations_per_right_hand_side_grow_with_the_columns_in_block_methods_only():
    few, many = ({cost.solver: cost for cost in block_costs("poisson7", 6, "jacobi", s)} for s in (2, 8))
    assert many["pseudo-block-cg"].flops == pytest.approx(few["pseudo-block-cg"].flops)
    # O'Leary: 10 N s^2 operations besides A, M and the norms.
    assert many["block-cg-oleary"].flops - few["block-cg-oleary"].flops == pytest.approx(10 * 6)


def test_bytes_are_counted_block_vector_by_block_vector(costs):
    # A: 7 coefficients for 4 columns, and 2 blocks; (P, S): 2; X: 3; R: 3; M: 2 and d; two dots: 2 + 2; P: 3.
    expected = (7 / 4 + 2) + 2 + 3 + 3 + (2 + 1 / 4) + 4 + 3
    assert costs["pseudo-block-cg"].bytes == pytest.approx(8 * expected, rel=0.1)
