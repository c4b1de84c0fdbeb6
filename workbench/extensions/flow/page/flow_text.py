"""Texts on a flow, in the bar of its view and below its picture."""

from __future__ import annotations

import math

from workbench.extensions.flow.page.player import Player
from workbench.problems import Problem
from workbench.run import State
from workbench.sequences.sequence import Sequence
from workbench.words.numbers import counted, duration, number, queued

ANOTHER = "The problem in the form has changed. Run again from the start to use it."
PRESS = "Press Play: two methods solve the pressure equation of every step."
RECENT = 50
"""Latest steps whose rate is shown."""
SLOWEST = 0.3
"""Steps per second below which the time of a step is said."""


def sentence(player: Player, state: State) -> tuple[str, str]:
    """The state of a flow in words, and its tone."""
    sequence = player.sequence
    steps = counted(sequence.steps, "step") if sequence.steps else ""
    if state is State.FAILED:
        return f"{player.error} Choose another method and continue, or restart.", "bad"
    if state is State.QUEUED:
        return (queued(player.ahead) if player.ahead else "Starting."), "busy"
    if state is State.RUNNING:
        return doing(player) or f"Playing{_rate(sequence)}{_left(sequence)}.", "busy"
    if not steps:
        return PRESS, "plain"
    at = f"time {number(sequence.series['time'][-1])} of {number(until(sequence.problem))}"
    if sequence.done:
        return f"Ended after {steps} and {duration(sum(sequence.series['seconds']))} of work.", "good"
    return f"{'Paused' if state is State.PAUSED else 'Stopped'} after {steps}, {at}.", "plain"


def doing(player: Player) -> str:
    """The work before a step can be shown: compiling, or the setup; empty once steps are made."""
    sequence = player.sequence
    dimensions = len(size.grid) if (size := sequence.problem.known_size) and size.grid else 2
    if player.compiling:
        return f"Compiling the kernels of a flow in {dimensions}D, once on this machine."
    if sequence.steps:
        return ""
    return f"Setting up the first step in {dimensions}D." if player.alive else "Press Play."


def facts(sequence: Sequence) -> str:
    """The line below the picture, as HTML: the divergence left, cells that changed phase, failures."""
    if not sequence.steps:
        return ""
    series = sequence.series
    left = series["volume_error"][-1]
    said = [f"dt rms(div u) = {number(left)}"] if math.isfinite(left) else []
    moved = int(series["moved_cells"][-1])
    said += [f"{counted(moved, 'cell')} changed phase in this step"]
    if series.get("shift"):
        said.append(f"volumes kept by shifting the interface {number(series['shift'][-1])} widths in all")
    failed = [f"{method.label}: {method.failure}" for method in sequence.methods[1:] if method.failure]
    return f'<p class="wb-note">{"; ".join([*said, *failed])}</p>'


def until(problem: Problem) -> float:
    """The time at which a sequence ends; 0 for a record."""
    return float(problem.parameter_values.get("until", 0.0))


def _rate(sequence: Sequence) -> str:
    """Steps per second of all methods together, in words."""
    whole = _seconds_per_step(sequence)
    if not whole:
        return ""
    return f", {1 / whole:.2g} steps per second" if whole < 1 / SLOWEST else f", {duration(whole, 2)} per step"


def _left(sequence: Sequence) -> str:
    """The time left by the latest steps, in words; empty where it is short or not known."""
    times, whole = sequence.series["time"][-RECENT:], _seconds_per_step(sequence)
    passed, ahead = times[-1] - times[0], until(sequence.problem) - times[-1]
    if len(times) < RECENT or passed <= 0 or ahead <= 0:
        return ""
    return f", about {duration(ahead / passed * (len(times) - 1) * whole, 2)} left"


def _seconds_per_step(sequence: Sequence) -> float:
    recent = sequence.series["seconds"][-RECENT:]
    others = [sum(filter(math.isfinite, method.seconds[-RECENT:])) for method in sequence.methods[1:]]
    return (sum(recent) + sum(others)) / len(recent) if recent else 0.0
