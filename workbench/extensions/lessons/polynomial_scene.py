"""The residual polynomial of CG over a spectrum, and the error that follows from it next to the CG bound."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.extensions.lessons.residual_polynomials import Recurrence
from workbench.plots.scenes.scene import ITERATIONS, Axis, CurveOf, Layer, LineAt, PointsOf, Scene
from workbench.spectra.convergence_estimates import cg_bound
from workbench.words.numbers import counted, number

SYMBOLS = {
    **dict.fromkeys(("p", "at", "ritz", "copies"), ""), **dict.fromkeys(("error", "exact"), "CG"), "bound": "CG bound",
    "float64": "CG in float64", "float32": "CG in float32",
}  # fmt: skip
"""Keys of the text, each with the curve of the error that it names; the first four are of the polynomial."""
SAMPLES = 400
"""Samples of the polynomial at equal distances or ratios: fewer than pixels, where a plot draws them as they are."""
NEAR_ZEROS = np.array([-1e-2, -1e-3, -1e-4, 0.0, 1e-4, 1e-3, 1e-2])
"""Relative distances from a zero of further samples, since |p| has a narrow dip there."""
TALLEST = (1, 2, 5, 10, 20, 50, 100, 1000, 10_000)
"""Ends of the axis of p: few, so that it rests while an eigenvalue is dragged."""
SMALLEST = 1e-16
LOG_FROM = 500
"""Ratio of the ends of the axis from which it is logarithmic at first."""
COMPUTED = "Ritz values in float64"
CLOSE = 0.01
"""Relative distance from an eigenvalue up to which a Ritz value is one of its copies."""
ROW_OF_COPIES = 2.5
"""Ratio of the heights of copies on a log axis."""
ERROR = Axis("A-norm of the error / initial value", log=True, span=(SMALLEST, 5))


def polynomial_scene(
    name: str,
    values: np.ndarray,
    made: Recurrence,
    at: int,
    span: tuple[float, float],
    *,
    size: bool = False,
    marked: str = "",
    computed: np.ndarray | None = None,
) -> Scene:
    """p_k over a stretch of the axis, its values at the eigenvalues, and its zeros. at: k. size: |p_k|, on a log axis.

    values: eigenvalues that CG sees, shape (n,), of which `made` is CG. marked: the key of `SYMBOLS` that is larger.
    computed: the Ritz values of CG in double precision at its own iteration, ascending. They lie below those of exact
    CG, and copies, which belong to the same eigenvalue, one below another.
    """
    low, high = span
    zeros, heights = made.ritz(at), made.residuals[:, at]
    log = high > LOG_FROM * low
    x, y = _samples(made, at, values, np.geomspace(low, high, SAMPLES) if log else np.linspace(0, high, SAMPLES))
    most = max(1.0, float(np.abs(heights).max()))
    end = next((each for each in TALLEST if each >= most), most)
    title = f"p{_sub(at)}(λ)"
    if size:
        least = max(SMALLEST, float(np.abs(heights).min()))
        between = (x >= values.min()) & (x <= values.max())
        end = max(end, 10.0 ** np.ceil(np.log10(np.abs(y[between]).max(initial=1.0))))
        y, heights = (np.maximum(np.abs(each), SMALLEST) for each in (y, heights))
        axis = Axis(f"|{title}|", log=True, span=(10.0 ** np.floor(np.log10(least) - 0.3), 3 * end))
    else:
        axis = Axis(title, span=(-1.15 * end, 1.15 * end))
    # Crosses of a logarithmic axis are above the handles.
    floor = axis.span[0] ** 0.88 * axis.span[1] ** 0.12 if size and axis.span else 0.0
    layers: list[Layer] = [
        *([] if size else [LineAt(0.0)]),
        CurveOf("", x, y, plain=True, chosen=marked == "p"),
        PointsOf(
            "at the eigenvalues",
            values,
            heights,
            1,
            4.0 * (1 + (marked == "at")),
            filled=True,
            word=f"eigenvalue, {axis.title} =",
        ),
    ]
    if zeros.size:
        layers.append(
            PointsOf(
                "Ritz values",
                zeros,
                np.full(at, floor),
                2,
                5.0 * (1 + (marked == "ritz")),
                "x",
                word="zero, a Ritz value;",
            )
        )
    if computed is not None and computed.size:
        depth = _copies(computed, values)
        rows = floor * ROW_OF_COPIES**depth if size else -0.12 * end * depth
        layers.append(
            PointsOf(COMPUTED, computed, rows, 1, 4.0 * (1 + (marked == "copies")), "x", word="Ritz value in float64;")
        )
    spoken = f"Residual polynomial after {counted(at, 'iteration')}; "
    spoken += f"its zeros are {', '.join(map(number, zeros)) or 'none'}."
    return Scene(
        f"{name}, {'size' if size else 'values'}",
        # On a linear axis from 0, where p is 1.
        Axis("eigenvalue λ", log=log, span=span if log else (-0.03 * high, high), word="λ ="),
        axis, layers, spoken=spoken, logs="x",
    )  # fmt: skip


def _copies(ritz: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The place of each Ritz value among those that have the same eigenvalue to a hundredth, from 1; 1 for all others.

    ritz, values: shapes (k,) and (n,).
    """
    nearest = np.abs(ritz[:, None] - values).argmin(axis=1)
    close = np.abs(ritz - values[nearest]) <= CLOSE * values[nearest]
    return np.array(
        [np.sum(close[: i + 1] & (nearest[: i + 1] == nearest[i])) if close[i] else 1 for i in range(ritz.size)]
    )


def error_scene(
    made: Recurrence, condition: float, at: int, rounded: Mapping[str, Recurrence] | None = None, *, marked: str = ""
) -> Scene:
    """The A-norm of the error of CG without rounding errors against iterations, next to the CG bound.

    condition: of the eigenvalues that CG sees. at: an iteration to mark. rounded: CG as computed, by precision.
    marked: the key of `SYMBOLS` whose curve is thicker.
    """
    rounded = rounded or {}
    exact = "without rounding errors" if rounded else "CG"
    steps = max([made.iterations, *(each.iterations for each in rounded.values())])
    curves = [
        ("CG bound", cg_bound(condition, steps), 3, (2.0, 3.0)),
        *((f"CG in {name}", each.error, 1 + place, None) for place, (name, each) in enumerate(rounded.items())),
        (exact, made.error, 0, None),
    ]
    layers: list[Layer] = []
    for name, y, style, dash in curves:
        heights, chosen = (
            np.maximum(y, SMALLEST),
            name == (exact if marked in ("error", "exact") else SYMBOLS.get(marked)),
        )
        look = {"dash": dash, "every": True, "mark": name != "CG bound", "chosen": chosen}
        layers.append(CurveOf(name, np.arange(y.size), heights, style, **look))
    layers.append(LineAt(at, upright=True))
    reached = min(at, made.iterations)
    spoken = f"After {counted(reached, 'iteration')} the error is {number(made.error[reached])} of its initial value, "
    spoken += f"and the CG bound {number(cg_bound(condition, at)[-1])}."
    return Scene("error", ITERATIONS, ERROR, layers, spoken=spoken, logs="y")


def _samples(made: Recurrence, at: int, values: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p_k at x, at the eigenvalues, at its zeros and near them, ascending, as two arrays."""
    zeros, heights = made.ritz(at), made.residuals[:, at]
    near = (zeros[:, None] * (1 + NEAR_ZEROS)).ravel()
    near = near[near <= x[-1]]
    known = np.concatenate([values, zeros])
    x = np.concatenate([x, near, known])
    y = np.concatenate([made.polynomial(at, x[: -known.size]), heights, np.zeros(at)])
    order = np.argsort(x, kind="stable")
    return x[order], y[order]


def _sub(value: int) -> str:
    """An index in small letters."""
    return str(value).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
