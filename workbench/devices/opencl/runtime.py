"""The runtime protocol on an OpenCL device, and compiled programs on disk.

A driver takes a tenth of a second to read a source that it has compiled before, and a millisecond to read its own
binary. The files are those of `jit.store`. A binary is one of this driver, in this version, for this device; where the
driver refuses it, or the disk cannot be read, the source is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from workbench.devices.accelerator.runtime import Function, Handle, Span, Vector
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.prelude import Layout
from workbench.devices.opencl.stream import OpenCLSignal, OpenCLStream
from workbench.errors import DeviceError, InputError
from workbench.jit import compile_time as compiling
from workbench.jit import store

if TYPE_CHECKING:
    from types import ModuleType

    from pyopencl import Context, Device, Program


def built(cl: ModuleType, context: Context, device: Device, text: str, flags: Sequence[str]) -> Program:
    """The program of a source, from its binary if there is one. Raises what PyOpenCL raises for the source."""
    key = key_of(cl, device, text, flags)
    with warnings.catch_warnings():
        # Compilers report vectorized loops as warnings.
        warnings.simplefilter("ignore")
        if stored := store.read(key):
            with contextlib.suppress(cl.Error):
                return cl.Program(context, [device], [stored]).build(list(flags))
        program = cl.Program(context, text).build(list(flags))
        with contextlib.suppress(cl.Error):
            store.write(key, program.get_info(cl.program_info.BINARIES)[0])
    return program


def key_of(cl: ModuleType, device: Device, text: str, flags: Sequence[str]) -> str:
    """Under which the binary of a source is stored: of this driver, device and PyOpenCL."""
    versions = (device.platform.name, device.platform.version, device.name, device.version, device.driver_version)
    parts = ("opencl", cl.VERSION_TEXT, *versions, *flags, text)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


if TYPE_CHECKING:
    from types import ModuleType, TracebackType

    from pyopencl import Device, Event, Kernel, Program

    Returned = TypeVar("Returned")

CHUNK = 16384
MOST_CHUNKS = 1024
"""Chunks as on the CPU device: a chunk of two or three vectors stays in a core's private cache."""
GPU_GROUP = 256
GPU_GROUPS = 1024
# Allows reordered sums, which vectorize; NaN and infinity keep their meaning.
PROCESSOR_FLAGS = ("-cl-unsafe-math-optimizations",)
PROBE = "__kernel void probe(__global int* a) { a[get_global_id(0)] = 1; }"


class _OfThread(threading.local):
    """Events of the work that a thread asks for, noted while it is timed."""

    asked: list[Event] | None = None


class OpenCL:
    """One OpenCL device with its context and an in-order queue.

    layout: how work is distributed; by default in chunks on processors, strided on all other devices. name: as in
    `--device`. Raises InputError when the driver cannot compile a kernel.
    """

    def __init__(self, device: Device, layout: Layout | None = None, name: str = "opencl") -> None:
        import pyopencl as cl

        self._cl = cl
        self._device = device
        self.title = f"{device.platform.name.strip()}: {device.name.strip()}"
        self.name = name
        self.layout = layout or _layout(device, cl)
        self.flags = PROCESSOR_FLAGS if self.layout.chunked else ()
        """Options of the compiler."""
        self.largest = int(device.max_mem_alloc_size)
        self.memory = int(device.global_mem_size)
        self._one_at_a_time = threading.RLock()
        self._compiling_ahead = self.recording = False
        self.multiprocessors = 0
        self.functions: dict[tuple[str, str], Kernel] = {}
        """Compiled kernels, by text and name."""
        self._programs: dict[str, Program] = {}
        with self._errors():
            self._context = cl.Context([device])
            self._queue = cl.CommandQueue(self._context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self._thread = _OfThread()
        probe = self._build(PROBE, "probe")
        self.launch(probe, 1, 1, (self.allocate(4),))
        self.synchronize()

    def allocate(self, nbytes: int) -> Handle:
        if nbytes > self.largest:
            raise InputError(
                f"device {self.name} ({self.title}) holds arrays of at most {self.largest / 1e9:.3g} GB and one of "
                f"{nbytes / 1e9:.3g} GB was asked for; take a smaller problem or device cpu"
            )
        with self._errors():
            return self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, max(1, nbytes))

    def upload(self, handle: Handle, values: np.ndarray) -> None:
        if values.nbytes:
            with self._errors():
                self._cl.enqueue_copy(self._queue, handle, values, is_blocking=True)

    def download(self, handle: Handle, values: np.ndarray) -> None:
        if values.nbytes:
            with self._errors():
                self._cl.enqueue_copy(self._queue, values, handle, is_blocking=True)

    def copy(self, target: Handle, source: Handle, nbytes: int, *, target_at: int = 0, source_at: int = 0) -> None:
        if nbytes:
            with self._errors():
                if not self._compiling_ahead:
                    event = self._cl.enqueue_copy(
                        self._queue, target, source, byte_count=nbytes, src_offset=source_at, dst_offset=target_at
                    )
                    self._note(event)

    def part(self, handle: Handle, first: int, nbytes: int) -> None:
        """None: buffers of OpenCL have parts at multiples of some 128 bytes only."""

    def clear(self, handle: Handle, nbytes: int) -> None:
        if nbytes:
            with self._errors():
                self._note(self._cl.enqueue_fill_buffer(self._queue, handle, np.zeros(1, np.uint8), 0, nbytes))

    def compile(self, prelude: str, kernel: KernelText) -> Function:
        return self._build(prelude + kernel.text, kernel.name)

    def _build(self, text: str, name: str) -> Function:
        with self._errors():
            if text not in self._programs:
                with compiling.here():
                    self._programs[text] = built(self._cl, self._context, self._device, text, self.flags)
            if (text, name) not in self.functions:
                self.functions[text, name] = self._cl.Kernel(self._programs[text], name)
            return self.functions[text, name]

    def launch(
        self,
        function: Function,
        groups: int,
        group: int,
        arguments: tuple[Handle | np.generic, ...],
        *,
        spread: bool = False,
    ) -> None:
        # A kernel holds its arguments until it is enqueued, so two threads must not prepare it at once.
        with self._errors():
            if self._compiling_ahead:
                return
            function.set_args(*arguments)
            self._note(self._cl.enqueue_nd_range_kernel(self._queue, function, (groups * group,), (group,)))

    def resident(self, function: Function, group: int) -> int:
        """0: OpenCL has no launch whose groups may wait for one another."""
        return 0

    def launch_together(
        self, function: Function, groups: int, group: int, arguments: tuple[Handle | np.generic, ...]
    ) -> None:
        raise InputError(f"device {self.name} has no launch whose groups wait for one another; use device cuda")

    def synchronize(self) -> None:
        with self._errors():
            self._queue.finish()

    def flush(self) -> None:
        with self._errors():
            self._queue.flush()

    def pinned(self, nbytes: int) -> np.ndarray:
        kept = self._cl.mem_flags.READ_WRITE | self._cl.mem_flags.ALLOC_HOST_PTR
        both: Any = self._cl.map_flags.READ | self._cl.map_flags.WRITE
        with self._errors():
            buffer = self._cl.Buffer(self._context, kept, max(1, nbytes))
            # The array keeps the mapping, and that the memory.
            room, _ = self._cl.enqueue_map_buffer(self._queue, buffer, both, 0, (nbytes,), np.dtype(np.uint8))
        return room

    def stream(self) -> OpenCLStream:
        return OpenCLStream(self._cl, self._context, self._errors())

    def mark(self) -> OpenCLSignal:
        with self._errors():
            marker = self._cl.enqueue_marker(self._queue)
            self._queue.flush()
        return OpenCLSignal(marker, self._errors())

    def hold(self, signal: OpenCLSignal) -> None:
        with self._errors():
            self._cl.enqueue_barrier(self._queue, wait_for=[signal.event])

    def record(self, work: Callable[[], None]) -> Callable[[], None] | None:
        """None: OpenCL has no recording that all drivers support."""
        return None

    def repeated(self, work: Callable[[], None], unit: int, scalars: Vector) -> Callable[[int], None] | None:
        """None, as for `record`."""
        return None

    def compile_ahead(self, work: Callable[[], None], texts: tuple[str, ...] = ()) -> None:
        # The lock keeps other threads from launching: their launches would be skipped too.
        with self._errors():
            self._compiling_ahead = self.recording = True
            try:
                work()
            finally:
                self._compiling_ahead = self.recording = False

    def timed(self, work: Callable[[], Returned], name: str) -> tuple[Returned, Span | None]:
        # Work that other threads enqueue in the meantime is not counted.
        outer = self._thread.asked
        asked: list[Event] = []
        self._thread.asked = asked
        try:
            returned = work()
        finally:
            self._thread.asked = outer
        if outer is not None:
            outer += asked
        if not asked:
            return returned, None
        first, last = asked[0], asked[-1]
        return returned, lambda: (1e-9 * first.profile.start, 1e-9 * last.profile.end)

    def now(self) -> float:
        with self._errors():
            marker = self._cl.enqueue_marker(self._queue)
            marker.wait()
            return 1e-9 * marker.profile.end

    def _note(self, event: Event) -> None:
        asked = self._thread.asked
        if asked is not None:
            asked.append(event)

    def _errors(self) -> _Errors:
        return _Errors(self._one_at_a_time, self._cl.Error, f"device {self.name} ({self.title})")


class _Errors:
    """Holds the device's lock and turns errors of the driver into one sentence."""

    def __init__(self, lock: threading.RLock, of_driver: type[Exception], where: str) -> None:
        self._lock, self._of_driver, self._where = lock, of_driver, where

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        self._lock.release()
        if error is None or not isinstance(error, self._of_driver):
            return
        where, text = self._where, str(error)
        if "ALLOCATION_FAILURE" in text or "OUT_OF_HOST_MEMORY" in text:
            raise InputError(f"{where} is out of memory; take a smaller problem or device cpu") from None
        if "OUT_OF_RESOURCES" in text:
            # Drivers say so for either.
            raise DeviceError(
                f"{where} is out of memory, or a kernel failed ({text.splitlines()[0]}); take a smaller problem, or "
                "restart Python"
            ) from None
        if "BUILD_PROGRAM_FAILURE" in text or "COMPILE" in text:
            said = [line.strip() for line in text.splitlines() if "error" in line.lower()]
            raise InputError(
                f"{where} cannot compile kernels ({(said or text.splitlines())[0]}); install an OpenCL driver that "
                "knows this machine, for example conda's pocl, or use device cpu"
            ) from error
        raise DeviceError(
            f"{where} does not answer ({text.splitlines()[0]}); restart Python or use device cpu"
        ) from None


def choose(wanted: str = "") -> Device:
    """The OpenCL device whose number, or a part of whose platform's or own name, is `wanted`; else PoCL or the first.

    Raises InputError where PyOpenCL or a device is missing, and for a choice that fits none or several.
    """
    try:
        import pyopencl as cl
    except ImportError as error:
        raise InputError(
            f'device opencl needs PyOpenCL, which cannot be imported ({error}); run: pip install "pyopencl[pocl]"'
        ) from None
    try:
        devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except cl.Error:
        devices = []
    if not devices:
        raise InputError(
            'no OpenCL device was found; pip install "pyopencl[pocl]" makes one of the processor, or use device cpu'
        )
    names = [f"{device.platform.name.strip()}: {device.name.strip()}" for device in devices]
    listed = "; ".join(f"{number} = {name}" for number, name in enumerate(names))
    if wanted.isdigit():
        if int(wanted) >= len(devices):
            raise InputError(f"there is no OpenCL device {wanted}; known: {listed}")
        return devices[int(wanted)]
    if not wanted:
        ours = [device for device in devices if device.platform.name.startswith("Portable Computing Language")]
        return (ours or devices)[0]
    fitting = [number for number, name in enumerate(names) if wanted.lower() in name.lower()]
    if len(fitting) != 1:
        several = "several OpenCL devices fit" if fitting else "no OpenCL device fits"
        raise InputError(f"{several} {wanted!r}; choose opencl:<number> of: {listed}")
    return devices[fitting[0]]


def _layout(device: Device, cl: ModuleType) -> Layout:
    double = "cl_khr_fp64" in device.extensions
    if device.type & cl.device_type.CPU:
        return Layout("opencl", 1, 1, chunked=True, least=CHUNK, groups=MOST_CHUNKS, double=double)
    group = GPU_GROUP
    while group > device.max_work_group_size:
        group //= 2
    return Layout("opencl", group, group, chunked=False, least=group, groups=GPU_GROUPS, double=double)
