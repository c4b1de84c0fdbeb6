"""The settings that entries of a race share, those in which they differ, and the controls of what is looked at."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from workbench.live.solve.form import OF_METHOD
from workbench.live.ui.declared_form import Control, DeclaredForm
from workbench.registry import Parameter, parameter
from workbench.run import Configuration, Norm
from workbench.run.choices.conflicts import Conflict, conflicts
from workbench.run.jobs.ranking import MEASURES
from workbench.settings import STOPPING

SHARED = {
    "problem": "problem",
    "rhs": "right-hand side",
    "seed": "seed",
    "x0": "start",
    "stopping": "stopping rule",
    "cluster": "cluster",
    "memory_limit": "memory limit",
}
"""Settings that all entries share, so that they can be compared, in words."""
SYSTEM = ("problem", "rhs", "seed", "x0")
"""Those that make the system."""


def of_system(conflict: Conflict) -> bool:
    """True for a conflict that no other method ends: it is about the system or the stopping rule."""
    return any(name in STOPPING or name.partition(".")[0] in SYSTEM for name in conflict.fields)


def refused(configuration: Configuration) -> str:
    """Why no method can solve the system of a configuration here, as a sentence; empty where one can. Cost: some
    milliseconds."""
    return next((conflict.sentence for conflict in conflicts(configuration) if of_system(conflict)), "")


def differences(one: Configuration, other: Configuration) -> list[str]:
    """The shared settings of entries that differ in the other configuration, in words."""
    return [text for name, text in SHARED.items() if one.choices[name] != other.choices[name]]


def aimed(configuration: Configuration, tolerance: float) -> Configuration:
    """A configuration that stops at a tolerance of the relative residual, whatever stopped it before."""
    stopping = dataclasses.replace(configuration.stopping, norm=Norm.RESIDUAL, rtol=tolerance, atol=0.0)
    return dataclasses.replace(configuration, stopping=stopping)


def aim_of(entry: Configuration, other: Configuration) -> Configuration:
    """The other configuration with the tolerance that an entry has."""
    own = entry.stopping
    stopping = dataclasses.replace(other.stopping, norm=own.norm, rtol=own.rtol, atol=own.atol)
    return dataclasses.replace(other, stopping=stopping)


def method_of(entry: Configuration) -> tuple[Any, ...]:
    """The choices that distinguish an entry from others on its system."""
    choices = entry.choices
    return tuple(choices[name] for name in OF_METHOD)


def moved(entry: Configuration, base: Configuration) -> Configuration:
    """The method and device of an entry, and all else from another configuration."""
    choices = entry.choices
    return dataclasses.replace(base, **{name: choices[name] for name in OF_METHOD})


@dataclasses.dataclass(frozen=True)
class Look:
    """The numbers by which a race is looked at. own: the tolerance was chosen there, not taken over from entries."""

    measure: str = parameter(MEASURES[0], "the amount that decides, and the axis of the plot", choices=MEASURES)
    with_setup: bool = parameter(
        True, "count each setup, which in a first run loads kernels too; without it only iterations count"
    )
    tolerance: float = 1e-6
    own: bool = False


LOOK = (
    Control("measure", "x-axis", looks={"kind": "segments", "about": ""}),
    Control("with_setup", "with setup"),
    Control(
        "tolerance",
        "tolerance",
        rule=Parameter(
            "tolerance",
            float,
            1e-6,
            "any relative residual ‖r‖ / ‖b‖; the line on the plot can be dragged too",
            above=0,
        ),
    ),
)


class LookForm(DeclaredForm[Look]):
    """The controls of a look, in a row."""

    off_reason = "without seconds on the x-axis no setup is counted"

    def __init__(self, look: Look, changed: Callable[[Look], object]) -> None:
        super().__init__(look, LOOK, about="Measure of the race", changed=changed)
        self.box.add_class("wb-formrow")

    def state_of(self, read: Mapping[str, Any]) -> Look:
        own = self.present.own or read["tolerance"] != self.present.tolerance
        return dataclasses.replace(self.present, **read, own=own)

    def turn(self, name: str = "") -> None:
        self.settings["with_setup"].disabled = self.settings["measure"].value != "seconds"
