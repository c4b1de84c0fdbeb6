"""Conflicts among the choices of a configuration: what setup, command line and forms say before a run."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from workbench import devices
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.memory_need import MemoryNeed, checked_need
from workbench.run.choices.rules import check_rules, rules_of
from workbench.settings import STOPPING

MOST = 8
"""Conflicts of a configuration that are searched for."""

OperatorOf = Callable[[Configuration], Operator | None]
"""A of a configuration, None where it is not assembled; may raise InputError."""


class Conflict(NamedTuple):
    """A rule that choices break together. changes: what mends it, as those of an `InputError`; empty if unknown. at:
    the choice at fault where no change is known."""

    sentence: str
    changes: Mapping[str, Any]
    at: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The choices that are to be made again."""
        return tuple(self.changes) or ((self.at,) if self.at else ())

    @property
    def reason(self) -> str:
        """The sentence without its last clause, which says what to do instead."""
        return self.sentence.rpartition("; ")[0] or self.sentence


def check(configuration: Configuration, device: Device, operator: Operator | None = None) -> MemoryNeed | None:
    """Raise InputError for the first rule across choices that is broken; the memory that the run needs, if it is known.

    operator: A once it is assembled; more rules are about it, and its memory is taken. Cost: some milliseconds.
    """
    check_rules(rules_of(configuration, device, operator))
    if operator is not None:
        return None
    need, size = checked_need(configuration, device), configuration.problem.known_size
    if need is None and size is not None:
        configuration.solver.check_memory(device, size)
        configuration.problem.check_memory()
    return need


def conflicts(
    configuration: Configuration,
    operator_of: OperatorOf = lambda _configuration: None,
    given: Operator | None = None,
) -> list[Conflict]:
    """All rules that a configuration breaks; empty where it can be run as far as is known without a setup.

    After each rule its changes are made and the rest is checked, so that all changes together are enough. Device auto,
    which a measurement of seconds chooses, breaks what all devices break until it is measured. given: A of a system
    that is not assembled from the problem.
    """
    found: list[Conflict] = []
    while len(found) < MOST:
        try:
            if given is None:
                _check_on_devices(configuration)
            if (operator := operator_of(configuration) if given is None else given) is not None:
                _check_on_devices(configuration, operator)
        except InputError as error:
            mended = changed(configuration, error.changes)
            found.append(Conflict(str(error), error.changes if mended != configuration else {}, error.at))
            if mended == configuration:
                break
            configuration = mended
        else:
            break
    return found


def obstacles(
    configuration: Configuration,
    name: str,
    values: Iterable[Any],
    operator_of: OperatorOf = lambda _configuration: None,
) -> dict[Any, list[Conflict]]:
    """The conflicts that each of these values of a choice would add to the present ones.

    name: as in `changed`. Cost: some milliseconds for each value.
    """
    now = {conflict.sentence for conflict in conflicts(configuration, operator_of)}
    found: dict[Any, list[Conflict]] = {}
    for value in values:
        try:
            would = conflicts(changed(configuration, {name: value}), operator_of)
        except InputError as error:
            would = [Conflict(str(error), {})]
        if added := [conflict for conflict in would if conflict.sentence not in now]:
            found[value] = added
    return found


@contextlib.contextmanager
def all_at_once(configuration: Configuration, operator_of: OperatorOf, given: Operator | None) -> Generator[None]:
    """An InputError that a change of the configuration mends becomes one that names all conflicts, and all changes.

    operator_of, given: as in `conflicts`.
    """
    try:
        yield
    except InputError as error:
        found = conflicts(configuration, operator_of, given) if error.changes else []
        if len(found) < 2:
            raise
        raise InputError(in_words(found), changes=changes_of(found)) from None


def changes_of(found: Sequence[Conflict]) -> dict[str, Any]:
    """The changes that mend all conflicts together; empty where one of them has none."""
    if not all(conflict.changes for conflict in found):
        return {}
    return {name: value for conflict in found for name, value in conflict.changes.items()}


def in_words(found: Sequence[Conflict]) -> str:
    """One sentence for all conflicts, which ends with all that is to be changed; empty without one."""
    changes = changes_of(found)
    if len(found) < 2 or not changes:
        return "; and ".join(conflict.sentence for conflict in found)
    ways = [f"{name.rpartition('.')[2]} {'none' if value is None else value}" for name, value in changes.items()]
    return f"{reasons_of(found)}; use {', '.join(ways)}"


def reasons_of(found: Sequence[Conflict]) -> str:
    """Why choices are in conflict, without what to do."""
    return "; and ".join(conflict.reason for conflict in found)


def changed(configuration: Configuration, changes: Mapping[str, Any]) -> Configuration:
    """A configuration with other choices, by field: "solver", "problem.n", "norm". Raises InputError for wrong ones."""
    for name, value in changes.items():
        kind, _, parameter = name.partition(".")
        if name in STOPPING:
            kind, value = "stopping", configuration.stopping.changed({name: value})
        elif parameter:
            value = configuration.blocks[kind].changed({parameter: value})
        configuration = dataclasses.replace(configuration, **{kind: value})
    return configuration


def _check_on_devices(configuration: Configuration, operator: Operator | None = None) -> None:
    """Raise the InputError of the first device that the run may have, where all of them have one."""
    errors: list[InputError] = []
    for name in devices.candidates(configuration.device):
        try:
            check(configuration, _device(name, configuration.memory_limit), operator)
        except InputError as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def _device(name: str, memory_limit: int | None) -> Device:
    """A device. Raises InputError where this machine lacks it."""
    try:
        return devices.device(name).limited(memory_limit)
    except InputError as error:
        raise InputError(str(error), changes={"device": "cpu"}) from None
