"""What is wrong with an answer is said with numbers that dense algebra and plain runs have too."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import linalg

from workbench.errors import InputError
from workbench.extensions.lessons import lesson
from workbench.live import Lesson
from workbench.run import configure, race
from workbench.words.numbers import number


def wrong(name, exercise, answer):
    verdict = lesson(name).exercises[exercise - 1].check(answer)
    assert not verdict.right
    return verdict.sentence


def dense(problem, **parameters):
    return configure(problem, **parameters).problem.assemble(0).operator.to_csr().toarray()


def jacobi_spectrum(problem, **parameters):
    A = dense(problem, **parameters)
    values = linalg.eigh(A, np.diag(A.diagonal()), eigvals_only=True)
    return values[values > 1e-10 * values[-1]]


def iterations(*configurations):
    return [result.iterations for result in race(configurations)]


def product(sentence):
    """Iterations in the first product of a sentence, and the total in MB: 85 × 692 kB = 58.8 MB."""
    count, each, unit, total = re.search(r"(\d+) × ([\d.]+)\W+([kM]B) = ([\d.]+)\W+MB", sentence).groups()
    assert int(count) * float(each) * {"kB": 1e-3, "MB": 1.0}[unit] == pytest.approx(float(total), rel=0.01)
    return int(count), float(total)


def test_the_ratio_of_condition_numbers_is_not_that_of_iterations():
    A = dense("two-layer", n=24)
    K = np.eye(len(A))
    term = -np.tril(A, -1) / A.diagonal()
    for _ in range(2):
        K = np.eye(len(A)) + term @ K
    neumann = linalg.eigh(A, linalg.inv(K.T @ np.diag(1 / A.diagonal()) @ K), eigvals_only=True)
    jacobi = jacobi_spectrum("two-layer", n=24)
    kappas = [values[-1] / values[0] for values in (jacobi, neumann)]
    sentence = wrong("preconditioning", 1, kappas[0] / kappas[1])
    assert f"from {number(kappas[0])} to {number(kappas[1])}" in sentence
    assert sentence.endswith(f"need κ = {number(kappas[1] ** 2 / kappas[0])}.")


def test_fewer_iterations_may_move_more_bytes():
    sentence = wrong("preconditioning", 2, "ic")
    mine, other = map(product, sentence.split(";"))
    first = [configure("two-layer", n=128, preconditioner=name) for name in ("ic", "neumann:3")]
    assert [mine[0], other[0]] == iterations(*first)
    assert mine[0] < other[0]
    assert mine[1] > other[1]


def test_fewer_iterations_may_take_more_time():
    sentence = wrong("preconditioning", 3, 2)
    boxes = configure("two-layer", n=48, preconditioner="schwarz:3x3,overlap=4")
    few, many = iterations(boxes, configure("two-layer", n=48))
    assert (
        f"{few} iterations with boxes last as long as {number(2.0 * few)} with Jacobi, which needs {many}" in sentence
    )
    # Times of both runs, and the ratio of their iterations.
    units = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}
    times = [float(value) * units[unit] for value, unit in re.findall(r"([\d.]+)\s(s|ms|µs) with", sentence)]
    ratio = float(re.search(r"with boxes takes about ([\d.\s]+) times", sentence)[1].replace("\u202f", ""))
    assert ratio == pytest.approx(times[1] / few / (times[0] / many), rel=0.06)


def test_a_right_factor_is_compared_with_the_exact_one_only_where_they_differ():
    check = lesson("preconditioning").exercises[0].check
    assert "within" not in check(2.34).sentence
    assert "; 2.24 is within 5% of that" in check(2.24).sentence


def test_faces_of_a_square_bubble_give_its_quotient():
    inside = np.zeros((8, 8), bool)
    inside[2:6, 2:6] = True
    rho = np.where(inside, 1.0, 1000.0)
    # The matrix of the same grid, its faces those of the square.
    A = np.zeros((64, 64))
    for one in np.ndindex(8, 8):
        for step in ((1, 0), (0, 1)):
            other = (one[0] + step[0], one[1] + step[1])
            if max(other) < 8:
                i, j = (np.ravel_multi_index(each, (8, 8)) for each in (one, other))
                cost = 2 / (rho[one] + rho[other])
                A[[i, j], [i, j]] += cost
                A[[i, j], [j, i]] -= cost
    v = inside.ravel().astype(float)
    quotient = float(v @ A @ v / (v @ np.diag(A.diagonal()) @ v))
    check = lesson("deflation").exercises[0].check
    assert [check(quotient * share).right for share in (0.97, 0.99, 1, 1.01, 1.03)] == [False, True, True, True, False]
    assert "(v, Dv) = 48.0" in wrong("deflation", 1, 5e-4)
    assert "faces that cost 0.002" in check(5e-4).hint
    assert "divide it" in check(0.032).hint
    assert "twice" in check(0.032 / 24).hint


def test_a_fixed_pressure_leaves_as_many_tiny_eigenvalues_as_bubbles():
    A = dense("bubbles-2d", n=24, count=9, sides="y+:dirichlet")
    values = linalg.eigh(A, np.diag(A.diagonal()), eigvals_only=True)
    assert (values < 1e-3).sum() == 9
    assert f"number 9 is {number(values[8])}, which is below 0.001 as well" in wrong("deflation", 2, 8)
    assert f"number 10 is {number(values[9])}, which is not below" in wrong("deflation", 2, 10)
    right = lesson("deflation").exercises[1].check(9)
    assert right.right
    assert "walls on all sides the smallest is zero" in right.sentence


def test_parts_that_cut_bubbles_need_more_iterations():
    spaces = ("blocks:4", "stripes")
    bubbles = configure("bubbles-2d", n=48, layout="random", count=9)
    counts = iterations(*(configure(bubbles.problem, deflation=space, coarse="inverse") for space in spaces))
    sentence = wrong("deflation", 3, spaces[0])
    assert re.findall(r"(\d+)(?: iterations|\.)", sentence) == list(map(str, counts))
    assert "has 111 vectors" in wrong("deflation", 3, "levelset:8")
    for unknown in ("bubbles", "or", "ritz:4", "k"):
        with pytest.raises(InputError, match=f"write stripes, blocks:k or levelset:k, .* and not '{unknown}'"):
            lesson("deflation").exercises[2].check(unknown)


def test_too_many_vectors_save_iterations_and_move_more():
    more = wrong("deflation", 4, "levelset:24")
    few, total = product(more)
    many, least = product(lesson("deflation").exercises[3].check("levelset:8").sentence.split(";")[0])
    assert few < many
    assert total > least
    # A dense inverse of E is read in every iteration.
    vectors = int(re.search(r"with (\d+) vectors", more)[1])
    assert total * 1e6 > 8 * few * vectors**2
    assert "one with more vectors" in wrong("deflation", 4, "levelset:2")


def test_a_block_is_done_when_its_directions_fill_the_space():
    assert lesson("many-at-once").exercises[0].check(4).right
    left = re.search(r"is still (\d+\.\d+)", wrong("many-at-once", 1, 3))[1]
    assert float(left) > 0.01
    assert "there are 12 already" in wrong("many-at-once", 1, 12)


@pytest.mark.parametrize("s", [3, 6, 8])
def test_the_s_smallest_eigenvalue_decides(s):
    values = jacobi_spectrum("bubbles-2d", n=24)
    sentence = wrong("many-at-once", 3, s)
    assert f"for s = {s} it is {number(values[-1] / values[s - 1])}" in sentence
    assert ("already" in sentence) == (s > 4)
    (count,) = iterations(configure("bubbles-2d", n=24, solver="block-cg", rhs=f"random:{s}"))
    assert f"took {count} iterations" in sentence


def test_more_columns_than_are_computed_are_refused():
    with pytest.raises(InputError, match="the answer is from 1 to 8, and 9 is not"):
        lesson("many-at-once").exercises[2].check(9)


def test_dependent_columns_have_singular_values_of_rounding():
    said = wrong("many-at-once", 2, 6)
    assert "10⁻" in said or "is 0 of" in said
    share = float(re.search(r"number 3 of B is ([\d.]+) of", wrong("many-at-once", 2, 2))[1])
    assert 0.1 < share <= 1


def test_few_boxes_need_no_weights():
    chosen = [configure("two-layer", n=48, solver=s, preconditioner="schwarz:2x2") for s in ("mpcg", "sum-cg")]
    together, summed = iterations(*chosen)
    sentence = wrong("many-at-once", 4, "schwarz:2x2")
    assert f"mpcg takes {together} iterations and sum-cg {summed}, which is {together / summed:.0%}" in sentence
    assert "36 boxes" in wrong("many-at-once", 4, "schwarz:6x6")
    assert "ic has no boxes" in wrong("many-at-once", 4, "ic")
    assert wrong("many-at-once", 4, "2 × 2") == wrong("many-at-once", 4, "Schwarz 2 × 2") == sentence
    forms = ("schwarz:2x2,overlap=0", "2x2,0", "2 x 2, overlap 0", "Schwarz 2 × 2 (overlap 0)")
    assert len({wrong("many-at-once", 4, form) for form in forms} | {sentence}) == 2
    with pytest.raises(InputError, match="such as schwarz:3x3,overlap=1"):
        wrong("many-at-once", 4, "bananas")


def test_a_choice_begins_with_none():
    view = Lesson("deflation").check(4)
    # With the value None the menu is empty for some orders of hashes.
    assert (view.field.index, view.field.value) == (0, "")
    view.check()
    assert "Give an answer first" in view.verdict.text
    view.close()
