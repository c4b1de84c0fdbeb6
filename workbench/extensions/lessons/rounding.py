"""Exercises of lesson 3: what rounding costs CG, and the residual that tells."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from workbench.extensions.lessons.check_turn import computed
from workbench.extensions.lessons.exercise import Choice, Exercise, Number, Verdict
from workbench.extensions.lessons.next_step import NextStep, waiting_race
from workbench.extensions.lessons.residual_polynomials import DENSE, SPECTRA, cg_on
from workbench.plots.scenes.convergence import convergence_scene
from workbench.plots.scenes.scene import CurveOf, PointsOf, Scene
from workbench.run import Result, configure, solve
from workbench.run.choices.stopping import Stopping
from workbench.run.setup.prepare import assembled
from workbench.stepping.line_by_line import walk
from workbench.words.numbers import apart, chosen, counted, number

SPECTRUM, SIZE = DENSE, 24
GOAL = 1e-6
STEPPED, ITERATIONS = "two-layer:16", 140
REPLACED = "pipecg-rr"
LEVELS = ("as low as that of CG", "as low as that of pipelined CG", "to a level between both")
NEAR = 5
"""Factor up to which two levels count as one."""
UNKNOWNS = 48
"""Unknowns per side, of Poisson's equation."""


@functools.lru_cache(maxsize=32)
@computed
def single_and_double(rtol: float, n: int = UNKNOWNS) -> dict[str, Result]:
    """CG on Poisson's equation on n x n unknowns to a tolerance, in single and in double precision."""
    system = assembled(configure("poisson5", n=n))
    A, b = system.operator.to_csr(), np.asarray(system.b)
    return {name: solve(A.astype(name), b.astype(name), rtol=rtol) for name in ("float32", "float64")}


def precision_scene(rtol: float, n: int = UNKNOWNS) -> Scene:
    """Both as curves of ||r|| / ||b||, with rings at ||b - A x|| / ||b||, where that was computed."""
    found = single_and_double(rtol, n)
    scene = convergence_scene([each.record() for each in found.values()], list(found), tolerance=rtol)
    # Rings have the colour and the name of their run, and a tick for each power of ten: exercise 3 reads them off.
    styles = {name: style for style, name in enumerate(found)}
    layers = [
        dataclasses.replace(layer, name=f"true residual, {layer.of}", style=styles[layer.of], outlined=False)
        if isinstance(layer, PointsOf)
        else dataclasses.replace(layer, mark=False)
        if isinstance(layer, CurveOf)
        else layer
        for layer in scene.layers
    ]
    marks = [10.0**-k for k in range(-1, 12)]
    return dataclasses.replace(scene, layers=layers, y=dataclasses.replace(scene.y, marks=marks))


def _delay(more: float) -> Verdict:
    """Iterations of CG in double precision beyond those without rounding errors."""
    values = SPECTRA[SPECTRUM](SIZE)
    exact, rounded = cg_on(values), cg_on(values, 10 * SIZE, "float64")
    first, then = exact.iterations_to(GOAL), rounded.iterations_to(GOAL)
    assert first is not None and then is not None
    at = min(first + int(more), rounded.iterations)
    said = f"without rounding errors it takes {counted(first, 'iteration')}"
    here, _ = apart(float(rounded.error[at]), GOAL)
    if at < then:
        return Verdict(
            False, f"{said}, and after {at} the error in double precision is still {here} of its initial value."
        )
    before, _ = apart(float(rounded.error[then - 1]), GOAL)
    met = f"{said}, and in double precision the error is {number(rounded.error[then])} of its initial value"
    if at > then:
        return Verdict(
            False,
            f"{said}, and in double precision fewer than {first + int(more)}: the error is below "
            f"{chosen(GOAL)} of its initial value before that.",
        )
    return Verdict(True, f"{met} after {then}, and {before} one iteration before.")


@functools.cache
@computed
def _attained(solver: str) -> float:
    """The smallest ||b - A x||, as the picture of part 2 has it."""
    return min(each.true_residual for each in walk(configure(STEPPED, solver=solver), ITERATIONS))


def _replacement(level: str) -> Verdict:
    own, plain, pipelined = (_attained(solver) for solver in (REPLACED, "cg", "pipecg"))
    found = LEVELS[0] if own <= NEAR * plain else LEVELS[1] if own >= pipelined / NEAR else LEVELS[2]
    said = (
        f"its lowest ‖b − Ax‖ is {number(own)}, that of CG {number(plain)} and that of pipelined CG {number(pipelined)}"
    )
    if level != found:
        return Verdict(False, f"{said}.")
    others = " and ".join(f"{each} reaches {number(_attained(each))}" for each in ("cgcg", "gropp"))
    return Verdict(True, f"{said}; {others}.")


def _single(digits: float) -> Verdict:
    met, further = (single_and_double(10.0**-k)["float32"] for k in (int(digits), int(digits) + 1))
    if not met.converged:
        return Verdict(
            False,
            f"r says {number(met.relative_residual)} after {met.iterations} iterations, but ‖b − Ax‖ is "
            f"{number(met.true_relative_residual)} of ‖b‖ and does not fall below {chosen(10.0**-digits)}.",
        )
    if further.converged:
        gets = number(further.true_relative_residual)
        return Verdict(False, f"{chosen(10.0 ** -(digits + 1))} is met as well: ‖b − Ax‖ falls to {gets} of ‖b‖.")
    return Verdict(
        True,
        f"‖b − Ax‖ is {number(met.true_relative_residual)} of ‖b‖ then; asked for {chosen(10.0 ** -(digits + 1))}, r "
        f"says {number(further.relative_residual)} where ‖b − Ax‖ is {number(further.true_relative_residual)}.",
    )


EXERCISES = (
    Exercise(
        "On these 24 eigenvalues: how many iterations more does CG in double precision take than without rounding "
        "errors, until the A-norm of the error is a millionth of its initial value?",
        Number(0, 1000, whole=True, unit="iterations more"),
        _delay,
        "compare where the curves without rounding errors and in double precision cross 10⁻⁶.",
    ),
    Exercise(
        f"Predict: on the two layers of part 2, how far does ‖b − Ax‖ of {REPLACED} fall?",
        Choice(LEVELS),
        _replacement,
        "at a replacement r becomes b − Ax; which of the errors in the sum above are in their difference afterwards?",
    ),
    Exercise(
        "CG in single precision on this problem: what is the largest k for which a tolerance of 10⁻ᵏ is met by the "
        "true residual?",
        Number(1, 15, whole=True),
        _single,
        "single precision carries about seven digits; rings show how far its true residual falls, also after restarts.",
    ),
)

NEXT_STEPS = (
    NextStep(
        "Pipelined CG with residual replacement, line by line: what does it do to orthogonality?",
        "learn.step",
        lambda: configure("two-layer", n=16, solver="pipecg-rr"),
    ),
    NextStep(
        "Pipelined CG and CG in one race, to a tolerance of 10⁻¹². Which of them meets it?",
        "compare.race",
        race=lambda: waiting_race(
            "iterations",
            *(configure("two-layer", n=16, solver=name, stopping=Stopping(rtol=1e-12)) for name in ("pipecg", "cg")),
        ),
    ),
)
"""Where the lesson leads: problems and views of the workbench."""
