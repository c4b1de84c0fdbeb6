"""Kernels of one work-group on the small matrices of block methods; their arguments are named as the matrices are.

`state` holds STOPPED, not 0 once the device has stopped and kernels do nothing; COUNTED, the rows kept; and from ACTIVE
on, for every column, whether it has not ended, and the squares of ||r_j|| at or below which, and above which, the
device stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.source import fill

STOPPED, COUNTED, ACTIVE = range(3)
AT_ROW, IN_FACTOR, IN_ORTHONORMALIZATION = 1, 2, 3
"""Where the device has stopped: at a row that may end a column or the run; where a matrix has no Cholesky factor; where
columns depend on others, which the host has to resolve."""
GROUP = 256
"""Work-items of the group, at least one for each column."""
SQUARES = frozenset({"half", "first", "rho", "C", "before"})
"""The square matrices that only these kernels use."""
_ZERO_COLUMN, _DEPENDENT, _ROUNDING = 1e-12, 1e-10, 16
"""The bounds of `RankBounds` in double precision, and units of roundoff of a column below which neither is."""

_CHOLESKY = {"factor": IN_FACTOR, "pivoted": IN_ORTHONORMALIZATION, "again": 0}
"""Where the device stops of those with a Cholesky factor; that of `pivoted` has pivots."""
_MACROS = ("EACH", "ROW_OF", "COLUMN_OF", "INVERSE", "ADJOINT")
"""What `small_cholesky.cl` defines for the kernel around it, and for no other of the module."""


class RankBounds(NamedTuple):
    """The bounds below which columns of a block vector do not count.

    zero: of a norm, relative to the largest. dependent: of a pivot of the Gram matrix with a unit diagonal.

    Rounding in an entry of Q^H M^-1 Q is some units of roundoff of the precision that M^-1 Q is stored in, although the
    sum is not, and s such entries make that of a pivot, a square (Higham 2002, section 10.3; s times the unit roundoff
    is what LAPACK's xPSTRF takes). In norms, it is what is left of a column from which s others are subtracted.
    """

    zero: float
    dependent: float

    @classmethod
    def of(cls, s: int, dtype: np.dtype) -> RankBounds:
        """Those of s columns. dtype: of the block vectors."""
        noise = _ROUNDING * s * float(np.finfo(dtype).eps)
        return cls(max(_ZERO_COLUMN, noise), max(_DEPENDENT, noise))


def state_size(s: int) -> int:
    """Numbers in `state`."""
    return ACTIVE + 3 * s


def local_bytes(steps: Sequence[object], s: int, itemsize: int) -> int:
    """Local memory of the largest of these kernels, for numbers of so many bytes."""
    return s * s * itemsize + 24 * s if _CHOLESKY.keys() & {step for step in steps if isinstance(step, str)} else 0


def small(name: str, s: int, dtype: np.dtype) -> KernelText:
    """The kernel of a file `small_<name>.cl`, for s columns. dtype: of the block vectors.

    norms and own_norms: with and without F = Q^H Q, which is I without a preconditioner.
    """
    if name in _CHOLESKY:
        choose, bounds = "p < 0", RankBounds(0, 0)
        if name == "pivoted":
            choose, bounds = "diagonal[i] > best", RankBounds.of(s, dtype)
        pivots = {"choose": choose, "zero": bounds.zero, "tolerance": bounds.dependent}
        text = fill(f"small_{name}", s=s, cholesky=fill("small_cholesky", s=s, halted=_CHOLESKY[name], **pivots))
        return _headed(text + "".join(f"#undef {macro}\n" for macro in _MACROS), name)
    if name in ("norms", "own_norms"):
        line = f"for (int m = 0; m < {s}; m++) r += W_REAL(W_MUL(W_CONJ(c), W_MUL(F[k*{s} + m], C[m*{s} + j])));"
        squares, measured = (line, "r") if name == "norms" else ("", "g")
        text = fill("small_norms", s=s, squares=squares, measured=measured, F="GLOBAL const W* F, " * (name == "norms"))
        return _headed(text, "norms")
    return _headed(fill(f"small_{name}", s=s), name)


def keep(s: int, kept: Sequence[str]) -> KernelText:
    """rows[count, k] = the numbers of matrix kept[k], each of s numbers; then it is decided whether to stop.

    rr and gamma are among them. Where going is, delta must be positive for the columns that it names.
    """
    place = "rows[((I64)count*{rows} + {k})*{s} + j] = {name}[j];"
    lines = [place.format(rows=len(kept), k=k, s=s, name=name) for k, name in enumerate(kept)]
    arguments = ", ".join(f"GLOBAL const W* {name}" for name in kept)
    broken = "W_REAL(going[j]) != 0 && !(W_REAL(delta[j]) > 0)" if "going" in kept else "0"
    return _headed(fill("small_keep", s=s, arguments=arguments, keep="\n".join(lines), broken=broken), "keep")


def _headed(text: str, name: str) -> KernelText:
    head = f"#define STOPPED {STOPPED}\n#define COUNTED {COUNTED}\n#define ACTIVE {ACTIVE}\n"
    return KernelText.of(head + text, f"small_{name}")
