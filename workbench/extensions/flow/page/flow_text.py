"""Texts on a flow, in the bar of its view and below its picture."""

from __future__ import annotations

import math

from workbench.extensions.flow.page.player import Player
from workbench.problems import Problem
from workbench.run import State
from workbench.sequences.sequence import Sequence
from workbench.words.numbers import count, duration, number, queued

ANOTHER = "The problem of the form is another; press Begin again to play it."
PRESS = "Press Play. Two methods solve the pressure of every step; change them while it plays."
RECENT = 50
"""Latest steps whose rate is shown."""


def sentence(player: Player, state: State) -> tuple[str, str]:
    """The state of a flow in words, and its tone."""
    sequence = player.sequence
    steps = f"{count(sequence.steps)} steps" if sequence.steps else ""
    if state is State.FAILED:
        return f"{player.error} Choose another method and play on, or begin again.", "bad"
    if state is State.QUEUED:
        return queued(player.ahead), "busy"
    if not steps:
        return PRESS, "plain"
    at = f"time {number(sequence.series['time'][-1])} of {number(until(sequence.problem))}"
    if state is State.RUNNING:
        rate = f"{_rate(sequence):.0f} steps a second" if _rate(sequence) else ""
        return ", ".join(filter(None, (steps, at, rate))), "busy"
    if sequence.done:
        return f"ended after {steps}, {duration(sum(sequence.series['seconds']))} of work", "good"
    return f"{'paused' if state is State.PAUSED else 'stopped'} after {steps}, {at}", "plain"


def facts(sequence: Sequence) -> str:
    """The line below the picture, as HTML: the divergence left, cells that changed phase, failures."""
    if not sequence.steps:
        return ""
    series = sequence.series
    left = series["volume_error"][-1]
    said = [f"dt rms(div u) = {number(left)}"] if math.isfinite(left) else []
    moved = int(series["moved_cells"][-1])
    said += [f"{count(moved)} cell{'s' * (moved != 1)} changed phase in this step"]
    if series.get("shift"):
        said.append(f"the interface was shifted by {number(series['shift'][-1])} widths in all to keep volumes")
    failed = [f"{method.label}: {method.failure}" for method in sequence.methods[1:] if method.failure]
    return f'<p class="wb-note">{"; ".join([*said, *failed])}</p>'


def until(problem: Problem) -> float:
    """The time at which a sequence ends; 0 for a record."""
    return float(problem.parameter_values.get("until", 0.0))


def _rate(sequence: Sequence) -> float:
    """Steps a second of all methods together."""
    recent = sequence.series["seconds"][-RECENT:]
    others = [sum(filter(math.isfinite, method.seconds[-RECENT:])) for method in sequence.methods[1:]]
    whole = sum(recent) + sum(others)
    return len(recent) / whole if whole else 0.0
