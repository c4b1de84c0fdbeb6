"""One file for a vector of which every rank has some rows; no rank has it as a whole."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import InputError

if TYPE_CHECKING:
    from mpi4py import MPI


def write(world: MPI.Intracomm, path: Path, rows: np.ndarray) -> None:
    """Write a .npy file of shape (N,) or (N, s), every rank its rows, in the order of the ranks.

    To be called by all ranks; the folder is one that all their hosts have. The file has its name once it is whole.
    Raises InputError on every rank where one cannot write, and leaves no file.
    """
    sizes = world.allgather(len(rows))
    shape = (sum(sizes), *rows.shape[1:])
    header = _header(shape, rows.dtype)
    part = path.with_name(f".{path.name}.part")
    error = ""
    if world.rank == 0:
        irregular = path.exists() and not path.is_file()
        error = "it is no regular file" if irregular else _try(part, os.O_CREAT | os.O_TRUNC, header, 0)
    error = world.bcast(error)
    if not error:
        width = rows.dtype.itemsize * int(np.prod(rows.shape[1:], dtype=np.int64))
        first = sum(sizes[: world.rank])
        own = _try(part, 0, np.ascontiguousarray(rows).view(np.uint8).reshape(-1).data, len(header) + first * width)
        errors = world.allgather(own)
        error = next((f"rank {rank}: {text}" for rank, text in enumerate(errors) if text), "")
    if not error and world.rank == 0:
        os.replace(part, path)
    world.Barrier()
    if error:
        if world.rank == 0:
            with contextlib.suppress(OSError):
                os.unlink(part)
        size = (len(header) + int(np.prod(shape, dtype=np.int64)) * rows.dtype.itemsize) / 1e6
        raise InputError(
            f"cannot write x, {size:.3g} MB, to {path} ({error}); free the space, or choose another place, for the "
            "files of a run by TMPDIR"
        )


def _header(shape: tuple[int, ...], dtype: np.dtype) -> bytes:
    stream = io.BytesIO()
    about = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, about)
    return stream.getvalue()


def _try(path: Path, flags: int, content: bytes | memoryview, place: int) -> str:
    """Write at a place; the error in words, empty without one."""
    try:
        file = os.open(path, os.O_WRONLY | flags, 0o600)
        try:
            left = memoryview(content)
            while left:
                written = os.pwrite(file, left, place)
                left, place = left[written:], place + written
        finally:
            os.close(file)
    except OSError as error:
        return error.strerror or str(error)
    return ""
