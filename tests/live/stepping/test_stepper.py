"""Two solvers side by side: the tables and the picture follow the slider."""

import math

import numpy as np
import pytest

from workbench.live import Stepper
from workbench.words.numbers import number


@pytest.fixture(scope="module")
def stepper():
    return Stepper("cg", "pipecg", "two-layer", iterations=200, n=16)


def row_of(stepper, table, line):
    return next(row for row in stepper.tables[table].value.split("<tr>") if f'title="{line}"' in row).strip()


def test_the_tables_hold_the_lines_of_both(stepper):
    stepper.slider.value = 3
    left, right = (table.value for table in stepper.tables)
    assert "s = A(p)" in left
    assert "z = n + beta*z" in right
    # The language has comparisons, HTML has tags.
    assert "delta &gt; 0" in left
    assert "equal" in left


def test_the_slider_moves_all_three(stepper):
    stepper.slider.value = 2
    before = [table.value for table in stepper.tables], stepper.plot.scene
    stepper.slider.value = 40
    after = [table.value for table in stepper.tables], stepper.plot.scene
    assert all(old != new for old, new in zip(before[0], after[0], strict=True))
    assert [scene.layers[-1].value for scene in (before[1], after[1])] == [2, 40]
    for plot, moments in zip(stepper.maps, stepper.walks, strict=True):
        cells, upright, level = plot.scene.layers
        assert cells.values.shape == (len(moments), len(moments))
        assert (upright.value, level.value) == (40, 40)


def test_the_sentence_has_the_loss_of_orthogonality_and_the_residuals(stepper):
    stepper.slider.value = 0
    assert "products" not in stepper.words.text
    stepper.slider.value = 40
    for name, moments, products in zip(stepper.names, stepper.walks, stepper.products, strict=True):
        largest = max(products[i, j] for i in range(41) for j in range(i))
        said = f"{name} after 40: products of two different residuals reach {number(largest)}, ‖r‖ is "
        assert f"{said}{number(moments[40].recurrence)}" in stepper.words.text
        assert f"‖b − Ax‖ is {number(moments[40].true_residual)}" in stepper.words.text
    stepper.slider.value = 200
    assert f"Pipelined CG has ended after {len(stepper.walks[1]) - 1} iterations" in stepper.words.text


def test_a_name_that_means_two_things_is_not_compared(stepper):
    # In the start of pipelined CG s is first A x, then A u.
    assert math.isnan(stepper.difference("s", 0))
    assert stepper.difference("s", 1) < 1e-12


def test_rounding_shows_as_a_difference(stepper):
    stepper.slider.value = 90
    assert row_of(stepper, 0, "r = r - alpha*s").endswith(f">{number(stepper.difference('r', 90), 2)}</td></tr>")
    assert stepper.difference("r", 5) < 1e-12 < stepper.difference("r", 90)


def test_a_value_that_a_method_sets_an_iteration_earlier_is_compared_with_the_same_one(stepper):
    stepper.slider.value = 20
    # CG sets p of the next iteration at the end, pipelined CG its own at the beginning.
    for table, there in ((0, 21), (1, 19)):
        assert f">equal, to iteration {there}<" in row_of(stepper, table, "p = u + beta*p")
        assert ">equal<" in row_of(stepper, table, "x = x + alpha*p")
    assert stepper.difference("p", 20) > 0.1


def test_lines_may_be_folded_away(stepper, opened):
    folded = opened(Stepper("cg", "cg3", "poisson5:8", iterations=3, folded=True))
    assert [box.box.children[-1].selected_index for box in (stepper, folded)] == [0, None]


def test_after_a_breakdown_nothing_is_compared(stepper):
    last = len(stepper.walks[1]) - 1
    assert last < 200
    stepper.slider.value = 200
    assert f"Pipelined CG, broken down at {last}" in stepper.tables[1].value
    assert math.isnan(stepper.difference("r", 200))


def test_the_lines_are_mathematics_with_four_digits_and_their_code_as_tooltip(stepper):
    stepper.slider.value = 3
    line = next(row for row in stepper.tables[0].value.split("<tr>") if "alpha*p" in row)
    norm = np.linalg.norm(stepper.walks[0][3].vectors["x"])
    assert 'title="x = x + alpha*p">x = x + α\u202fp<' in line
    assert f'>‖x‖</td><td class="wb-number">{number(norm, 4)}<' in line


def test_both_end_where_the_tolerance_is_met(stepper, opened):
    made = opened(Stepper("cg", "pipecg", "two-layer", iterations=200, rtol=1e-6, n=16))
    for walked, longer in zip(made.walks, stepper.walks, strict=True):
        assert len(walked) < len(longer)
        assert walked[-1].recurrence <= 1e-6 * walked[0].recurrence < walked[-2].recurrence
