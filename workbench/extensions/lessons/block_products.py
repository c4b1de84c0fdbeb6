"""Products of the blocks of block CG with one another: which of them are zero, so that lines follow."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from workbench.run import Configuration, configure
from workbench.stepping.line_by_line import Walk

COLUMNS, ITERATIONS = 2, 4


def stepped() -> Configuration:
    """The configuration whose lines lesson 7 steps through."""
    return configure("poisson5", n=12, solver="block-cg-oleary", rhs=f"random:{COLUMNS}")


@dataclasses.dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of all iterations side by side, each with unit columns. N unknowns, s columns, k iterations.

    R, U: k + 1 blocks, shape (N, s (k + 1)), R of unit M^-1-norm. P, S = A P: as many, P of unit A-norm.
    """

    R: np.ndarray
    U: np.ndarray
    P: np.ndarray
    S: np.ndarray


@functools.cache
def blocks() -> Blocks:
    """The blocks of four iterations of `stepped`. A product of two of them has the cosines of angles as entries.

    Cost: a walk of 144 unknowns, once.

    Examples:
        >>> from workbench.extensions.lessons.block_products import blocks
        >>> blocks().P.shape
        (144, 10)
    """
    walk = Walk(stepped())
    for _ in range(ITERATIONS):
        walk.advance()
    ends = [walk.after(k, len(walk.lines(k))) for k in range(ITERATIONS + 1)]
    R, U, P = (np.concatenate([end[name] for end in ends], axis=1) for name in "RUP")
    operator = walk.setup.system.operator
    S = operator.to_csr() @ P
    of_r, of_p = (np.sqrt(np.sum(one * other, axis=0)) for one, other in ((R, U), (P, S)))
    return Blocks(R / of_r, U / of_r, P / of_p, S / of_p)
