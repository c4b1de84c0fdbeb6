"""Dry execution of a recurrence, and the time of an iteration in the steady state of what it records.

It runs on shape-only cores, and pair and split of `devices.pair` over them: programs are planned and nothing is run. A
host vector is a constant one (`devices.constant`), which has a length and takes no memory. The accelerator is the real
class over a `ShapeOnlyRuntime`, which executes nothing and counts launches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from workbench.devices import pair
from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.runtime import Span, Vector
from workbench.devices.clock import Recorder
from workbench.devices.constant import constant
from workbench.devices.cpu import Cpu
from workbench.devices.dry_run.sizes import BlockSizes, Cut, Sizes, blocks
from workbench.devices.element_wise import ElementWise
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.prelude import Layout
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.pair.split import RowBlocks
from workbench.devices.programs.workspace import Workspace
from workbench.devices.traffic import product_flops
from workbench.lines.types import OperatorDot

if TYPE_CHECKING:
    from workbench.devices.clock import Returned


class ShapeOnlyRuntime:
    """The runtime protocol without memory, compiler or work. In its clock every launch takes one second.

    Thus the span of an event is the number of its launches, and only what launches belongs to the accelerator.
    """

    name = title = "dry run"
    layout = Layout("opencl", group=256, finish=256, chunked=False, least=1024, groups=1024)
    largest = memory = 1 << 62
    recording = False
    multiprocessors = 0

    def __init__(self) -> None:
        self.launched = 0

    def allocate(self, nbytes: int) -> object:
        return object()

    def upload(self, handle: object, values: np.ndarray) -> None:
        """No memory to fill."""

    def download(self, handle: object, values: np.ndarray) -> None:
        """No memory to read: the array keeps its entries."""

    def copy(self, target: object, source: object, nbytes: int, *, target_at: int = 0, source_at: int = 0) -> None:
        """No memory to copy."""

    def part(self, handle: object, first: int, nbytes: int) -> object:
        return object()

    def clear(self, handle: object, nbytes: int) -> None:
        """No memory to clear."""

    def compile(self, prelude: str, kernel: KernelText) -> object:
        return object()

    def launch(
        self, function: object, groups: int, group: int, arguments: tuple[object, ...], *, spread: bool = False
    ) -> None:
        self.launched += 1

    def resident(self, function: object, group: int) -> int:
        return 0

    def launch_together(self, function: object, groups: int, group: int, arguments: tuple[object, ...]) -> None:
        self.launched += 1

    def timed(self, work: Callable[[], Returned], name: str) -> tuple[Returned, Span | None]:
        before = self.launched
        returned = work()
        launches = self.launched - before
        return returned, (lambda: (0.0, float(launches))) if launches else None

    def now(self) -> float:
        return time.perf_counter()

    def synchronize(self) -> None:
        """All work is done at once."""

    def flush(self) -> None:
        """No work is queued."""

    def pinned(self, nbytes: int) -> np.ndarray:
        """Real memory; only the scalars, which are few, are copied to it."""
        return np.zeros(nbytes, np.uint8)

    def stream(self) -> ShapeOnlyStream:
        return ShapeOnlyStream()

    def mark(self) -> Reached:
        return Reached()

    def hold(self, signal: object) -> None:
        """The clock records what a kernel waits for."""

    def record(self, work: Callable[[], None]) -> None:
        """Nothing can be recorded."""

    def repeated(self, work: Callable[[], None], unit: int, scalars: object) -> None:
        """Nothing can be recorded."""

    def compile_ahead(self, work: Callable[[], None], texts: tuple[str, ...] = ()) -> None:
        """No compiler."""


class Reached:
    """A signal that is reached from the start."""

    def wait(self) -> None:
        """Return at once."""

    def span(self) -> tuple[float, float]:
        return 0.0, 0.0


class ShapeOnlyStream:
    """A stream whose copies do nothing."""

    def to_host(self, values: np.ndarray, handle: object, after: object = None, offset: int = 0) -> Reached:
        return Reached()

    def to_device(self, handle: object, values: np.ndarray, after: object = None, offset: int = 0) -> Reached:
        return Reached()


class Product(OperatorTraits):
    """A matrix-vector product of which only entries and bytes are known; accelerator: where it runs, None for cores.

    The products of the devices cannot take its place: each reads the row pointers, N numbers, when it is made.
    """

    def __init__(
        self, block: BlockSizes, dtype: np.dtype, accelerator: Accelerator | None, *, fused_dots: bool
    ) -> None:
        self.fused_dots = tuple(OperatorDot) if fused_dots else ()
        self.traffic, self.flops = block.nbytes, product_flops(block.entries, dtype)
        self._accelerator = accelerator
        self._dots: Dots | np.ndarray = Dots(accelerator, dtype, 1) if accelerator else np.zeros(3)

    def apply(self, x: object, out: object, *_: str) -> Dots | np.ndarray:
        if self._accelerator:
            self._accelerator.launch(None, 1)
        return self._dots


def whole(sizes: Sizes, accelerator: Accelerator | None) -> Product:
    """The product with the whole matrix."""
    return Product(BlockSizes(sizes.entries, sizes.product_bytes), sizes.dtype, accelerator, fused_dots=True)


class Cores(Cpu):
    """The cores with vectors that have a length only. Passes are planned and not compiled; scalars are real."""

    def zeros(self, size: int, dtype: np.dtype) -> np.ndarray:
        return constant(0, size, dtype)

    def array(self, values: np.ndarray, dtype: np.dtype) -> np.ndarray:
        return values

    @staticmethod
    def compile_pass(*_: object) -> None:
        """No kernel."""

    @staticmethod
    def bind_pass(*_: object) -> Callable[[], None]:
        return _nothing


class Pair(pair.Pair):
    """`pair.Pair` on a runtime that executes nothing."""

    def __init__(self) -> None:
        super().__init__(Accelerator(ShapeOnlyRuntime()))
        self.cores = Cores()

    def to_host(self, vector: Vector) -> np.ndarray:
        return constant(0, vector.size, vector.dtype)

    def pinned_vector(self, size: int, dtype: np.dtype) -> np.ndarray:
        return constant(0, size, dtype)


class Split(Cores, pair.Split):
    """`pair.Split` on a runtime that executes nothing, with the blocks of a `Cut`."""

    def __init__(self, sizes: Sizes, cut: Cut) -> None:
        rows, size, dtype = cut.rows, sizes.size, sizes.dtype
        accelerator = Accelerator(ShapeOnlyRuntime())
        here, there = blocks(sizes, cut)

        def part(block: BlockSizes, side: Accelerator | None) -> Product:
            return Product(block, dtype, side, fused_dots=False)

        made = RowBlocks(
            rows=rows,
            near=(part(here[0], None), part(here[1], None)),
            far=(part(there[0], accelerator), part(there[1], accelerator)),
            cpu_ghosts=(rows, rows + min(cut.border, size - rows)),
            accelerator_ghosts=(rows - min(cut.border, rows), rows),
            exchanged=constant(0, size, dtype),
            arrived=accelerator.zeros(rows, dtype),
        )
        super().__init__(accelerator, made, "dry run")


def _nothing() -> None:
    pass


ITERATIONS = 8
"""Enough for the overlap of copies and kernels of neighbouring iterations to become periodic."""


class Method(Protocol):
    """The part of a solver that a dry run calls."""

    needs_accelerator: ClassVar[bool]

    def iterates(self, workspace: Workspace, /) -> Iterator[None]: ...


def execute(
    method: Method,
    sizes: Sizes,
    recorder: Recorder,
    *,
    cores: bool = False,
    cut: Cut | None = None,
    iterations: int = ITERATIONS,
    fuse: bool = True,
) -> Workspace:
    """Record the start and `iterations` of a method with Jacobi; returns the workspace, for its vectors.

    cores: where a method for one device runs. cut: the row split of hybrid 3. An event on the accelerator lasts a
    second for each of its launches; other times mean nothing.
    """
    device = _device(method, sizes, cores, cut)
    accelerator = device if isinstance(device, Accelerator) else None
    clock = device.clock(recorder)
    workspace = device.workspace(
        sizes.size,
        sizes.dtype,
        vectors={name: device.zeros(sizes.size, sizes.dtype) for name in ("b", "x")},
        operators={"A": whole(sizes, accelerator), "M": _jacobi(sizes, device)},
        fuse=fuse,
        clock=clock,
    )
    recurrence = method.iterates(workspace)
    for iteration in range(iterations + 1):
        clock.iteration = iteration
        next(recurrence)
    clock.resolve()
    return workspace


def steady_seconds(iterations: np.ndarray, ends: np.ndarray) -> float:
    """Mean seconds between the ends of consecutive iterations, over the second half of at most ITERATIONS.

    iterations, ends: of every event. The number of iterations is even, since hybrid 2 alternates between two vectors.
    """
    last = int(iterations.max())
    middle = last - max(1, min(ITERATIONS, last) // 2)
    return float(ends[iterations <= last].max() - ends[iterations <= middle].max()) / (last - middle)


def _device(method: Method, sizes: Sizes, cores: bool, cut: Cut | None) -> Accelerator | Cpu:
    if not method.needs_accelerator:
        return Cores() if cores else Accelerator(ShapeOnlyRuntime())
    return Split(sizes, cut) if cut else Pair()


def _jacobi(sizes: Sizes, device: Accelerator | Cpu) -> ElementWise:
    if sizes.constant_diagonal:
        return ElementWise("0.5*v", {})
    return ElementWise("d*v", {"d": device.array(constant(1, sizes.size, sizes.dtype), sizes.dtype)})
