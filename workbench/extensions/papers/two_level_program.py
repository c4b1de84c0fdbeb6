"""Gupta, van Gijzen, Vuik 2013: iterations as the paper's own program takes them, by its printed rows.

Seconds of Table 1 over iterations of Table 2 give an iteration with each first level. On the GPU one with block IC
takes a constant, and a time for each row that a block solves after the one before; both are fitted to blocks of 2n and
8n rows, so that 4n is not fitted. One with a Neumann series of order K has 2K products with L D^-1; both unknowns of a
device are fitted to K = 1 and 2, so that the rows of Tables 3 and 4 are not. In 3D the time grows with the cells, and
with the words of such a product: two for each band, and three of vectors.
"""

from __future__ import annotations

import dataclasses
import functools

from workbench.extensions.papers.printed import printed_in
from workbench.extensions.papers.standing import Reason, Support

SIDE_2D, SIDE_3D = 1024, 128
BANDS = {2: 2, 3: 3}
"""Bands of L by dimensions."""


@functools.cache
def of_iteration(name: str, device: str) -> float:
    """Printed seconds of an iteration of Table 1. name: of its first level. device: "cpu" or "gpu"."""
    tables = printed_in("two-level")
    seconds = next(line for line in tables["table1"]["rows"] if line[0] == name)[1 + (device == "gpu")]
    return seconds / next(line for line in tables["table2"]["rows"] if line[0] == name)[-1]


@dataclasses.dataclass(frozen=True)
class Series:
    """Seconds of an iteration with a Neumann series. product: of L D^-1 with a vector. rest: of everything else."""

    product: float
    rest: float

    @classmethod
    def of(cls, device: str) -> Series:
        one, two = (of_iteration(f"Neumann({order})", device) for order in (1, 2))
        product = (two - one) / 2
        return cls(product, one - 2 * product)

    def seconds(self, order: int, n: int = SIDE_2D, dimensions: int = 2) -> float:
        """Seconds of an iteration with n cells per side."""
        words = (2 * BANDS[dimensions] + 3) / (2 * BANDS[2] + 3)
        return n**dimensions / SIDE_2D**2 * words * (self.rest + 2 * order * self.product)


@dataclasses.dataclass(frozen=True)
class Blocks:
    """Seconds of an iteration with block IC on the GPU. row: of one that a block solves, forward and back."""

    constant: float
    row: float

    @classmethod
    def fitted(cls) -> Blocks:
        small, large = (of_iteration(f"block IC({times}n)", "gpu") for times in (2, 8))
        row = (large - small) / (2 * (8 - 2) * SIDE_2D)
        return cls(small - row * 2 * 2 * SIDE_2D, row)

    def seconds(self, times: int, n: int = SIDE_2D) -> float:
        """Seconds with blocks of `times` n rows, n cells per side."""
        return self.constant * (n / SIDE_2D) ** 2 + self.row * 2 * times * n


def of_program(name: str, device: str, n: int = SIDE_2D) -> float | None:
    """Seconds of an iteration of the 2D problem as the paper's program takes them; None for block IC on the CPU, whose
    rows hardly depend on the blocks."""
    kind, _, number = name.partition("(")
    if kind == "Neumann":
        return Series.of(device).seconds(int(number[0]), n)
    return Blocks.fitted().seconds(int(number[0]), n) if device == "gpu" else None


def _percent(ours: float, printed: float) -> str:
    return f"{100 * (ours / printed - 1):+.1f}%".replace("-", "−")


@functools.cache
def of_table1(device: str) -> dict[str, Reason]:
    """Reasons of the rows of Table 1 by the parts of their names, from the printed rows alone."""
    series = Series.of(device)
    check = ", so that no row is left to check them"
    if device == "gpu":
        check = f"; with them the planes of Table 3 come to {_percent(series.seconds(2, SIDE_3D, 3), _planes())}"
    found = {
        "Neumann": Reason(
            f"the paper's program takes {1e3 * series.product:.3g} ms for a product with L D⁻¹ and "
            f"{1e3 * series.rest:.3g} ms for all else, two numbers from both rows{check}",
            Support.PLAUSIBLE,
        )
    }
    if device == "cpu":
        each = [1e3 * of_iteration(f"block IC({times}n)", device) for times in (2, 4, 8)]
        times = ", ".join(f"{one:.3g}" for one in each)
        said = f"{times} ms an iteration for 2n, 4n and 8n, which hardly depend on the size of the blocks"
        return found | {"block IC": Reason(said, Support.UNKNOWN)}
    blocks, printed = Blocks.fitted(), of_iteration("block IC(4n)", device)
    said = (
        f"{1e3 * blocks.constant:.3g} ms an iteration and {1e6 * blocks.row:.3g} µs for each row that a block solves "
        f"after another, two numbers fitted to 2n and 8n, which give 4n to {_percent(blocks.seconds(4), printed)}"
    )
    return found | {"block IC": Reason(said, Support.PLAUSIBLE)}


@functools.cache
def of_3d() -> dict[str, Reason]:
    """Reasons of the times of Tables 3 and 4 by the parts of the names of their rows, from the printed rows alone."""
    cpu, _, stripes = (1e3 * line[-2] / line[-4] for line in printed_in("two-level")["table3"]["rows"])
    planes, series = _planes(), Series.of("gpu").seconds(2, SIDE_3D, 3)
    more = stripes - 1e3 * planes
    return {
        "planes": Reason(
            f"the iteration of Table 1 as the paper's program takes it, with the cells and words of 3D, is "
            f"{1e3 * series:.3g} ms, {_percent(series, planes)} from the print, with nothing fitted to this table",
            Support.PLAUSIBLE,
        ),
        "stripes": Reason(
            f"{more:.0f} ms an iteration more than with planes, {1e3 * more / (2 * SIDE_3D**2):.3g} µs for each row of "
            "two dense substitutions, one after another",
            Support.PLAUSIBLE,
        ),
        "DICCG(0)": Reason(
            f"{cpu:.3g} ms an iteration on the CPU, the same for every geometry of Tables 3 and 4; no row tells what "
            "of it the triangular solves take, whose rows wait for one another",
            Support.UNKNOWN,
        ),
    }


def _planes() -> float:
    """Printed seconds of an iteration of Table 3 with planes."""
    line = printed_in("two-level")["table3"]["rows"][1]
    return line[-2] / line[-4]
