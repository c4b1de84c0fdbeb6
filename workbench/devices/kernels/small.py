"""Kernels of one work-group on the small matrices of block methods; their arguments are named as the matrices are.

`state` holds STOPPED, not 0 once the device has stopped and kernels do nothing; COUNTED, the rows kept; and from ACTIVE
on, for every column, whether it has not ended, and the squares of ||r_j|| at or below which, and above which, the
device stops.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.source import fill

STOPPED, COUNTED, ACTIVE = range(3)
GROUP = 64
"""Work-items of the group: one for each column."""


def state_size(s: int) -> int:
    """Numbers in `state`."""
    return ACTIVE + 3 * s


def small(name: str, s: int) -> KernelText:
    """The kernel of a file `small_<name>.cl`, for s columns."""
    return _headed(fill(f"small_{name}", s=s), name)


def keep(s: int, kept: Sequence[str]) -> KernelText:
    """rows[count, k] = the numbers of matrix kept[k], each of s numbers; then it is decided whether to stop.

    rr, gamma, delta and going are among them.
    """
    place = "rows[((I64)count*{rows} + {k})*{s} + j] = {name}[j];"
    lines = [place.format(rows=len(kept), k=k, s=s, name=name) for k, name in enumerate(kept)]
    arguments = ", ".join(f"GLOBAL const W* {name}" for name in kept)
    return _headed(fill("small_keep", s=s, arguments=arguments, keep="\n".join(lines)), "keep")


def _headed(text: str, name: str) -> KernelText:
    head = f"#define STOPPED {STOPPED}\n#define COUNTED {COUNTED}\n#define ACTIVE {ACTIVE}\n"
    return KernelText.of(head + text, f"small_{name}")
