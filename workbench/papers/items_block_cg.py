"""Tali, Vainikko: Figures 5 and 6, to be turned."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator

import numpy as np

from workbench.errors import InputError
from workbench.machine.profile import profile
from workbench.number_text import count
from workbench.papers.block_cg import ROWS_PER_N, System, flops_printed, printed, systems
from workbench.papers.block_cg_figures import COLUMNS, CPU, GPU
from workbench.papers.block_cg_iteration import Iteration, iteration
from workbench.papers.items import MEASURED, MODELLED, Curve, Item, Step, Turned, Values, geometric, point
from workbench.scenes.scene import Axis

PAPER = "block-cg"
RATE = Axis("GFLOP/s by the paper's count", log=True)
MATRICES = tuple(name for name, *_ in printed()["fig5"]["rows"])
GROWING = tuple(printed()["fig6"])
DEVICES = {GPU: "2080S", CPU: "i5"}
MACHINES = (GPU, CPU, "k20m", "v100", "h200")
WAITS = (0.0, *geometric(1, 10_000, 25))
WAIT = Turned("wait", "wait of the host per iteration, µs", WAITS, 0.0, whose="ours")
"""Our model has none; the paper does not say how long its host waits for partial sums."""
SIZE = Turned(
    "size", "largest stand-in, rows", (16, 64, 128, 512), 512, lambda size: count(ROWS_PER_N * size), whose=""
)
NOTES = (
    "Modelled: bytes of our lines over the machine's bandwidth, a launch latency per pass, and the wait chosen.",
    "Measured: the median of a few iterations on all cores of this machine, on stand-ins where the matrix is not here.",
)


REASON = (
    "on the 2080S the paper's solver waits for the device and sums dot products on the host, 0.6 ms in an iteration of "
    "the smallest matrices, whatever their size (turn the wait); the rates of the i5 are not explained"
)


@functools.lru_cache(maxsize=2)
def system_of(name: str, size: int) -> System:
    """A matrix of Table I, or a stand-in of at most ROWS_PER_N `size` rows."""
    return next(system for system in systems(size, lambda _: None) if system.name == name)


@dataclasses.dataclass(frozen=True)
class Measured:
    """An iteration with its operations by the paper's count. same: the matrix has as many rows as the paper's."""

    iteration: Iteration
    gflop: float
    same: bool

    def modelled(self, machine: str, wait: float) -> float:
        """GFLOP/s on a machine whose host waits so many seconds in an iteration."""
        return self.gflop / (self.iteration.modelled(profile(machine)) + wait)


@dataclasses.dataclass(frozen=True)
class BlockIteration:
    """An iteration with b right-hand sides, measured here. Raises InputError where no matrix is at hand."""

    matrix: str
    size: int
    b: int

    def __call__(self) -> Measured:
        system = system_of(self.matrix, self.size)
        if system.ours is None:
            raise InputError(system.source)
        single = system.single
        gflop = 1e-9 * self.b * flops_printed(system, single)
        return Measured(iteration(single, self.b), gflop, single.shape[0] == system.n)


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
            rate = found.modelled(machine, 1e-6 * values["wait"])
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
        rate = found.modelled(machine, 1e-6 * values["wait"])
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
        turned=(WAIT, SIZE),
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
            WAIT,
            SIZE,
        ),
        printed=fig6_printed,
        steps=fig6_steps,
        notes=NOTES,
        reason=REASON,
    ),
)
