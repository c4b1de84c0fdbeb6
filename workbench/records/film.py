"""A film of a run: its vectors at some of its iterations, in single precision and in bounded memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from workbench.errors import InputError

MEMORY = 64 << 20
"""Bytes that a film takes at most."""
IN_FILE = 5 << 20
"""Bytes of a film in a run file, which a page receives in one message of at most 10 MiB."""
FEWEST = 4
"""Frames that must fit, else there is no film."""
QUANTITIES = ("solution", "residual", "error")
ITERATIONS = "film_iterations"
MEMBERS = (ITERATIONS, *(f"film_{name}" for name in QUANTITIES))
"""The arrays of a film in a run file."""


@dataclasses.dataclass(frozen=True, eq=False)
class Frame:
    """vectors: float32 by name of the quantity, all of one shape: that of the cells of a grid, or (N,), behind the
    number of columns where there are several right-hand sides."""

    iteration: int
    vectors: Mapping[str, np.ndarray]

    @property
    def bytes(self) -> int:
        return sum(vector.nbytes for vector in self.vectors.values())


class Film:
    """Frames at the multiples of `every` iterations, and the one at the end. memory: of all frames, in bytes.

    Where the next frame would not fit, every second one is dropped and `every` doubled. One thread adds frames, any
    number read `frames`, which is replaced as a whole.
    """

    def __init__(self, memory: int = MEMORY) -> None:
        self.memory, self.every = memory, 1
        self.frames: tuple[Frame, ...] = ()
        self.over = False
        """The last frame is the end of the run."""

    @property
    def iterations(self) -> list[int]:
        return [frame.iteration for frame in self.frames]

    @property
    def bytes(self) -> int:
        """Memory of the frames, in bytes."""
        return sum(frame.bytes for frame in self.frames)

    def fits(self, frame_bytes: int) -> bool:
        """True if `FEWEST` frames of this size fit."""
        return FEWEST * frame_bytes <= self.memory

    def wants(self, iteration: int) -> bool:
        """True if the next frame is due at this iteration, or was due before it."""
        return not self.frames or iteration // self.every > self.frames[-1].iteration // self.every

    def add(self, frame: Frame, *, last: bool = False) -> None:
        """One more frame; last: of the end of the run."""
        kept = self.frames if not self.frames or self.frames[-1].iteration < frame.iteration else self.frames[:-1]
        while kept and (len(kept) + 1) * frame.bytes > self.memory:
            kept, self.every = kept[::2], 2 * self.every
        self.frames, self.over = (*kept, frame), last

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The arrays of a run file: the iterations, shape (k,), and (k, ...) of each quantity; none without a frame.

        Every second frame but the last is left out until the film is small enough for a file.
        """
        kept = self.frames
        while len(kept) > 1 and sum(frame.bytes for frame in kept) > IN_FILE:
            kept = (*kept[:-1][::2], kept[-1]) if len(kept) > 2 else kept[-1:]
        if not kept:
            return {}
        stacked = {f"film_{name}": np.stack([frame.vectors[name] for frame in kept]) for name in kept[0].vectors}
        return {ITERATIONS: np.array([frame.iteration for frame in kept]), **stacked}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Film | None:
        """The inverse of `to_arrays`, of a run that has ended. Raises InputError for arrays that do not fit."""
        iterations = arrays.get(ITERATIONS)
        vectors = {name: arrays[f"film_{name}"] for name in QUANTITIES if f"film_{name}" in arrays}
        if iterations is None:
            return None
        shapes = {vector.shape for vector in vectors.values()}
        whole = iterations.ndim == 1 and iterations.dtype.kind == "i" and bool((np.diff(iterations) > 0).all())
        fits = len(shapes) == 1 and next(iter(shapes))[:1] == iterations.shape and len(next(iter(shapes))) <= 5
        if not (whole and fits and {vector.dtype.str[1:] for vector in vectors.values()} == {"f4"}):
            raise InputError("the frames of its film do not fit together")
        made = cls()
        made.frames = tuple(
            Frame(int(k), {name: vector[place] for name, vector in vectors.items()})
            for place, k in enumerate(iterations)
        )
        made.over = True
        return made
