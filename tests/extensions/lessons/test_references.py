"""What verdicts compute without regard to the answer is computed once."""

import numpy as np

from workbench.extensions.lessons import bubbles, deflation, lesson, preconditioning
from workbench.extensions.lessons.quadratic import QuadraticForm
from workbench.extensions.lessons.references import references
from workbench.run import configure
from workbench.spectra import exact


def test_a_verdict_after_the_references_solves_nothing(monkeypatch):
    assert sum(1 for _ in references()) > 20

    def solves(*_args, **_named):
        raise AssertionError("it is solved again")

    for module, name in [(preconditioning, "spectrum"), (preconditioning, "run_through"), (deflation, "spectrum"),
                         (bubbles, "prepare"), (bubbles, "run_through")]:  # fmt: skip
        monkeypatch.setattr(module, name, solves)
    said = [str(exercise.check(answer)) for name, answers in
            {"preconditioning": (2.34, "neumann:3", 9.25), "deflation": (6.66e-4, 9)}.items()
            for exercise, answer in zip(lesson(name).exercises, answers, strict=False)]  # fmt: skip
    for many in range(6):
        assert bubbles.eigenvalues(many).size == 575 - many
        assert bubbles.errors(many)[-1] == 0
    assert all(bubbles.largest_residuals(columns)[-1] <= bubbles.TOLERANCE for columns in range(1, 9))
    assert [each.startswith("Right") for each in said] == [True] * 5


def test_a_path_of_one_step_is_the_beginning_of_the_whole_one():
    form = QuadraticForm(0.0, (3.0, 1.0))
    for s in (0.5, 3.0, 9.0, 10.0):
        start = np.array([s, 1.0])
        np.testing.assert_array_equal(form.path("sd", start, steps=1), form.path("sd", start)[:2])


def test_a_spectrum_is_computed_once_and_a_copy_is_returned(monkeypatch):
    first = exact.spectrum(configure("two-layer", n=7))
    monkeypatch.setattr(exact, "_symmetric", None)
    again = exact.spectrum(configure("two-layer", n=7))
    again[0] = -1
    np.testing.assert_array_equal(exact.spectrum(configure("two-layer", n=7)), first)
