"""What is wrong with an answer is said with numbers that dense algebra and plain runs have too."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import linalg

from workbench.errors import InputError
from workbench.extensions.lessons import lesson
from workbench.extensions.lessons.deflation import risen
from workbench.live import Lesson
from workbench.run import configure, prepare, race
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


def test_fewer_iterations_may_move_more_bytes():
    sentence = wrong("preconditioning", 2, "ic")
    mine, other = map(product, sentence.split(";"))
    first = [configure("two-layer", n=64, preconditioner=name) for name in ("ic", "neumann:3")]
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
    assert "measured on this machine" in sentence


def test_walls_leave_one_tiny_eigenvalue_less_than_bubbles():
    values = jacobi_spectrum("bubbles-2d", n=24, layout="random", count=5)
    for answer, place in ((5, 4), (2, 2)):
        said = re.search(r"number (\d+) is (.+?)[,.]?( which|$)", wrong("deflation", 1, answer))
        assert said[1] == str(place + 1)
        assert said[2] == number(values[place])


def test_parts_that_cut_bubbles_need_more_iterations():
    spaces = ("blocks:4", "stripes")
    bubbles = configure("bubbles-2d", n=48, layout="random", count=9)
    counts = iterations(*(configure(bubbles.problem, deflation=space) for space in spaces))
    sentence = wrong("deflation", 2, spaces[0])
    assert re.findall(r"(\d+)(?: iterations|\.)", sentence) == list(map(str, counts))
    assert "has 111 vectors" in wrong("deflation", 2, "levelset:8")
    with pytest.raises(InputError, match="unknown deflation"):
        lesson("deflation").exercises[1].check("bubbles")


def test_too_many_vectors_save_iterations_and_move_more():
    more = wrong("deflation", 3, "levelset:24")
    (few, total), (many, least) = map(product, more.split(";"))
    assert few < many
    assert total > least
    # A dense inverse of E is read in every iteration.
    vectors = int(re.search(r"with (\d+) vectors", more)[1])
    assert total * 1e6 > 8 * few * vectors**2
    assert "one with more vectors" in wrong("deflation", 3, "levelset:2")


@pytest.mark.parametrize("s", [3, 6])
def test_the_s_smallest_eigenvalue_decides(s):
    values = jacobi_spectrum("bubbles-2d", n=24)
    sentence = wrong("many-at-once", 2, s)
    assert f"for s = {s} it is {number(values[-1] / values[s - 1])}" in sentence
    assert ("already" in sentence) == (s > 4)
    (count,) = iterations(configure("bubbles-2d", n=24, solver="block-cg", rhs=f"random:{s}"))
    assert f"took {count} iterations" in sentence


def test_dependent_columns_have_singular_values_of_rounding():
    said = re.search(r"number 6 of B is (\S+)", wrong("many-at-once", 1, 6))
    assert "10⁻" in wrong("many-at-once", 1, 6) or said[1] == "0"
    share = float(re.search(r"number 3 of B is ([\d.]+) of", wrong("many-at-once", 1, 2))[1])
    assert 0.1 < share <= 1


def test_few_boxes_need_no_weights():
    chosen = [configure("two-layer", n=24, solver=s, preconditioner="schwarz:2x2") for s in ("mpcg", "sum-cg")]
    together, summed = iterations(*chosen)
    sentence = wrong("many-at-once", 3, "schwarz:2x2")
    assert f"mpcg takes {together} iterations and sum-cg {summed}" in sentence
    assert "36 boxes" in wrong("many-at-once", 3, "schwarz:6x6")
    assert "no preconditioner schwarz" in wrong("many-at-once", 3, "ic")


def test_vectors_of_bubbles_that_have_moved_on_save_next_to_nothing():
    system, was, last = risen()
    A, D = system.operator.to_csr().toarray(), np.diag(system.operator.diagonal())
    for bubble in range(1, 6):
        old, new = (np.where(labels == bubble, 1.0, 0.0) for labels in (was, system.phase))
        quotients = [v @ A @ v / (v @ D @ v) for v in (old, new)]
        assert quotients[0] > 100 * quotients[1]
    said = wrong("deflation", 4, 80)
    without, renewed = map(int, re.findall(r"takes (\d+), .* are (\d+);", said)[0])
    assert renewed < 0.6 * without
    assert "more than 80" in said
    assert "less than" in wrong("deflation", 4, without)
    moved = prepare(system, M="neumann:2", deflation="levelset:4")
    assert moved.solve(system.b, x0=last).iterations >= moved.solve(system.b).iterations


def test_a_choice_begins_with_none():
    view = Lesson("deflation").check(3)
    # With the value None the menu is empty for some orders of hashes.
    assert (view.field.index, view.field.value) == (0, "")
    view.check()
    assert "Give an answer first" in view.verdict.text
    view.close()
