"""Programs of block vectors: N x s, on a device, with small matrices in host memory or on an accelerator.

Neighbouring lines that act on every column alone are one pass, where the device offers it. Any other line is a step of
its own: an operator application, a Gram matrix, or a sum of block vectors times small matrices; the dot products of a
product with its argument are computed along with it, where its kernel has them.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.clock import Clock, Work
from workbench.devices.operator_protocols import BlockAlgebra
from workbench.devices.programs.named_vectors import NamedVectors
from workbench.devices.programs.program import Program, followed, timed
from workbench.devices.traffic import block_work, product_flops
from workbench.lines import shapes as typing_rules
from workbench.lines.block_passes import BlockPass, Products, Scaling, Statement, Term, Update, scaling, terms_of
from workbench.lines.parse import parse
from workbench.lines.schedule import Inlined
from workbench.lines.shapes import infer, infer_vectors
from workbench.lines.types import Application, Call, Dot, Formula, Line, LinesError, Name, Shape, block

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector


@dataclasses.dataclass(frozen=True)
class Repeats:
    """An iteration that a device can repeat without the host where it holds the small matrices.

    steps: programs, and the names of kernels on small matrices between them, see `kernels.small`. kept: the matrices of
    one row that the host is to read of each: rr, the squares of ||r_j||, and where the rank may fall spanned and pivot.
    row: makes of these what the method reports.
    """

    steps: Sequence[Callable[[], None] | str]
    kept: tuple[str, ...]
    row: Callable[[Mapping[str, np.ndarray]], Any]


class BlockWorkspace(NamedVectors["BlockProgram"]):
    """Block vectors, and the small matrices of one solve by name, s columns each.

    matrices: small matrices in double precision, set by programs and by the caller; of shape (s, t), or (s,) for the
    numbers that belong to the columns. device_matrices: the matrices of an accelerator, else None; reading one waits
    for it. all_norms: True if ||M^-1 r_j|| is requested, for which most methods need one more Gram matrix.
    """

    def __init__(
        self,
        device: Any,
        size: int,
        columns: int,
        dtype: np.dtype,
        *,
        vectors: Mapping[str, DeviceVector],
        operators: Mapping[str, Any],
        clock: Clock | None = None,
        all_norms: bool = False,
    ) -> None:
        super().__init__(device, size, dtype, vectors=vectors, operators=operators, clock=clock)
        self.columns, self.default_shape = columns, block(columns)
        self.algebra: BlockAlgebra = device.block_algebra()
        self.device_matrices = self.algebra.device_matrices(self.dtype, columns, clock)
        self.matrices: MutableMapping[str, np.ndarray] = {} if self.device_matrices is None else self.device_matrices
        self.all_norms = all_norms
        self.dropped: frozenset[str] = frozenset()
        """Block vectors that every program sets before it reads them: in a pass they need no memory."""

    def lines(self, *texts: str, matrices: Mapping[str, Shape] | None = None) -> tuple[BlockProgram, ...]:
        """Compile programs; matrices: the shapes of those that the caller sets. Raises LinesError."""
        programs = [parse(text) for text in texts]
        everything = [line for lines in programs for line in lines]
        with_rows = {*self.vectors, *infer_vectors(everything, list(self.vectors))}
        known = {**dict.fromkeys(with_rows, block(self.columns)), **(matrices or {})}
        shapes = infer(everything, known)
        # The caller runs them in an order of its own.
        targets = [line.target for line in everything]
        typing_rules.check(programs, shapes, [*known, *targets], self.operators)
        made = tuple(BlockProgram(self, lines, shapes) for lines in programs)
        self._programs += map(weakref.ref, made)
        return made

    def remakes(self, operator: str) -> bool:
        return self.algebra.fuses(self.columns) and self.scaling(operator, "", "") is not None

    def scaling(self, operator: str, target: str, argument: str) -> Scaling | None:
        """The product of an element-wise operator as a statement of a pass; None for other operators."""
        known = self.operators[operator]
        return scaling(target, argument, known.formula, known.factors) if isinstance(known, Inlined) else None

    def operator(self, name: str) -> Any:
        """An operator in its form for block vectors."""
        return self.block_operator(name, self.columns)


class BlockProgram(Program):
    """A program of block vectors."""

    def __init__(self, space: BlockWorkspace, lines: tuple[Line, ...], shapes: Mapping[str, Shape]) -> None:
        super().__init__(space, lines, shapes)
        self._conjugated: dict[str, str] = {}
        """Names of conjugates, which are read from the block vector itself."""
        for some in self._grouped(lines):
            text = "; ".join(line.text for line in some)
            if fused := self._with_dots(some) or self._fused(some):
                self._add(*fused, text)
                continue
            for line in some:
                for step in self._steps(line):
                    self._add(*step, line.text)

    def _add(self, run: Callable[[], None], work: Work, name: str) -> None:
        clock = self._workspace.clock
        self._runs.append(timed(clock, run, name, work) if clock else run)
        self._works.append(work)

    def _grouped(self, lines: tuple[Line, ...]) -> Iterator[list[Line]]:
        """Runs of lines that act on every column alone; any other line for itself, or with dot products that its
        operator computes."""
        group: list[Line] = []
        applied = False
        for line in lines:
            if applied and self._sums_of(group[0], line):
                yield [*group, line]
                group, applied = [], False
            elif not applied and self._columnwise(line):
                group.append(line)
            else:
                if group:
                    yield group
                group, applied = [line], not self._columnwise(line)
        if group:
            yield group

    def _sums_of(self, line: Line, dots: Line) -> bool:
        """True if the operator of a line also computes these dot products, of its argument and its result."""
        if self._workspace.device_matrices is None or not isinstance(line, Application) or not isinstance(dots, Dot):
            return False
        same = dots.columnwise and (dots.left, dots.right) == (line.argument, line.target)
        return same and self._workspace.operator(line.operator).column_sums is not None

    def _with_dots(self, lines: list[Line]) -> tuple[Callable[[], None], Work] | None:
        """A product, and the dot products that it computes; None for other lines."""
        match lines:
            case [Application(operator=name) as line, Dot(target=target)] if self._sums_of(*lines):
                space = self._workspace
                apply, work = self._application(line)
                sums = space.operator(name).column_sums
                return space.algebra.sums_on_device(
                    apply, sums, space.device_matrices, [target], (space.columns,)
                ), work
        return None

    def _columnwise(self, line: Line) -> bool:
        match line:
            case Application(operator=name, target=target, argument=argument):
                return self._workspace.scaling(name, target, argument) is not None
            case Dot():
                return line.columnwise
            case Formula(expression=Call(function="conj")):
                return True
            case Formula() if self._shapes[line.target].has_rows:
                terms = terms_of(line, self._shapes)
                return all(term.small is None or self._shapes[term.small].rows == 1 for term in terms)
        return False

    def _fused(self, lines: list[Line]) -> tuple[Callable[[], None], Work] | None:
        """Several lines in one pass; None for one alone, and where the device runs them one by one."""
        if len(lines) < 2:
            return None
        space, conjugated = self._workspace, dict(self._conjugated)
        statements: list[Statement] = []
        factors: dict[str, DeviceVector] = {}
        for line in lines:
            match line:
                case Application(operator=name, target=target, argument=argument):
                    made = self._workspace.scaling(name, target, argument)
                    assert made is not None
                    statements.append(made)
                    factors |= space.operators[name].factors
                case Dot(target=target, left=left, right=right):
                    statements.append(Products(target, conjugated.get(left, left), right, left in conjugated))
                case Formula(target=target, expression=Call(function="conj", argument=Name(name=name))):
                    conjugated[target] = name
                case Formula(target=target):
                    statements.append(Update(target, terms_of(line, self._shapes)))
        if len(statements) < 2:
            return None
        made = {one.target for one in statements if not isinstance(one, Products)}
        work = BlockPass(tuple(statements), self._workspace.dropped & made)
        arrays = {name: space.vector(name) for name in work.arrays}
        device_matrices = {} if space.device_matrices is None else {"device_matrices": space.device_matrices}
        compute = space.algebra.fused(work, arrays, {name: factors[name] for name in work.factors}, **device_matrices)
        if compute is None:
            return None
        self._conjugated |= conjugated
        moved = [arrays[name] for name in (*work.loads, *work.stores)] + [factors[name] for name in work.factors]
        counted = sum(array.nbytes for array in moved), self._operations(work)
        if device_matrices:
            return compute, lambda: counted
        label = ", ".join(product.target for product in work.products)
        return followed(compute, label, space.matrices.update, space.matrices), lambda: counted

    def _operations(self, work: BlockPass) -> int:
        """The operations of the lines one by one."""
        terms = [term for one in work.statements if isinstance(one, Update) for term in one.terms if term.small]
        entries = self._workspace.size * self._workspace.columns
        scalings = sum(isinstance(one, Scaling) and isinstance(one.factor, str) for one in work.statements)
        return product_flops((len(terms) + len(work.products)) * entries, self._workspace.dtype) + scalings * entries

    def _steps(self, line: Line) -> list[tuple[Callable[[], None], Work]]:
        match line:
            case Application():
                return [self._application(line)]
            case Dot():
                return [self._dot(line)]
            case Formula(expression=Call(function="conj", argument=Name(name=name))):
                self._conjugated[line.target] = name
                return []
            case Formula() if self._shapes[line.target].has_rows:
                return self._sum(line)
        raise LinesError(f"line {line.text!r} computes no block vector and no Gram matrix", line.place)

    def _application(self, line: Application) -> tuple[Callable[[], None], Work]:
        operator = self._workspace.operator(line.operator)
        x, out = self._workspace.vector(line.argument), self._workspace.vector(line.target)
        if hasattr(operator, "prepare"):
            operator.prepare(x, out)
        return lambda: operator.apply(x, out), lambda: (operator.traffic, operator.flops)

    def _dot(self, line: Dot) -> tuple[Callable[[], None], Work]:
        space, transposed = self._workspace, line.left in self._conjugated
        x, y = space.vector(self._conjugated.get(line.left, line.left)), space.vector(line.right)
        reduce = space.algebra.column_dots if line.columnwise else space.algebra.gram
        work = block_work(x, y, columnwise=line.columnwise)
        if space.device_matrices is not None:
            return reduce(
                x, y, transposed=transposed, device_matrices=space.device_matrices, name=line.target
            ), lambda: work
        compute = reduce(x, y, transposed=transposed)

        def store(found: np.ndarray) -> None:
            space.matrices[line.target] = found

        return followed(compute, line.target, store), lambda: work

    def _sum(self, line: Formula) -> list[tuple[Callable[[], None], Work]]:
        """One step per term with a small matrix; the first takes a bare term along."""
        terms = list(terms_of(line, self._shapes))
        bare = next((term for term in terms if term.small is None and term.sign > 0), None)
        if bare is not None:
            terms.remove(bare)
        if any(term.factor == line.target for term in terms[1:]):
            raise LinesError(f"line {line.text!r} reads {line.target} after it is changed; write it first", line.place)
        base = None if bare is None else bare.factor
        if not terms:
            assert base is not None
            return [self._copy(line.target, base)]
        steps = []
        for term in terms:
            steps.append(self._term(line.target, base, term))
            base = line.target
        return steps

    def _copy(self, target: str, source: str) -> tuple[Callable[[], None], Work]:
        space = self._workspace
        out, values = space.vector(target), space.vector(source)
        return lambda: space.device.assign(out, values), lambda: (2 * out.nbytes, 0)

    def _term(self, target: str, base: str | None, term: Term) -> tuple[Callable[[], None], Work]:
        space, matrices = self._workspace, self._workspace.matrices
        out, factor = space.vector(target), space.vector(term.factor)
        addend = None if base is None else space.vector(base)
        columnwise = term.small is None or self._shapes[term.small].rows == 1
        shape = (space.columns,) if columnwise else (space.columns, space.columns)
        work = block_work(out, factor, *([] if addend is None else [addend]), columnwise=columnwise)
        if space.device_matrices is not None:
            name = term.small or space.device_matrices.ones(space.columns)
            given = {"sign": term.sign, "device_matrices": space.device_matrices, "name": name}
            return space.algebra.combine(out, addend, factor, shape, **given), lambda: work
        ones = np.ones(space.columns)
        combine = space.algebra.combine(out, addend, factor, shape)

        def run() -> None:
            # A 1 x 1 matrix may be kept as either shape.
            small = ones if term.small is None else matrices[term.small].reshape(shape)
            combine(small if term.sign > 0 else -small)

        return run, lambda: work
