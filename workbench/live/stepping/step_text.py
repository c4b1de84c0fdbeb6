"""Texts and pictures of one place in a method: values of lines, a sentence, pictures of vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.devices.clock import ACCELERATOR, CPU, TO_DEVICE, TO_HOST
from workbench.devices.cycle_parts import COARSEST
from workbench.plots.scenes.style import COLOURS
from workbench.solvers.hybrid.base import HybridSolver
from workbench.stepping.coarse_levels import FIRST, STEP
from workbench.stepping.line_by_line import Walk
from workbench.stepping.step_spaces import StepLine
from workbench.words.names import SUBSCRIPTS, block_name, sentence_case, typeset
from workbench.words.numbers import count, counted, number

DIGITS, FEWER = 4, 3
"""Digits of a value, and of each of two."""
ROUNDING = 1e-12
"""Largest imaginary part of a complex number that counts as rounding, relative to its modulus."""
MOST_CELLS = 64
"""Cells per side, at most, of a grid whose vectors are drawn."""
ALWAYS = ("x", "X", "r", "R", "Z", "p", "P")
"""The vectors that are always drawn, where a method has them; Z holds the newest terms."""
FACTORED = ("v", "q", "Q")
"""The residual up to a factor, drawn in its place."""
MATRICES = ("gamma", "delta", "rho", "C", "Z^T A Z", "P^T A P")
"""The small matrices that are always drawn."""
MOST_COLUMNS = 4
"""Columns of a block vector that are drawn at once."""
SIDES = {CPU: "cores", ACCELERATOR: "accelerator", TO_HOST: "link", TO_DEVICE: "link"}


class Listings:
    """The distinct sequences of lines, and which of them each iteration runs, the start being the first."""

    def __init__(self, walk: Walk) -> None:
        every = [walk.lines(iteration) for iteration in range(walk.iterations + 1)]
        # The start has one of its own even where an iteration runs the same lines.
        distinct = [every[0], *dict.fromkeys(every[1:])]
        self.of = [0, *(1 + distinct[1:].index(lines) for lines in every[1:])]
        self.shown = [
            {
                "texts": [line.text for line in lines],
                "formulas": [typeset(line.text) if line.words else "" for line in lines],
                "targets": [line.name for line in lines],
                "sides": [SIDES.get(line.lane, "") for line in lines],
                "arrows": [{TO_HOST: "←", TO_DEVICE: "→"}.get(line.lane, "") for line in lines],
            }
            for lines in distinct
        ]

    def iterate(self, iteration: int) -> int:
        """The lines of an iteration; at the start those of the first, if there is one."""
        return self.of[min(max(iteration, 1), len(self.of) - 1)]


def about(walk: Walk, listings: Listings, ending: str) -> dict[str, Any]:
    """The fixed part of the view: title, lines, meaning of A and M, number of iterations, of those that were completed,
    and why there are no more."""
    chosen = walk.configuration
    return {
        "title": sentence_case(f"{chosen.solver.title} on {chosen.problem.label}"),
        "listings": listings.shown,
        "meaning": ". ".join(map(sentence_case, _meaning(walk))),
        "iterations": walk.iterations,
        "completed": walk.completed,
        "columns": walk.columns,
        "abreast": min(MOST_COLUMNS, walk.directions.count if walk.directions else walk.columns),
        "ending": ending,
        "drawn": _grid(walk) is not None,
        "sided": isinstance(chosen.solver, HybridSolver),
        "removers": _removers(walk),
    }


def _meaning(walk: Walk) -> list[str]:
    """The meaning of the letters, and where the lines run."""
    chosen = walk.configuration
    first = chosen.preconditioner
    applied = typeset("M(r)")
    meaning = [f"{applied} applies {block_name(first)}" if first.name != "none" else f"{applied} is r"]
    if walk.setup.projection is not None:
        systems = "A and b are PA and Pb, deflated by" if walk.setup.variant.projects_system else "M⁻¹ also deflates by"
        vectors = walk.setup.deflation_vectors
        meaning.append(f"{systems} {chosen.parts['deflation']}, {counted(vectors, 'vector')}")
    if walk.columns > 1:
        meaning.append("the index j counts columns")
        meaning.append("the value of a block vector: the norms of its columns, smallest … largest")
        meaning.append("the value of a small matrix: its diagonal")
    if isinstance(chosen.solver, HybridSolver):
        meaning += ["lines in the order in which the schedule starts them", "both sides run on the cores here"]
    if walk.rows:
        meaning.append(f"the cores have {count(walk.rows)} of {count(walk.setup.b.size)} rows of A and of every vector")
        meaning.append("A₁(m) is the product with a side's own columns")
        meaning.append("A₂(v) adds that with the columns of the other side")
    if walk.directions is not None:
        terms = walk.directions.count
        meaning += (
            [f"M₁⁻¹ to Mₖ⁻¹ are the {count(terms)} parts of M⁻¹", walk.directions.letters]
            if terms > 1
            else ["M is one preconditioner: an iteration has one direction", "a sum, as of Schwarz, gives more"]
        )
    return meaning


def values(walk: Walk, iteration: int, lines: int) -> dict[str, list[str]]:
    """The value of every line: what it gave when it ran last, empty where it has not run yet."""
    start = _column(walk, 0, None if iteration else lines)
    if iteration == 0:
        return {"start": start, "iterate": [""] * len(walk.lines(min(1, walk.iterations)))}
    # Lines still to run show their values of an iteration ago.
    before = dict(zip(walk.lines(iteration - 1), _column(walk, iteration - 1), strict=True)) if iteration > 1 else {}
    now = _column(walk, iteration, lines)
    to_come = walk.lines(iteration)[lines:]
    return {"start": start, "iterate": [*now[:lines], *(before.get(line, "") for line in to_come)]}


def _column(walk: Walk, iteration: int, lines: int | None = None) -> list[str]:
    """The values of the first lines of an iteration, by default of all, and nothing for the others."""
    every = walk.lines(iteration)
    ran = len(every) if lines is None else lines
    found = [_value(walk, line, walk.after(iteration, place)) for place, line in enumerate(every[:ran], 1)]
    return found + [""] * (len(every) - ran)


def sentence(walk: Walk, iteration: int, lines: int, ending: str) -> str:
    """The line that has just run and what it gave."""
    if lines == 0:
        return "Nothing has run yet: b and x are given. Press Next line."
    line = walk.lines(iteration)[lines - 1]
    before, after = walk.after(iteration, lines - 1), walk.after(iteration, lines)
    where = f"Iteration {iteration}" if iteration else "Before the loop"
    side = SIDES.get(line.lane, "")
    where += f", line {lines} of {len(walk.lines(iteration))}{f', {side}' if side else ''}"
    value, text = _value(walk, line, after), typeset(line.text)
    if line.ends:
        said = f"{where}: {text} {value}."
    elif not line.target:
        said = f"{where}: {text}{f', {value}' if value else ''}."
    else:
        changed = ""
        if line.target in before:
            same = np.array_equal(before[line.target], after[line.target], equal_nan=True)
            changed = ", as before" if same else f", before {_value(walk, line, before).partition(' = ')[2]}"
        said = f"{where}: {text} gives {value}{changed}."
    return f"{said} This is the end: {ending}." if ending else said


def curve(walk: Walk, norms: list[tuple[np.ndarray, np.ndarray]], iteration: int, lines: int) -> dict[str, Any]:
    """The relative residuals of every right-hand side, and the true ones; null where infinite. shown: iterations that
    have ended. One that ends at a line that cannot run has no residual of its own."""
    ended = iteration if lines == len(walk.lines(iteration)) else iteration - 1
    known = norms[: walk.completed + 1]

    def columns(which: int) -> list[list[float | None]]:
        return [[_finite(float(pair[which][column])) for pair in known] for column in range(walk.columns)]

    return {"shown": min(ended, walk.completed), "recurrence": columns(0), "true": columns(1)}


def removal(walk: Walk, x: np.ndarray) -> dict[str, Any]:
    """The part of the error of x that M and each level of the coarse solve remove, and the rest after each
    correction."""
    found = walk.removal(x)
    return {
        "stages": [[stage.by, stage.left] for stage in found.stages],
        "removed": found.removed_by(),
        "exact": found.exact,
    }


def _removers(walk: Walk) -> list[dict[str, str]]:
    """The parts of an application that correct, each with a name for the legend and a colour; none without levels."""
    projection = walk.setup.projection
    levels = projection.levels if projection is not None and walk.has_levels else None
    if levels is None:
        return []
    first = block_name(walk.configuration.preconditioner)
    counts = [*(level.size for level in levels.levels), levels.bottom.shape[0]]
    named = {"before": "before", FIRST: f"M: {first}"}
    named |= {f"level {depth}": f"level {depth}: {counted(size, 'vector')}" for depth, size in enumerate(counts[:-1])}
    named |= {COARSEST: f"coarsest level: {counted(counts[-1], 'vector')}", STEP: "CG: flexible CG"}
    short = ["before", "M", *(str(depth) for depth in range(len(counts))), "CG"]
    colours = ["#8c8c8c", *(COLOURS[place % len(COLOURS)] for place in range(len(named) - 1))]
    rows = zip(named.items(), short, colours, strict=True)
    return [{"by": by, "name": name, "short": word, "colour": colour} for (by, name), word, colour in rows]


def pictures(walk: Walk, iteration: int, lines: int) -> tuple[list[dict[str, Any]], bytes]:
    """Vectors on the grid and small matrices, a byte a cell, row by row from the top: 1 for -high, 128 for 0, 255 for
    high. Of block vectors the first columns."""
    grid = _grid(walk)
    known = walk.after(iteration, lines)
    written = walk.lines(iteration)[lines - 1] if lines else StepLine("")
    # Some methods keep the residual up to a factor alone.
    instead = () if {"r", "R"} & known.keys() else FACTORED
    names = {name: typeset(name) for name in (*ALWAYS[:4], *instead, *ALWAYS[4:], *MATRICES) if name in known}
    # A half of a vector is drawn in the whole one.
    fresh = written.name if written.name in known and _is_half(walk, written.target) else written.target
    if fresh and fresh not in names:
        names[fresh] = label_of(fresh)
    reported, pixels, matrices = [], [], False

    def draw(name: str, label: str, cells: np.ndarray, words: str = "", *, begins: bool = False) -> None:
        high, drawn = _shades(cells)
        pixels.append(drawn)
        height, width = cells.shape
        shown = {
            "name": name,
            "label": label,
            "words": words or f"±{_number(high)}",
            "fresh": fresh in name.split(" of "),
        }
        reported.append(shown | {"width": width, "height": height, "begins": begins})

    for name, label in names.items():
        value = np.real(known[name])
        if _has_rows(walk, name, value):
            if grid is None:
                continue
            several = value.ndim == 2
            for place, column in enumerate(value.reshape(len(value), -1).T[:MOST_COLUMNS]):
                of, numbered = f"{place + 1} of {name}", label + str(place + 1).translate(SUBSCRIPTS)
                shown = (of, numbered) if several else (name, label)
                draw(*shown, column.reshape(grid)[::-1], begins=several and not place)
        elif value.ndim == 2 and value.size:
            # With a unit diagonal, since terms are small in late iterations.
            lengths = np.sqrt(np.abs(np.diag(value))) if name == "Z^T A Z" else np.ones(len(value))
            cells = value / np.outer(lengths, lengths) if lengths.all() else value
            draw(name, label, cells, _about_matrix(name, value), begins=not matrices)
            matrices = True
    return reported, b"".join(pixels)


def label_of(target: str) -> str:
    """The name of a value, with the side that has it where both have one."""
    lane, _, name = target.rpartition(".")
    return f"{typeset(name)}, {SIDES[lane]}" if lane else typeset(name)


def _shades(cells: np.ndarray) -> tuple[float, bytes]:
    """The largest finite modulus, and the bytes of a picture."""
    finite = cells[np.isfinite(cells)]
    high = float(np.abs(finite).max(initial=0.0))
    share = np.nan_to_num(cells / high if high else np.zeros(cells.shape), nan=0.0, posinf=1.0, neginf=-1.0)
    return high, (128 + np.rint(127 * share)).astype(np.uint8).tobytes()


def _about_matrix(name: str, value: np.ndarray) -> str:
    """Size and scale; of a matrix that should be the identity how far it is from it."""
    size = f"{value.shape[0]} × {value.shape[1]}"
    if name == "Z^T A Z":
        return f"{size}, scaled to a unit diagonal"
    if name != "P^T A P":
        return f"{size}, ±{_number(float(np.abs(value).max()))}"
    return f"{size}, I to {number(float(np.abs(value - np.eye(len(value))).max()), 2)}"


def _grid(walk: Walk) -> tuple[int, int] | None:
    grid = walk.setup.system.grid
    return (grid[0], grid[1]) if grid and len(grid) == 2 and max(grid) <= MOST_CELLS else None


def _has_rows(walk: Walk, target: str, value: np.ndarray) -> bool:
    """True if a value has a row per unknown, or per unknown of a side."""
    return value.ndim > 0 and (value.shape[0] == walk.setup.b.size or _is_half(walk, target))


def _is_half(walk: Walk, target: str) -> bool:
    """True if a target is the half of a vector that a side has in hybrid 3."""
    return bool(walk.rows) and "." in target


def _value(walk: Walk, line: StepLine, values: dict[str, Any]) -> str:
    """The value of a line, by its name; of a copy the number of words that it moves."""
    if line.ends:
        return "cannot run"
    if not line.target:
        return counted(line.moved, "word") if line.moved else ""
    value, name = values[line.target], typeset(line.name)
    if not np.ndim(value):
        return f"{name} = {_text(value)}"
    if not _has_rows(walk, line.target, value):
        one = np.ndim(value) == 1
        columns = name.replace("‖²", "ⱼ‖²") if "‖²" in name else f"{name}ⱼ"
        return f"{columns} = {_range(value)}" if one else f"diag {name} = {_range(np.diag(value))}"
    if np.ndim(value) == 2:
        return f"‖{name}ⱼ‖ = {_range(np.linalg.norm(value, axis=0))}"
    return f"‖{name}‖ = {_text(value)}"


def _range(values: np.ndarray) -> str:
    """The smallest and the largest of some numbers, one where they read the same."""
    if not values.size:
        return "none"
    low, high = (_number(float(bound), FEWER) for bound in (np.real(values).min(), np.real(values).max()))
    return low if low == high else f"{low} … {high}"


def _text(value: Any) -> str:
    """A count, a scalar, with its imaginary part where that is more than rounding, or the 2-norm of a vector."""
    if np.issubdtype(np.asarray(value).dtype, np.integer):
        return count(int(value))
    if np.ndim(value) or abs(np.imag(value)) <= ROUNDING * abs(value):
        return _number(_size(value))
    sign = "−" if np.imag(value) < 0 else "+"
    return f"{_number(float(np.real(value)))} {sign} {_number(abs(float(np.imag(value))))}i"


def _size(value: ArrayLike) -> float:
    """The scalar's real part, or the vector's 2-norm."""
    return float(np.linalg.norm(value)) if np.ndim(value) else float(np.real(value))


def _number(value: float, digits: int = DIGITS) -> str:
    return number(value, digits) if math.isfinite(value) else "not finite"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
