"""A page per registered block: formula, cost, source, parameters and a picture, all of it from the block itself."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from html import escape

import workbench.run  # noqa: F401  registers every block
from scripts.site.places import put
from scripts.site.tables import said, sentence, table
from workbench import registry
from workbench.costs.block_costs import HEADINGS as BLOCK_HEADINGS
from workbench.costs.block_costs import block_costs
from workbench.costs.solver_costs import HEADINGS, solver_costs
from workbench.costs.solver_costs import table as rows_of
from workbench.registry import Block, Parameter
from workbench.registry.facts import facts, parameter_label
from workbench.settings import RUN, STOPPING
from workbench.solvers.base import Solver

KINDS = {
    "problem": ("Problems", "What is solved: A and b."),
    "preconditioner": ("First levels", "M⁻¹, applied to the residual in every iteration."),
    "deflation": ("Second levels", "Z, whose span deflation removes from the system."),
    "coarse": ("Coarse solvers", "How systems with E = ZᵀAZ are solved."),
    "variant": ("Variants", "How the two levels are combined."),
    "solver": ("Solvers", "The method that iterates."),
}
"""Of each kind its title, and what its blocks are."""
COUNTED = (
    "Counted from the lines of the iteration, for Jacobi on the 7-point stencil; see [the family](../../family.md)."
)
IN_BLOCKS = "Counted from the lines that it runs, for 16 right-hand sides, Jacobi and the 7-point stencil."
PARAMETER = ("parameter", "on the page", "kind", "default", "bounds", "what it does")
VALUES = {int: "whole number", float: "number", bool: "yes or no", str: "text"}
"""Of each kind of value its name."""
SETTINGS = "Settings that every method has: in Python as keywords, on the command line as `--name`, with `-` for `_`."
BEFORE_SOURCE = r"(?<=[.)]) (?=(?:Cost|Sources?): )"
"""Where a paragraph of a docstring ends and the next begins."""
_SCRIPTS = {
    mark: "".join(re.escape(chr(c)) for c in range(0xB2, 0x2D80) if unicodedata.decomposition(chr(c)).startswith(mark))
    for mark in ("<super>", "<sub>")
}
TOKEN = re.compile(rf"([{_SCRIPTS['<super>']}]+)|([{_SCRIPTS['<sub>']}]+)|([A-Za-zα-ωΑ-Ω]+)|(\s+)|(\d+|.)")
"""Of a formula: raised, lowered, letters, space, any other sign."""
SHORT = ("a", "an", "as", "at", "by", "cg", "if", "in", "is", "no", "of", "on", "or", "to")
"""Words that are as short as products of letters."""


def pages(pictures: dict[tuple[str, str], str]) -> list[tuple[str, list[str]]]:
    """Write the pages; returns the title of each kind with its pages. pictures: of each block its Markdown."""
    counted, found = costs(), []
    overview = [
        "# Blocks",
        "",
        "A run is made of blocks: one of each kind. Any can be chosen in Python, on the command line and",
    ]
    overview += ["on the page, by its name. `workbench blocks` lists them."]
    for kind, (title, what) in KINDS.items():
        blocks = registry.registered(kind)
        rows = [
            (f"[{facts(cls).label}]({kind}/{name}.md)", f"`{name}`{{ .name }}", mathml(facts(cls).formula))
            for name, cls in blocks.items()
        ]
        overview += ["", f"## {title}", "", what, "", *table(("", "name", "formula"), rows)]
        for name, cls in blocks.items():
            put(
                f"blocks/{kind}/{name}.md",
                page(cls, counted.get(name, []) if kind == "solver" else [], pictures.get((kind, name), "")),
            )
        found.append((title, [f"blocks/{kind}/{name}.md" for name in blocks]))
    put("blocks/index.md", "\n".join(overview) + "\n")
    return found


def page(cls: type[Block], counted: Sequence[str], picture: str) -> str:
    """The page of a block. counted: its cost as a table, for a solver whose lines are counted."""
    known = facts(cls)
    lines = [f"# {known.label}", "", f"{KINDS[cls.kind][0]}, {said(known.group)} · `{cls.name}`{{ .name }}", ""]
    if known.formula:
        lines += [f'<div class="formula">{mathml(known.formula, "block")}</div>', ""]
    paragraphs = [
        part for each in known.about for part in (re.split(BEFORE_SOURCE, each) if "|" not in each[:1] else [each])
    ]
    sections = {part: [each for each in paragraphs if each.startswith(part)] for part in ("Cost", "Source")}
    for paragraph in paragraphs:
        if not paragraph.startswith(tuple(sections)):
            lines += [paragraph if paragraph.startswith("|") else said(paragraph), ""]
    lines += [picture, ""]
    cost = [*counted, *map(plainly, sections["Cost"])] or [said(sentence(known.cost))] * bool(known.cost)
    if cost:
        lines += ["## Cost", "", *cost, ""]
    if issubclass(cls, Solver) and isinstance(text := getattr(cls, "iterate", None), str):
        lines += ["## One iteration", "", "```text", textwrap.dedent(text).strip(), "```", ""]
    lines += parameters(cls.parameters(), cls.name)
    source = [*map(plainly, sections["Source"])] or [said(sentence(known.source))] * bool(known.source)
    if source:
        lines += ["## Source", "", *source, ""]
    return "\n".join(lines)


def parameters(declared: Sequence[Parameter], owner: str) -> list[str]:
    """The table of the parameters; none for a block without any."""
    if not declared:
        return ["It has no parameters.", ""]
    rows = [
        (
            f"`{each.name}`",
            said(parameter_label(owner, each.name)),
            "choice" if each.choices else VALUES[each.kind],
            _default(each),
            said(each.bounds() if each.bounds() != "any value" else ""),
            said(sentence(each.help))
            + (f" In {each.unit}." if each.unit and each.unit not in each.help.lower() else ""),
        )
        for each in declared
    ]
    return ["## Parameters", "", *table(PARAMETER, rows), ""]


def _default(declared: Parameter) -> str:
    """The default value; what None stands for is said in words."""
    if declared.default is None:
        return said(declared.empty)
    return f"`{declared.default}`" if declared.default != "" else ""


def settings() -> str:
    """Write the page of the settings of a run, which every method has; returns its place."""
    parts = ["# Settings of a run", "", SETTINGS]
    for title, words, declared in (
        ("Run", "Of `configure` and `solve`.", RUN),
        ("Stopping", "Of `Stopping`.", STOPPING),
    ):
        lines = parameters([each for each in declared.values() if isinstance(each, Parameter)], "run")
        parts += ["", f"## {title}", "", words, "", *lines[2:]]
    put("blocks/settings.md", "\n".join(parts) + "\n")
    return "blocks/settings.md"


def costs() -> dict[str, list[str]]:
    """Of each solver the table of its cost, for those whose lines are counted."""
    one = {row[0]: (row, HEADINGS, COUNTED) for row in rows_of(solver_costs())}
    many = {cost.solver: (cost.row, BLOCK_HEADINGS, IN_BLOCKS) for cost in block_costs()}
    found = {}
    for name, (row, headings, words) in {**one, **many}.items():
        found[name] = [words, "", *table([said(each) for each in headings[1:]], [row[1:]])]
    return found


def plainly(paragraph: str) -> str:
    """A paragraph of a docstring that begins with the word of its section, without that word."""
    return said(sentence(re.sub(r"^(?:Cost|Sources?): ", "", paragraph)))


def mathml(text: str, display: str = "inline") -> str:
    """A formula of `data/blocks.toml` as MathML: raised and lowered letters as scripts, words upright."""
    made: list[str] = []
    for raised, lowered, letters, space, other in TOKEN.findall(text):
        if raised or lowered:
            tag, plain = ("msup" if raised else "msub"), unicodedata.normalize("NFKD", raised or lowered)
            made.append(f"<{tag}>{made.pop() if made else '<mi></mi>'}<mtext>{plain}</mtext></{tag}>")
        elif letters:
            is_word = sum("a" <= letter <= "z" for letter in letters) > 2 or letters.lower() in SHORT
            made += [f"<mtext>{letters}</mtext>"] if is_word else [f"<mi>{letter}</mi>" for letter in letters]
        elif space:
            made.append("<mspace width='0.28em'/>")
        else:
            made.append(
                f"<mn>{other}</mn>"
                if other.isdigit()
                else f"<mo stretchy='false'>{escape(other).replace('|', '&#124;')}</mo>"
            )
    return f"<math display='{display}'><mrow>{''.join(made)}</mrow></math>"
