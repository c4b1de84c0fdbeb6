"""The text of kernels that restrict to and prolong from piecewise constant subdomains, chunk by chunk.

A chunk of a vector is cut into pieces of one subdomain each: runs of equal labels, or, for boxes of a grid that all
have the same number of cells along x, rows of a box, whose length is then a constant of the kernel.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import Protocol

from workbench.jit import generated

GROUPS = "groups, spans, sums, coarse"
"""Arguments: the first chunk of each group, the labels in it, its sums, and Z^T w."""


class Labelling(Protocol):
    """How a kernel finds the subdomain of each unknown."""

    @property
    def arguments(self) -> str:
        """The arrays in the head of a kernel."""
        ...

    @property
    def align(self) -> int:
        """Chunks begin at multiples of this many unknowns."""
        ...

    def restrict(self, vector: str, origin: str) -> list[str]:
        """Lines that add a chunk of a vector, whose entry 0 belongs to unknown `origin`, to the sums `mine`."""
        ...

    def add(self, vector: str) -> list[str]:
        """Lines that add a[label] to a chunk of a vector."""
        ...


@dataclasses.dataclass(frozen=True)
class Runs:
    """Runs of equal labels, which do not cross chunks."""

    @property
    def arguments(self) -> str:
        return "bounds, labels, cuts"

    @property
    def align(self) -> int:
        return 1

    def restrict(self, vector: str, origin: str) -> list[str]:
        return [
            *self._over_runs(vector, origin),
            "    added = coarse.dtype.type(0)",
            "    for i in range(piece.size):",
            "        added += piece[i]",
            "    mine[labels[run]] += added",
        ]

    def add(self, vector: str) -> list[str]:
        return [
            *self._over_runs(vector, "0"),
            "    value = a[labels[run]]",
            "    for i in range(piece.size):",
            "        piece[i] += value",
        ]

    def _over_runs(self, vector: str, origin: str) -> list[str]:
        return [
            "for run in range(cuts[chunk], cuts[chunk + 1]):",
            f"    piece = {vector}[np.int64(bounds[run]) - {origin}:np.int64(bounds[run + 1]) - {origin}]",
        ]


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows of `width` cells: the label of each row, or -1 - k where the row is split, with the k-th row of `split`."""

    width: int

    @property
    def arguments(self) -> str:
        return "labels, split"

    @property
    def align(self) -> int:
        return self.width

    def restrict(self, vector: str, origin: str) -> list[str]:
        entries = [f"{vector}[place + {k}]" for k in range(self.width)]
        return [
            *self._over_rows(origin),
            "    if label >= 0:",
            f"        mine[label] += {' + '.join(f'coarse.dtype.type({entry})' for entry in entries)}",
            "    else:",
            *(f"        mine[split[-1 - label, {k}]] += {entry}" for k, entry in enumerate(entries)),
        ]

    def add(self, vector: str) -> list[str]:
        return [
            *self._over_rows("0"),
            "    if label >= 0:",
            "        value = a[label]",
            *(f"        {vector}[place + {k}] += value" for k in range(self.width)),
            "    else:",
            *(f"        {vector}[place + {k}] += a[split[-1 - label, {k}]]" for k in range(self.width)),
        ]

    def _over_rows(self, origin: str) -> list[str]:
        return [
            f"for row in range(low//{self.width}, high//{self.width}):",
            f"    place, label = row*{self.width} - {origin}, np.int64(labels[row])",
        ]


def bounds(align: int) -> list[str]:
    """The first unknown of a chunk, and the one behind its last."""
    text = ["low = n*chunk//chunks", "high = n*(chunk + 1)//chunks"]
    return text if align == 1 else [f"{line}//{align}*{align}" for line in text]


def over_groups(chunk: Iterable[str]) -> list[str]:
    """A loop over all chunks in groups, each with sums of its own, and Z^T w from them."""
    whole = ["mine = sums[group]", "for k in range(spans[group, 0], spans[group, 1]):", "    mine[k] = 0"]
    whole += ["for chunk in range(groups[group], groups[group + 1]):", *(f"    {line}" for line in chunk)]
    return [
        "chunks = groups[groups.size - 1]",
        *generated.over("sums.shape[0]", whole, "group"),
        "for k in range(coarse.size):",
        "    coarse[k] = 0",
        "for group in range(sums.shape[0]):",
        "    for k in range(spans[group, 0], spans[group, 1]):",
        "        coarse[k] += sums[group, k]",
    ]


@functools.cache
def restriction(labelling: Labelling) -> str:
    """The kernel of Z^T w."""
    chunk = [*bounds(labelling.align), *labelling.restrict("w", "0")]
    text = [f"def kernel(taken, w, {labelling.arguments}, {GROUPS}):", "    n = w.size"]
    return "\n".join([*text, *(f"    {line}" for line in over_groups(chunk))]) + "\n"


@functools.cache
def prolongation(labelling: Labelling, *, paired: bool, wide: str) -> str:
    """The kernel of x = x + Z a; paired: with the dot products (r, x), (x, x) and (r, r), in the dtype `wide`."""
    more = ", r, partial, dots" if paired else ""
    chunk = [*bounds(labelling.align), *labelling.add("x")]
    if paired:
        conj = "np.conj" if wide.startswith("complex") else ""
        chunk += ["new, other = x[low:high], r[low:high]", f"xy, yy, xx = np.{wide}(0), np.{wide}(0), np.{wide}(0)"]
        chunk += ["for i in range(new.size):", f"    left, right = np.{wide}(other[i]), np.{wide}(new[i])"]
        chunk += [f"    xy += {conj}(left)*right", f"    yy += {conj}(right)*right", f"    xx += {conj}(left)*left"]
        chunk += ["partial[chunk, 0], partial[chunk, 1], partial[chunk, 2] = xy, yy, xx"]
    text = [f"def kernel(taken, x, {labelling.arguments}, groups, a{more}):"]
    text += ["    n, chunks = x.size, groups[groups.size - 1]"]
    text += [f"    {line}" for line in generated.over("chunks", chunk)]
    if paired:
        text += ["    for k in range(3):", "        total = dots[k]*0", "        for chunk in range(chunks):"]
        text += ["            total += partial[chunk, k]", "        dots[k] = total"]
    return "\n".join(text) + "\n"
