"""The fixed settings of a sweep."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import InputError
from workbench.live.ui.words import shown
from workbench.problems import Problem
from workbench.registry import Block, known
from workbench.run import Configuration, Stopping, configure
from workbench.run.choices.conflicts import Conflict, changes_of, conflicts, obstacles, reasons_of
from workbench.run.jobs.sweeping import Row, combinations
from workbench.settings import BLOCKS, METHOD, RUN, STOPPING
from workbench.words.names import choice_name, choice_text, with_names

MOST_CHECKED = 100
"""Runs of a sweep that are checked for conflicts before it begins."""
MOST_SAID = 3
MOST_WEIGHED = 8
"""Combinations of the other choices that a value is weighed against."""


def suggestion(base: Configuration) -> dict[str, list[Any]]:
    """Choices to begin with: two sizes where the problem has one, and three preconditioners."""
    sizes = [declared for declared in base.problem.parameters() if declared.name == "n"]
    n = getattr(base.problem, "n", 0)
    over: dict[str, list[Any]] = {"n": [n // 2, n]} if sizes and n // 2 >= (sizes[0].low or 1) else {}
    return {**over, "preconditioner": ["none", "jacobi", "neumann:2"]}


def base_of(
    problem: str | Problem | Configuration | None, stopping: Stopping | None, choices: Mapping[str, Any]
) -> Configuration:
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


def hindered(planned: Sequence[tuple[Row, Configuration]]) -> tuple[int, str]:
    """The number of runs among the first planned ones that break a rule, and a sentence on them and the remedy.

    Cost: some milliseconds for each run.
    """
    broken = [found for _, each in planned[:MOST_CHECKED] if (found := conflicts(each))]
    said = list(dict.fromkeys(_said(found) for found in broken))
    more = f"; and {len(said) - MOST_SAID} more reasons" if len(said) > MOST_SAID else ""
    return len(broken), "; ".join(said[:MOST_SAID]) + more


def ruled_out(
    base: Configuration, others: Mapping[str, Sequence[Any]], name: str, values: Sequence[Any]
) -> dict[Any, list[Conflict]]:
    """Conflicts of these values of a choice with each of the first combinations of the others, by value.

    Cost: some milliseconds for each value and combination. Raises InputError for wrong values.
    """
    planned = [each for _, each in points(base, others)[:MOST_WEIGHED]] if others else [base]
    at = name if name in (*BLOCKS, *RUN, *STOPPING) else f"problem.{name}"
    found = [obstacles(each, at, values) for each in planned]
    return {value: found[0][value] for value in values if all(value in against for against in found)}


def _said(found: Sequence[Conflict]) -> str:
    ways = [_way(*change) for change in changes_of(found).items()]
    return shown(with_names(f"{reasons_of(found)} (use {', '.join(ways)})" if ways else reasons_of(found)))


def _way(name: str, value: object) -> str:
    plain = name.rpartition(".")[2]
    text = choice_text(name, "none" if value is None else value)
    return text if name in (*BLOCKS, *METHOD) and name != "device" else f"{choice_name(plain)} {text}"


def has_form(base: Configuration) -> bool:
    """True if all its blocks can be chosen from lists; blocks that the caller holds in memory cannot."""
    blocks = [getattr(base, item.name) for item in dataclasses.fields(base)]
    return all(known(block.kind, block.name) for block in blocks if isinstance(block, Block))
