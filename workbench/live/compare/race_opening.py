"""Methods that a race proposes: those with which it opens, and variations of its first entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import util

from workbench import devices
from workbench.live.compare.race_form import of_system
from workbench.registry import known
from workbench.run import Configuration
from workbench.run.choices.conflicts import Conflict, OperatorOf, changed, changes_of, conflicts
from workbench.settings import BLOCKS, SECOND_LEVEL

MOST = 4
"""Methods at the start, that of the configuration among them."""
PARTS, MIN_CELLS = 8, 4
"""Subdomains per side, fewer where one would have fewer cells per side."""
NONE = "none"
OPENCL = "opencl"
MULTIGRID, OF_PYAMG = "multigrid", "multigrid of PyAMG"
VARIATIONS = ("pipelined CG", MULTIGRID, OF_PYAMG, "mixed precision", "the same on OpenCL")
"""Variations of a method, in words for a button."""


def opening(configuration: Configuration, operator_of: OperatorOf = lambda _configuration: None) -> list[Configuration]:
    """A configuration, with parts of its method that do not fit replaced, and others with its solver and device on its
    system: the diagonal, the strongest single level that fits, Neumann 2 with subdomains, and Neumann 2 alone; without
    a grid algebraic ones, with parts of the graph as second level. Where the solver is not CG, CG with its levels is
    the second.

    The system stays as it is, also where it is refused. operator_of: A of a configuration, where it is known; more is
    then ruled out. Cost: some milliseconds for each of about ten methods.
    """

    def of_method(chosen: Configuration) -> list[Conflict]:
        return [conflict for conflict in conflicts(chosen, operator_of) if not of_system(conflict)]

    first = changed(configuration, changes_of(of_method(configuration)))
    found = [first]
    if first.solver.name != "cg" and not first.solver.complex_symmetric:
        plain = changed(first, {"solver": "cg"})
        found += [plain] if not of_method(plain) else []
    for group in _groups(first):
        fitting = (made for levels in group if (made := _with(first, *levels)) and not of_method(made))
        made = next(fitting, None)
        if made is not None and all(_levels(made) != _levels(other) for other in found):
            found.append(made)
    return found[:MOST]


def _groups(configuration: Configuration) -> Iterator[tuple[tuple[str, str], ...]]:
    """Groups of pairs of levels; the first pair of a group that fits stands for it. The most useful group is first."""
    yield (("jacobi", NONE),)
    grid = configuration.problem.grid
    if grid is None:
        if configuration.deflation.name == NONE:
            yield ("ic", "parts"), ("ssor", "parts"), ("jacobi", "parts")
        yield ("ic", NONE), ("ssor", NONE)
        cycle = [("kcycle", NONE)] if configuration.solver.applies_m_to_r else []
        yield (*cycle, ("amg:sa", NONE), ("block-ic:8", NONE), ("fsai", NONE))
    else:
        # Where levels are not exact, which only a setup knows, other methods refuse it.
        multigrid = [("mg", NONE)] if configuration.solver.applies_m_to_r else []
        yield (*multigrid, ("ic", NONE), ("ssor", NONE))
        if configuration.deflation.name == NONE:
            parts = min(PARTS, min(grid) // MIN_CELLS)
            yield ("neumann:2", f"levelset:{parts}"), ("neumann:2", f"blocks:{parts}")
    yield (("neumann:2", NONE),)
    yield (("neumann:1", NONE),)
    yield ("chebyshev:3", NONE), (NONE, NONE)


def variations(entries: Sequence[Configuration]) -> dict[str, Configuration]:
    """The first entry with another solver, first level, precision or device, by `VARIATIONS`; none that the race has or
    that does not fit. Cost: some milliseconds for each of the four."""
    if not entries:
        return {}
    first = entries[0]
    alone = {"deflation": NONE, **{kind: BLOCKS[kind].default for kind in SECOND_LEVEL}}
    cycles = ({"preconditioner": name, **alone} for name in ("mg", "amg:sa"))
    changes = ({"solver": "pipecg"}, *cycles, {"precision": "mixed"}, {"device": OPENCL})
    proposed = dict(zip(VARIATIONS, changes, strict=True))
    if first.problem.grid is None:
        del proposed[MULTIGRID]
    if first.problem.grid is not None or not util.find_spec("pyamg"):
        del proposed[OF_PYAMG]
    if OPENCL not in devices.names():
        del proposed[VARIATIONS[-1]]
    if first.solver.complex_symmetric:
        # The other methods are for Hermitian A, which only its entries tell from this.
        proposed = {words: proposed[words] for words in proposed if words not in VARIATIONS[:3]}
    made = {words: changed(first, values) for words, values in proposed.items()}
    # Whether it fits an accelerator is known from the device, which is made when it is chosen: 15 MB of a page.
    return {
        words: each
        for words, each in made.items()
        if each not in entries and (words == VARIATIONS[-1] or not conflicts(each))
    }


def _with(configuration: Configuration, preconditioner: str, deflation: str) -> Configuration | None:
    """A configuration with other levels; None where this installation lacks one, or a side has too few cells."""
    if not known("preconditioner", preconditioner.partition(":")[0]) or deflation.endswith((":0", ":1")):
        return None
    second = {kind: BLOCKS[kind].default for kind in SECOND_LEVEL}
    return changed(configuration, {"preconditioner": preconditioner, "deflation": deflation, **second})


def _levels(configuration: Configuration) -> tuple[object, object]:
    return configuration.preconditioner, configuration.deflation
