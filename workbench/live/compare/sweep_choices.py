"""The choices of a sweep: its fixed settings, and a row to fill in for each choice that varies."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench import devices
from workbench.errors import InputError
from workbench.live.ui.controls import button, column
from workbench.live.ui.controls import row as line
from workbench.live.ui.declared_form import Control, DeclaredForm
from workbench.live.ui.form_fields import Field, as_text
from workbench.live.ui.form_schema import explanation
from workbench.live.ui.words import shown
from workbench.problems import Problem
from workbench.registry import Block, Parameter, known, lookup, parameter, registered, unknown_name
from workbench.registry.facts import facts
from workbench.run import Configuration, Stopping, configure
from workbench.run.choices.conflicts import Conflict, changes_of, conflicts, obstacles, reasons_of
from workbench.run.jobs.sweeping import Row, combinations
from workbench.settings import BLOCKS, METHOD, RUN, STOPPING, SWEEP_AXES, SWEEP_STOPPING, SWEEP_WORKERS
from workbench.words.names import choice_name, choice_text, sentence_case, with_names

MOST_CHECKED = 100
"""Runs of a sweep that are checked for conflicts before it begins."""
MOST_SAID = 3
MOST_WEIGHED = 8
"""Combinations of the other choices with which a value is checked."""
ADD = "add …"

Against = Callable[[str, Sequence[Any]], dict[Any, list[Conflict]]]
"""A function of a choice and values of it that returns the conflicts of each value."""


def suggestion(base: Configuration) -> dict[str, list[Any]]:
    """Choices to begin with: two sizes where the problem has one, and three preconditioners."""
    sizes = [declared for declared in base.problem.parameters() if declared.name == "n"]
    n = base.problem.per_side or 0
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
    choices = base.choices
    return base.problem, {name: choices[name] for name in names}


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
    return all(known(kind, block.name) for kind, block in base.blocks.items())


class Choices:
    """Rows to fill in. `changed` is called after every change, on any thread."""

    def __init__(
        self, problem: Problem, over: Mapping[str, Sequence[Any]], changed: Callable[[], object], against: Against
    ) -> None:
        self.problem = problem
        self.rows: list[ChoiceRow] = []
        self._away: dict[str, str] = {}
        self._changed, self._against = changed, against
        self.more = button("Add parameter", "vary one more parameter", self.add, width="112px")
        self.list = column("wb-choices")
        self.box = column("", self.list, line("wb-buttons", self.more))
        self.load(problem, over)

    @property
    def names(self) -> tuple[str, ...]:
        """All choices that can vary: the parameters of the problem, and the other choices of a configuration."""
        return (*(declared.name for declared in self.problem.parameters()), *SWEEP_AXES, *SWEEP_STOPPING)

    def load(self, problem: Problem, over: Mapping[str, Sequence[Any]]) -> None:
        """Show these choices, of a sweep over this problem."""
        self.problem = problem
        self._away = {}
        self._set([self._row(name, _written(values)) for name, values in over.items()])

    def rebase(self, problem: Problem) -> list[str]:
        """Keep the rows that another problem has too, as they were typed; returns the names of the others.

        They come back with a problem that has them.
        """
        self.problem = problem
        gone = {row.name: row.text for row in self.rows if row.name not in self.names}
        kept = [row for row in self.rows if row.name not in gone]
        taken = {row.name for row in kept}
        back = [name for name in self._away if name in self.names and name not in taken]
        self._set([*kept, *(self._row(name, self._away.pop(name)) for name in back)])
        self._away |= gone
        for row in self.rows:
            row.offer(self.names, problem)
        return list(gone)

    def add(self) -> None:
        """One more row, for the first choice that is not varied yet."""
        taken = {row.name for row in self.rows}
        free = next((name for name in (*BLOCKS, *self.names) if name not in taken), None)
        if free is not None:
            self._set([*self.rows, self._row(free, "")])
            self._changed()

    def over(self, without: str = "") -> dict[str, list[Any]]:
        """The values of each choice, but for one. Raises InputError with the sentence for an unreadable value."""
        found: dict[str, list[Any]] = {}
        for row in self.rows:
            if row.name in found:
                raise InputError(f"{row.title} is varied in two rows; write all its values into one")
            if row.name != without:
                found[row.name] = row.values(self.problem)
        return found

    def _row(self, name: str, text: str) -> ChoiceRow:
        return ChoiceRow(Varied(name, text), self.names, self.problem, self._changed, self._remove, self._against)

    def _remove(self, row: ChoiceRow) -> None:
        self._set([other for other in self.rows if other is not row])
        self._changed()

    def _set(self, rows: list[ChoiceRow]) -> None:
        before, self.rows = self.rows, rows
        self.list.children = tuple(row.box for row in rows)
        for row in before:
            if row not in rows:
                row.box.close()


@dataclasses.dataclass(frozen=True)
class Workers:
    """The workers that make the runs, None for this process."""

    workers: str | None = None


WORKERS = (
    Control("workers", "workers", rule=SWEEP_WORKERS, looks={"placeholder": "none, local:2 or tcp://host:8786"}),
)


@dataclasses.dataclass(frozen=True)
class Varied:
    """A choice that varies. text: its values as one types them, with commas between."""

    name: str = parameter("", "the choice that varies")
    text: str = parameter("", "its values, with commas between")


ROW = (
    Control("name", "vary", looks={"kind": "choice", "about": ""}),
    Control("text", "over"),
    Control(
        "known",
        "known values",
        rule=Parameter("known", str, ADD, "add a value to the list"),
        looks={"kind": "choice", "about": "", "lasting": True, "act": True},
    ),
    Control("remove", "Remove", rule=Parameter("remove", str, "Remove", "do not vary this"), looks={"kind": "press"}),
)


class ChoiceRow(DeclaredForm[Varied]):
    """One choice: its name, its values, known values to add, and a button that takes the row away. names: of all
    choices of the problem; against: what speaks against values, as the menu of known ones says."""

    def __init__(
        self,
        varied: Varied,
        names: Sequence[str],
        problem: Problem,
        changed: Callable[[], object],
        remove: Callable[[ChoiceRow], object],
        against: Against,
    ) -> None:
        self._names, self._problem, self._against = names, problem, against
        acts = {"remove": lambda: remove(self)}
        super().__init__(varied, ROW, about="Choice that varies", changed=lambda _: changed(), acts=acts)
        self.box.add_class("wb-choice")

    @property
    def name(self) -> str:
        """The name of the choice."""
        return self.present.name

    @property
    def text(self) -> str:
        """Its values as they are written."""
        return self.present.text

    @property
    def title(self) -> str:
        """The name of the choice in words."""
        return sentence_case(choice_name(self.name, self._problem.name))

    def values(self, problem: Problem) -> list[Any]:
        """The values that are written, in the form that the choice takes. Raises InputError."""
        name, words = self.name, split(self.text)
        if not words:
            raise InputError(f"{self.title} has no value yet; write some with commas between, or remove it")
        if twice := next((word for word in words if words.count(word) > 1), ""):
            raise InputError(f"{self.title} has the value {twice} twice; write each value once")
        if name == "device":
            known = devices.names()
            for word in words:
                if word.partition(":")[0] not in {device.partition(":")[0] for device in known}:
                    raise InputError(unknown_name("device", word, known))
        declared = _declared(name, problem)
        if declared is None:
            return words
        field = Field(declared, _owner(name, problem))
        return [_read(field, word) for word in words]

    def offer(self, names: Sequence[str], problem: Problem) -> None:
        """Offer these choices, and the known values of the present one."""
        self._names, self._problem = names, problem
        self.renew()

    def turn(self, name: str = "") -> None:
        """Offer the known values of the choice, and write one that is chosen to the others."""
        chosen, text, known = (self.settings[field] for field in ("name", "text", "known"))
        if chosen.value not in self._names:
            chosen.value = self.name
        if name == "name" and chosen.value != self.name:
            # Values of one choice mean nothing to another.
            text.value = ""
        if known.value != ADD:
            written = split(str(text.value))
            text.value = ", ".join(dict.fromkeys([*written, str(known.value)]))
        values, about = _known(str(chosen.value), self._problem)
        chosen.options = tuple(self._names)
        chosen.words = {each: sentence_case(choice_name(each, self._problem.name)) for each in self._names}
        known.value, known.options = ADD, (ADD, *values)
        known.words = {value: _label(str(chosen.value), value) for value in values}
        self.about["text"] = f"{about}, with commas between" if about else ""
        self.hidden = () if values else ("known",)
        self.reasons = {}

    def weigh(self, name: str) -> dict[Any, list[Conflict]]:
        return self._against(self.name, self.settings["known"].options[1:]) if name == "known" else {}


def split(text: str) -> list[str]:
    """The values in a text with commas between; those between the parameters of one block, as in
    hybrid3:share=0.4,fused=no, are part of it."""
    parts: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        if parts and ":" in parts[-1] and "=" in parts[-1] and re.match(r"\w+\s*=", part):
            parts[-1] += f",{part}"
        elif part:
            parts += [part]
    return parts


def _read(field: Field, word: str) -> Any:
    """A value as the field of a form reads it. Raises InputError."""
    try:
        field.typed(word)
        return field.read()
    except InputError as error:
        raise InputError(field.sentence(error)) from None


def _written(values: Sequence[Any]) -> str:
    """Values as one types them."""
    return ", ".join(value.spec if isinstance(value, Block) else as_text(value) for value in values)


def _owner(name: str, problem: Problem) -> str:
    """The owner of a choice, as `parameter_label` takes it: "run", or the problem by name."""
    return "run" if name in RUN or name in STOPPING else problem.name


def _label(name: str, value: str) -> str:
    """A known value in the words of a menu."""
    return facts(lookup(name, value)).label if name in BLOCKS else choice_text(name, value)


def _declared(name: str, problem: Problem) -> Parameter | None:
    """The declaration of a choice that is a plain value; None for blocks."""
    of_problem = {declared.name: declared for declared in problem.parameters()}
    return of_problem.get(name, RUN.get(name, STOPPING.get(name)))


def _known(name: str, problem: Problem) -> tuple[tuple[str, ...], str]:
    """The named values of a choice, and a hint on the values that may be written."""
    if name in BLOCKS:
        return tuple(registered(name)), "names, with parameters after a colon, as in neumann:2"
    if name == "device":
        return devices.names(), "devices of this machine"
    declared = _declared(name, problem)
    if declared is None:
        return (), ""
    words = declared.choices or (("true", "false") if declared.kind is bool else ())
    return words, explanation(declared, _owner(name, problem))
