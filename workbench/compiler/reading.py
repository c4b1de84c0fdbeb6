"""Kernels and their helpers from source to the typed tree: each function once for each kinds of its arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from workbench.compiler.constants import Named, named
from workbench.compiler.kinds import INT, Array, Kind, Row, settled, types_of
from workbench.compiler.source import Source, source_of, source_of_row
from workbench.compiler.statements import Statements
from workbench.compiler.tree import Function, Phases, local_bytes
from workbench.compiler.words import threads

WRITER = "set_at"
MOST_BYTES = 1 << 18
"""Most bytes of all local arrays of a kernel: a part of the smallest stack of a thread, half a megabyte."""


class _Functions:
    """A kernel, `entry`, and its helpers. group: as in `calls.Helpers`."""

    def __init__(self, source: Source, group: str = "") -> None:
        self.source, self.group = source, group
        self._made: dict[object, tuple[Function, Kind]] = {}
        self._open: set[object] = set()
        self.entry = Function(source.tree.name, source.licences or ())

    def reader(self, kinds: tuple[Kind, ...]) -> Statements:
        """The reader of the kernel. Raises KernelError where it returns something."""
        reader = Statements(self, self.source, kinds, self.entry)
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Return):
                reader.refuse(node, "a kernel has no `return`, since its threads run on; use a helper, or `if`")
        return reader

    @property
    def helpers(self) -> list[Function]:
        """The functions that the kernel calls, each after those that it calls itself."""
        return [made for made, _ in self._made.values()]

    def function(
        self, of: Callable[..., object] | Row, kinds: tuple[Kind, ...], constants: Named, licences: tuple[str, ...]
    ) -> tuple[Function, Kind]:
        """A helper for these kinds of arguments and constants, and the kind of its result. Raises KernelError."""
        constants = (*constants, *named(dict(of.constants))) if isinstance(of, Row) else constants
        # As text, in which 1, 1.0 and True differ.
        key = of, kinds, repr(constants), licences
        if key in self._made:
            return self._made[key]
        source = (source_of_row(of) if isinstance(of, Row) else source_of(of))._replace(constants=constants)
        made = Function(source.tree.name, licences if source.licences is None else source.licences)
        reader = Statements(self, source, kinds, made)
        if key in self._open:
            reader.refuse(source.tree, "a function that calls itself")
        self._open.add(key)

        def read() -> None:
            made.body = reader.block(source.tree.body)

        reader.settled(read)
        reader.declare()
        self._open.discard(key)
        kind = settled(reader.result)
        if types_of(kind) and reader.paths.names is not None:
            reader.refuse(source.tree, "a function that returns a value on some paths and ends without one on others")
        made.results = types_of(kind)
        made.name = f"{source.tree.name.strip('_')}.{len(self._made)}"
        self._made[key] = made, kind
        return made, kind


class Kernel(_Functions):
    """A kernel of the cores for the kinds of its arguments after `taken`, the counters of its threads.

    Its statements up to the last one that writes into an array run first, by one thread. Those between them and the
    loop over `threads` run on every thread, and those after it on the thread that ends last. A kernel without the loop
    runs once. Raises KernelError.
    """

    def __init__(self, source: Source, kinds: tuple[Kind, ...]) -> None:
        super().__init__(source)
        self.phases = Phases((), (), "", (), ())
        reader = self.reader((Array(INT, 2), *kinds))
        first, each, loop, after = _parts(source.tree.body)
        _check_lost(reader, first, each, loop, after)

        def read() -> None:
            start = reader.paths.names
            alone = reader.block(first)
            # Other threads do not know what the first one has set.
            reader.paths.names = start
            before = reader.block(each)
            with reader.paths.loop(skipped=True):
                name, body = _thread(reader, loop[0]) if loop else ("", [])
                inside = reader.block(body)
            self.phases = Phases(alone, before, name, inside, reader.block(after))

        reader.settled(read)
        reader.declare()
        phases = self.phases
        needed = local_bytes(self.entry, (*phases.first, *phases.each, *phases.loop, *phases.after))
        if needed > MOST_BYTES:
            reader.refuse(
                source.tree,
                f"{needed} bytes of local arrays, each call of a helper counted; a thread has {MOST_BYTES} for them",
            )


class DeviceKernel(_Functions):
    """A kernel of accelerators for the kinds of its arguments; every work-item runs it.

    group: the macro that is the number of work-items of a group. Raises KernelError.
    """

    def __init__(self, source: Source, kinds: tuple[Kind, ...], group: str = "GROUP") -> None:
        super().__init__(source, group)
        reader = self.reader(kinds)

        def read() -> None:
            self.entry.body = reader.block(source.tree.body)

        reader.settled(read)
        reader.declare()


class RowFunction(_Functions):
    """A function of rows, `row`, for the kinds of its arguments after the row. Raises KernelError."""

    def __init__(self, row: Row, kinds: tuple[Kind, ...], licences: tuple[str, ...]) -> None:
        super().__init__(source_of_row(row))
        self.row, _ = self.function(row, (INT, *kinds), (), licences)


def _parts(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt], list[ast.stmt], list[ast.stmt]]:
    """Statements that run first, those on each thread, the loop over threads, and those that run last."""
    at = next((place for place, node in enumerate(body) if _is_loop(node)), None)
    if at is None:
        return [], [], [], body
    before, loop, after = body[:at], body[at : at + 1], body[at + 1 :]
    writing = max((place + 1 for place, node in enumerate(before) if _writes(node)), default=0)
    return before[:writing], before[writing:], loop, after


def _thread(reader: Statements, loop: ast.stmt) -> tuple[str, list[ast.stmt]]:
    """The name of the index of a loop over threads, and its body."""
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name) or loop.orelse:
        reader.refuse(loop, "a loop over threads has one index")
    assert isinstance(loop.iter, ast.Call)
    known = reader.known(loop.iter.func)
    if "threads" in reader.own_names or (known is not None and known is not threads):
        reader.refuse(loop, "threads is another thing here than the word of kernels")
    reader.declare_name(loop.target.id, INT, loop)
    return loop.target.id, loop.body


def _check_lost(
    reader: Statements, first: list[ast.stmt], each: list[ast.stmt], loop: list[ast.stmt], after: list[ast.stmt]
) -> None:
    """Refuse names that are set by what runs first and read by other threads, or set by one and read by the last."""
    others = [*each, *loop, *after]
    lost = _names(first, ast.Store) & _names(others, ast.Load) - _names(others, ast.Store)
    if lost:
        reader.refuse(
            first[0],
            f"{', '.join(sorted(lost))} set before a statement that writes into an array, and read in or after the "
            "loop over threads, which other threads run; set it after the last such statement",
        )
    lost = _names(loop, ast.Store) & _names(after, ast.Load) - _names(after, ast.Store)
    if lost:
        reader.refuse(
            loop[0],
            f"{', '.join(sorted(lost))} set in the loop over threads and read after it, where each thread has its own; "
            "store it into an array",
        )


def _is_loop(node: ast.stmt) -> bool:
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call):
        return False
    return isinstance(node.iter.func, ast.Name) and node.iter.func.id == "threads"


def _writes(node: ast.stmt) -> bool:
    # A call whose result is dropped is there for what it writes.
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return True

    def here(part: ast.AST) -> bool:
        if isinstance(part, ast.Call):
            return isinstance(part.func, ast.Name) and part.func.id == WRITER
        return isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)

    return any(map(here, ast.walk(node)))


def _names(nodes: Iterable[ast.stmt], kind: type[ast.expr_context]) -> set[str]:
    """The names that statements read (ast.Load) or assign (ast.Store)."""
    parts = (part for node in nodes for part in ast.walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, kind)}
