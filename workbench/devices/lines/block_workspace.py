"""Programs of block vectors: N x s, on a device, with the small matrices in host memory.

The host factorizes small matrices by LAPACK, so a program waits for every Gram matrix that it computes. Each line is a
step of its own: an operator application, a Gram matrix, or a sum of block vectors times small matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.devices.clock import Clock
from workbench.devices.lines.in_blocks import in_blocks
from workbench.devices.operator_protocols import BlockAlgebra
from workbench.devices.traffic import block_work
from workbench.lines import shapes as typing_rules
from workbench.lines.block_terms import Term, terms_of
from workbench.lines.parse import parse
from workbench.lines.shapes import infer, infer_vectors
from workbench.lines.types import Application, Call, Dot, Formula, Line, LinesError, Name, Shape, block

Work = Callable[[], tuple[int, int]]


class BlockWorkspace:
    """The block vectors and small matrices of one solve by name, s columns each.

    vectors: arrays on the device, of shape (size, columns) and one dtype; programs add theirs. operators: bound
    operators, or element-wise ones. matrices: small matrices in double precision, set by programs and by the caller;
    of shape (s, t), or (s,) for the numbers that belong to the columns. all_norms: whether ||M^-1 r_j|| is wanted, for
    which most methods need one more Gram matrix.
    """

    def __init__(
        self,
        device: Any,
        size: int,
        columns: int,
        dtype: np.dtype,
        *,
        vectors: Mapping[str, Any],
        operators: Mapping[str, Any],
        clock: Clock | None = None,
        all_norms: bool = False,
    ) -> None:
        self.device, self.size, self.columns, self.dtype = device, size, columns, np.dtype(dtype)
        self.algebra: BlockAlgebra = device.block_algebra()
        self.vectors: dict[str, Any] = dict(vectors)
        self.operators = dict(operators)
        self.matrices: dict[str, np.ndarray] = {}
        self.programs: list[BlockProgram] = []
        self.clock = clock
        self.all_norms = all_norms
        self._in_blocks: dict[str, Any] = {}

    def lines(self, *texts: str, matrices: Mapping[str, Shape] | None = None) -> tuple[BlockProgram, ...]:
        """Compile programs; matrices: the shapes of those that the caller sets. Raises LinesError."""
        programs = [parse(text) for text in texts]
        everything = [line for lines in programs for line in lines]
        tall = {*self.vectors, *infer_vectors(everything, list(self.vectors))}
        known = {**dict.fromkeys(tall, block(self.columns)), **(matrices or {})}
        shapes = infer(everything, known)
        # The caller runs them in an order of its own.
        targets = [line.target for line in everything]
        typing_rules.check(programs, shapes, [*known, *targets], self.operators)
        made = tuple(BlockProgram(self, lines, shapes) for lines in programs)
        self.programs += made
        return made

    def vector(self, name: str) -> Any:
        """The block vector of that name, allocated (zero) when it does not exist yet."""
        if name not in self.vectors:
            self.vectors[name] = self.device.zero_block(self.size, self.columns, self.dtype)
        return self.vectors[name]

    def operator(self, name: str) -> Any:
        """An operator in its form for block vectors."""
        if name not in self._in_blocks:
            form = in_blocks(self.device, self.operators[name], self.size, self.columns, self.dtype)
            self._in_blocks[name] = form
        return self._in_blocks[name]


class BlockProgram:
    """A program ready to run; calling it runs all its lines once. bytes and flops: of one call. calls: so far."""

    def __init__(self, space: BlockWorkspace, lines: tuple[Line, ...], shapes: Mapping[str, Shape]) -> None:
        self._space, self.lines, self._shapes = space, lines, shapes
        self.calls = 0
        self._conjugated: dict[str, str] = {}
        """Names of conjugates, which are read from the block vector itself."""
        self._works: list[Work] = []
        self._runs: list[Callable[[], None]] = []
        for line in lines:
            self._runs += [self._timed(*step, line.text) for step in self._steps(line)]

    def __call__(self) -> None:
        self.calls += 1
        for run in self._runs:
            run()

    @property
    def passes(self) -> int:
        """Kernels of one call: an operator application, a reduction or a sum counts as one each."""
        return len(self._works)

    @property
    def bytes(self) -> int:
        return sum(work()[0] for work in self._works)

    @property
    def flops(self) -> int:
        return sum(work()[1] for work in self._works)

    def _timed(self, run: Callable[[], None], work: Work, name: str) -> Callable[[], None]:
        self._works.append(work)
        return self._space.clock.timed(run, name, work) if self._space.clock else run

    def _steps(self, line: Line) -> list[tuple[Callable[[], None], Work]]:
        match line:
            case Application():
                return [self._application(line)]
            case Dot():
                return [self._dot(line)]
            case Formula(expression=Call(function="conj", argument=Name(name=name))):
                self._conjugated[line.target] = name
                return []
            case Formula() if self._shapes[line.target].tall:
                return self._sum(line)
        raise LinesError(f"line {line.text!r} computes no block vector and no Gram matrix", line.place)

    def _application(self, line: Application) -> tuple[Callable[[], None], Work]:
        operator = self._space.operator(line.operator)
        x, out = self._space.vector(line.argument), self._space.vector(line.target)
        if hasattr(operator, "prepare"):
            operator.prepare(x, out)
        return lambda: operator.apply(x, out), lambda: (operator.traffic, operator.flops)

    def _dot(self, line: Dot) -> tuple[Callable[[], None], Work]:
        space, transposed = self._space, line.left in self._conjugated
        x, y = space.vector(self._conjugated.get(line.left, line.left)), space.vector(line.right)
        reduce = space.algebra.column_dots if line.columnwise else space.algebra.gram
        compute = reduce(x, y, transposed=transposed)
        work = block_work(x, y, columnwise=line.columnwise)

        def run() -> None:
            space.matrices[line.target] = compute()

        return run, lambda: work

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
        space = self._space
        out, values = space.vector(target), space.vector(source)
        return lambda: space.device.assign(out, values), lambda: (2 * out.nbytes, 0)

    def _term(self, target: str, base: str | None, term: Term) -> tuple[Callable[[], None], Work]:
        space, matrices = self._space, self._space.matrices
        out, factor = space.vector(target), space.vector(term.factor)
        addend = None if base is None else space.vector(base)
        ones = np.ones(space.columns)
        columnwise = term.small is None or self._shapes[term.small].rows == 1
        shape = (space.columns,) if columnwise else (space.columns, space.columns)
        combine = space.algebra.combine(out, addend, factor, shape)

        def run() -> None:
            # A 1 x 1 matrix may be kept as either shape.
            small = ones if term.small is None else matrices[term.small].reshape(shape)
            combine(small if term.sign > 0 else -small)

        work = block_work(out, factor, *([] if addend is None else [addend]), columnwise=columnwise)
        return run, lambda: work
