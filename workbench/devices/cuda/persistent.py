"""Persistent kernels: the kernels of an iteration in a loop inside one launch, with grid-wide barriers between them.

The steps are the launches of one iteration as they were requested; only the way in which they learn their group
changes. Loops over elements are cut into as many groups as the chip holds at once. Sums that one group would add up are
added up by every group on its own copy of the scalars, so that no group waits for them. The iterates are those of
separate launches up to rounding, since sums have fewer parts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.devices.accelerator.runtime import Handle
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.prelude import END

NAME = "iterations"
MOST_ARGUMENTS = 500
"""CUDA passes 4 KB of arguments."""
ARENA, MOST_SCALARS = 46 * 1024, 2 * 1024
"""Bytes of local memory for the step in progress, and for the scalars: together what any CUDA device gives a group."""


@dataclasses.dataclass(frozen=True)
class Launch:
    """A kernel as it was requested: its prelude and text, groups, work-items of a group and arguments.

    spread: fewer groups do as well, as in loops over elements.
    """

    prelude: str
    kernel: KernelText
    groups: int
    group: int
    arguments: tuple[Any, ...]
    spread: bool

    @property
    def by_every_group(self) -> bool:
        """Whether every group does it, on scalars of its own; whatever else it writes, all write alike."""
        return self.groups == 1 and self.kernel.on_scalars

    @property
    def handles(self) -> dict[int, Handle]:
        """The memory that it touches, by identity."""
        return {id(given): given for given in self.arguments if not isinstance(given, np.generic)}


def fit_together(launches: Sequence[Launch]) -> bool:
    """Whether they can be one kernel: the same types and group size, and not too many arguments."""
    alike = {(launch.prelude, launch.group) for launch in launches}
    return len(alike) == 1 and sum(len(launch.arguments) for launch in launches) <= MOST_ARGUMENTS


def source(launches: Sequence[Launch], scalars: Handle, words: int) -> tuple[str, tuple[Any, ...]]:
    """The text of the kernel `iterations(scalars, door, times, ...)` and its further arguments.

    scalars: those of the workspace, `words` numbers, which every group copies. door: one unsigned number, 0 at the
    start. times: the most iterations; a run that has stopped makes no more. All groups must be on the chip at once.
    """
    kernels = {kernel: k for k, kernel in enumerate(dict.fromkeys(launch.kernel for launch in launches))}
    declared, arguments, lines = [], [], []
    for place, (launch, meet) in enumerate(zip(launches, meetings(launches, scalars), strict=True)):
        names = []
        for given, parameter in zip(launch.arguments, launch.kernel.parameters, strict=True):
            if given is scalars:
                names.append("mine")
                continue
            declared.append(f"{parameter}_{place}")
            arguments.append(given)
            names.append(f"{parameter.split()[-1]}_{place}")
        if (count := launch.kernel.partial_count) is not None:
            names[count] = _parts(launches[:place], *launch.arguments[count - 1 : count + 1]) or names[count]
        lines += ["meet(door);"] if meet else []
        lines += [_call(launch, f"step_{kernels[launch.kernel]}::{launch.kernel.name}", names), "BARRIER;"]
    head = launches[0].prelude.removesuffix(END) + f"#define WORDS {words}\n" + _HEAD
    steps = "".join(f"namespace step_{k} {{\n{kernel.function(_GROUP, _BEGIN)}}}\n" for kernel, k in kernels.items())
    kernel = _LOOP.format(declared="".join(f",\n    {one}" for one in declared), lines="\n        ".join(lines))
    return head + steps + kernel, tuple(arguments)


def meetings(launches: Sequence[Launch], scalars: Handle) -> list[bool]:
    """Which launches need a barrier of all groups before them; the first follows the last.

    Groups that add up on their own copy need no barrier, and none follows, unless the next step touches memory from
    which others may still be reading.
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


def _parts(before: Sequence[Launch], partial: Handle, count: np.int64) -> str:
    """How many partial sums there are instead of `count`, as text; empty where no loop before was cut."""
    for launch in reversed(before):
        # A kernel that corrects one partial sum has other groups than the one that left them.
        if launch.groups == count and id(partial) in launch.handles:
            return f"least(gridDim.x, {launch.groups})" if launch.spread else ""
    return ""


def _call(launch: Launch, name: str, names: list[str]) -> str:
    if launch.by_every_group:
        return f"{name}(1, 0, {', '.join(names)});"
    if launch.spread:
        groups = f"least(gridDim.x, {launch.groups})"
        return f"if (blockIdx.x < {groups}) {name}({groups}, blockIdx.x, {', '.join(names)});"
    call = f"{name}({launch.groups}, turn, {', '.join(names)});"
    return f"for (I64 turn = blockIdx.x; turn < {launch.groups}; turn += gridDim.x) {{ {call} BARRIER; }}"


_GROUP, _BEGIN = "const I64 groups_of_step, const I64 group_of_step", "I64 taken = 0;"
# Loads through the read-only cache, which RESTRICT allows, would not see what other groups wrote in the same launch.
_HEAD = """
#undef RESTRICT
#define RESTRICT
#undef GROUPS
#define GROUPS groups_of_step
#undef GROUP_ID
#define GROUP_ID group_of_step
#undef GLOBAL_ID
#define GLOBAL_ID (group_of_step*GROUP + LOCAL_ID)
/* Steps take turns with local memory, which would add up if each declared its own. */
extern __shared__ __align__(16) char arena[];
#undef SHARED
#define SHARED(type, name, size) \\
    type* const name = (type*)(arena + taken); taken += ((size)*sizeof(type) + 15)/16*16
DEVICE I64 least(I64 a, I64 b) { return a < b ? a : b; }
/* Every group comes to the door and waits until as many have come as there are; the count goes on and on. */
DEVICE void meet(unsigned* door) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned ticket = atomicAdd(door, 1u), all = (ticket/gridDim.x + 1)*gridDim.x;
        while (*(volatile unsigned*)door < all) {}
        __threadfence();
    }
    __syncthreads();
}
"""
_LOOP = """
extern "C" __global__ void __launch_bounds__(GROUP) iterations(W* scalars, unsigned* door, const int times{declared})
{{
    __shared__ W mine[WORDS];
    for (int k = threadIdx.x; k < WORDS; k += GROUP) mine[k] = scalars[k];
    BARRIER;
    for (int time = 0; time < times && W_REAL(mine[STOP]) == 0; time++) {{
        {lines}
    }}
    if (blockIdx.x == 0)
        for (int k = threadIdx.x; k < WORDS; k += GROUP) scalars[k] = mine[k];
}}
"""
