"""Iterations that the device repeats: any number of them by two recorded graphs, or in a loop inside one launch.

Persistent kernels are the kernels of an iteration in a loop inside one launch, with grid-wide barriers between them.
The steps are the launches of one iteration, with another definition of the group index. Loops over elements use as many
groups as fit on the chip at once. Sums that one group would add are added by every group on its own copy of the
scalars, which saves barriers. The iterates are those of separate launches up to rounding, since the number of partial
sums differs.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.devices.accelerator.runtime import Handle
from workbench.devices.kernels.kernel_text import KernelText, fill, read
from workbench.devices.kernels.prelude import END

MOST_LAUNCHES = 64
"""Launches of a recorded graph, unless one iteration has more: such a graph keeps the device busy for several times as
long as the host takes to launch it, and recording a longer one takes milliseconds."""


def iterations_of_graph(most: int, launches: int) -> int:
    """The number of iterations in a graph, at most `most`, for iterations of `launches` launches."""
    # Recording takes the host as long as launching; long programs gain nothing from many in one graph.
    unit = min(most, MOST_LAUNCHES // max(1, launches))
    # Two iterations in a graph save less than recording them takes.
    return unit if unit > 2 else 1


def in_units(one: Callable[[], None], many: Callable[[], None], unit: int) -> Callable[[int], None]:
    """A function that makes a number of iterations by graphs of one and of `unit` iterations."""

    def repeat(times: int) -> None:
        for _ in range(times // unit):
            many()
        for _ in range(times % unit):
            one()

    return repeat


NAME = "iterations"
MOST_ARGUMENTS = 500
"""CUDA passes 4 KB of arguments."""
ARENA, MOST_SCALARS = 46 * 1024, 2 * 1024
"""Bytes of shared memory that all steps reuse, and of the scalars: together what any CUDA device gives a block."""
ALIGNED = 16
"""Every array of a step begins at a multiple of this in the arena."""
BYTES = {
    **{"float": 4, "double": 8, "float2": 8, "double2": 16, "int": 4, "I64": 8, "short": 2, "signed char": 1},
    **{"unsigned char": 1, "unsigned short": 2, "unsigned int": 4},
}
_SHARED = re.compile(r"SHARED\(([\w ]+), \w+, (.+)\);")
_NUMBER = re.compile(r"^#define (\w+) (\d+)$", re.MULTILINE)
_TYPE = re.compile(r"^typedef (\w+) (\w+);$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Launch:
    """A requested launch: prelude and text of the kernel, groups, work-items of a group and arguments.

    spread: fewer groups give the same result, as in loops over elements.
    """

    prelude: str
    kernel: KernelText
    groups: int
    group: int
    arguments: tuple[Handle | np.generic, ...]
    spread: bool
    function: Any = None
    """The kernel as it is launched alone."""

    @property
    def by_every_group(self) -> bool:
        """True if every group runs it, on its own scalars; to other memory all groups write the same values."""
        return self.groups == 1 and self.kernel.on_scalars

    @property
    def handles(self) -> dict[int, Handle]:
        """The memory that it reads or writes, by identity."""
        return {id(value): value for value in self.arguments if not isinstance(value, np.generic)}


def fit_together(launches: Sequence[Launch]) -> bool:
    """True if they can be one kernel: the same types and group size, few enough arguments, and room in the arena."""
    alike = {(launch.prelude, launch.group) for launch in launches}
    few = sum(len(launch.arguments) for launch in launches) <= MOST_ARGUMENTS
    return len(alike) == 1 and few and all(shared_bytes(launch) <= ARENA for launch in launches)


def shared_bytes(launch: Launch) -> int:
    """Bytes of shared memory that a step takes of the arena, from the SHARED lines of its kernel."""
    return _shared_bytes(launch.prelude, launch.kernel.statements)


@functools.lru_cache(1024)
def _shared_bytes(prelude: str, statements: str) -> int:
    numbers = {name: int(value) for name, value in _NUMBER.findall(prelude)}
    types = {name: meaning for meaning, name in _TYPE.findall(prelude)}
    total = 0
    for kind, size in _SHARED.findall(statements):
        while kind in types:
            kind = types[kind]
        total += (
            -(-eval(size.replace("/", "//").replace("(I64)", ""), dict(numbers)) * BYTES[kind] // ALIGNED) * ALIGNED
        )
    return total


def source(launches: Sequence[Launch], scalars: Handle, words: int) -> tuple[str, tuple[Handle | np.generic, ...]]:
    """The text of the kernel `iterations(scalars, arrivals, times, ...)` and its further arguments.

    scalars: those of the workspace, `words` numbers, which every group copies. arrivals: counter of the barrier, one
    unsigned number, 0 at the start. times: the most iterations; a run that has stopped makes no more. All groups must
    be resident at once.
    """
    kernels = {kernel: k for k, kernel in enumerate(dict.fromkeys(launch.kernel for launch in launches))}
    declared, arguments, lines = [], [], []
    for place, (launch, barrier) in enumerate(zip(launches, barriers(launches, scalars), strict=True)):
        names = []
        for value, parameter in zip(launch.arguments, launch.kernel.parameters, strict=True):
            if value is scalars:
                names.append(f"({parameter.rpartition(' ')[0]})mine")
                continue
            declared.append(f"{parameter}_{place}")
            arguments.append(value)
            names.append(f"{parameter.split()[-1]}_{place}")
        if (count := launch.kernel.partial_count) is not None:
            names[count] = _parts(launches[:place], *launch.arguments[count - 1 : count + 1]) or names[count]
        lines += ["grid_barrier(arrivals);"] if barrier else []
        lines += [_call(launch, f"step_{kernels[launch.kernel]}::{launch.kernel.name}", names), "BARRIER;"]
    # The head makes RESTRICT empty: loads through the read-only cache miss what other groups wrote in this launch.
    head = (
        launches[0].prelude.removesuffix(END)
        + "\n"
        + fill("persistent_head", words=words, grid_barrier=read("grid_barrier"))
    )
    steps = "".join(f"namespace step_{k} {{\n{kernel.function(_GROUP, _BEGIN)}}}\n" for kernel, k in kernels.items())
    parameters = "".join(f",\n    {one}" for one in declared)
    kernel = "\n" + fill("persistent_loop", parameters=parameters, lines="\n".join(lines))
    return head + steps + kernel, tuple(arguments)


def barriers(launches: Sequence[Launch], scalars: Handle) -> list[bool]:
    """True for launches that need a grid-wide barrier before them; the first follows the last.

    Sums on a copy of the scalars need no barrier, and none follows them, unless the next step uses memory that other
    groups may still be reading.
    """
    found = []
    for place, launch in enumerate(launches):
        before: set[int] = set()
        back = place - 1
        while launches[back].by_every_group and back > place - len(launches):
            before |= set(launches[back].handles) - {id(scalars)}
            back -= 1
        follows = launches[place - 1].by_every_group
        found.append(not follows if launch.by_every_group else not follows or bool(before & set(launch.handles)))
    return found


def _parts(before: Sequence[Launch], partial: Handle, count: np.generic) -> str:
    """The number of partial sums in place of `count`, as text; empty where no loop before has fewer groups."""
    for launch in reversed(before):
        # A kernel that corrects one partial sum has another number of groups than the one that stored them.
        if launch.groups == count and id(partial) in launch.handles:
            return f"least(gridDim.x, {launch.groups})" if launch.spread else ""
    return ""


def _call(launch: Launch, name: str, names: list[str]) -> str:
    if launch.by_every_group:
        return f"{name}(1, 0, {', '.join(names)});"
    if launch.spread:
        groups = f"least(gridDim.x, {launch.groups})"
        return f"if (blockIdx.x < {groups}) {name}({groups}, blockIdx.x, {', '.join(names)});"
    call = f"{name}({launch.groups}, group, {', '.join(names)});"
    return f"for (I64 group = blockIdx.x; group < {launch.groups}; group += gridDim.x) {{ {call} BARRIER; }}"


_GROUP, _BEGIN = "const I64 groups_of_step, const I64 group_of_step", "I64 taken = 0;"
