"""Kernels of the cycles over the levels of a coarse system (see `accelerator.cycles`).

The matrix of a level has unit diagonal, which is not stored, and rows of a fixed width that is known when a kernel is
compiled, so that a work-item reads all entries of its row at once; the entries beyond that follow row by row.
"""

from __future__ import annotations

from workbench.devices.kernels.prelude import Layout
from workbench.devices.kernels.source import fill, read

_TREE = read("tree_sum")

SUM = read("cycle_sum")
"""Partial sums of a."""

ENTER = fill("cycle_enter", tree_sum=_TREE)
"""b = D^-1/2 (a - mean) in the order of the levels."""

MATRIX = (
    "GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices, GLOBAL const INDEX* RESTRICT more, "
    "GLOBAL const T* RESTRICT more_data, GLOBAL const INDEX* RESTRICT more_indices"
)
ABOVE = (
    "GLOBAL T* RESTRICT above, GLOBAL const INDEX* RESTRICT starts, GLOBAL const R* RESTRICT weights, const R scaling"
)
SUMS = 6
"""Of two steps of flexible CG: (p, b), (p, s) of the first; (z, s), (z, E z), (z, r), (p, r) of the second."""


def bottom(*, lifted: bool) -> str:
    """x = the inverse of the last level times b; lifted: added to the level above."""
    return fill("cycle_bottom", tree_sum=_TREE, **_result(lifted=lifted))


def rows(width: int) -> str:
    """A matrix in the form of the others from CSR."""
    return fill("cycle_rows", width=width)


def combine(steps: int, *, lifted: bool) -> str:
    """x = the solution of the level by that many steps of flexible CG."""
    if steps == 1:
        pieces = {"other": "", "value": "T_MUL(T_OF_W(first), p[i])", "coefficients": ""}
    else:
        pieces = {"other": ", GLOBAL const T* RESTRICT z", "value": "T_ADD(T_MUL(of_p, p[i]), T_MUL(of_z, z[i]))"}
        pieces["coefficients"] = read("cycle_second_step")
    totals = fill("cycle_totals", sums=2 if steps == 1 else SUMS)
    return fill("cycle_combine", totals=totals, **pieces, **_result(lifted=lifted))


class Texts:
    """The kernels over a matrix of that width. children: rows of a parent, at most."""

    def __init__(self, layout: Layout, width: int, children: int) -> None:
        self._layout, self._width = layout, width
        self.parents = max(1, layout.group // children)
        """Parents of a group in `restrict`."""
        self._most = self.parents * children

    def start(self) -> str:
        """x = one b - two E b."""
        return self._over("cycle_start", "b")

    def restart(self) -> str:
        """r = b - alpha s, x = one r - two E r."""
        product = self._product("here", "T_SUB(b[j], T_MUL(alpha, s[j]))")
        return fill("cycle_restart", matrix=MATRIX, totals=fill("cycle_totals", sums=2), product=product)

    def restrict(self) -> str:
        """below = W^T (b - E x)."""
        return self._over("cycle_restrict", "x", parents=self.parents, most=self._most)

    def residual(self) -> str:
        """r = b - E x."""
        return self._over("cycle_residual", "x")

    def smooth(self, *, lifted: bool) -> str:
        """x = x + one r - two E r; lifted: added to the level above."""
        given = "GLOBAL const T* RESTRICT x, " if lifted else ""
        return self._over("cycle_smooth", "r", given=given, **_result(lifted=lifted))

    def energy(self) -> str:
        """s = E p with the first sums."""
        return self._over("cycle_energy", "p")

    def second_energy(self) -> str:
        """The other sums."""
        return self._over("cycle_second_energy", "z")

    def _over(self, name: str, source: str, **more: object) -> str:
        return fill(name, matrix=MATRIX, product=self._product(f"{source}[i]", f"{source}[j]"), **more)

    def _product(self, own: str, other: str) -> str:
        unroll = '_Pragma("unroll")' if self._layout.language == "cuda" else ""
        return fill("cycle_product", own=own, other=other, width=self._width, unroll=unroll)


def _result(*, lifted: bool) -> dict[str, str]:
    """Where v of row i goes: to x, or by its weights to the children of the row on the level above."""
    if lifted:
        return {"target": ABOVE, "store": read("cycle_lift")}
    return {"target": "GLOBAL T* RESTRICT x", "store": "x[i] = v;"}
