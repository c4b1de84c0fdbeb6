"""Names of blocks, problems, methods, runs and kernels, wherever they are shown.

Names are read by people: "CG, Neumann 2, 8 blocks split by phase", "4 bubbles in a square, 96²", "A p". The texts that
`registry.find` reads, such as neumann:2, are for code and the command line. Where several runs are shown together,
each is named by what distinguishes it from the others (`distinct_names`).
"""

from __future__ import annotations

import functools
import hashlib
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from workbench import registry
from workbench.errors import InputError
from workbench.registry import Block
from workbench.registry.facts import choice_label, facts, parameter_label
from workbench.words.numbers import SUPERSCRIPTS, chosen, scientific

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
LONGEST_VALUE = 24
"""Characters of a value in a name; of a longer one the digest is shown."""
MOST_NAMED, FIRST_NAMED = 12, 3
"""Results by which a kernel is named, and how many of those of a kernel with more."""
PROBLEM = ("problem", "size", "details")
LEVELS = ("preconditioner", "deflation", "coarse", "variant")
SETTINGS = {
    "device": "on {}",
    "ranks": "ranks: {}",
    "precision": "{} precision",
    "format": "A: {}",
    "az": "AZ: {}",
    "reduction": "partial sums added {}",
    "rhs": "b: {}",
    "x0": "x₀: {}",
    "seed": "seed {}",
    "rtol": "tolerance {}",
    "norm": "{}",
    "maxiter": "at most {} iterations",
}
"""Settings that may distinguish runs, in words."""
AUTO = "auto"
IN_MEMORY = {"problem": "system in memory", "preconditioner": "M in memory", "deflation": "Z in memory"}
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "omega": "ω", "rho": "ρ", "eta": "η", "zeta": "ζ",
    "theta": "θ", "sigma": "σ",
}  # fmt: skip
TYPESET = (
    (r"\^-1", "⁻¹"),
    (r"\^-H", "⁻ᴴ"),
    (r"\^T", "ᵀ"),
    (r"\^H", "ᴴ"),
    (r"\bdots\((\w+), (\w+)\)", "(\\1ⱼ, \\2ⱼ)"),
    (r"\bM\((\w+)\)", "M⁻¹\u202f\\1"),
    (r"\bM (\w)\b", "M⁻¹\u202f\\1"),
    (r"\bA\((\w+)\)", "A\u202f\\1"),
    (r"\bA(\d?) (\w)\b", lambda found: f"A{found[1].translate(SUBSCRIPTS)}\u202f{found[2]}"),
    (r"(?<=\w)[*@](?=\w)", "\u202f"),
    (r"(?<= )-(?= )", "−"),
    (r"\b([a-z])\1\b", "‖\\1‖²"),
    (r"\bprevious\b", "γₖ₋₁"),
)
"""Patterns in paper lines and names of kernels, each with its printed form."""
IN_WORDS = (
    (r"(?<=\w)\^(-?\d+)", lambda found: found[1].translate(SUPERSCRIPTS)),
    (r"\^T\b", "ᵀ"),
    (r"\^H\b", "ᴴ"),
    (r"(?<=\w)\.conj\(\)\.T\b", "ᴴ"),
    (r"(?<=\bA)\.T\b", "ᵀ"),
    (r"\bA\[(\d+), (\d+)\]", lambda found: f"the entry in row {int(found[1]) + 1}, column {int(found[2]) + 1}"),
    (r"(?<!\|)\|\|(?!\|)", "‖"),
    (r"<=", "≤"),
    (r">=", "≥"),
    (r"(?<![\w.#'\"“])(\d+(?:\.\d+)?)e([+-]?\d+)\b", lambda found: scientific(found[1], int(found[2]))),
    (r"(?<=\d) x (?=\d)|(?<=\bk) x (?=k\b)", " × "),
    (r"(?<![\w/\\])x0\b", "x₀"),
    # A line in quotes stays as it was typed.
    (rf"(?<!')\b({'|'.join(GREEK)})\b(?= =)", lambda found: GREEK[found[1]]),
)
"""Patterns in sentences, each with its printed form."""
Parts = Mapping[str, str]
"""Parts of the name of a run: the problem, its size, its blocks and its settings, each under the name of a field."""


@runtime_checkable
class OnGrid(Protocol):
    """A problem that may have a grid."""

    @property
    def grid(self) -> tuple[int, ...] | None:
        """Cells per side; None without a grid."""
        ...


def block_name(block: Block, dimensions: int = 0) -> str:
    """The name of a block, and in brackets the other parameters that differ from their defaults. dimensions: of the
    grid that it divides, see `called`.

    A user's method has the name that its user gave it: method my-cg.
    """
    if block.has_user_lines:
        return f"method {block.spec}"
    if block.joined_by:
        members = str(next(iter(block.parameter_values.values()))).split(f" {block.joined_by} ")
        return f" {block.joined_by} ".join(block_name(registry.find(block.kind, member.strip())) for member in members)
    found = details(block)
    name = called(block, dimensions)
    return f"{name} ({', '.join(found)})" if found else name


def called(block: Block, dimensions: int = 0) -> str:
    """The name of a block, with the parameters that are part of it.

    dimensions: of the grid that a block of deflation divides: its name is 8² blocks in the plane and 8³ in space, and
    8 blocks per side where they are not known (0).
    """
    listed = facts(type(block))
    if listed.of_zero and not next(iter(block.parameter_values.values())):
        return listed.of_zero
    # One block, not 1 blocks.
    name = re.sub(r"^1ᵈ? (\w+)s\b", r"1 \1", _filled(listed.name, block))
    if dimensions:
        return name.replace("ᵈ", str(dimensions).translate(SUPERSCRIPTS) if dimensions > 1 else "")
    return re.sub(r"ᵈ (\w+)", r" \1 per side", name)


def size_text(block: Block) -> str:
    """The size of a problem, as in 96²; empty for one that has no size of its own."""
    return _filled(facts(type(block)).size, block)


def details(block: Block, *others: str) -> list[str]:
    """The parameters that differ from their defaults in words, except the others and those that `called` and
    `size_text` contain."""
    listed = facts(type(block))
    without = {*others, *re.findall(r"{(\w+)}", listed.name + listed.size)}
    # Lines of a program name nothing.
    named = [name for name, value in block.differing.items() if name not in without and "\n" not in str(value)]
    return [f"{short_label(block.name, name)} {value_text(block, name)}" for name in named]


def _filled(template: str, block: Block) -> str:
    return re.sub(r"{(\w+)}", lambda found: value_text(block, found[1]), template)


def code(block: Block) -> str:
    """The block as code writes it: its name and first parameter, or in full where others differ from their defaults.

    A class with a `spec` of its own gives its name there.
    """
    if type(block).spec is not Block.spec:
        return block.spec
    first = {declared.name for declared in block.parameters()[:1]}
    return block.text if set(block.differing) - first else block.spec


def method_code(texts: Mapping[str, Any]) -> str:
    """The blocks of a method as code writes them, as in cg + neumann:2 + levelset:8. texts: by kind."""
    shown = [texts.get(kind) for kind in ("solver", *LEVELS)]
    return " + ".join(text for text in shown if text not in (None, "none", AUTO))


def short_label(owner: str, name: str) -> str:
    """The label of a parameter without its explanation."""
    return _first_lower(parameter_label(owner, name).partition(",")[0])


def value_text(block: Block, name: str) -> str:
    """The value of a parameter as it is read: 10⁻⁶, 2 × 2, no; without its label, or its digest, where it is long."""
    value = getattr(block, name)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return chosen(value)
    if isinstance(value, str) and name == "path":
        value = Path(value).name
    label = choice_label(name, str(value))
    text = re.sub(r"(?<=\d)x(?=\d)", " × ", label if label == value else _first_lower(label))
    return next((found for found in (text, str(value)) if len(found) <= LONGEST_VALUE), digest(text))


def digest(text: str) -> str:
    """# and the first 6 hexadecimal digits of the SHA-256 of a text."""
    return f"#{hashlib.sha256(text.encode(errors='backslashreplace')).hexdigest()[:6]}"


def name_of(kind: str, block: Block | Mapping[str, Any] | str | None, dimensions: int = 0) -> str:
    """The name of a block, also from plain data or from its text; of one that cannot be made its name as it is.
    dimensions: see `called`."""
    if not block:
        return ""
    name = _given_name(block)
    try:
        if isinstance(block, str):
            block = registry.find(kind, block)
        elif not isinstance(block, Block):
            block = registry.from_dict(block)
        return "" if block.name == AUTO else block_name(block, dimensions)
    except (InputError, KeyError, TypeError):
        return _unmade(kind, name)


def run_parts(
    configuration: Mapping[str, Any], summary: Mapping[str, Any] | None = None, dimensions: int = 0
) -> dict[str, str]:
    """The parts of the name of a run, from its configuration as blocks or plain data, which may lack blocks that its
    summary has as texts.

    Keys: problem, size and details of the problem, the kinds of blocks, and settings. A block that the run chose itself
    is left out, and so are blocks without effect. dimensions: of the grid where the problem is not given. Cost: that of
    making the blocks.
    """
    known = {**(summary or {}), **configuration}
    problem = (summary or known).get("problem")
    parts = problem_parts(problem) if problem else {}
    dimensions = dimensions or _dimensions(known.get("problem"))
    blocks = {kind: name_of(kind, known.get(kind), dimensions) for kind in ("solver", *LEVELS)}
    if blocks["deflation"] in ("", f"no {LEVELS[1]}"):
        blocks |= {"coarse": "", "variant": ""}
    stopping = configuration.get("stopping")
    settings = {**configuration, **(stopping if isinstance(stopping, Mapping) else {})}
    given = {name: settings[name] for name in SETTINGS if settings.get(name) is not None}
    return {**parts, **blocks, **{name: SETTINGS[name].format(_setting(name, value)) for name, value in given.items()}}


def problem_parts(given: Block | Mapping[str, Any]) -> dict[str, str]:
    """The words, the size and the other distinctions of a problem, given as such or as plain data; the name alone of
    one that cannot be made."""
    try:
        problem: Any = given if isinstance(given, Block) else registry.from_dict({"kind": "problem", **given})
        return {"problem": problem.words, "size": size_text(problem), "details": ", ".join(problem.details)}
    except (InputError, KeyError, TypeError, AttributeError):
        return {"problem": _unmade("problem", _given_name(given))}


def problem_name(parts: Parts) -> str:
    """Words, size and other distinctions of a problem, as in 4 bubbles in a square, 96², density ratio 10⁻⁶."""
    return sentence_case(", ".join(parts[key] for key in PROBLEM if parts.get(key)))


def method_name(parts: Parts) -> str:
    """The blocks of a method: CG, Neumann 2, 8 blocks split by phase; an absent level is not mentioned."""
    shown = [parts[kind] for kind in ("solver", *LEVELS) if parts.get(kind) not in (None, "", f"no {kind}")]
    return sentence_case(", ".join(shown))


def choice_name(name: str, owner: str = "") -> str:
    """The axis of a sweep in words: deflation, right-hand side b, cells per side. owner: its problem by name."""
    if name in ("solver", *LEVELS, *SETTINGS):
        return "seed" if name == "seed" else _first_lower(parameter_label("run", name).rpartition(": ")[2])
    return short_label(owner, name)


def choice_text(name: str, value: Any) -> str:
    """One of the values of a sweep in words."""
    if name in ("solver", *LEVELS):
        return name_of(name, value) or "automatic"
    return _setting(name, value)


def with_names(sentence: str) -> str:
    """A sentence with names in place of code: solver hybrid3 becomes hybrid 3, device cpu becomes device CPU."""

    def named(found: re.Match[str]) -> str:
        kind, text = found.groups()
        if kind in SETTINGS:
            label = re.split("[:,]", choice_label(kind, text))[0]
            return found[0] if text in label else f"{kind} {_first_lower(label)}"
        block = registry.registered(kind).get(text.partition(":")[0])
        if block is None:
            return found[0]
        return choice_text(kind, text) if ":" in text else re.split("[:,]", facts(block).label)[0]

    return re.sub(rf"\b({'|'.join(('solver', *LEVELS, 'device', 'precision'))}) (\w+(?::\w+)?)", named, sentence)


def sentence_case(name: str) -> str:
    """A name at the beginning of a sentence."""
    return name[:1].upper() + name[1:]


def _dimensions(problem: Block | Mapping[str, Any] | None) -> int:
    """The dimensions of a problem's grid; 0 without one, and where they are not known before assembly."""
    try:
        made = problem if isinstance(problem, Block) else registry.from_dict({"kind": "problem", **(problem or {})})
        return len(made.grid or ()) if isinstance(made, OnGrid) else 0
    except (InputError, KeyError, TypeError, AttributeError):
        return 0


def _given_name(block: object) -> str:
    """The name that a block, a text or the plain data of a block has; of any other value, as a file may have, none."""
    if isinstance(block, Block):
        return block.name
    return block if isinstance(block, str) else str(block.get("name", "")) if isinstance(block, Mapping) else ""


def _unmade(kind: str, name: str) -> str:
    """The name of a block that cannot be made: of one given in memory what it is."""
    return IN_MEMORY.get(kind, name) if name == "given" else name


def _setting(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and math.isfinite(value):
        return chosen(value)
    several = re.fullmatch(r"(\w+:)(\d+)", str(value))
    if name == "rhs" and several:
        return f"{several[2]} {_first_lower(choice_label(name, several[1]))}"
    # The text after a colon and a space explains the choice.
    return _first_lower(choice_label(name, str(value)).partition(": ")[0]).replace(":", " ")


def _first_lower(text: str) -> str:
    """A label within a name: of a word, not of an acronym or of two people."""
    return text[:1].lower() + text[1:] if re.match(r"[A-Z][a-z]+(?!\S*[A-Z])", text) else text


@functools.lru_cache(4096)
def typeset_words(text: str) -> str:
    """A sentence with its mathematics printed as such: k², h⁻², M⁻¹, ‖b‖, ≤, 10⁻⁶."""
    for code_text, shown in IN_WORDS:
        text = re.sub(code_text, shown, text)
    return text


def shortened(name: str, most: int) -> str:
    """A name, or the first words of a longer one; its first letters where these words are less than half of them."""
    if len(name) <= most:
        return name
    letters = name[: most - 1]
    words = letters if name[most - 1] == " " else letters.rpartition(" ")[0]
    return f"{(words if 2 * len(words) >= most else letters).rstrip(' ,')}…"


def kernel_name(text: str) -> str:
    """A kernel of a trace as mathematics, from its paper lines or its operator: r = r − α s, A p, Zᵀ, E⁻¹.

    Of several lines what they compute, in order: x, r, (r, r); of many the first.
    """
    lines = text.split("; ")
    if len(lines) > 1:
        names = list(dict.fromkeys(typeset(_product(line) or line.partition(" = ")[0]) for line in lines))
        more = f" and {len(names) - FIRST_NAMED} more" if len(names) > MOST_NAMED else ""
        return ", ".join(names[:FIRST_NAMED] if more else names) + more
    return typeset(_product(text) or text)


def _product(line: str) -> str:
    """The dot product or the application of A or M that a line consists of; empty for any other."""
    found = re.fullmatch(r"\w+ = (?:dots)?(\(\w+, \w+\)|[AM]\(\w+\))", line)
    return found[1] if found else ""


def typeset(line: str) -> str:
    """A paper line, a name or operators as mathematics; words as they are."""
    if line in ("M", "A1", "A2"):
        return {"M": "M⁻¹", "A1": "A₁", "A2": "A₂"}[line]
    for code_text, shown in TYPESET:
        line = re.sub(code_text, shown, line)
    return re.sub(r"[a-z]+(?=_|\b|[ᴴᵀ])", lambda found: GREEK.get(found[0], found[0]), line).replace("_part", "")
