"""The device protocol: memory, reductions, programs, operators and the clock, whatever carries them out.

Implementations: `cpu.Cpu` (LLVM), `accelerator.Accelerator` (OpenCL and CUDA), `pair.Pair` and `pair.Split` (cores and
accelerator together). A device vector is whatever `array` and `zeros` return: a NumPy array on the CPU, a handle on an
accelerator. It has `size`, `shape`, `dtype` and `nbytes`; only the device that made it can do arithmetic with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.clock import Clock, Recorder
from workbench.devices.collectives import Collectives
from workbench.devices.fast_diagonalization import Diagonalized
from workbench.devices.host.face_codes import FaceCodes
from workbench.devices.operator_protocols import (
    BlockAlgebra,
    BlockWatch,
    DeviceOperator,
    DeviceVector,
    OnePass,
    PieceVectors,
    SeriesTerm,
    SubdomainSolves,
    Watch,
)
from workbench.devices.pieces import Pieces
from workbench.devices.programs.function import Lines, LinesDevice
from workbench.devices.programs.workspace import Workspace
from workbench.devices.second_level import SecondLevel
from workbench.lazy import sparse

if TYPE_CHECKING:
    from workbench.arrays.validation import Drawn
    from workbench.devices.bound import Bound, Request
    from workbench.devices.element_wise import ElementWise
    from workbench.devices.programs.block_workspace import BlockWorkspace
    from workbench.devices.slices import PlaneSlice, VolumeSlice
    from workbench.lines.schedule import Inlined


class Memory(Protocol):
    """Vectors, and the room for them."""

    def need(self, dtype: np.dtype) -> None:
        """Raise InputError where the device does not compute in this precision."""
        ...

    def need_room(self, nbytes: int, way_out: str = "") -> None:
        """Raise InputError where a run may not use `nbytes` more; way_out ends the sentence."""
        ...

    def available_memory(self, stored: int) -> int | None:
        """Bytes that a run may still take, None for no bound. stored: bytes of A, where the device counts nothing."""
        ...

    def array(self, values: Any, dtype: np.dtype) -> DeviceVector:
        """Host values on the device, contiguous, of the same shape; copied only where they must be."""
        ...

    def holds(self, values: object) -> bool:
        """True for a user's vector in the memory of this device, a `UserVector`."""
        ...

    def to_device(self, values: np.ndarray) -> DeviceVector:
        """The device's copy of a host array; the same one for all who ask during a setup, while it is in use."""
        ...

    def forget_copies(self) -> None:
        """A setup begins: host arrays may have changed since the last one."""
        ...

    def drawn(self, numbers: Drawn, dtype: np.dtype) -> DeviceVector | None:
        """Random numbers that the device draws into its memory; None where the host does."""
        ...

    def zeros(self, size: int, dtype: np.dtype) -> DeviceVector:
        """A new vector of zeros, shape (size,)."""
        ...

    def copy(self, vector: DeviceVector) -> DeviceVector:
        """A new vector with the same entries."""
        ...

    def assign(self, target: DeviceVector, source: DeviceVector) -> None:
        """target = source."""
        ...

    def zero_block(self, size: int, columns: int, dtype: np.dtype) -> DeviceVector:
        """An N x columns block vector of zeros, row-major."""
        ...

    def as_block(self, vector: DeviceVector) -> DeviceVector:
        """The vector as a block vector of one column, in the same memory."""
        ...

    def as_vector(self, block: DeviceVector) -> DeviceVector:
        """A block vector of one column as a vector, in the same memory."""
        ...

    def take_columns(self, block: DeviceVector, first: int, targets: Sequence[DeviceVector]) -> None:
        """targets[k] = column first + k of a block vector."""
        ...

    def put_columns(self, sources: Sequence[DeviceVector], block: DeviceVector, first: int) -> None:
        """Column first + k of a block vector = sources[k]."""
        ...

    def prepare_columns(self, block: DeviceVector, vectors: Sequence[DeviceVector]) -> None:
        """Compile both copies for that number of vectors."""
        ...

    def to_host(self, vector: DeviceVector) -> np.ndarray:
        """The vector as a NumPy array; waits for the device."""
        ...

    def plane(self, vector: DeviceVector, plane_slice: PlaneSlice, /) -> np.ndarray:
        """A plane of the vector, a new NumPy array of shape `plane_slice.result_shape`; no more is copied."""
        ...

    def volume(self, vector: DeviceVector, volume_slice: VolumeSlice, /) -> np.ndarray:
        """The downsampled vector, a new NumPy array of shape `volume_slice.result_shape`; no more is copied."""
        ...

    def release(self) -> None:
        """Free the memory of a run whose device this is alone."""
        ...

    def whole(self, vector: DeviceVector) -> DeviceVector:
        """The vector with the rows of all sides gathered."""
        ...

    def overlap(self, a: DeviceVector, b: DeviceVector) -> bool:
        """True if two vectors share memory."""
        ...


class Reductions(Collectives, Protocol):
    """Norms and dot products outside programs. Sums are in double precision where the device has it."""

    def norm(self, vector: DeviceVector) -> float:
        """||v||, also where squares under- or overflow; waits for the device."""
        ...

    def vdot(self, a: DeviceVector, b: DeviceVector) -> complex:
        """(a, b); waits for the device."""
        ...

    def subtract_from(self, b: DeviceVector, s: DeviceVector) -> None:
        """s = b - s."""
        ...

    def dots(self, dtype: np.dtype) -> OnePass:
        """The dot products (x, y), (y, y) and (x, x) of two vectors in one pass, compiled here."""
        ...

    def block_algebra(self) -> BlockAlgebra:
        """Gram matrices of block vectors, and block vectors times small matrices."""
        ...


class Programs(LinesDevice, Protocol):
    """Paper lines, compiled for this device, and the scalars that they compute."""

    @property
    def check_every(self) -> int:
        """Iterations between the first two reads of the scalars."""
        ...

    def lines(
        self, text: str, *, fuse: bool = True, operators: Mapping[str, DeviceOperator | Inlined] | None = None
    ) -> Lines:
        """Compile paper lines into a function of named arrays and numbers. Raises LinesError."""
        ...

    def workspace(
        self,
        size: int,
        dtype: np.dtype,
        *,
        vectors: Mapping[str, DeviceVector],
        operators: Mapping[str, DeviceOperator | Inlined] | None = None,
        fuse: bool = True,
        clock: Clock | None = None,
        stored: np.dtype | None = None,
    ) -> Workspace:
        """The named vectors and scalars of one solve; stored: see `Workspace`."""
        ...

    def watch(self, workspace: Workspace, every: int | None) -> Watch:
        """The scalars of up to `every` iterations; None for as many as suit the device."""
        ...

    def synchronize(self) -> None:
        """Wait for all work."""
        ...


class Operators(Protocol):
    """A and first-level preconditioners."""

    def bind(self, request: Request) -> Bound:
        """A kernel of the kernel language, compiled for this device and bound to arrays."""
        ...

    def stencil(self, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]) -> DeviceOperator:
        """The product with a symmetric stencil."""
        ...

    def faces(self, faces: FaceCodes, dtype: np.dtype) -> DeviceOperator:
        """The product with codes of faces, for vectors of that dtype; arithmetic is in double precision."""
        ...

    def box_stencil(
        self, grid: tuple[int, int, int], reach: int, diagonal: float, coupling: float, dtype: np.dtype
    ) -> DeviceOperator:
        """The product with a box operator on a grid (nz, ny, nx)."""
        ...

    def box_sweeps(
        self,
        shapes: Sequence[tuple[int, int]],
        main: np.ndarray | float,
        lower_x: np.ndarray | float,
        lower_y: np.ndarray | float,
        sweeps: int,
        precision: str = "float64",
        kernel: str = "auto",
    ) -> DeviceOperator:
        """z = `sweeps` Jacobi sweeps for r on many boxes of a 5-point operator, from z = 0; see `jacobi_boxes`."""
        ...

    def csr(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> DeviceOperator:
        """The product with a CSR matrix."""
        ...

    def stored(self, matrix: sparse.csr_array, name: str, items_per_row: int | None = None) -> DeviceOperator:
        """The product with a square matrix in the format of that name; items_per_row: of CSR, as in `ops.csr`."""
        ...

    def callable(self, product: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype) -> DeviceOperator:
        """The product with a function of NumPy arrays."""
        ...

    def applied(self, operator: ElementWise, size: int, dtype: np.dtype) -> DeviceOperator:
        """An element-wise operator on vectors of shape (size,) as a kernel of its own, for where it cannot be fused."""
        ...

    def scaled_bands(
        self, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]
    ) -> tuple[tuple[DeviceVector, ...], DeviceVector]:
        """The lower bands of L D^-1 of a stencil, and D^-1, on the device."""
        ...

    def stencil_series(
        self, bands: tuple[DeviceVector, ...], strides: tuple[int, ...], inverse_diagonal: DeviceVector, order: int
    ) -> DeviceOperator:
        """K^H D^-1 K for the strictly lower bands of L D^-1, K the Neumann series of that order."""
        ...

    def face_series(self, faces: FaceCodes, dtype: np.dtype, order: int) -> DeviceOperator:
        """K^H D^-1 K for codes of faces, for vectors of that dtype."""
        ...

    def inverse_diagonal(self, faces: FaceCodes, dtype: np.dtype) -> DeviceVector:
        """D^-1 of codes of faces on the device, shape (N,); 0 where D is 0."""
        ...

    def csr_terms(
        self, lower: sparse.csr_array, scale: DeviceVector, upper: sparse.csr_array | None = None
    ) -> tuple[SeriesTerm, SeriesTerm, SeriesTerm]:
        """base - L x, (base - L x)*scale and base - L^H x for a strictly lower triangle in CSR form.

        upper: L^H, where L has the rows of a rank alone.
        """
        ...

    @property
    def whole_triangles(self) -> bool:
        """True if a recurrence through the whole matrix runs well; else factors need blocks."""
        ...

    def stencil_factor(
        self,
        lower: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        inverse: DeviceVector,
        width: int,
        block: int,
        scale: float,
    ) -> DeviceOperator:
        """u = scale M^-1 r for M = (E + L) E^-1 (E + L^H) on a stencil, inverse being E^-1."""
        ...

    def csr_factor(
        self,
        lower: sparse.csr_array,
        inverse: DeviceVector,
        block: int,
        scale: float,
        parts: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> DeviceOperator:
        """u = scale M^-1 r for the M of `stencil_factor`, with L in CSR form; parts: as in `CsrFactor`."""
        ...

    def colour_factor(
        self, lower: sparse.csr_array, inverse: np.ndarray, members: np.ndarray, bounds: np.ndarray
    ) -> DeviceOperator:
        """u = M^-1 r for the M of `stencil_factor`, colour after colour; see `ColourFactor`."""
        ...

    def factorized_stencil(
        self, diagonal: np.generic, bands: tuple[DeviceVector, ...], strides: tuple[int, ...]
    ) -> DeviceOperator:
        """u = F F^H r for a lower triangular F with a number on its diagonal and these bands below it."""
        ...

    def factorized_inverse(self, factor: sparse.csr_array) -> DeviceOperator:
        """u = G^H (G r)."""
        ...


class SeveralDirections(Protocol):
    """Local vectors on pieces of a vector."""

    def pieces(self, pieces: Pieces, dtype: np.dtype) -> PieceVectors:
        """Operations on local vectors: copies of a vector to them, their sums and their products."""
        ...

    def fast_diagonalization(
        self, boxes: Sequence[Diagonalized], dtype: np.dtype, precision: np.dtype
    ) -> SubdomainSolves | None:
        """z = A_i^-1 r for Kronecker sums on boxes of equally many axes, one after the other in local vectors.

        precision: dtype of the factors and products. None where NumPy does it in the host's memory.
        """
        ...


class Device(Memory, Reductions, Programs, Operators, SeveralDirections, SecondLevel, Protocol):
    """A place where vectors lie and arithmetic runs."""

    @property
    def name(self) -> str:
        """The name of the device, as in `--device`."""
        ...

    @property
    def note(self) -> str:
        """The device in words, for the notes of a run; empty for the CPU."""
        ...

    def limited(self, limit: int | None) -> Device:
        """This device for a run that may use `limit` bytes of its memory; None for all of it."""
        ...

    def block_watch(self, space: BlockWorkspace) -> BlockWatch | None:
        """The watch that repeats iterations on block vectors; None where the host takes part in each."""
        ...

    def clock(self, recorder: Recorder) -> Clock:
        """A clock that records the kernels and copies of a traced run."""
        ...
