"""Pictures of bubbles: a disc and its rim, eigenvalues that are removed, how the error falls; products of blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from workbench.extensions.lessons.block_products import COLUMNS, Blocks
from workbench.extensions.lessons.bubbles import FiveBubbles, Parts, Rim, reached
from workbench.plots.scenes.scene import ITERATIONS, Axis, BarsOf, CellsOf, CurveOf, Layer, LineAt, PointsOf, Scene
from workbench.words.names import SUBSCRIPTS
from workbench.words.numbers import count, counted, number

SPAN = (1e-5, 3.0)
"""The ends of the axis of eigenvalues, which rests while vectors and discs change."""
HALF = 0.32
"""Half the height of a stroke, of the height of a row."""
MARKED = 2
"""The style of marks."""
WITHIN = 3
"""The style of marks on cells, some of which have that of other marks."""
DEAR = 0.5
"""A face that costs more than this lies between light cells."""
TINY = 1e-3
"""Eigenvalues of M^-1 A below this are tiny."""
MOST_ONES = 200
"""Cells up to which each that v has is marked by its value."""
OF_DISC: tuple[str, ...] = ("v", "rim", "dear", "inner", "quotient", "tiny")
"""Keys of the text that the pictures of the disc mark."""
OF_ROWS: tuple[str, ...] = ("tiny", "gone", "least", "most", "kappa")
"""Keys of the text that the two rows of eigenvalues mark."""
ROUNDING = 1e-15
"""Parts below this are drawn there."""
AT_ZERO = 4e-6
"""Place of the eigenvalues zero on the logarithmic axis."""
ABOVE = 3.0
"""Height of the line between the ends."""
NAMES_AT, LOWEST = 0.08, 0.03
"""Height of the names of pale curves, below their ends, and that of the axis, in tolerances."""
NAMED, NUMBERED = 1.2, 0.5
"""Cells from the rim of a bubble to the name of its column, and to its number."""
PARTS_SPAN = (2e-6, 3.0)
PARTS_MARKS = (1e-4, 1e-3, 1e-2, 0.1, 1.0)
PRODUCTS = Axis("columns multiplied by A", "count", whole=True, word="products")


def disc_scene(bubbles: FiveBubbles, cells: np.ndarray, rim: Rim, marked: str = "") -> Scene:
    """The bubbles with their numbers, the cells of v, and the faces of its rim in the colour of their cost.

    cells: true where v is 1, shape (n, n). marked: the key of `OF_DISC` that is marked; "" for none.
    """
    n = len(bubbles.labels)
    light = bubbles.labels > 0
    layers: list[Layer] = [
        _filled("bubble", light & ~cells, 5, faint=True),
        _filled("v = 1, in the fluid", cells & ~light, 6),
        _filled("v = 1, in a bubble", cells & light, 2),
    ]
    named: set[bool] = set()
    for (one, other), cost in zip(rim.ends, rim.cost, strict=True):
        dear = bool(cost > DEAR)
        name = "" if dear in named else f"face that costs {'1' if dear else '0.001 or 0.002'}"
        named.add(dear)
        x, y = np.array([one, other], float).T
        strong = marked == "rim" or (dear and marked in ("", "dear"))
        layers.append(CurveOf(name, x, y, 1 if dear else 0, plain=True, chosen=strong, rim=marked in ("rim", "dear")))
    if marked == "inner" and len(rim.between):
        layers.append(
            PointsOf("face within, which counts twice", *rim.between.T, style=WITHIN, size=3.5, marker="s", filled=True)
        )
    if marked == "v" and 0 < cells.sum() <= MOST_ONES:
        y, x = np.nonzero(cells)
        layers.append(PointsOf("", x * 1.0, y * 1.0, size=8.0, labels=["1"] * x.size, inside=True))
    places = bubbles.centres
    numbers = [str(k + 1) for k in range(len(places))]
    # Above the bubble: the handle of a disc that covers it is in its middle.
    above = places.T + np.array([[0.0], [bubbles.radius + NUMBERED]])
    layers.append(PointsOf("", *above, size=0.1, marker=".", labels=numbers))
    dear = int((rim.cost > DEAR).sum())
    said = f"v is 1 in {counted(int(cells.sum()), 'cell')}; faces at its rim that cost 1: {dear} of {len(rim.cost)}."
    x, y = (Axis(f"{side} (cells)", "count", whole=True, word=side, span=(-0.5, n - 0.5)) for side in "xy")
    return Scene("disc", x, y, layers, spoken=said, ways="xy", square=True)


def _filled(name: str, cells: np.ndarray, style: int, *, faint: bool = False) -> BarsOf:
    """Cells as squares without gaps. cells: shape (n, n)."""
    y, x = np.nonzero(cells)
    named = name if x.size else ""
    return BarsOf(named, x * 1.0, y + 0.5, 1.0, y - 0.5, style=style, faint=faint, joined=True)


def quotient_scene(values: np.ndarray, quotient: float, marked: str = "") -> Scene:
    """The positive eigenvalues, shape (k,), and below them the quotient of v; NaN for none. marked: the key of
    `OF_DISC` that is marked; "" for none."""
    layers: list[Layer] = [PointsOf("", values, np.ones(values.size), 0, tall=HALF, word="eigenvalue")]
    if marked == "tiny":
        layers += _marked_strokes(values[values < TINY], 1.0, "tiny")
    if math.isfinite(quotient):
        at = np.array([quotient])
        layers.append(PointsOf("", at, np.zeros(1), 1, tall=HALF, word="quotient of v"))
        if marked == "quotient":
            layers += _marked_strokes(at, 0.0, number(quotient))
        layers.append(LineAt(quotient, upright=True, style=1))
    names = ("quotient of v", "λ of M⁻¹A")
    said = f"The quotient of v is {number(quotient)}; {place_of(values, quotient)}."
    return Scene("quotient", _eigenvalue(), _rows(names), layers, spoken=said)


def place_of(values: np.ndarray, quotient: float) -> str:
    """The positive eigenvalues, ascending, that a number is larger than, in words."""
    below = int((values < quotient).sum())
    if not below:
        return "no positive eigenvalue is smaller"
    return f"{count(below)} positive eigenvalue{'s are' if below > 1 else ' is'} smaller"


def removed_scene(
    whole: np.ndarray,
    left: np.ndarray,
    names: tuple[str, str],
    gone: int,
    marked: str = "",
    ends: tuple[str, str] = ("smallest", "largest"),
) -> Scene:
    """Two rows of eigenvalues: all, of which the first `gone` stand out, and those that are left.

    whole, left: positive and ascending. names: of the upper row and of the lower one. marked: the key of `OF_ROWS` that
    is marked; "" for none. ends: the names of the smallest and the largest that are left.
    """
    layers: list[Layer] = []
    for part, style, name in ((whole[gone:], 0, ""), (whole[:gone], 1, "taken away")):
        if part.size:
            layers.append(PointsOf(name, part, np.ones(part.size), style, tall=HALF, word="eigenvalue"))
    layers.append(PointsOf("", left, np.zeros(left.size), 0, tall=HALF, word="eigenvalue"))
    least, most = (left[:1], 0.0, ends[0]), (left[-1:], 0.0, ends[1])
    strokes = {
        "tiny": [(whole[whole < TINY], 1.0, "tiny")], "gone": [(whole[:gone], 1.0, "taken away")],
        "least": [least], "most": [most], "kappa": [least, most],
    }  # fmt: skip
    for part, row, name in strokes.get(marked, []):
        layers += _marked_strokes(part, row, name)
    if marked == "kappa":
        layers.append(CurveOf("", left[[0, -1]], np.zeros(2), MARKED, plain=True, chosen=True))
    ratios = [number(float(values[-1] / values[0])) for values in (whole, left)]
    labels = [f"{name}, κ = {ratio}" for name, ratio in zip(names, ratios, strict=True)]
    return Scene("removed", _eigenvalue(), _rows(labels[::-1]), layers, spoken=f"{labels[0]}; {labels[1]}.")


def curves_scene(
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
    chosen: str,
    quantity: str,
    tolerance: float,
    *,
    products: bool = False,
    title: str = "",
) -> Scene:
    """Curves on a log axis, x and y by name, to the tolerance; the chosen one is strong, and the others stay pale
    behind it, each with its name below its end.

    products: x counts columns that were multiplied by A, in place of iterations. title: a longer name of the chosen
    one.
    """
    curves = {name: _until(reached(y, tolerance), x, y) for name, (x, y) in curves.items()}
    pale = {name: curve for name, curve in curves.items() if name != chosen}
    layers: list[Layer] = [CurveOf("", x, y, faint=True, plain=True) for x, y in pale.values()]
    ends = {name: (x[-1], NAMES_AT * tolerance) for name, (x, y) in pale.items() if y[-1] <= tolerance}
    if ends:
        places = np.array([*ends.values()], float).T
        layers.append(PointsOf("", *places, size=0.1, marker=".", labels=[*ends]))
    x, y = curves[chosen]
    chosen = title or chosen
    layers += [CurveOf(chosen, x, y, 0, plain=True, chosen=True), LineAt(tolerance, "{}", fitted=True)]
    axis = PRODUCTS if products else ITERATIONS
    met = np.flatnonzero(y <= tolerance)
    when = f"is at most {number(tolerance)} after {count(int(x[met[0]]))}" if met.size else "stays above the line"
    said = f"{quantity} of {chosen} {when} {'products' if products else 'iterations'}."
    # The same limits for all choices, so that the axis rests.
    limits = (LOWEST * tolerance, max(3.0, *(1.5 * float(np.max(heights)) for _, heights in curves.values())))
    return Scene(f"curves {axis.title}", axis, Axis(quantity, log=True, span=limits), layers, spoken=said, logs="y")


def _until(last: int, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x[: last + 1], y[: last + 1]


def _marked_strokes(values: np.ndarray, row: float, name: str) -> list[Layer]:
    """Strokes in the colour of marks, taller than those beneath, with a name at the first."""
    if not values.size:
        return []
    at = np.full(values.size, row)
    top = at[:1] + 1.4 * HALF
    return [
        PointsOf("", values, at, MARKED, tall=1.4 * HALF),
        PointsOf("", values[:1], top, MARKED, size=0.1, marker=".", labels=[name]),
    ]


def _eigenvalue() -> Axis:
    return Axis("eigenvalue λ", log=True, span=SPAN, word="λ =")


def _rows(names: tuple[str, ...] | list[str]) -> Axis:
    """The axis of two rows, the lower first."""
    return Axis("", names=names, span=(-0.6, 1.6))


def columns_scene(bubbles: FiveBubbles, many: int) -> Scene:
    """The bubbles, of which the first `many` are columns of Z, each with the name of its column."""
    labels = bubbles.labels
    n = len(labels)
    layers: list[Layer] = [
        _filled("bubble without a vector", labels > many, 5, faint=True),
        _filled("column of Z", (labels > 0) & (labels <= many), 2),
    ]
    names = [f"z{str(k + 1).translate(SUBSCRIPTS)}" for k in range(many)]
    # Above the bubbles, since letters on them would be dark on dark.
    places = bubbles.centres[:many] + np.array([0.0, bubbles.radius + NAMED])
    layers.append(PointsOf("", *places.T, size=0.1, marker=".", labels=names))
    x_axis, y_axis = (Axis(f"{side} (cells)", "count", whole=True, word=side, span=(-0.5, n - 0.5)) for side in "xy")
    said = f"{count(len(bubbles.centres))} bubbles; Z has {counted(many, 'column')}, each 1 in one of them."
    return Scene("columns of Z", x_axis, y_axis, layers, spoken=said, ways="xy", square=True)


def parts_scene(found: Parts, picture: str) -> Scene:
    """The part of a vector in each eigenvector over its eigenvalue, zeros at the left end.

    picture: "plain" and "first" show u_0, "unprojected" M^-1 b, "later" u_k of the last iteration that is known, and
    "ends" joins the ends of the positive eigenvalues, with their ratio.
    """
    matrix = "M⁻¹A" if picture == "plain" else "M⁻¹PA"
    last = len(found.shares) - 1
    vector = {"unprojected": "M⁻¹b", "later": f"u{str(last).translate(SUBSCRIPTS)}"}.get(picture, "u₀")
    known = {"unprojected": found.of_b, "later": found.shares[last]}.get(picture, found.shares[0])
    values, shares = found.values, np.maximum(known, ROUNDING)
    zero, rest = slice(0, found.zeros), slice(found.zeros, None)
    layers: list[Layer] = [
        PointsOf("λ > 0", values[rest], shares[rest], 0, size=3.0, filled=True, word="eigenvalue"),
        PointsOf("λ = 0", np.full(found.zeros, AT_ZERO), shares[zero], 1, size=6.0, filled=True, word="zero;"),
    ]
    kappa = number(float(values[-1] / values[found.zeros]))
    if picture == "ends":
        ends = np.array([values[found.zeros], values[-1]])
        layers.append(CurveOf("", ends, np.full(2, ABOVE), 2, plain=True, chosen=True))
        at = np.sqrt(ends[:1] * ends[1:])
        layers.append(PointsOf("", at, np.array([3 * ABOVE]), 2, size=0.1, marker=".", labels=[f"κ = {kappa}"]))
    said = (
        f"{matrix} has {counted(found.zeros, 'zero')}; {vector} has parts of at most "
        f"{number(float(known[zero].max()), 2)} there. κ of the positive eigenvalues is {kappa}."
    )
    return Scene(
        f"parts {matrix}",
        Axis(f"eigenvalue λ of {matrix}, 0 at the left", log=True, span=PARTS_SPAN, word="λ =", marks=PARTS_MARKS),
        Axis(f"part of {vector} in its eigenvector", log=True, span=(ROUNDING / 3, 30 * ABOVE)),
        layers, spoken=said,
    )  # fmt: skip


FACTORS = {"P S": ("P", "S"), "P R": ("P", "R"), "U R": ("U", "R"), "S U": ("S", "U"), "S P": ("S", "P")}
"""Pictures of products of blocks: the letters of the rows and of the columns."""


def products_scene(blocks: Blocks, picture: str) -> Scene:
    """The moduli of the products of all columns of two kinds of blocks, as matrices are written: the first iteration in
    the upper left corner.

    picture: a key of `FACTORS`. Columns have unit norms, so that 1 is the largest modulus.
    """
    left, right = FACTORS[picture]
    one, other = (vars(blocks)[letter] for letter in (left, right))
    cells = np.clip(np.abs(one.T @ other), ROUNDING, 1)
    down, across = (_columns(letter, count) for letter, count in zip((left, right), cells.shape, strict=True))
    y = Axis(f"columns of {left}", names=down[::-1], word=left)
    x = Axis(f"columns of {right}", names=across, word=right)
    name = f"|({left}ᵢ, {right}ₖ)|"
    large = int((cells > np.sqrt(ROUNDING)).sum())
    said = f"{name}: {count(large)} of {count(cells.size)} products are larger than rounding."
    layers = [CellsOf(name, cells[::-1], map="viridis", figures=False)]
    return Scene(picture, x, y, layers, spoken=said, ways="xy", square=True)


def _columns(letter: str, many: int) -> list[str]:
    """The names of columns: the first of each block has that of the block."""
    return [
        f"{letter}{str(place // COLUMNS).translate(SUBSCRIPTS)}" if place % COLUMNS == 0 else ""
        for place in range(many)
    ]
