"""What a page needs to draw a form: every registered block with its facts and parameters, as plain data for JSON."""

from __future__ import annotations

import functools
from typing import Any

from workbench.analysis.solver_costs import line_counts
from workbench.block_facts import choice_label, facts, is_inverse, parameter_label
from workbench.errors import InputError
from workbench.lines.dependence import waiting
from workbench.registry import Block, Parameter, registered

DOCS = {
    "problem": "runs",
    "solver": "family",
    "preconditioner": "devices",
    "deflation": "devices",
    "coarse": "devices",
    "variant": "glossary",
}
"""The page of docs/ that is about a kind of block."""


def blocks_schema(kinds: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """All blocks of these kinds, by kind and name."""
    return {kind: {name: block_schema(cls) for name, cls in registered(kind).items()} for kind in kinds}


def block_schema(cls: type[Block]) -> dict[str, Any]:
    """One block: readable name, code, group, formula, cost, source, docstring and parameters."""
    known = facts(cls)
    return {
        "label": known.label,
        "code": cls.name,
        "group": known.group,
        "formula": known.formula,
        "cost": known.cost or counted(cls),
        "source": known.source,
        "about": known.about,
        "docs": DOCS.get(cls.kind, "glossary"),
        "parameters": [parameter_schema(declared, cls.name) for declared in cls.parameters()],
    }


def parameter_schema(declared: Parameter, owner: str = "run") -> dict[str, Any]:
    """One parameter or setting."""
    kind = "choice" if declared.choices else declared.kind.__name__
    return {
        "name": declared.name,
        "label": parameter_label(owner, declared.name),
        "kind": kind,
        "help": declared.help if is_inverse(owner, declared.name) else declared.about,
        "placeholder": declared.empty,
        "choices": [[value, choice_label(declared.name, value)] for value in declared.choices],
    }


@functools.cache
def counted(cls: type[Block]) -> str:
    """The cost of an iteration of a solver, counted from its lines; empty for one that has none."""
    text = getattr(cls, "iterate", "")
    if not isinstance(text, str) or not text:
        return ""
    try:
        counts, reductions = line_counts(text), waiting(text).reductions
    except InputError:
        return ""
    applied = [f"{times} × {name}" for times, name in ((counts.with_a, "A"), (counts.with_m, "M⁻¹")) if times]
    return ", ".join([*applied, f"{counts.updates} vector updates", f"{reductions} reduction{'s' * (reductions != 1)}"])
