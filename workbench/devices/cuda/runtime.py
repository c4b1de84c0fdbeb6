"""The runtime protocol on a CUDA device; CuPy compiles the kernels with NVRTC.

All work goes to one stream, so that the launches of an iteration can be recorded as a graph and replayed by one call.
Iterations whose memory fits the last-level cache can run in one launch, see `repeated.py`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from workbench.devices.accelerator.runtime import Handle, Span, Vector
from workbench.devices.cuda import cholesky, copies, repeated
from workbench.devices.cuda.copies import CudaSignal, CudaStream
from workbench.devices.cuda.guard import Guard
from workbench.devices.cuda.kernel import Kernel, Kernels
from workbench.devices.cuda.repeated import in_units, iterations_of_graph
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.prelude import Layout
from workbench.errors import InputError

if TYPE_CHECKING:
    Returned = TypeVar("Returned")

GROUP = 256
FINISH = 256
GROUPS = 2048
LAYOUT = Layout("cuda", GROUP, FINISH, chunked=False, least=GROUP, groups=GROUPS)
MOST_GROUPS_PER_MULTIPROCESSOR = 4
"""Most groups of a persistent kernel: enough to saturate memory, few enough for fast barriers."""
PASS_GROUPS_PER_GROUP = 4
"""Groups of a pass per group of a persistent kernel, unless more are needed to fill the chip."""
COUNTER = 4
"""Bytes of the counter of the grid-wide barrier."""
INSTALL = 'pip install "cupy-cuda13x[ctk]" (or cupy-cuda12x for an older driver)'


class _OfThread(threading.local):
    """The launches of a thread so far, and the kernels of the iteration that it recorded last."""

    launches = 0
    iteration: tuple[int, ...]


class Cuda:
    """CUDA device `number`. Raises InputError where CuPy, the driver or the device is missing."""

    def __init__(self, number: int = 0) -> None:
        try:
            import cupy  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            detail = str(error).splitlines()[0] if str(error) else "without a reason"
            raise InputError(f"device cuda needs CuPy, which cannot be imported ({detail}); run: {INSTALL}") from None
        self._cupy = cupy
        self.name = f"cuda:{number}" if number else "cuda"
        self.number = number
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            detail = str(error).splitlines()[0]
            raise InputError(
                f"device cuda finds no CUDA device ({detail}); install an NVIDIA driver or use device opencl or cpu"
            ) from None
        if number >= count:
            raise InputError(
                f"there is no CUDA device {number}, this machine has {count}; use cuda:0 to cuda:{count - 1}"
            )
        self._device = cupy.cuda.Device(number)
        properties = cupy.cuda.runtime.getDeviceProperties(number)
        self.title = properties["name"].decode()
        self.bus: str = self._device.pci_bus_id
        """The place of the device on its host, which no two devices share."""
        self.largest = self.memory = int(properties["totalGlobalMem"])
        self.layout = LAYOUT
        self._guard = Guard(cupy, self._device, f"device {self.name} ({self.title})")
        with self._device:
            # Blocking: it synchronizes with copies from and to the host, which use CUDA's default stream.
            self._stream = cupy.cuda.Stream()
        self._kernels = Kernels(self._compiled)
        self.recording = False
        self.persist: bool | None = None
        """True for iterations in a persistent kernel; None: where their memory fits the last-level cache."""
        self._cache, self._multiprocessors = int(properties["l2CacheSize"]), int(properties["multiProcessorCount"])
        self._cooperates = bool(properties.get("cooperativeLaunch", 0))
        self.multiprocessors = self._multiprocessors if self._cooperates else 0
        self._ahead = set[Any]()
        """Texts that `compile_ahead` has run, each with the kernels of the iteration that was recorded before."""
        self._collected: list[repeated.Launch] | None = None
        self._only_kernels = True
        self._thread = _OfThread()
        self._zero: Any = None

    cholesky_solve, cholesky_inverse = cholesky.solve, cholesky.inverse

    def allocate(self, nbytes: int) -> Handle:
        with self._guarded():
            return self._cupy.ndarray((max(1, nbytes),), np.uint8)

    def upload(self, handle: Handle, values: np.ndarray) -> None:
        with self._guarded():
            if self.recording and self._collected is None:
                raise RuntimeError("a recorded copy would read the host anew each time")
            if values.nbytes >= copies.LEAST:
                self._staging.upload(handle.data.ptr, values)
                return
            # Of pageable memory the driver has its own copy when this returns.
            runtime = self._cupy.cuda.runtime
            places = handle.data.ptr, values.ctypes.data
            runtime.memcpyAsync(*places, values.nbytes, runtime.memcpyHostToDevice, self._stream.ptr)

    def download(self, handle: Handle, values: np.ndarray) -> None:
        with self._guarded():
            if values.nbytes >= copies.LEAST:
                self._staging.download(handle.data.ptr, values)
                return
            runtime = self._cupy.cuda.runtime
            runtime.memcpy(values.ctypes.data, handle.data.ptr, values.nbytes, runtime.memcpyDeviceToHost)

    @functools.cached_property
    def _staging(self) -> copies.Staging:
        return copies.Staging(self._cupy, self._stream)

    def copy(self, target: Handle, source: Handle, nbytes: int, *, target_at: int = 0, source_at: int = 0) -> None:
        with self._guarded():
            if self._collected is not None:
                self._only_kernels = False
                return
            runtime = self._cupy.cuda.runtime
            kind, places = runtime.memcpyDeviceToDevice, (target.data.ptr + target_at, source.data.ptr + source_at)
            runtime.memcpyAsync(*places, nbytes, kind, self._stream.ptr)

    def part(self, handle: Handle, first: int, nbytes: int) -> Handle:
        return handle[first : first + nbytes]

    def clear(self, handle: Handle, nbytes: int) -> None:
        with self._guarded():
            if self._collected is not None:
                # New memory must be cleared: recorded work would read uninitialized values.
                self._only_kernels = False
            self._cupy.cuda.runtime.memsetAsync(handle.data.ptr, 0, nbytes, self._stream.ptr)

    def compile(self, prelude: str, kernel: KernelText) -> Kernel:
        with self._guarded():
            return self._kernels.get(prelude + kernel.text, kernel.name, (prelude, kernel))

    def _compiled(self, text: str, name: str) -> Any:
        """On any thread, without the lock: the thread that has it may be waiting for this kernel."""
        with self._device:
            # `kernel` compiles now, and calling it skips the dictionaries of its wrapper.
            return self._cupy.RawModule(code=text, backend="nvrtc").get_function(name).kernel

    def launch(
        self,
        function: Kernel,
        groups: int,
        group: int,
        arguments: tuple[Handle | np.generic, ...],
        *,
        spread: bool = False,
    ) -> None:
        with self._guarded():
            if self._collected is not None:
                assert function.source
                self._collected.append(repeated.Launch(*function.source, groups, group, arguments, spread, function))
                return
            (function.ready or function.wait())((groups,), (group,), arguments, stream=self._stream)
            self._launched()

    def resident(self, function: Kernel, group: int) -> int:
        return self._resident_groups(function, group, 0) * self._multiprocessors if self._cooperates else 0

    def _resident_groups(self, kernel: Kernel, group: int, nbytes: int) -> int:
        """Groups that a multiprocessor holds at once. nbytes: shared memory of a group that its launch adds."""
        with self._guarded():
            function = kernel.wait()
            return self._cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, group, nbytes)

    def launch_together(
        self, function: Kernel, groups: int, group: int, arguments: tuple[Handle | np.generic, ...]
    ) -> None:
        with self._guarded():
            if self._collected is not None:
                # It has barriers of its own, so it cannot be a step of another persistent kernel.
                self._only_kernels = False
                return
            function.wait()((groups,), (group,), arguments, 0, self._stream, enable_cooperative_groups=True)
            self._launched()

    def synchronize(self) -> None:
        with self._guarded():
            self._stream.synchronize()

    def flush(self) -> None:
        """CUDA submits work at once."""

    # For libraries that take CUDA addresses.

    def enqueue(self, work: Callable[[int], None]) -> None:
        """Let another library enqueue work in the stream whose address it gets; a recorded graph repeats it."""
        with self._guarded():
            if self._collected is not None:
                # A persistent kernel could not do it.
                self._only_kernels = False
                return
            work(self._stream.ptr)
            self._launched()

    def address(self, handle: Handle) -> int:
        """The device address of the memory."""
        return handle.data.ptr

    @property
    def own_stream(self) -> Any:
        """The stream of all work, as CuPy has it."""
        return self._stream

    def alone(self) -> AbstractContextManager[None]:
        """A context in which no other thread uses the device; errors of CUDA are raised as one sentence."""
        return self._guarded()

    def synchronize_all(self) -> None:
        """Wait for all work on the device, also in streams of other libraries."""
        with self._guarded():
            self._device.synchronize()

    def pinned(self, nbytes: int) -> np.ndarray:
        with self._guarded():
            return np.frombuffer(self._cupy.cuda.alloc_pinned_memory(max(1, nbytes)), np.uint8, nbytes)

    def stream(self) -> CudaStream:
        return CudaStream(self._cupy, self._guarded, self._since_zero)

    def mark(self) -> CudaSignal:
        with self._guarded():
            event = self._cupy.cuda.Event()
            event.record(self._stream)
        return CudaSignal(event, self._guarded, self._since_zero)

    def hold(self, signal: CudaSignal) -> None:
        with self._guarded():
            self._stream.wait_event(signal.event)

    def record(self, work: Callable[[], None]) -> Callable[[], None] | None:
        with self._guarded():
            try:
                self._stream.begin_capture()
                self.recording = True
                try:
                    work()
                finally:
                    self.recording = False
                    graph = self._stream.end_capture()
            except (RuntimeError, InputError):
                # Without recording, launches are made one by one.
                return None

        def repeat() -> None:
            with self._guarded():
                graph.launch(self._stream)
                self._launched()

        return repeat

    def repeated(self, work: Callable[[], None], unit: int, scalars: Vector) -> Callable[[int], None] | None:
        copied = scalars.nbytes <= repeated.MOST_SCALARS
        launches, only_kernels = self._collect(work)
        self._thread.iteration = tuple(id(launch.function) for launch in launches)
        if (
            only_kernels
            and self.persist is not False
            and self._cooperates
            and copied
            and repeated.fit_together(launches)
        ):
            touched = {number: handle for launch in launches for number, handle in launch.handles.items()}
            fits = self.persist or sum(handle.nbytes for handle in touched.values()) <= self._cache
            repeat = self._iterations(launches, scalars) if fits else None
            if repeat:
                return repeat

        def replay() -> None:
            for launch in launches:
                self.launch(launch.function, launch.groups, launch.group, launch.arguments)

        again = replay if only_kernels else work
        unit = iterations_of_graph(unit, len(launches))
        self._compile_all()

        def some() -> None:
            for _ in range(unit):
                again()

        one = self.record(again)
        many = one if unit == 1 else self.record(some)
        return None if many is None or one is None else in_units(one, many, unit)

    def compile_ahead(self, work: Callable[[], None], texts: tuple[str, ...] = ()) -> None:
        known = texts, self._thread.iteration if texts else ()
        if known not in self._ahead or not texts:
            self._collect(work)
            self._ahead.add(known)
        self._compile_all()

    def _compile_all(self) -> None:
        """Wait for the kernels that are being compiled."""
        with self._guarded():
            self._kernels.wait()

    def _launched(self) -> None:
        self._thread.launches += 1

    def _collect(self, work: Callable[[], None]) -> tuple[list[repeated.Launch], bool]:
        """The launches of `work`, none of which is carried out, and True if it does nothing else, such as a copy."""
        collected: list[repeated.Launch] = []
        # The lock keeps other threads from launching: their launches would be collected too.
        with self._guarded():
            self._collected, self._only_kernels, self.recording = collected, True, True
            try:
                work()
            finally:
                self._collected, self.recording = None, False
        return collected, bool(collected) and self._only_kernels

    def _iterations(self, launches: list[repeated.Launch], scalars: Vector) -> Callable[[int], None] | None:
        """Iterations as one cooperative launch, with all the groups that fit on the chip; None if none fits."""
        text, arguments = repeated.source(launches, scalars.handle, scalars.size)
        kernel = self._kernels.get(text, repeated.NAME)
        group, arena = launches[0].group, repeated.ARENA
        if not (resident := self._resident_groups(kernel, group, arena)):
            return None
        function = kernel.wait()
        most = max(launch.groups for launch in launches)
        wanted = -(-most // (PASS_GROUPS_PER_GROUP * self._multiprocessors))
        groups = min(resident, wanted, MOST_GROUPS_PER_MULTIPROCESSOR) * self._multiprocessors
        arrivals = self.allocate(COUNTER)

        def repeat(times: int) -> None:
            self.clear(arrivals, COUNTER)
            with self._guarded():
                values = (scalars.handle, arrivals, np.int32(times), *arguments)
                function((groups,), (group,), values, arena, self._stream, enable_cooperative_groups=True)
                self._launched()

        return repeat

    def timed(self, work: Callable[[], Returned], name: str) -> tuple[Returned, Span | None]:
        with self._guarded():
            # An event belongs to the device that is selected.
            events = self._cupy.cuda.Event(), self._cupy.cuda.Event()
            before = self._thread.launches
            events[0].record(self._stream)
        self._cupy.cuda.nvtx.RangePush(name)
        try:
            returned = work()
        finally:
            self._cupy.cuda.nvtx.RangePop()
        with self._guarded():
            if self._thread.launches == before:
                return returned, None
            events[1].record(self._stream)
        return returned, lambda: (self._since_zero(events[0]), self._since_zero(events[1]))

    def now(self) -> float:
        with self._guarded():
            if self._zero is None:
                self._zero = self._cupy.cuda.Event()
                self._zero.record(self._stream)
            event = self._cupy.cuda.Event()
            event.record(self._stream)
            event.synchronize()
        return self._since_zero(event)

    def _since_zero(self, event: Any) -> float:
        with self._guarded():
            return 1e-3 * self._cupy.cuda.get_elapsed_time(self._zero, event)

    def _guarded(self) -> Guard:
        """A context with the device selected and locked; errors of CUDA are raised as one sentence."""
        return self._guard
