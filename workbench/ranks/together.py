"""Errors of ranks: all of them have the same one, or one rank fails alone and the others wait for it."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from workbench.errors import InputError, error_message
from workbench.run.ranks.messages import ERROR, line

LIMIT = 2.0
"""Seconds in which all ranks have the same error; after them a rank is alone with its own."""


@contextlib.contextmanager
def failing_together(world: Any, report: Callable[[Exception], object]) -> Iterator[None]:
    """An error of all ranks is reported by rank 0, and ends them with SystemExit; one that a rank has alone is written
    to its standard error, with its number, and ends all ranks at once.

    world: a communicator of their own.
    """
    try:
        yield
    except Exception as error:
        if met(world):
            if world.rank == 0:
                report(_sendable(error))
            world.Barrier()
            raise SystemExit(0) from None
        alone = InputError(f"rank {world.rank} failed: {error_message(error)}")
        print(line(ERROR, alone), file=sys.stderr, flush=True)
        world.Abort(1)
        os._exit(1)


def met(world: Any) -> bool:
    """Whether all ranks call this within `LIMIT` seconds."""
    met, until = world.Ibarrier(), time.monotonic() + LIMIT
    while not met.Test():
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


def _sendable(error: Exception) -> Exception:
    """An error with a sentence, which can be pickled: others may hold anything."""
    return error if type(error) in (InputError, MemoryError) else InputError(error_message(error))
