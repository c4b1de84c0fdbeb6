"""Kernels from generated Python source."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.jit.compiled import Kernel, generated


def kernel(body: str) -> Kernel:
    """The function `kernel` that `body` defines, compiled for the types of its arguments; one text is one function."""
    return generated(body)


def over(count: str, body: Iterable[str], name: str = "chunk") -> list[str]:
    """Lines of a parallel loop over `count` chunks; the body may use the chunk, named `name`, and the index `thread`.

    The first argument of the kernel is `taken`.
    """
    head = ["for thread in threads(taken):", f"    for {name} in shared(taken, thread, {count}):"]
    return [*head, *(f"        {line}" for line in body)]
