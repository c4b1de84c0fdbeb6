"""Errors of ranks: all of them have the same one, or one rank fails alone and the others wait for it."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from workbench.errors import InputError, error_message
from workbench.extensions.mpi.run.messages import ERROR, line

if TYPE_CHECKING:
    from mpi4py import MPI


LIMIT, OF_INPUT = 2.0, 20.0
"""Seconds in which all ranks have the same error; after them a rank is alone with its own. Wrong input is found by all
of them, however busy their cores are."""


@contextlib.contextmanager
def reported_errors(world: MPI.Intracomm, report: Callable[[Exception], object]) -> Generator[None]:
    """An error of all ranks is reported by rank 0, and ends them with SystemExit; one that a rank has alone is written
    to its standard error, with its number, and ends all ranks at once.

    world: a communicator of their own.
    """
    try:
        yield
    except Exception as error:
        if all_arrive(world, OF_INPUT if isinstance(error, InputError) else LIMIT):
            if world.rank == 0:
                report(_sendable(error))
            world.Barrier()
            raise SystemExit(0) from None
        write_error(InputError(f"rank {world.rank} failed: {error_message(error)}"))
        world.Abort(1)
        os._exit(1)


def write_error(error: Exception) -> None:
    """Write the error of this rank to its standard error, for the process that has started the ranks."""
    sys.stderr.flush()
    # In one piece, so that what other ranks write at the same time stands before or after it.
    os.write(sys.stderr.fileno(), f"\n{line(ERROR, error)}\n".encode("ascii"))


def all_arrive(world: MPI.Intracomm, seconds: float = OF_INPUT) -> bool:
    """True if all ranks call this within `seconds`."""
    arrived, until = world.Ibarrier(), time.monotonic() + seconds
    while not arrived.Test():
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


def _sendable(error: Exception) -> Exception:
    """An error with a sentence, which can be pickled: others may hold anything."""
    return error if type(error) in (InputError, MemoryError) else InputError(error_message(error))
