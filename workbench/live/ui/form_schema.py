"""The schema from which a page draws a form: all registered blocks with facts and parameters, as plain data for
JSON."""

from __future__ import annotations

import functools
import math
import re
import sys
from typing import Any

from workbench.costs.solver_costs import line_counts
from workbench.errors import InputError
from workbench.lines.dependence import waiting
from workbench.registry import Block, Parameter, registered
from workbench.registry.facts import choice_label, facts, parameter_label
from workbench.solvers import Solver
from workbench.words import numbers
from workbench.words.names import GREEK, typeset_words
from workbench.words.numbers import THIN, chosen, count, number

GREEK_NAMES = {**GREEK, "epsilon": "ε", "lambda": "λ", "mu": "μ"}
POWER_LETTERS = str.maketrans("0123456789-knq", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵏⁿq")
PRINTED = (
    (rf"\b({'|'.join(GREEK_NAMES)})(?=\b|_)", lambda found: GREEK_NAMES[found[1]]),
    (r"(?<=[\w)⁻¹‖])\^(-?[\dkn]+)(?!\w)", lambda found: found[1].translate(POWER_LETTERS)),
    (r"\bsqrt(?=\()", "√"),
    (r" <- ", " ← "),
    (r"_inf\b", "_∞"),
    (r"\bdensity_ratio\b", "ε"),
    (r"\bn x n x n\b", "n³"),
    (r"\bn x n\b(?! x)", "n²"),
    (r"(?<=\d)\*(?=\w)", " × "),
    (r"(?<=[\w)]) - (?=[\w(])", " − "),
    (r"(?<![\w)-])-(?=[\w(])", "−"),
)
"""Patterns in the help of a block, each with its printed form; a subscript keeps its _, of which the page makes one."""
ASIDES = r",? \(?see `[^`]*`\)?(, [^.;]*)?(?=[.;])"
"""References to code, which are of no use on the page."""
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


@functools.lru_cache(maxsize=512)
def block_schema(cls: type[Block]) -> dict[str, Any]:
    """One block: readable name, code, group, formula, cost, source, what its docstring says and parameters.

    Kept, since each form has all blocks; it is for reading only.
    """
    known = facts(cls)
    return {
        "label": known.label,
        "code": cls.name,
        "group": known.group,
        "formula": known.formula,
        "cost": typeset_words(known.cost) or counted(cls),
        "source": known.source,
        "about": [mathematics(cls, paragraph) for paragraph in known.about],
        "docs": DOCS.get(cls.kind, "glossary"),
        "parameters": [parameter_schema(declared, cls.name) for declared in cls.parameters()],
    }


def mathematics(cls: type[Block], paragraph: str) -> str:
    """A paragraph of the help of a block with its mathematics printed, and with names and numbers in place of code."""
    text = re.sub(ASIDES, "", typeset_words(paragraph))
    for code_text, printed in PRINTED:
        text = re.sub(code_text, printed, text)
    return re.sub(r"`([^`]*)`", lambda found: _called(cls, found[1]), text)


def _called(cls: type[Block], code: str) -> str:
    """A word of code as the page calls it: a constant by its value, a parameter and a block by their labels."""
    value = vars(sys.modules[cls.__module__]).get(code) if code.isupper() else None
    if isinstance(value, int | float):
        return count(value) if isinstance(value, int) else number(value)
    if any(declared.name == code for declared in cls.parameters()):
        return f"“{parameter_label(cls.name, code)}”"
    for kind in DOCS:
        if code in registered(kind):
            return facts(registered(kind)[code]).label
    return code


def parameter_schema(declared: Parameter, owner: str = "run") -> dict[str, Any]:
    """One parameter or setting."""
    either = _either(declared)
    kind = "segments" if either else "choice" if declared.choices else declared.kind.__name__
    return {
        "name": declared.name,
        "label": parameter_label(owner, declared.name),
        "kind": kind,
        "help": typeset_words(declared.help),
        "about": explanation(declared, owner),
        "placeholder": declared.empty,
        "choices": either or [[value, choice_label(declared.name, value)] for value in declared.choices],
    }


def _either(declared: Parameter) -> list[list[Any]]:
    """The two values of a whole number that has no more, each with its words: they lie side by side on the page."""
    low, high = declared.low, declared.high
    if declared.kind is not int or low is None or high is None or high - low != 1:
        return []
    return [[value, choice_label(declared.name, str(value))] for value in (int(low), int(high))]


def explanation(declared: Parameter, owner: str = "run") -> str:
    """The text below the field of a parameter: its meaning where the label lacks it, its bounds and its unit."""
    known = declared.help.lower() in parameter_label(owner, declared.name).lower()
    bounds = "" if declared.choices or _either(declared) else bounds_in_words(declared)
    return typeset_words("; ".join(part for part in ("" if known else declared.help, bounds) if part))


def bounds_in_words(declared: Parameter) -> str:
    """The bounds of a number as the page shows and types it, with its unit; empty if there are none."""
    low, high = declared.low, declared.high
    unit = f"{THIN}{declared.unit}" if declared.unit else ""
    if low is not None and high is not None and math.isfinite(high):
        return f"{_bound(low)} to {_bound(high)}{unit}"
    if low is not None:
        return f"at least {_bound(low)}{unit}"
    return f"above {_bound(declared.above)}{unit}" if declared.above is not None else unit.strip()


def _bound(value: float) -> str:
    """A bound with all its digits; a large or small power of ten as such."""
    text = chosen(value)
    return count(int(value)) if "×" in text and float(value).is_integer() else text


@functools.cache
def counted(cls: type[Block]) -> str:
    """The cost of an iteration of a solver, counted from its lines; empty for one that has none."""
    text = cls.iterate if issubclass(cls, Solver) else ""
    if not isinstance(text, str) or not text:
        return ""
    try:
        counts, reductions = line_counts(text), waiting(text).reductions
    except InputError:
        return ""
    applied = [f"{times} × {name}" for times, name in ((counts.with_a, "A"), (counts.with_m, "M⁻¹")) if times]
    return ", ".join([*applied, f"{counts.updates} vector updates", numbers.counted(reductions, "reduction")])
