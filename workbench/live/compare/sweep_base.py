"""The fixed settings of a sweep."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import InputError
from workbench.problems import Problem
from workbench.registry import Block, known
from workbench.run import Configuration, Stopping, configure
from workbench.run.sweeping import combinations
from workbench.settings import BLOCKS, RUN


def suggestion(base: Configuration) -> dict[str, list[Any]]:
    """Something to begin with: two sizes where the problem has one, and three preconditioners."""
    sizes = [declared for declared in base.problem.parameters() if declared.name == "n"]
    n = getattr(base.problem, "n", 0)
    over: dict[str, list[Any]] = {"n": [n // 2, n]} if sizes and n // 2 >= (sizes[0].low or 1) else {}
    return {**over, "preconditioner": ["none", "jacobi", "neumann:2"]}


def base_of(problem: str | Problem | Configuration | None, stopping: Stopping | None, choices: Any) -> Configuration:
    """The fixed settings, from the arguments of `SweepView`. Raises InputError for wrong and for doubled choices."""
    if not isinstance(problem, Configuration):
        return configure(problem or "two-layer", stopping=stopping, **choices)
    if stopping or choices:
        raise InputError("a configuration holds all fixed settings; give it alone, or a problem with choices")
    return problem


def fixed(base: Configuration, over: Mapping[str, Sequence[Any]]) -> tuple[Problem, dict[str, Any]]:
    """The problem of a sweep and its other fixed settings, as `configure` takes it."""
    names = [name for name in (*BLOCKS, *RUN, "stopping") if name not in over]
    return base.problem, {name: getattr(base, name) for name in names}


def points(base: Configuration, over: Mapping[str, Sequence[Any]]) -> list[Any]:
    """Every run of the sweep. Raises InputError for the first that cannot be."""
    problem, same = fixed(base, over)
    return combinations(problem, over, **same)


def has_form(base: Configuration) -> bool:
    """Whether all its blocks can be chosen from lists; those that the caller holds in memory cannot."""
    blocks = [getattr(base, item.name) for item in dataclasses.fields(base)]
    return all(known(block.kind, block.name) for block in blocks if isinstance(block, Block))
