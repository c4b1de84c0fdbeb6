"""A plot as plain data: two axes, and layers of curves, points, bars, lines and cells on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.plots.scenes.style import CurveStyle, curve_style
from workbench.words.numbers import tick


@dataclasses.dataclass(frozen=True)
class Axis:
    """An axis of a plot. title: the quantity. kind: of number: "" plain, "count", "s" or "B", whose unit fits, or any
    other unit, which is written behind. log: logarithmic at first. whole: only integers lie on it. names: what the
    integers from 0 on are called. word: what a value is called where it is read out. span: ends in values; by default
    those of the layers. marks: the values that have ticks.

    Examples:
        >>> from workbench.plots.scenes import Axis
        >>> Axis("time per iteration", "s", log=True).title
        'time per iteration'
    """

    title: str
    kind: str = ""
    log: bool = False
    whole: bool = False
    names: Sequence[str] | None = None
    word: str = ""
    span: tuple[float, float] | None = None
    marks: Sequence[float] | None = None


class Layer:
    """A part of a scene, a dataclass: `arrays` are its numbers, and all else is what it says of itself."""

    layer: ClassVar[str]
    arrays: ClassVar[tuple[str, ...]] = ("x", "y")
    name: str

    @property
    def colour(self) -> str | None:
        """The colour of the whole layer; None where it has several."""
        return None

    @property
    def reported(self) -> dict[str, Any]:
        """Its description for the page, without its numbers."""
        said = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # pyright: ignore[reportArgumentType]
        numbers = [said.pop(name) for name in self.arrays]
        return {"layer": self.layer, "count": np.size(numbers[0]) if numbers else 0, "colour": self.colour, **said}

    @property
    def numbers(self) -> list[np.ndarray]:
        """Its arrays, flat, in the order of `arrays`."""
        found = (getattr(self, name) for name in self.arrays)
        return [np.ravel(values) for values in found if values is not None]


class Styled(Layer):
    """A layer in the colour of a style, as `curve_style` takes it."""

    style: int

    @property
    def colour(self) -> str:
        return curve_style(self.style).colour


@dataclasses.dataclass(frozen=True, eq=False)
class CurveOf(Styled):
    """Values y at positions x, both of shape (n,). style: as `curve_style` takes it. every: a mark at each value.

    only: marks without a line. name: at its end and in the legend; "" for none. plain: solid and without marks. mark:
    marks along it. rim: around it, so that it can be seen on a map. of: the name of the curve that it belongs to.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import CurveOf
        >>> CurveOf("CG", np.arange(3), np.array([1.0, 0.1, 0.01])).look.linestyle
        '-'
    """

    layer = "curve"

    name: str
    x: np.ndarray
    y: np.ndarray
    style: int = 0
    every: bool = False
    only: bool = False
    chosen: bool = False
    faint: bool = False
    plain: bool = False
    dash: tuple[float, ...] | None = None
    rim: bool = False
    mark: bool = True
    of: str = ""

    @property
    def look(self) -> CurveStyle:
        """Colour, dash and marker as they are drawn."""
        look = curve_style(self.style)
        if self.plain:
            look = dataclasses.replace(look, dash=())
        if self.plain or not self.mark:
            look = dataclasses.replace(look, marker="")
        return look if self.dash is None else dataclasses.replace(look, dash=self.dash)

    @property
    def reported(self) -> dict[str, Any]:
        return super().reported | dataclasses.asdict(self.look)


@dataclasses.dataclass(frozen=True, eq=False)
class PointsOf(Styled):
    """Points (x, y), both of shape (n,), in pixels of `size`, or of `sizes`. marker: "." is a dot, "" to be pointed at.

    texts: a title and lines for each, read out at the pointer. labels: a word next to each; if `inside`, in a cell
    around it. keys: what a click gives. word: what one of them is called. colours: of each. tall: half the height of an
    upright stroke in place of a mark, in units of y. spans: the ends of a line through each, its spread. faint: pale,
    behind what matters. of: the name of the curve that they belong to.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import PointsOf
        >>> PointsOf("printed", np.arange(2), np.array([3.1, 5.9]), outlined=True).marker
        'o'
    """

    layer = "points"

    name: str
    x: np.ndarray
    y: np.ndarray
    style: int = 0
    size: float = 4.0
    marker: str = "o"
    sizes: Sequence[float] | None = None
    texts: Sequence[Sequence[str]] | None = None
    labels: Sequence[str] | None = None
    inside: bool = False
    keys: Sequence[str] | None = None
    colours: Sequence[str] | None = None
    filled: bool = False
    outlined: bool = False
    tall: float = 0.0
    spans: Sequence[tuple[float, float]] | None = None
    word: str = ""
    faint: bool = False
    of: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class BarsOf(Styled):
    """Bars around x, `wide` in units of x, from base (0 by default) to y; all of shape (n,). faint: a pale band behind
    what matters. joined: no gaps, as for cells that make an area.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import BarsOf
        >>> BarsOf("entries of a row", np.arange(3), np.array([2.0, 5.0, 1.0])).wide
        1.0
    """

    layer, arrays = "bars", ("x", "y", "base")

    name: str
    x: np.ndarray
    y: np.ndarray
    wide: float = 1.0
    base: np.ndarray | None = None
    style: int = 0
    texts: Sequence[Sequence[str]] | None = None
    faint: bool = False
    joined: bool = False

    @property
    def reported(self) -> dict[str, Any]:
        return super().reported | {"based": self.base is not None, "marker": "s", "dash": ()}


@dataclasses.dataclass(frozen=True)
class LineAt(Layer):
    """A line across the plot at a value of y, or of x if it is upright. label: holds the value at {}. fitted: the axis
    reaches it.

    Examples:
        >>> from workbench.plots.scenes import LineAt
        >>> LineAt(1e-6, "tolerance {}", fitted=True).words
        'tolerance 10⁻⁶'
    """

    layer, arrays = "line", ()

    value: float
    label: str = ""
    upright: bool = False
    fitted: bool = False
    style: int | None = None
    name: str = ""

    @property
    def colour(self) -> str | None:
        return None if self.style is None else curve_style(self.style).colour

    @property
    def words(self) -> str:
        """The label with the value."""
        return self.label.replace("{}", tick(self.value))


@dataclasses.dataclass(frozen=True, eq=False)
class CellsOf(Layer):
    """A map of values, shape (rows, columns), row 0 at the bottom, NaN for none. title, kind: of the values.

    map: "batlow" for counts and times, "viridis" for magnitudes, "signed" with zero in the middle. left: the place of
    the first column. absent: a reason for each cell without a value. texts, keys: of each cell, row after row.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import CellsOf
        >>> CellsOf("iterations", np.array([[20.0, 31.0], [44.0, np.nan]]), kind="count").values.shape
        (2, 2)
    """

    layer, arrays = "cells", ("values",)

    title: str
    values: np.ndarray
    kind: str = ""
    log: bool = True
    map: str = "batlow"
    left: int = 0
    absent: Sequence[str] | None = None
    texts: Sequence[Sequence[str]] | None = None
    keys: Sequence[str] | None = None
    figures: bool = True
    name: str = ""

    @property
    def reported(self) -> dict[str, Any]:
        rows, columns = self.values.shape
        return super().reported | {"valueKind": self.kind, "numbers": self.figures, "rows": rows, "columns": columns}


@dataclasses.dataclass(frozen=True, eq=False)
class ParallelOf(Layer):
    """Parallel coordinates: a line for each run through an upright axis for each parameter.

    axes: of each its title and its ticks as pairs of a share from 0 to 1 and a text; the last is the result. shares:
    where each run meets each axis, shape (runs, axes), NaN for none. texts, keys: of each run.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import ParallelOf
        >>> axes = [("n", [(0, "8"), (1, "16")]), ("iterations", [(0, "20"), (1, "40")])]
        >>> ParallelOf(axes, np.array([[0.0, 0.1], [1.0, 0.9]]), texts=[["8"], ["16"]]).shares.shape
        (2, 2)
    """

    layer, arrays = "parallel", ("shares",)

    axes: Sequence[tuple[str, Sequence[tuple[float, str]]]]
    shares: np.ndarray
    texts: Sequence[Sequence[str]]
    keys: Sequence[str] | None = None
    name: str = ""

    @property
    def reported(self) -> dict[str, Any]:
        return super().reported | {"axes": [{"title": title, "ticks": list(ticks)} for title, ticks in self.axes]}


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """A picture as data: layers over two axes. note: the sentence of an empty one.

    name: as long as it stays, so does what the user zoomed to. title: what of the run it shows, printed above it.
    spoken: the picture in words, with its numbers. ways: which axes a zoom moves, "x", "y" or "xy". logs: which axes
    can be turned between logarithmic and linear. bare: without axes. square: a unit of x is as long as one of y. live:
    more is to come.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import Axis, CurveOf, Scene
        >>> curve = CurveOf("CG", np.arange(3), np.array([1.0, 0.1, 0.01]))
        >>> len(Scene("residuals", Axis("iteration", whole=True), Axis("residual", log=True), [curve]).layers)
        1
    """

    name: str
    x: Axis
    y: Axis
    layers: Sequence[Layer] = ()
    note: str = ""
    title: str = ""
    spoken: str = ""
    ways: str = "x"
    logs: str = ""
    bare: bool = False
    square: bool = False
    live: bool = False

    def message(self) -> tuple[dict[str, Any], bytes]:
        """For the page, and its numbers as float32."""
        said = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        said |= {"x": dataclasses.asdict(self.x), "y": dataclasses.asdict(self.y)}
        numbers = [np.asarray(part, np.float32) for layer in self.layers for part in layer.numbers]
        data = np.concatenate(numbers).tobytes() if numbers else b""
        return said | {"layers": [layer.reported for layer in self.layers]}, data


def blank(name: str, note: str, x: Axis, y: Axis) -> Scene:
    """Axes with a sentence."""
    return Scene(name, x, y, note=note, spoken=note)


ITERATIONS = Axis("iteration", "count", whole=True, word="iteration")
"""The axis of most plots."""
