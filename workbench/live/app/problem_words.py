"""A problem in words, for the header: "8 bubbles in a cube", "128³ = 2.10 × 10⁶ unknowns", "density ratio 0.001"."""

from __future__ import annotations

from typing import Any

from workbench.problems import Problem
from workbench.words.names import sentence_case
from workbench.words.numbers import chosen, count, number

DIMENSIONS = {
    "two-layer": 2, "bubbles-2d": 2, "bubbles-3d": 3, "slabs-3d": 3, "poisson5": 2, "poisson7": 3, "poisson27": 3,
    "poisson125": 3, "poisson-2d": 2, "poisson-3d": 3,
}  # fmt: skip
POWERS = {2: "²", 3: "³"}
GROUPED = 1_000_000
"""Unknowns up to which their number is written out."""


def problem_words(problem: Problem) -> tuple[str, str]:
    """The name of a problem, and what else distinguishes it; the second may be empty."""
    parts = (_unknowns(problem), _ratio(problem))
    return sentence_case(problem.words), " · ".join(part for part in parts if part)


def _unknowns(problem: Any) -> str:
    dimensions = DIMENSIONS.get(problem.name)
    if problem.name == "rising-bubbles":
        return f"{' × '.join(map(count, problem.cells))} cells"
    if problem.name == "poisson-fd":
        inner = problem.n - 1
        return f"{count(inner)}² = {count(inner**2)} unknowns within {count(problem.n)}² intervals"
    if dimensions is None:
        return ""
    unknowns = problem.n**dimensions
    written = count(unknowns) if unknowns <= GROUPED else number(float(unknowns))
    return f"{count(problem.n)}{POWERS[dimensions]} = {written} unknowns"


def _ratio(problem: Problem) -> str:
    """The density ratio in words; empty for a problem without one."""
    ratio = problem.parameter_values.get("density_ratio")
    return f"density ratio {chosen(ratio)}" if ratio else ""
