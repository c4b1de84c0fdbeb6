"""Tali, Vainikko: Figures 5 and 6, to be turned."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator

import numpy as np

from workbench.machine.profile import profile
from workbench.number_text import count
from workbench.papers.block_cg import ROWS_PER_N, flops_printed, printed, system
from workbench.papers.block_cg_figures import COLUMNS, CPU, GPU
from workbench.papers.block_cg_iteration import WAIT, Iteration, host_sums, iteration
from workbench.papers.items import MEASURED, MODELLED, Curve, Item, Step, Turned, Values, geometric, point
from workbench.scenes.scene import Axis

PAPER = "block-cg"
RATE = Axis("GFLOP/s by the paper's count", log=True)
MATRICES = tuple(name for name, *_ in printed()["fig5"]["rows"])
GROWING = tuple(printed()["fig6"])
DEVICES = {GPU: "2080S", CPU: "i5"}
MACHINES = (GPU, CPU, "k20m", "v100", "h200")
ON_HOST, ON_DEVICE = "partial sums on the host", "on the device"
SUMS = Turned("sums", "dot products on a GPU", (ON_HOST, ON_DEVICE), ON_HOST, str, menu=True)
WAIT_US = 1e6 * WAIT
WAITS = (0.0, *geometric(1, 10_000, 25, WAIT_US))
WAITING = Turned("wait", "wait of the host per iteration, µs", WAITS, WAIT_US, whose="ours")
"""The paper does not say how long its host waits: ours is what its smallest matrices take."""
SIZES = (16, 64, 128, 512)
SIZE = Turned("size", "largest stand-in, rows", SIZES, 512, lambda size: count(ROWS_PER_N * size), whose="", limit=True)
NOTES = (
    "Modelled: bytes of our lines over the machine's bandwidth and a launch latency per pass; on a GPU the wait, and "
    "where partial sums of dot products are added up on the host, their copies and additions, as in the paper.",
    "Measured: the median of a few iterations on all cores of this machine, on stand-ins where the matrix is not here.",
)
REASON = (
    "the print is of another program; the rates of the i5, and on the 2080S what m_t1 takes beyond the model for b = 1 "
    "and beyond b = 7, are not explained"
)
system_of = functools.lru_cache(maxsize=2)(system)


@dataclasses.dataclass(frozen=True)
class Measured:
    """An iteration with b right-hand sides, with its operations by the paper's count. n: rows; same: as many as the
    paper's."""

    iteration: Iteration
    gflop: float
    b: int
    n: int
    itemsize: int
    same: bool

    def modelled(self, machine: str, values: Values) -> float:
        """GFLOP/s on a machine."""
        where = profile(machine)
        seconds = self.iteration.modelled(where)
        if where.kind == "gpu":
            seconds += 1e-6 * values["wait"]
            if values["sums"] == ON_HOST:
                seconds += host_sums(where, self.n, self.b, self.itemsize)
        return self.gflop / seconds


@dataclasses.dataclass(frozen=True)
class BlockIteration:
    """An iteration with b right-hand sides, measured here. size: stand-ins have at most ROWS_PER_N `size` rows."""

    matrix: str
    size: int
    b: int

    def __call__(self) -> Measured:
        found = system_of(self.matrix, self.size)
        single = found.single
        gflop, n = 1e-9 * self.b * flops_printed(found, single), single.shape[0]
        return Measured(iteration(single, self.b), gflop, self.b, n, single.dtype.itemsize, n == found.n)


def fig5_printed() -> list[Curve]:
    lines = printed()["fig5"]
    found = []
    for column, name in (("2080s", "2080S"), ("i5", "i5")):
        place = lines["columns"].index(column)
        rates = [(x, row[place]) for x, row in enumerate(lines["rows"]) if not math.isnan(row[place])]
        x, y = np.array(rates, float).T
        found.append(Curve(name, x, y, "printed"))
    return found


def fig5_steps(values: Values) -> Iterator[Step]:
    def read(place: int, found: Measured) -> Iterator[Curve]:
        for machine, name in DEVICES.items():
            rate = found.modelled(machine, values)
            yield point(f"{name}, modelled", place, rate, MODELLED, name if found.same else "")
        yield point("cores here", place, found.gflop / found.iteration.seconds, MEASURED)

    for place, name in enumerate(MATRICES):
        yield Step(name, BlockIteration(name, values["size"], 1), functools.partial(read, place))


def fig6_printed() -> list[Curve]:
    rates = printed()["fig6"]
    return [Curve(name, np.arange(1.0, len(found) + 1), np.array(found), "printed") for name, found in rates.items()]


def fig6_steps(values: Values) -> Iterator[Step]:
    name, machine = values["matrix"], values["machine"]

    def read(b: int, found: Measured) -> Iterator[Curve]:
        rate = found.modelled(machine, values)
        yield point(f"{name}, modelled", b, rate, MODELLED, name if found.same else "")
        yield point(f"{name}, cores here", b, found.gflop / found.iteration.seconds, MEASURED)

    for b in (b for b in COLUMNS if b <= len(printed()["fig6"][name])):
        yield Step(f"{name}, b = {b}", BlockIteration(name, values["size"], b), functools.partial(read, b))


def _title(machine: str) -> str:
    return profile(machine).title


ITEMS = (
    Item(
        paper=PAPER,
        name="fig5",
        title="Figure 5: GFLOP/s with one right-hand side",
        x=Axis("matrix", names=MATRICES),
        y=RATE,
        turned=(SUMS, WAITING, SIZE),
        printed=fig5_printed,
        steps=fig5_steps,
        notes=NOTES,
        reason=REASON,
    ),
    Item(
        paper=PAPER,
        name="fig6",
        title="Figure 6: GFLOP/s with b right-hand sides",
        x=Axis("right-hand sides b", "count", whole=True, word="b"),
        y=RATE,
        turned=(
            Turned("matrix", "matrix", GROWING, GROWING[0], str, menu=True),
            Turned("machine", "machine of the model", MACHINES, GPU, _title, menu=True),
            SUMS,
            WAITING,
            SIZE,
        ),
        printed=fig6_printed,
        steps=fig6_steps,
        notes=NOTES,
        reason=REASON,
    ),
)
