"""Pictures of derivations: eigenvectors that the residual has no part in, and products of blocks that are zero."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.extensions.lessons.block_products import COLUMNS, Blocks
from workbench.extensions.lessons.bubbles import FiveBubbles
from workbench.extensions.lessons.deflated_residuals import Parts
from workbench.plots.scenes.scene import Axis, BarsOf, CellsOf, CurveOf, Layer, PointsOf, Scene
from workbench.words.names import SUBSCRIPTS
from workbench.words.numbers import count, counted, number

ROUNDING = 1e-15
"""Parts below this are drawn there."""
AT_ZERO = 4e-6
"""Place of the eigenvalues zero on the logarithmic axis."""
ABOVE = 3.0
"""Height of the line between the ends."""
NAMED = 1.2
"""Cells from the rim of a bubble to the name of its column."""
SPAN = (2e-6, 3.0)
MARKS = (1e-4, 1e-3, 1e-2, 0.1, 1.0)


@dataclasses.dataclass(frozen=True)
class Thought:
    """A step of a derivation: its title, its sentences, and the key of its picture."""

    title: str
    sentences: tuple[str, ...]
    picture: str


def columns_scene(bubbles: FiveBubbles, many: int) -> Scene:
    """The bubbles, of which the first `many` are columns of Z, each with the name of its column."""
    labels = bubbles.labels
    n = len(labels)
    layers: list[Layer] = []
    for style, name, cells in (
        (5, "bubble without a vector", labels > many),
        (2, "column of Z", (labels > 0) & (labels <= many)),
    ):
        y, x = np.nonzero(cells)
        layers.append(BarsOf(name if x.size else "", x * 1.0, y + 0.5, 1.0, y - 0.5, style=style, faint=style == 5))
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
        Axis(f"eigenvalue λ of {matrix}, 0 at the left", log=True, span=SPAN, word="λ =", marks=MARKS),
        Axis(f"part of {vector} in its eigenvector", log=True, span=(ROUNDING / 3, 30 * ABOVE)),
        layers, spoken=said,
    )  # fmt: skip


PRODUCTS = {"P S": ("P", "S"), "P R": ("P", "R"), "U R": ("U", "R"), "S U": ("S", "U"), "S P": ("S", "P")}
"""Pictures of products of blocks: the letters of the rows and of the columns."""


def products_scene(blocks: Blocks, picture: str) -> Scene:
    """The moduli of the products of all columns of two kinds of blocks, the first iteration in the lower left corner.

    picture: a key of `PRODUCTS`. Columns have unit norms, so that 1 is the largest modulus.
    """
    left, right = PRODUCTS[picture]
    one, other = (vars(blocks)[letter] for letter in (left, right))
    cells = np.clip(np.abs(one.T @ other), ROUNDING, 1)
    y, x = (
        Axis(f"columns of {letter}", names=_columns(letter, cells.shape[axis]), word=letter)
        for axis, letter in enumerate((left, right))
    )
    name = f"|({left}ᵢ, {right}ₖ)|"
    large = int((cells > np.sqrt(ROUNDING)).sum())
    said = f"{name}: {count(large)} of {count(cells.size)} products are larger than rounding."
    layers = [CellsOf(name, cells, map="viridis", figures=False)]
    return Scene(picture, x, y, layers, spoken=said, ways="xy", square=True)


def _columns(letter: str, many: int) -> list[str]:
    """The names of columns: the first of each block has that of the block."""
    return [
        f"{letter}{str(place // COLUMNS).translate(SUBSCRIPTS)}" if place % COLUMNS == 0 else ""
        for place in range(many)
    ]
