"""The schedule of a program: the fewest passes over memory that keep the order of the lines.

Lines are taken in order. A vector update or dot product joins the current pass unless it needs a dot product of that
same pass, which is known only at its end. An operator ends the current pass; dot products of its argument and its
result that follow immediately are computed by its own kernel. A vector that no program reads before writing it is
local: it is kept in registers, and is stored only when a later step needs it and recomputing it would read more.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from workbench.lines.parse import parse_expression
from workbench.lines.types import (
    Application,
    Binary,
    Dot,
    Formula,
    Kind,
    Line,
    LinesError,
    Name,
    OperatorDot,
    Shapes,
    Solve,
    renamed,
    walk,
)

RECOMPUTE_LIMIT = 2
"""Storing and reading back moves three words (write, fetch on write, read); up to two further reads cost less."""


class Inlined:
    """An operator that acts element by element, so that it can join a pass: u = M(r) becomes u = formula of r.

    A base class, since a protocol takes longer to test than a pass over a small vector.
    """

    formula: str
    """An expression in `v`, the argument, and the names of `factors`."""
    factors: Mapping[str, object]
    """Vectors that the formula reads, by name, on the device."""


@dataclasses.dataclass(frozen=True)
class Pass:
    """One pass over memory: `scalars` are computed before it, `body` for every row, dot products over all rows."""

    scalars: tuple[Formula | Solve, ...]
    body: tuple[Formula | Dot, ...]
    loads: tuple[str, ...]
    stores: tuple[str, ...]

    def __hash__(self) -> int:
        return self._hash

    # Kept, since every solve asks for the kernels of its passes, and their lines are trees.
    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.scalars, self.body, self.loads, self.stores))

    @property
    def arrays(self) -> tuple[str, ...]:
        """The vectors that it reads or writes, in the order of a kernel's arguments."""
        return tuple(dict.fromkeys([*self.loads, *self.stores]))

    @property
    def dots(self) -> tuple[Dot, ...]:
        return tuple(line for line in self.body if isinstance(line, Dot))

    def renamed(self, names: Mapping[str, str]) -> Pass:
        """The pass with other names."""
        return Pass(
            tuple(line.renamed(names) for line in self.scalars),
            tuple(line.renamed(names) for line in self.body),
            tuple(names[name] for name in self.loads),
            tuple(names[name] for name in self.stores),
        )


@dataclasses.dataclass(frozen=True)
class Apply:
    """One operator application; `dots` names the scalars that take dot products of it.

    split: the target lacks a part of the result, which the passes that read it add (see `splits`).
    """

    operator: str
    argument: str
    target: str
    dots: tuple[tuple[str, OperatorDot], ...]
    split: bool = False

    @property
    def wanted(self) -> tuple[OperatorDot, ...]:
        """The dot products that are requested."""
        return tuple(dict.fromkeys(which for _, which in self.dots))


Step = Pass | Apply


def step_name(step: Step) -> str:
    """A step as traces name it: the operator and its argument, as in A p, or the lines of the pass."""
    if isinstance(step, Apply):
        return f"{step.operator} {step.argument}"
    return "; ".join(dict.fromkeys(line.text.strip() for line in step.body or step.scalars))


def operator_of(name: str) -> str:
    """The operator that a step's name begins with, without its argument: A of A p, and A, Z^T of A p, Z^T."""
    return re.sub(r"^([AMZ][12]?|Z\^T|E\^-1|AZ) \w+(?=,|$)", r"\1", name)


def touched(steps: Iterable[Step]) -> Iterator[str]:
    """The vectors that steps read or write, in order; a name may come more than once."""
    for step in steps:
        yield from (step.argument, step.target) if isinstance(step, Apply) else (*step.loads, *step.stores)


def inline(lines: Collection[Line], operators: Mapping[str, object]) -> tuple[Line, ...]:
    """Replace every application of an element-by-element operator by its formula."""
    return tuple(_inlined(line, operators) for line in lines)


def divide_scalars(lines: Iterable[Line], shapes: Shapes) -> tuple[Line, ...]:
    """Replace solve(a, b) of scalars by b/a."""
    return tuple(
        Formula(line.target, Binary("/", Name(line.right), Name(line.matrix)), line.text, line.place)
        if isinstance(line, Solve) and shapes[line.right].kind is Kind.SCALAR
        else line
        for line in lines
    )


def plan(
    lines: Collection[Line],
    vectors: Collection[str],
    persistent: Collection[str],
    fused_dots: Mapping[str, Collection[str]],
    *,
    split: Collection[str] = (),
    fuse: bool = True,
) -> tuple[Step, ...]:
    """The steps of a program.

    vectors: the names with a row per unknown, block vectors included. persistent: those of them that keep their values
    from call to call and are always stored.

    fused_dots: which dot products each operator computes along with its product, by the operator's name. split: the
    operators whose results passes complete.
    With fuse=False every vector update and dot product is a pass of its own and every vector is stored.
    """
    drafts = _group(lines, vectors, fused_dots, fuse=fuse)
    if fuse:
        _recompute(drafts, vectors, persistent)
    else:
        persistent = vectors
    return tuple(_step(drafts, position, vectors, persistent, split) for position in range(len(drafts)))


def splits(lines: Collection[Line], operator: str, vectors: Collection[str], persistent: Collection[str]) -> bool:
    """True if only passes of a program read the results of an operator: they may then add a part of them."""
    made = [line.target for line in lines if isinstance(line, Application) and line.operator == operator]
    applied = {line.argument for line in lines if isinstance(line, Application)}
    written = [line.target for line in lines if line.target in vectors]
    return not applied.union(persistent).intersection(made) and all(written.count(name) == 1 for name in made)


@dataclasses.dataclass
class _Draft:
    """A step under construction: an operator application, or a pass when `application` is None."""

    application: Application | None = None
    scalars: list[Formula | Solve] = dataclasses.field(default_factory=list)
    body: list[Formula | Dot] = dataclasses.field(default_factory=list)
    operator_dots: list[tuple[str, OperatorDot]] = dataclasses.field(default_factory=list)

    @property
    def pending(self) -> set[str]:
        """Scalars that are known only after this step."""
        return {line.target for line in self.body if isinstance(line, Dot)} | {name for name, _ in self.operator_dots}

    @property
    def only_dots(self) -> bool:
        """True for a pass of dot products alone so far."""
        return bool(self.body) and not self.scalars and all(isinstance(line, Dot) for line in self.body)

    @property
    def names_read(self) -> set[str]:
        """All names that the formulas of the body read."""
        return {name for line in self.body if isinstance(line, Formula) for name in line.reads}

    def vectors_read(self, vectors: Collection[str]) -> tuple[str, ...]:
        """Vectors that the step needs from memory: read before it writes them, in order."""
        if self.application:
            return (self.application.argument,)
        read: dict[str, None] = {}
        written: set[str] = set()
        for line in self.body:
            read.update((name, None) for name in line.reads if name in vectors and name not in written)
            if isinstance(line, Formula):
                written.add(line.target)
        return tuple(read)

    @property
    def vectors_written(self) -> tuple[str, ...]:
        if self.application:
            return (self.application.target,)
        return tuple(dict.fromkeys(line.target for line in self.body if isinstance(line, Formula)))

    @property
    def scalars_written(self) -> set[str]:
        return self.pending | {line.target for line in self.scalars}


def _group(
    lines: Collection[Line], vectors: Collection[str], fused_dots: Mapping[str, Collection[str]], *, fuse: bool
) -> list[_Draft]:
    drafts: list[_Draft] = []
    for line in lines:
        last = drafts[-1] if drafts else None
        # Dot products of other scalars may come first.
        passed = last and len(drafts) > 1 and last.only_dots and line.target not in last.pending
        owner = drafts[-2] if passed else last
        if isinstance(line, Application):
            drafts.append(_Draft(application=line))
        elif isinstance(line, Dot) and owner and fuse and (which := _operator_dot(owner, line, fused_dots)):
            owner.operator_dots.append((line.target, which))
        elif isinstance(line, Formula | Solve) and line.target not in vectors:
            if last is None or last.application or not _may_precede(line, last):
                drafts.append(_Draft(scalars=[line]))
            else:
                last.scalars.append(line)
        elif not isinstance(line, Solve):
            if last is None or last.application or not _may_join(line, last) or (last.body and not fuse):
                last = _Draft()
                drafts.append(last)
            last.body.append(line)
    return drafts


def _may_precede(line: Formula | Solve, draft: _Draft) -> bool:
    """A scalar line may be computed before a pass under way if it needs nothing of it and changes nothing it read."""
    return not (draft.pending.intersection(line.reads) or line.target in draft.names_read | draft.pending)


def _may_join(line: Formula | Dot, draft: _Draft) -> bool:
    if isinstance(line, Dot):
        return line.target not in draft.pending | draft.names_read
    return not draft.pending.intersection(line.reads)


def _operator_dot(draft: _Draft, dot: Dot, fused_dots: Mapping[str, Collection[str]]) -> OperatorDot | None:
    """The name of a dot product among those that the operator of a step offers; None for others.

    None also where the step sets that scalar already: the sums of a step are stored in no particular order.
    """
    application = draft.application
    if application is None or dot.columnwise or dot.target in draft.pending:
        return None
    names = {"x": application.argument, "y": application.target}
    pairs = {(names[left], names[right]): which for which in OperatorDot for left, right in [which]}
    which = pairs.get((dot.left, dot.right))
    return which if which in fused_dots[application.operator] else None


def _recompute(drafts: list[_Draft], vectors: Collection[str], persistent: Collection[str]) -> None:
    """Put the formula of a local vector in front of a pass that reads it, where storing the vector costs more.

    One that an operator is applied to is stored anyway, and reading it is one word: only fewer further reads are less.
    """
    stored_anyway = {draft.application.argument for draft in drafts if draft.application}
    for position, draft in enumerate(drafts):
        if draft.application:
            continue
        for name in draft.vectors_read(vectors):
            if name not in persistent and (formula := _same_formula(name, position, drafts, vectors, persistent)):
                more = set(formula.reads).intersection(vectors) - set(draft.vectors_read(vectors))
                if len(more) <= (0 if name in stored_anyway else RECOMPUTE_LIMIT):
                    draft.body.insert(0, formula)


def _same_formula(
    name: str, position: int, drafts: list[_Draft], vectors: Collection[str], persistent: Collection[str]
) -> Formula | None:
    """The formula that gives a local vector its value before step `position`, if it would still give the same there."""
    source = next((k for k in reversed(range(position)) if name in drafts[k].vectors_written), None)
    if source is None or drafts[source].application:
        return None
    body = drafts[source].body
    place = max(k for k, line in enumerate(body) if isinstance(line, Formula) and line.target == name)
    formula = body[place]
    between = drafts[source + 1 : position]
    changed = {line.target for line in body[place + 1 :]} | drafts[source].pending
    changed = changed.union(*(set(draft.vectors_written) | draft.scalars_written for draft in between))
    changed |= {line.target for line in drafts[position].scalars}
    in_memory = set(persistent) | {draft.application.target for draft in drafts[:position] if draft.application}
    operands = set(formula.reads) if isinstance(formula, Formula) else set()
    if name in operands or operands & changed or not operands.intersection(vectors) <= in_memory:
        return None
    return formula if isinstance(formula, Formula) and not _multiplies(formula) else None


def _multiplies(formula: Formula) -> bool:
    """True if a formula multiplies by a small matrix, which costs more than reading its result back."""
    return any(isinstance(node, Binary) and node.sign == "@" for node in walk(formula.expression))


def _step(
    drafts: list[_Draft], position: int, vectors: Collection[str], persistent: Collection[str], split: Collection[str]
) -> Step:
    draft = drafts[position]
    if draft.application:
        line = draft.application
        return Apply(line.operator, line.argument, line.target, tuple(draft.operator_dots), line.operator in split)

    def outlives(name: str) -> bool:
        if name in persistent:
            return True
        for later in drafts[position + 1 :]:
            if name in later.vectors_read(vectors):
                return True
            if name in later.vectors_written:
                return False
        return False

    loads = draft.vectors_read(vectors)
    stores = tuple(name for name in draft.vectors_written if outlives(name))
    # A pass over locals made of numbers alone still needs an array to loop over.
    return Pass(
        tuple(draft.scalars), tuple(draft.body), loads, stores if loads or stores else draft.vectors_written[:1]
    )


def _inlined(line: Line, operators: Mapping[str, object]) -> Line:
    if not isinstance(line, Application) or line.operator not in operators:
        return line
    operator = operators[line.operator]
    if not isinstance(operator, Inlined):
        return line
    names = {"v": line.argument, **{factor: factor_name(line.operator, factor) for factor in operator.factors}}
    expression = renamed(parse_expression(operator.formula), names)
    return Formula(line.target, expression, line.text, line.place)


def factor_name(operator: str, factor: str) -> str:
    """The name under which a vector of an inlined operator is known to the lines."""
    return f"{operator}_{factor}"


def written(steps: Iterable[Step]) -> set[str]:
    """The vectors that steps change."""
    return {name for step in steps for name in ((step.target,) if isinstance(step, Apply) else step.stores)}


def read_first(lines: Iterable[Line], vectors: Collection[str]) -> set[str]:
    """Vectors that a program reads before it writes them: they carry over from call to call."""
    read: set[str] = set()
    known: set[str] = set()
    for line in lines:
        read |= {name for name in line.reads if name in vectors and name not in known}
        known.add(line.target)
    return read


def repeatable(lines: Iterable[Line], steps: Sequence[Step], vectors: Collection[str]) -> bool:
    """True if a second application of all operators, with no pass between, leaves every vector as it is."""
    applications = [step for step in steps if isinstance(step, Apply)]
    applied = {step.target for step in applications}
    if any(applied.intersection(step.stores) for step in steps if isinstance(step, Pass)):
        return False
    carried = read_first(lines, vectors)
    return not any(
        step.target in carried and step.argument in written(steps[place:])
        for place, step in enumerate(steps)
        if isinstance(step, Apply)
    )


def refuse_lost(programs: Sequence[Sequence[Line]], vectors: Collection[str], persistent: Collection[str]) -> None:
    """Raise LinesError for a line that sets a vector which no line reads and the caller does not hold."""
    kept = {name for lines in programs for line in lines for name in line.reads}.union(persistent)
    for number, line in ((k, line) for k, lines in enumerate(programs) for line in lines):
        if line.target in vectors and line.target not in kept:
            error = LinesError(
                f"line {line.text!r} sets {line.target}, which no line reads; give it as an array to keep it",
                line.place,
            )
            error.program = number
            raise error
