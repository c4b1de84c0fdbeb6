"""Methods of the user's own: the same lines give the same run, wrong lines one sentence, and a run can be read back."""

from __future__ import annotations

import ast
import json
import random

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.records.record import load, save
from workbench.registry import blocks as registry
from workbench.run import Configuration, Reason, Run, Stopping, configure, run_through, user_solver
from workbench.solvers.user_defined import UserLinesError

CG = registry.find("solver", "cg")
WITH_LINES = sorted(
    name for name, cls in registry.registered("solver").items() if cls.iterate and cls.uniform_iterations
)


START = CG.start.replace("p = u", "p = u\n        beta = 0")


def changed(old, new, **more):
    assert old in CG.iterate
    return user_solver("mine", iteration=CG.iterate.replace(old, new), **more)


def outcome(solver, **choices):
    stopping = Stopping(maxiter=choices.pop("maxiter", 400), stagnation=200)
    return run_through(Run(configure("two-layer", n=12, solver=solver, stopping=stopping, **choices)))


@pytest.mark.parametrize("name", WITH_LINES)
def test_the_lines_of_a_method_are_that_method(name):
    # Neumann's M is no formula, so that the original runs the same general text.
    choices = {"preconditioner": "neumann:1", "maxiter": 12}
    own, original = outcome(user_solver("mine", like=name), **choices), outcome(name, **choices)
    for column in ("residual", "preconditioned", "natural", "alpha", "beta"):
        np.testing.assert_array_equal(own.history[column], original.history[column])
    np.testing.assert_array_equal(own.x, original.x)


def test_an_edited_line_does_what_it_says():
    # Without beta the direction is u, which is steepest descent.
    own, descent = outcome(changed("beta = gamma/previous", "beta = 0")), outcome("sd")
    np.testing.assert_allclose(own.history["residual"], descent.history["residual"], rtol=1e-6)


def test_a_saved_run_holds_the_lines(tmp_path):
    solver = changed("beta = gamma/previous", "beta = 0.5*gamma/previous")
    result = outcome(solver)
    record = load(save(result.record(), tmp_path / "mine.run"))
    again = Configuration.from_dict(record.provenance["configuration"])
    assert again.solver == solver
    assert "beta = 0.5*gamma/previous" in json.dumps(record.provenance)
    np.testing.assert_array_equal(run_through(Run(again)).history["residual"], result.history["residual"])


def test_no_menu_offers_it():
    assert "own" not in registry.registered("solver")
    with pytest.raises(InputError, match="unknown solver 'own'"):
        configure("poisson5", solver="own")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("s = A(p)", "s = A(p", "iteration, line 1: 's = A(p': '(' was never closed"),
        ("u = M(r)", "u = N(r)", "iteration, line 6: 'u = N(r)': unknown operator 'N'"),
        ("delta > 0", "dleta > 0", "unknown name 'dleta'; did you mean delta?"),
        ("s = A(p)", "r = r - alpha*s", "iteration, line 1: 'r = r - alpha*s' reads alpha before any line has set it"),
        ("s = A(p)", "s = A(p) + r", "an operator must stand alone on its line"),
        ("s = A(p)", "s = __import__('os')", "an operator takes one vector name"),
        ("s = A(p)", "import os", "iteration, line 1: 'import os' must have the form name = expression"),
        ("rr = (r, r)", "rr = r", "iteration, line 9: 'rr = r' uses rr as a vector"),
        ("gamma = (r, u)", "gamma = (r, alpha)", "iteration, line 7: 'gamma = (r, alpha)' uses alpha as a vector"),
        ("rr = (r, r)", "", "iteration: no line sets rr, by which the run is judged; add rr = "),
        (
            "delta = (p, s)",
            "energy = (p, s)",
            "iteration, line 3: 'alpha = gamma/delta if delta > 0 else 0': unknown name 'delta'",
        ),
        ("x = x + alpha*p", "", "iteration: no line changes x"),
        ("s = A(p)", "s = A(p\ud800)", "iteration, line 1: 's = A(p\\ud800)' holds '\\ud800', an unpaired surrogate"),
        ("s = A(p)", "s = A(p)  # \udfff", "iteration, line 1: 's = A(p)  # \\udfff' holds '\\udfff'"),
        ("previous = gamma", "b = p", "iteration, line 4: b is the right-hand side"),
        ("previous = gamma", "α = gamma", "iteration, line 4: α is not written in ASCII letters; write alpha for α"),
        ("previous = gamma", "ω = gamma", "iteration, line 4: ω is not written in ASCII letters; write omega for ω"),
        ("previous = gamma", "M_x = r", "iteration, line 4: M_x may be confused with the operators"),
        ("s = A(p)", "w = p + p\n        s = A(p)", "iteration, line 1: 'w = p + p' sets w, which no line reads"),
        ("s = A(p)", "s = A(p)\n" * 300, "at most 200 lines"),
        ("s = A(p)", ("s = p" + " + p" * 100 + "\n        ") * 60, "iteration: a text has at most 20,000 characters"),
        ("s = A(p)", "s = " + "p + " * 200 + "p", "iteration, line 1: a line has at most 500 characters"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(old, new, sentence):
    with pytest.raises(UserLinesError) as caught:
        changed(old, new)
    assert sentence in str(caught.value)


def test_an_error_knows_its_place():
    with pytest.raises(UserLinesError) as caught:
        user_solver("mine", start="s = A(x)\nr = b - t")
    assert (caught.value.part, caught.value.number) == ("start", 2)
    assert (caught.value.line, caught.value.column) == (2, 9)


@pytest.mark.parametrize("name", ["", "my method", "1st", "<b>", "x" * 41])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(InputError, match="a method's name is a letter"):
        user_solver(name)


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(InputError, match="take another name, such as my-pipecg"):
        user_solver("pipecg")
    with pytest.raises(InputError, match="hybrid2 is not written as paper lines"):
        user_solver("mine", like="hybrid2")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("r = r - alpha*s", "r = r + alpha*s", Reason.STAGNATED),
        ("r = r - alpha*s", "r = 3*r - alpha*s", Reason.DIVERGED),
        ("x = x + alpha*p", "x = x - alpha*p", Reason.OWN_APART),
        ("gamma = (r, u)", "gamma = -rr", Reason.OWN_LINES),
        ("p = u + beta*p", "p = 0*u", Reason.OWN_LINES),
        ("rr = (r, r)", "rr = sqrt(-1)", Reason.NOT_FINITE),
        ("gamma/delta if delta > 0 else 0", "1e300*gamma/delta", Reason.NOT_FINITE),
        ("gamma/delta if delta > 0 else 0", "0*gamma/delta", Reason.STAGNATED),
        ("beta = gamma/previous", "beta = 0", Reason.MAXITER),
    ],
)
def test_a_method_that_fails_ends_with_a_sentence(old, new, reason):
    result = outcome(changed(old, new))
    assert not result.converged
    assert result.reason is reason
    assert ("your own" in result.summary["reason"]) == (
        reason in (Reason.STAGNATED, Reason.DIVERGED, Reason.NOT_FINITE)
    )


def test_mixed_lines_are_a_method_or_a_sentence():
    lines, rng = [line.strip() for line in CG.iterate.strip().splitlines()], random.Random(0)
    good = []
    for _ in range(60):
        mixed = [rng.choice(lines) if rng.random() < 0.1 else line for line in lines]
        try:
            good.append(user_solver("mixed", iteration="\n".join(mixed)))
        # Any other exception fails the test.
        except UserLinesError:
            continue
    assert 0 < len(good) < 60


def test_the_same_lines_run_on_an_accelerator(accelerator):
    solver = changed("beta = gamma/previous", "old = beta\n        beta = gamma/previous + 0*old", start=START)
    here, there = (outcome(solver, device=device) for device in ("cpu", accelerator.spec))
    assert there.converged
    assert abs(there.iterations - here.iterations) <= 1
    np.testing.assert_allclose(there.history["residual"][:20], here.history["residual"][:20], rtol=1e-8)


def test_a_failing_method_ends_on_an_accelerator_too(accelerator):
    for old, new, reason in (
        ("r = r - alpha*s", "r = 3*r - alpha*s", Reason.DIVERGED),
        ("rr = (r, r)", "rr = sqrt(-1)", Reason.NOT_FINITE),
        ("p = u + beta*p", "p = 0*u", Reason.OWN_LINES),
    ):
        assert outcome(changed(old, new), device=accelerator.spec).reason is reason


def test_a_text_is_parsed_once_however_often_it_is_asked_for(monkeypatch):
    parsed = []
    parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda source, *more, **how: parsed.append(source) or parse(source, *more, **how))
    new = changed("rr = (r, r)", "rr = (r, r)  # as nowhere else")
    assert parsed.count(new.iterate) == 1
