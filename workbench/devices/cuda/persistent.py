"""Many iterations in one launch: the kernels of an iteration in a loop, with the whole grid meeting between them.

The steps are the launches of one iteration as they were asked for; of their text only changes how they learn their
group. Sweeps are cut into as many groups as the chip holds at once. Sums that one group would add up are added up by
every group for itself, on scalars of its own, so that nobody waits for them. The iterates are those of separate
launches up to rounding, since sums have fewer parts.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.devices.accelerator.runtime import Handle
from workbench.devices.kernels.prelude import END, ROOM

NAME = "iterations"
BY_EVERY_GROUP = ("finish", "keep")
"""Kernels of one group that work on scalars only; whatever else they write, every group writes alike."""
MOST_ARGUMENTS = 500
"""CUDA passes 4 KB of arguments."""
ARENA = 46 * 1024
"""Bytes of local memory for whichever step is being made; with the scalars it is what any CUDA device gives a group."""
_KERNEL = re.compile(r"KERNEL (\w+)\(([^)]*)\)\s*\{")


@dataclasses.dataclass(frozen=True)
class Launch:
    """A kernel as it was asked for: its text with the prelude, its name, groups, work-items of a group and arguments.

    spread: fewer groups do as well, as in sweeps.
    """

    text: str
    name: str
    groups: int
    group: int
    arguments: tuple[Any, ...]
    spread: bool

    @property
    def body(self) -> str:
        """The text without the prelude."""
        return self.text.partition(END)[2]

    @property
    def by_every_group(self) -> bool:
        return self.groups == 1 and self.name in BY_EVERY_GROUP

    @property
    def handles(self) -> dict[int, Handle]:
        """The memory that it touches, by identity."""
        return {id(given): given for given in self.arguments if not isinstance(given, np.generic)}

    @property
    def parameters(self) -> list[str]:
        """The declarations of its arguments."""
        (found,) = (match[2] for match in _KERNEL.finditer(self.body) if match[1] == self.name)
        return [" ".join(parameter.split()) for parameter in found.split(",")]


def fit_together(launches: Sequence[Launch]) -> bool:
    """Whether they can be one kernel: the same types and group size, and not too many arguments."""
    alike = {(launch.text.partition(END)[0], launch.group) for launch in launches}
    return len(alike) == 1 and sum(len(launch.arguments) for launch in launches) <= MOST_ARGUMENTS


def source(launches: Sequence[Launch], scalars: Handle) -> tuple[str, tuple[Any, ...]]:
    """The text of the kernel `iterations(scalars, door, times, ...)` and its further arguments.

    scalars: those of the workspace, which every group copies. door: one unsigned number, 0 at the start. times: the
    most iterations; a run that has stopped makes no more. All groups must be on the chip at once.
    """
    bodies = {body: number for number, body in enumerate(dict.fromkeys(launch.body for launch in launches))}
    declared, arguments, lines = [], [], []
    for place, (launch, meet) in enumerate(zip(launches, meetings(launches, scalars), strict=True)):
        names = []
        for given, parameter in zip(launch.arguments, launch.parameters, strict=True):
            if given is scalars:
                names.append("mine")
                continue
            declared.append(f"{parameter}_{place}")
            arguments.append(given)
            names.append(f"{parameter.split()[-1]}_{place}")
        if launch.name == "finish":
            names[2] = _parts(launches[:place], *launch.arguments[1:]) or names[2]
        lines += ["meet(door);"] if meet else []
        lines += [_call(launch, f"step_{bodies[launch.body]}::{launch.name}", names), "BARRIER;"]
    head = launches[0].text.partition(END)[0] + _HEAD
    steps = "".join(f"namespace step_{number} {{\n{_as_function(body)}}}\n" for body, number in bodies.items())
    kernel = _LOOP.format(declared="".join(f",\n    {one}" for one in declared), lines="\n        ".join(lines))
    return head + steps + kernel, tuple(arguments)


def meetings(launches: Sequence[Launch], scalars: Handle) -> list[bool]:
    """Before which launches all groups must meet; the first follows the last.

    Groups that add up for themselves need not wait for one another. Afterwards they go on at once, unless the next step
    touches memory from which others may still be reading.
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
    """How many parts of sums there are instead of `count`, as text; empty where no sweep before was cut."""
    for launch in reversed(before):
        # What corrects a single part has other groups than those that left the parts.
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


def _as_function(body: str) -> str:
    return _KERNEL.sub(r"DEVICE void \1(const I64 groups_of_step, const I64 group_of_step, \2) { I64 taken = 0;", body)


# Loads through the read-only cache, which RESTRICT allows, would not see what other groups wrote in the same launch.
_HEAD = f"""
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
#define ROOM {ROOM}
DEVICE I64 least(I64 a, I64 b) {{ return a < b ? a : b; }}
/* Every group comes to the door and waits until as many have come as there are; the count goes on and on. */
DEVICE void meet(unsigned* door) {{
    __syncthreads();
    if (threadIdx.x == 0) {{
        __threadfence();
        const unsigned ticket = atomicAdd(door, 1u), all = (ticket/gridDim.x + 1)*gridDim.x;
        while (*(volatile unsigned*)door < all) {{}}
        __threadfence();
    }}
    __syncthreads();
}}
"""
_LOOP = """
extern "C" __global__ void __launch_bounds__(GROUP) iterations(W* scalars, unsigned* door, const int times{declared})
{{
    __shared__ W mine[ROOM];
    for (int k = threadIdx.x; k < ROOM; k += GROUP) mine[k] = scalars[k];
    BARRIER;
    for (int time = 0; time < times && W_REAL(mine[STOP]) == 0; time++) {{
        {lines}
    }}
    if (blockIdx.x == 0)
        for (int k = threadIdx.x; k < ROOM; k += GROUP) scalars[k] = mine[k];
}}
"""
