"""What the step view says and draws of one place in a method: values of lines, a sentence, pictures of vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.analysis.coarse_levels import FIRST, STEP
from workbench.analysis.linewise import Walk
from workbench.devices.cycle_names import COARSEST
from workbench.naming import block_name, sentence_case, typeset
from workbench.number_text import count, number
from workbench.scenes.style import COLOURS

DIGITS = 4
"""Of a value."""
ROUNDING = 1e-12
"""Of a complex number an imaginary part below this, relative to its modulus."""
MOST_CELLS = 64
"""Per side, for a grid whose vectors are drawn."""
ALWAYS = ("x", "r", "v", "p")
"""The vectors that are always drawn, where a method has them; v is r but for its length where there is no r."""


def about(walk: Walk, ending: str) -> dict[str, Any]:
    """What stays: title, lines, what A and M stand for, how many iterations there are and why there are no more."""
    chosen = walk.configuration
    first = chosen.preconditioner
    applied = typeset("M(r)")
    meaning = [f"{applied} applies {block_name(first)}" if first.name != "none" else f"{applied} is r"]
    if walk.setup.projection is not None:
        seen = "A and b are PA and Pb, deflated by" if walk.setup.variant.projects_system else "M⁻¹ also deflates by"
        meaning.append(f"{seen} {block_name(chosen.deflation)}")
    if walk.optional:
        meaning.append(f"the last {walk.optional} lines run where {typeset('due')} < 0")
    return {
        "title": sentence_case(f"{chosen.solver.title} on {chosen.problem.label}"),
        "start": [line.text for line in walk.start],
        "iterate": [line.text for line in walk.iterate],
        "targets": {"start": [line.target for line in walk.start], "iterate": [line.target for line in walk.iterate]},
        "meaning": "; ".join(meaning),
        "iterations": walk.iterations,
        "ending": ending,
        "drawn": _grid(walk) is not None,
        "removers": _removers(walk),
    }


def values(walk: Walk, iteration: int, lines: int) -> dict[str, list[str]]:
    """The value of every line: what it gave when it ran last, empty where it has not run yet."""

    def column(held: int, count: int) -> list[str]:
        return [
            _value(line.target, walk.after(held, place)[line.target])
            if place <= count and not walk.skips(held, place)
            else ""
            for place, line in enumerate(walk.lines(held), 1)
        ]

    start = column(0, len(walk.start) if iteration else lines)
    if iteration == 0:
        return {"start": start, "iterate": [""] * len(walk.iterate)}
    # What is still to run shows what it gave an iteration ago.
    before = column(iteration - 1, len(walk.iterate)) if iteration > 1 else [""] * len(walk.iterate)
    now = column(iteration, lines)
    return {"start": start, "iterate": [*now[:lines], *before[lines:]]}


def sentence(walk: Walk, iteration: int, lines: int, ending: str) -> str:
    """The line that has just run and what it gave."""
    if lines == 0:
        return "Nothing has run yet: b and x are given. Press Next line."
    text = walk.lines(iteration)[lines - 1]
    if walk.skips(iteration, lines):
        due = _number(_size(walk.after(iteration, lines)["due"]))
        said = (
            f"Iteration {iteration}: the last {walk.optional} lines are left out, since {typeset('due')} = {due} ≥ 0."
        )
        return f"{said} This is the end: {ending}." if ending else said
    name = text.target
    before, after = walk.after(iteration, lines - 1), walk.after(iteration, lines)
    where = f"Iteration {iteration}" if iteration else "Before the loop"
    changed = ""
    if name in before:
        changed = f", before {_text(before[name])}"
        same = np.array_equal(before[name], after[name], equal_nan=True)
        changed = ", as before" if same else changed
    where += f", line {lines} of {len(walk.lines(iteration))}"
    said = f"{where}: {typeset(text.text)} gives {_value(name, after[name])}{changed}."
    return f"{said} This is the end: {ending}." if ending else said


def curve(walk: Walk, norms: list[tuple[float, float]], iteration: int, lines: int) -> dict[str, Any]:
    """The relative residuals up to here, those that are to come, and the true ones up to here; null where infinite."""
    ended = iteration if lines == len(walk.lines(iteration)) else iteration - 1
    return {
        "shown": ended,
        "recurrence": [_finite(recurrence) for recurrence, _ in norms],
        "true": [_finite(true) for _, true in norms],
    }


def removal(walk: Walk, x: np.ndarray) -> dict[str, Any]:
    """What M and each level of the coarse solve remove from the error of x, and what is left after each correction."""
    found = walk.removal(x)
    return {
        "stages": [[stage.by, stage.left] for stage in found.stages],
        "removed": found.removed_by(),
        "exact": found.exact,
    }


def _removers(walk: Walk) -> list[dict[str, str]]:
    """Who corrects in an application, with a name for the legend and a colour; none where there are no levels."""
    projection = walk.setup.projection
    levels = projection.levels if projection is not None and walk.has_levels else None
    if levels is None:
        return []
    first = block_name(walk.configuration.preconditioner)
    counts = [*(level.size for level in levels.levels), levels.bottom.shape[0]]
    named = {"before": "before", FIRST: f"M: {first}"}
    named |= {f"level {depth}": f"level {depth}: {count(vectors)} vectors" for depth, vectors in enumerate(counts[:-1])}
    named |= {COARSEST: f"coarsest level: {count(counts[-1])} vectors", STEP: "CG: flexible CG"}
    short = ["before", "M", *(str(depth) for depth in range(len(counts))), "CG"]
    colours = ["#8c8c8c", *(COLOURS[place % len(COLOURS)] for place in range(len(named) - 1))]
    rows = zip(named.items(), short, colours, strict=True)
    return [{"by": by, "name": name, "short": word, "colour": colour} for (by, name), word, colour in rows]


def pictures(walk: Walk, iteration: int, lines: int) -> tuple[list[dict[str, Any]], bytes]:
    """Vectors on the grid and a byte a cell for each, row by row from the top: 1 for -high, 128 for 0, 255 for high."""
    grid = _grid(walk)
    if grid is None:
        return [], b""
    held = walk.after(iteration, lines)
    ran = lines and not walk.skips(iteration, lines)
    written = walk.lines(iteration)[lines - 1].target if ran else ""
    names = [name for name in ALWAYS if name in held]
    if ran and np.ndim(held[written]) and written not in names:
        names.append(written)
    reported, pixels = [], []
    for name in names:
        cells = np.real(held[name]).reshape(grid)[::-1]
        finite = cells[np.isfinite(cells)]
        high = float(np.abs(finite).max(initial=0.0))
        share = np.nan_to_num(cells / high if high else np.zeros(grid), nan=0.0, posinf=1.0, neginf=-1.0)
        pixels.append((128 + np.rint(127 * share)).astype(np.uint8).tobytes())
        reported.append(
            {"name": name, "high": _number(high), "fresh": name == written, "width": grid[1], "height": grid[0]}
        )
    return reported, b"".join(pixels)


def _grid(walk: Walk) -> tuple[int, int] | None:
    grid = walk.setup.system.grid
    return (grid[0], grid[1]) if grid and len(grid) == 2 and max(grid) <= MOST_CELLS else None


def _value(name: str, value: Any) -> str:
    shown = f"‖{typeset(name)}‖" if np.ndim(value) else typeset(name)
    return f"{shown} = {_text(value)}"


def _text(value: Any) -> str:
    """A scalar, with its imaginary part where that is more than rounding, or the 2-norm of a vector."""
    if np.ndim(value) or abs(np.imag(value)) <= ROUNDING * abs(value):
        return _number(_size(value))
    sign = "−" if np.imag(value) < 0 else "+"
    return f"{_number(float(np.real(value)))} {sign} {_number(abs(float(np.imag(value))))}i"


def _size(value: Any) -> float:
    """The scalar's real part, or the vector's 2-norm."""
    return float(np.linalg.norm(value)) if np.ndim(value) else float(np.real(value))


def _number(value: float) -> str:
    return number(value, DIGITS) if math.isfinite(value) else "not finite"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
