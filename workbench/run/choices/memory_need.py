"""The memory that a run needs, from its configuration and before anything is assembled."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.deflation import CoarseSolver, Variant
from workbench.devices.element_wise import ElementWise
from workbench.devices.host.boxes import LONGEST_ROW
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.programs.counting import CountingDevice
from workbench.devices.programs.workspace import Workspace
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Size
from workbench.process import limits
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.rules import of_mixed
from workbench.settings import AUTO, BY_DIAGONALS, GIVEN, GIVEN_FORM, MIXED, PHASES, family_of, format_of, is_file
from workbench.solvers import Solver
from workbench.solvers.block.base import BlockSolver

DOUBLE = 8
LABEL = INDEX = 4
E_BYTES = 130
"""Bytes of E on the host for each vector, with the sums of restrictions, measured for boxes split by bubbles."""
ATTEMPTS = 8
"""Guesses of the largest n that fits, each from the last by the cube root, or square root, of the ratio of needs."""
MARGIN = 0.1
"""Part of an estimate that is not held against a run, since estimates are up to 6% above what devices allocate."""


class Where(enum.Enum):
    """Kinds of devices that store different things."""

    CORES = "cores"
    PROCESSOR = "processor by OpenCL"
    GPU = "GPU"


def where_of(device: Device) -> Where:
    """The kind of a device."""
    layout = getattr(device, "layout", None)
    if layout is None:
        return Where.CORES
    return Where.PROCESSOR if layout.chunked else Where.GPU


CHEAPER: dict[str, dict[str, Any]] = {
    "precision mixed": {"precision": MIXED},
    "coarse solver multilevel": {"coarse": "multilevel"},
}
"""Choices that take less memory, by their words."""


class MemoryItem(NamedTuple):
    """Bytes on the host and on the device of the run; on device cpu the host has all."""

    name: str
    host: int
    device: int = 0


@dataclasses.dataclass(frozen=True)
class MemoryNeed:
    """Memory that a run needs. items: those in use while it iterates. assembly: bytes of the host while the system is
    assembled. unknown: parts that follow from the entries of A and are not counted."""

    items: tuple[MemoryItem, ...]
    assembly: int
    unknown: tuple[str, ...] = ()

    @property
    def host(self) -> int:
        """Bytes of the host at the peak."""
        return max(self.assembly, sum(item.host for item in self.items))

    @property
    def device(self) -> int:
        """Bytes on an accelerator."""
        return sum(item.device for item in self.items)

    def plain(self) -> dict[str, Any]:
        """Plain data for JSON."""
        items = [item._asdict() for item in self.items if item.host or item.device]
        return {"host": self.host, "device": self.device, "items": items, "unknown": list(self.unknown)}


def memory_need(configuration: Configuration, where: Where) -> MemoryNeed | None:
    """The memory of a run; None where the size of A is not known, and for methods
    on two devices and with many right-hand sides. Cost: the solver's lines are planned, some milliseconds."""
    size, solver = configuration.problem.known_size, configuration.solver
    several = family_of(configuration.rhs)[1] or configuration.rhs in (PHASES, GIVEN)
    if size is None or several or is_file(configuration.rhs):
        return None
    counted = solver.in_family or solver.has_user_lines
    if isinstance(solver, BlockSolver) or solver.needs_accelerator or not counted or configuration.cluster:
        return None
    return _Estimate(configuration, size, where).need()


def checked_need(configuration: Configuration, device: Device) -> MemoryNeed | None:
    """The memory of a run on a device, None where it is not known.

    Raises InputError where it does not fit the device, the memory limit or the machine; the sentence says what would.
    """
    where = where_of(device)
    need = memory_need(configuration, where)
    if need is None:
        return None
    needed = _bytes(need, where)
    try:
        device.need_room(round((1 - MARGIN) * needed))
    except InputError:
        way = way_out(configuration, device.available_memory(0) or 0, where)
        try:
            device.need_room(needed, way.words)
        except InputError as error:
            raise InputError(str(error), changes=way.changes) from None
    available = limits.memory()[1]
    if (1 - MARGIN) * device.share * need.host > available:
        way = way_out(configuration, available, where, host=True)
        needed = in_words(need.plain(), available)
        raise InputError(f"{configuration.problem.spec} needs {needed}; {way.words}", changes=way.changes)
    return need


def in_words(plain: Mapping[str, Any], available: int | None = None) -> str:
    """The need as one clause, largest items first; plain: as `MemoryNeed.plain`."""
    side = "device" if plain["device"] else "host"
    total = _gigabytes(plain[side]) + (f" of {_gigabytes(available)} free" if available is not None else "")
    items = sorted(plain["items"], key=lambda item: -item[side])
    shown = [f"{item['name']} {_gigabytes(item[side])}" for item in items if item[side] > 0.01 * plain[side]]
    on_host = [f"{_gigabytes(plain['host'])} on the host"] if side == "device" else []
    uncounted = [f"{name} not counted" for name in plain["unknown"]]
    return f"{total}: " + ", ".join([*shown, *on_host, *uncounted])


def _gigabytes(nbytes: float) -> str:
    return f"{nbytes / 1e9:.3g} GB" if nbytes >= 1e8 else f"{nbytes / 1e6:.3g} MB"


class _Estimate:
    """The items of one run."""

    def __init__(self, configuration: Configuration, size: Size, where: Where) -> None:
        self._configuration, self._size, self._where = configuration, size, where
        self._on_host = where is Where.CORES
        self._mixed = configuration.precision == MIXED
        self._item = 4 if self._mixed else DOUBLE
        self._n = size.unknowns
        grid = size.grid
        deflation = configuration.deflation
        self._count = deflation.estimated_count(self._n, grid, configuration.problem.interface)
        self._box = deflation.estimated_box(grid or (self._n,))
        self._coarse, self._variant = self._second_level()

    def need(self) -> MemoryNeed:
        """All items."""
        unknown = []
        preconditioner = self._configuration.preconditioner
        first = preconditioner.needed_bytes(self._size, self._item, on_host=self._on_host)
        if first is None:
            unknown.append(f"preconditioner {preconditioner.name}")
        if self._count is None:
            unknown.append(f"deflation {self._configuration.deflation.name}")
        items = [
            MemoryItem("the problem's arrays", self._problem()),
            self._either("A", self._operator()),
            self._either("vectors of the run", self._vectors()),
            self._either("vectors of the solver", self._item * self._n * self._added()),
            self._either("preconditioner M", first or 0),
            *(self._deflation() if self._count else ()),
        ]
        return MemoryNeed(tuple(items), self._configuration.problem.assembly_bytes, tuple(unknown))

    def _either(self, name: str, nbytes: int) -> MemoryItem:
        """An item where the run takes place."""
        return MemoryItem(name, nbytes) if self._on_host else MemoryItem(name, 0, nbytes)

    def _operator(self) -> int:
        form = format_of(self._configuration.format)[0]
        if form != GIVEN_FORM:
            # The host keeps CSR, of which the other formats are made.
            return self._size.stored(form) + (self._size.stored("csr") if self._on_host and form != "csr" else 0)
        stencil = self._size.grid and not self._size.two_phases
        diagonal = DOUBLE * self._n if stencil and (self._on_host or not self._size.constant_diagonal) else 0
        return self._size.nbytes + diagonal

    def _problem(self) -> int:
        """Bytes of the problem that the host keeps: phases and b, and on accelerators bands and rows; x at the end."""
        problem = self._configuration.problem
        phases = self._n if problem.has_phases else 0
        b = 0 if problem.constant_b else DOUBLE * self._n
        if self._on_host:
            # The problem's own b is a vector of the run.
            return phases + (b if self._configuration.rhs != "problem" else 0)
        if self._configuration.format != GIVEN_FORM:
            return phases + b + self._size.stored("csr") + DOUBLE * self._n
        bands = DOUBLE * self._n if self._size.grid and not self._size.two_phases else 0
        return phases + b + self._size.nbytes + bands + DOUBLE * self._n

    def _vectors(self) -> int:
        """b, x, the true residual and the best x, those of the variant, and one where x leaves the null space of A."""
        double, variant = 4 + self._configuration.problem.is_closed, self._variant
        stored = 0
        if variant is not None:
            # P b, and the solution that belongs to an iterate.
            double += 2 * variant.projects_system
            fused = self._on_host and self._size.grid is not None
            stored = int(not fused or variant.name in ("def2", "bnn")) + (variant.name in ("a-def1", "bnn"))
        return (DOUBLE * double + self._item * stored) * self._n

    def _added(self) -> int:
        element_wise = self._configuration.preconditioner.element_wise
        wrapped = self._variant is not None and not self._variant.projects_system
        starts = self._variant is not None and self._variant.projects_start
        plain = self._size.constant_diagonal or self._configuration.preconditioner.name == "none"
        return added_vectors(
            self._configuration.solver,
            element_wise=element_wise and not wrapped,
            factor=not plain,
            mixed=self._mixed,
            corrects=starts,
        )

    def _second_level(self) -> tuple[CoarseSolver | None, Variant | None]:
        """Coarse solver and variant, resolved as in the setup."""
        chosen, coarse = self._configuration.variant, self._configuration.coarse
        if not self._count:
            return None, None
        exact = not chosen.accepts_inexact
        coarse = coarse.for_count(self._count, self._bandwidth, on_host=self._on_host, exact=exact)
        return coarse, chosen.resolved(coarse.is_exact(self._count) and not self._mixed)

    @property
    def _bandwidth(self) -> int:
        """The half-bandwidth of E in its best order: the vectors of a layer of subdomains across the longest side."""
        assert self._count is not None
        parts = [round(side / cells) for side, cells in zip(self._size.grid or (self._n,), self._box, strict=True)]
        return math.ceil(self._count / max(1, *parts))

    def _deflation(self) -> list[MemoryItem]:
        assert self._count is not None and self._coarse is not None and self._variant is not None
        count, n = self._count, self._n
        dimensions = len(self._size.grid or (0,))
        gpu, instead = self._where is Where.GPU, self._configuration.coarse.instead(count)
        may_be = [self._coarse, *([instead] if instead else [])]
        # The larger one, since which it is depends on the condition of E.
        host, device = map(
            max, *(one.needed_bytes(count, self._bandwidth, dimensions, gpu=gpu) for one in may_be), (0, 0)
        )
        names = " or ".join(one.name for one in may_be)
        if self._configuration.coarse.name == AUTO:
            names = f"{AUTO}, estimated as {names}"
        solver = MemoryItem(f"coarse solver {names}", host + E_BYTES * count, 0 if self._on_host else device)
        labels = LABEL * n
        if self._on_host:
            width = self._box[-1]
            # Rows of boxes have a label each, runs their first unknown and a label.
            labels += round((4 if width <= LONGEST_ROW and width == int(width) else 12) * n / width)
        items = [self._either("labels of deflation", labels), solver]
        if self._variant.uses_az or self._variant.projects_system:
            items.append(self._az(dimensions))
        return items

    def _az(self, dimensions: int) -> MemoryItem:
        """AZ as CSR in host memory, and in the form that is chosen on the device; bands of A where there were none."""
        touched = self._n * (1 - math.prod(max(0.0, 1 - 2 / side) for side in self._box))
        sides = zip(self._box, self._size.grid or (self._n,), strict=True)
        entries = touched + self._n * sum(2 / cells for cells, whole in sides if cells < whole)
        host = 12 * entries + LABEL * self._n
        if self._size.two_phases:
            host += DOUBLE * (dimensions + 1) * self._n
        if self._configuration.az == BY_DIAGONALS:
            # A part has neighbours on both sides, along every side of the grid that is divided.
            cut = sum(cells < whole for cells, whole in zip(self._box, self._size.grid or (self._n,), strict=True))
            stored = self._item * (1 + 2 * cut) * self._n
        else:
            stored = self._item * entries + (0 if self._on_host else INDEX * (entries + 2 * touched))
        return MemoryItem("AZ", round(host + stored)) if self._on_host else MemoryItem("AZ", round(host), round(stored))


@functools.lru_cache(256)
def added_vectors(solver: Solver, *, element_wise: bool, factor: bool, mixed: bool, corrects: bool) -> int:
    """Vectors that a solver has in addition to b and x, from the plan of its programs.

    factor: an element-wise M reads a vector. mixed, corrects: as in `workbench.run.loop.single.mixed`.
    """
    M = OperatorTraits()
    if element_wise:
        M = ElementWise("d*v", {"d": np.ones(2)}) if factor else ElementWise("v", {})
    names = (("x", "r", "p") if corrects else ("x", "r")) if mixed else ("b", "x")
    space = Workspace(
        CountingDevice(),
        2,
        np.dtype(np.float64),
        vectors={name: np.zeros(2) for name in names},
        operators={"A": OperatorTraits(), "M": M},
    )
    if not mixed:
        space.lines(*solver.texts(space))
        return len(space.added)
    if solver.from_residual:
        space.lines(solver.from_residual, solver.iterate)
    return len(names) - 1 + len(space.added)


class WayOut(NamedTuple):
    """Advice for a run that does not fit, in words, and its first part as changes of the configuration."""

    words: str
    changes: dict[str, Any]


def way_out(configuration: Configuration, room: int, where: Where, *, host: bool = False) -> WayOut:
    """Advice for a run that needs more than `room` bytes of its device, or of the host: a smaller n that fits, or
    choices that take less."""
    ways: dict[str, dict[str, Any]] = {}
    if fitting := largest_fitting(configuration, room, where, host=host):
        ways[f"n {fitting}, which fits"] = {"problem.n": fitting}
    for words, changes in CHEAPER.items():
        cheaper = _changed(configuration, changes)
        need = memory_need(cheaper, where) if cheaper else None
        if need and _bytes(need, where, host=host) <= room:
            ways[words] = changes
    if not ways:
        return WayOut("take a smaller problem, or raise the memory limit", {})
    return WayOut(f"use {' or '.join(ways)}", next(iter(ways.values())))


def largest_fitting(configuration: Configuration, room: int, where: Where, *, host: bool = False) -> int | None:
    """The largest n, a multiple of 8, that needs at most `room` bytes by the estimate; None without an n."""
    problem = configuration.problem
    n, size = problem.per_side, problem.known_size
    if n is None or size is None:
        return None
    dimensions = len(size.grid) if size.grid else 3
    for _ in range(ATTEMPTS):
        need = memory_need(configuration, where)
        if need is None or (used := _bytes(need, where, host=host)) <= room:
            return n if need else None
        n = int(min(n - 1, n * (room / used) ** (1 / dimensions))) // 8 * 8
        try:
            configuration = dataclasses.replace(configuration, problem=problem.changed({"n": n}))
        except InputError:
            return None
    return None


def _bytes(need: MemoryNeed, where: Where, *, host: bool = False) -> int:
    return need.host if host or where is Where.CORES else need.device


def _changed(configuration: Configuration, changes: dict[str, Any]) -> Configuration | None:
    """The configuration with other choices; None where they are made already or not available."""
    size = configuration.problem.known_size
    if "precision" in changes and (configuration.precision == MIXED or not (size and size.two_phases)):
        return None
    if "coarse" in changes and (
        configuration.deflation.name == "none"
        or configuration.coarse.name in (AUTO, "multilevel")
        or not configuration.variant.accepts_inexact
    ):
        return None
    changed = dataclasses.replace(configuration, **changes)
    return None if any(broken for broken, *_ in of_mixed(changed)) else changed
