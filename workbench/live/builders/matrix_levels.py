"""The levels that a matrix starts with in Solve: those of a run that names none."""

from __future__ import annotations

from collections.abc import Callable

from workbench import devices
from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.operators import Operator
from workbench.preconditioners import Preconditioner
from workbench.run import Configuration
from workbench.run.choices.conflicts import changed
from workbench.run.choices.levels import Chosen, chosen_levels
from workbench.settings import BLOCKS
from workbench.words.names import Parts, run_parts, sentence_case

KINDS = "preconditioner", "deflation"
Pair = tuple[Preconditioner, Deflation]


class DefaultLevels:
    """The default levels of one matrix after another, each of which takes the place of the one before.

    configuration: returns that of the page, None without one. use: called with the configuration that a matrix is
    handed on with; None where nothing takes it.
    """

    def __init__(
        self, configuration: Callable[[], Configuration] | None, use: Callable[[Configuration], object] | None
    ) -> None:
        self._configuration, self._use = configuration, use
        self._given: Pair | None = None
        """Those of the last matrix that was given some."""

    def of(self, operator: Operator, solved: Configuration | None) -> Chosen | None:
        """The levels of a run that names none, with the other choices of a configuration; None where they are no choice
        by the size and the rows of A. Cost: a read of A."""
        if solved is None or solved.ranks > 1 or solved.cluster:
            return None
        try:
            chosen = chosen_levels(operator, solved.solver, devices.device(solved.device))
        except InputError:
            # The run says that there is no such device.
            return None
        return chosen if chosen.note else None

    def start(self, solved: Configuration | None, chosen: Chosen | None) -> None:
        """Hand on a matrix with these levels. solved: the configuration of the page with the matrix as its problem.

        Levels of the page give way if they are for a grid, the default of another matrix, or nothing was chosen; those
        that came with this matrix, as by a link, stay.
        """
        if solved is None or chosen is None or self._configuration is None or self._use is None:
            return
        present = self._configuration()
        usual = tuple(BLOCKS[kind].default for kind in KINDS)
        levels = _levels(present)
        unchosen = present.problem.has_grid or levels == self._given or tuple(each.text for each in levels) == usual
        if present.problem == solved.problem or not unchosen:
            return
        made = changed(solved, {"preconditioner": chosen.preconditioner, "deflation": chosen.deflation})
        self._given = _levels(made)
        self._use(made)

    def words(self, solved: Configuration | None) -> str:
        """A sentence on the levels of a configuration that are those it was handed on with; empty for others."""
        if solved is None or _levels(solved) != self._given:
            return ""
        return f" Solve starts with its default: {_in_words(solved.parts)}."


def reason_of(chosen: Chosen) -> str:
    """The levels in words and why they are the default, for the table of facts."""
    parts = run_parts({"preconditioner": chosen.preconditioner, "deflation": chosen.deflation})
    return sentence_case(f"{_in_words(parts)}, for {chosen.note.partition(', for ')[2]}")


def _in_words(parts: Parts) -> str:
    """Both levels, or the only one."""
    return " and ".join(parts[kind] for kind in KINDS if parts[kind] != f"no {kind}")


def _levels(configuration: Configuration) -> Pair:
    return configuration.preconditioner, configuration.deflation
