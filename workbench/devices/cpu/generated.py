"""Generated kernels: source written for numba."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.devices.cpu.compiled import Kernel, generated


def kernel(body: str) -> Kernel:
    """The function `kernel` that `body` defines, compiled for the types of its arguments; one text is one function."""
    return generated(body)


def over(count: str, body: Iterable[str], name: str = "chunk") -> list[str]:
    """Lines that do `body` for every chunk below `count`, shared by the cores; `turns` is the kernel's first argument.

    `lane` in the body is the number of the core.
    """
    head = ["for lane in lanes(turns):", f"    for {name} in shared(turns, lane, {count}):"]
    return [*head, *(f"        {line}" for line in body)]
