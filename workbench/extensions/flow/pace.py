"""The pace of methods on the same steps: running medians with their spread, and which one is faster per step."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.machines.processor import usable_cores
from workbench.sequences.method import Method
from workbench.sequences.sequence import Sequence as Flow
from workbench.words.distinct import distinct_names
from workbench.words.names import problem_parts, sentence_case, shortened
from workbench.words.numbers import count, counted, duration, number

WINDOW = 25
"""Steps of a running median."""
BAND = (0.1, 0.9)
"""Quantiles of the band around a running median."""
SPREAD = (0.25, 0.75)
"""Quantiles of the ratio of two methods; a range that contains 1 is too close to call."""
POINTS = 120
"""Values of a running median at most."""
FEWEST = 10
"""Steps that a verdict needs."""
LONGEST = 120
"""Characters of a verdict that is copied."""
LIGHT = 0.1
"""Density ratio below which bubbles have small eigenvalues of their own."""


class Running(NamedTuple):
    """Running medians at steps, and the band around them; all of shape (points,)."""

    steps: np.ndarray
    low: np.ndarray
    middle: np.ndarray
    high: np.ndarray


def running(values: Sequence[float], cuts: Sequence[int] = ()) -> Running:
    """The running median of a value of each step, the first being step 1. cuts: steps at which another method began,
    which no window spans. NaN where a window has no value.

    Examples:
        >>> from workbench.extensions.flow.pace import running
        >>> running([3.0, 1.0, 2.0]).middle.tolist()
        [2.0, 2.0, 2.0]
    """
    known = np.array(values, float)
    edges = sorted({1, known.size + 1, *(cut for cut in cuts if 1 < cut <= known.size)})
    stride = max(1, math.ceil(known.size / POINTS))
    parts = [_part(known, first, last, stride) for first, last in itertools.pairwise(edges)]
    return Running(*np.concatenate(parts, axis=1)) if parts else Running(*np.empty((4, 0)))


def _part(known: np.ndarray, first: int, last: int, stride: int) -> np.ndarray:
    """Steps, low, middle and high of one method, which solved the steps from first to last - 1."""
    at = np.arange(first, last, stride)
    # A window is whole at the ends too, where it is not centred.
    width = min(WINDOW, last - first)
    begin = np.clip(at - width // 2, first, last - width) - 1
    windows = known[begin[:, None] + np.arange(width)]
    found = np.full((3, at.size), np.nan)
    solved = np.isfinite(windows).any(axis=1)
    if solved.any():
        found[:, solved] = np.nanquantile(windows[solved], (BAND[0], 0.5, BAND[1]), axis=1)
    return np.vstack([at, found])


def short_names(labels: Sequence[str]) -> list[str]:
    """Names of methods shown together, without what they have in common."""
    parts = [{part: part for part in label.split(", ")} for label in labels]
    return [name or label for name, label in zip(distinct_names(parts), labels, strict=True)]


class Verdict(NamedTuple):
    """sentence: for the page. quote: to be copied, empty before there is a result. why: the basis, and the
    reason where it is known from the problem. tone: of the sentence."""

    sentence: str
    quote: str = ""
    why: str = ""
    tone: str = "plain"


def verdict(flow: Flow) -> Verdict:
    """The fastest method per step, by medians over the steps since one was changed; or that they are too close."""
    methods = [method for method in flow.methods if not method.failure]
    begun = max((method.marks[-1].step for method in methods), default=1)
    # Its first step sets all up.
    taken = slice(begun, flow.steps)
    seconds = [np.array(method.seconds[taken], float) for method in methods]
    steps = min((int(np.isfinite(each).sum()) for each in seconds), default=0)
    if len(methods) < 2 or steps < FEWEST:
        return Verdict("")
    medians = [float(np.nanmedian(each)) for each in seconds]
    names = short_names([method.label for method in methods])
    best, second = np.argsort(medians)[:2].tolist()
    low, ratio, high = np.nanquantile(seconds[second] / seconds[best], (SPREAD[0], 0.5, SPREAD[1])).tolist()
    times = f"{duration(medians[best], 3)} and {duration(medians[second], 3)}"
    over = (
        f"Medians of {count(steps)} steps since a method was changed"
        if begun > 1
        else f"Medians of {count(steps)} steps"
    )
    so_far = "" if flow.done else "So far "
    if low <= 1 <= high:
        said = f"{names[best]} and {names[second]} are too close to call per step: {times}"
        return Verdict(sentence_case(f"{so_far}{said}."), _quote(flow, said), f"{over}.")
    faster = f"{names[best]} is {number(ratio, 2)} times as fast per step as {names[second]}"
    return Verdict(
        f"{so_far}{faster}: {times}.",
        _quote(
            flow,
            f"{names[best]} {duration(medians[best], 2)} per step, {number(ratio, 2)} times as fast as {names[second]}",
        ),
        f"{over}. {_reason(flow, methods[best], methods[second], taken)}".strip(),
        "good",
    )


def _quote(flow: Flow, said: str) -> str:
    """The verdict with its problem and machine, in at most `LONGEST` characters: the size goes first."""
    parts, cores = problem_parts(flow.problem), usable_cores()
    device = flow.configuration.device
    machine = counted(cores, "core") if device == "cpu" else device
    words = sentence_case(parts["problem"].partition(" in ")[0])
    for head in ((words, parts.get("size", ""), machine), (words, machine), (machine,)):
        whole = f"{', '.join(filter(None, head))}: {said}"
        if len(whole) <= LONGEST:
            return whole
    return shortened(whole, LONGEST)


def _reason(flow: Flow, fast: Method, slow: Method, taken: slice) -> str:
    """The reason where vectors that follow light bubbles make the difference; empty elsewhere."""
    ratio = flow.problem.parameter_values.get("density_ratio", 1.0)
    if ratio > LIGHT or slow.configuration.deflated or fast.configuration.deflation.name != "levelset":
        return ""
    needed = [np.nanmedian(method.iterations[taken]) for method in (fast, slow)]
    return (
        f"Each light bubble gives M⁻¹A an eigenvalue near ε = {number(ratio, 1)}; deflation removes these. "
        f"Iterations per step: {count(round(needed[0]))} with it, {count(round(needed[1]))} without."
    )
