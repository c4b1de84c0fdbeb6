"""Measure the structure of the code and compare it with upper bounds: `.venv/bin/python -m scripts.measures [NAME]`.

The bounds are what the code has reached. Each is lowered when the code falls below it, and none is raised without a
reason in the commit. With a NAME the places behind one number are listed.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BADLY = re.compile(r"(What|Whether|The same)\b")
"""First words of sentences that do not name their subject."""
CAPABILITIES = {
    "flow": "flow",
    "papers": "papers",
    "lessons": "lessons|teach",
    "mpi": "mpi|ranks|nccl",
    "dask": "dask|local_workers|worker_lanes|tree_node|tree_sums",
    "petsc": "petsc",
    "amgx": "amgx",
    "classroom": "classroom|class_view|(?<!compile_)server",
    "formats": "formats?|storage",
    "advise": "advise|advisor|suggest",
    "stepping": "stepping|step_(sides|spaces|view|page|text)",
    "machines": "machines|models",
}
"""Words of file and folder names, by capability."""
BOUNDS = {
    "files": 919,
    "lines with `: Any`": 245,
    "lines with `cast(`": 20,
    "lines with `getattr(`": 94,
    "modules with one importer": 179,
    "imports of extensions": 0,
    "docstrings that begin badly": 0,
    "rooms of flow": 1,
    "rooms of papers": 1,
    "rooms of lessons": 1,
    "rooms of mpi": 2,
    "rooms of dask": 1,
    "rooms of petsc": 2,
    "rooms of amgx": 1,
    "rooms of classroom": 2,
    "rooms of formats": 2,
    "rooms of advise": 2,
    "rooms of stepping": 2,
    "rooms of machines": 2,
}
"""The largest number of each measure."""


def files(root: Path = ROOT) -> list[Path]:
    """The Python files of the package."""
    return sorted((root / "workbench").rglob("*.py"))


def matches(pattern: str) -> Callable[[Path], list[str]]:
    """A measure: lines that match."""
    of = re.compile(pattern)

    def found(root: Path) -> list[str]:
        return [
            f"{path.relative_to(root)}:{number}"
            for path in files(root)
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
            if of.search(line)
        ]

    return found


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file, read once."""
    return ast.parse(path.read_text("utf-8"))


def documents(tree: ast.Module) -> Iterator[ast.Constant]:
    """The docstrings of a file, and the strings below constants and fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value


def bad_beginnings(root: Path) -> list[str]:
    """Docstrings that begin with a word of `BADLY`."""
    return [
        f"{path.relative_to(root)}:{document.lineno}"
        for path in files(root)
        for document in documents(tree_of(path))
        if BADLY.match(str(document.value))
    ]


def imported(path: Path, names: set[str], root: Path) -> set[str]:
    """The modules of the package that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return (found & names) - {module_of(path, root)}


def extensions_imported(root: Path) -> list[str]:
    """Modules of the core that import one of an extension, and which."""
    names = {module_of(path, root) for path in files(root)}
    of_extensions = {name for name in names if name.startswith("workbench.extensions.")}
    return [
        f"{module_of(path, root)}: {', '.join(sorted(found))}"
        for path in files(root)
        if not module_of(path, root).startswith("workbench.extensions")
        if (found := imported(path, of_extensions, root))
    ]


def module_of(path: Path, root: Path) -> str:
    """The dotted name of a file."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def with_one_importer(root: Path) -> list[str]:
    """Modules that one other file of the package imports."""
    names = {module_of(path, root) for path in files(root) if path.name != "__init__.py"}
    importers: dict[str, int] = dict.fromkeys(names, 0)
    for path in files(root):
        for name in imported(path, names, root):
            importers[name] += 1
    return sorted(name for name, count in importers.items() if count == 1)


def rooms_of(words: str) -> Callable[[Path], list[str]]:
    """A measure: top-level folders and modules of the package that have a file or folder named after a capability."""
    of = re.compile(rf"(^|_)({words})(_|$)")

    def found(root: Path) -> list[str]:
        paths = [path.relative_to(root / "workbench").with_suffix("") for path in files(root)]
        return sorted({path.parts[0] for path in paths if any(of.search(part) for part in path.parts)})

    return found


MEASURES: dict[str, Callable[[Path], list[str]]] = {
    "files": lambda root: [str(path.relative_to(root)) for path in files(root)],
    "lines with `: Any`": matches(r": Any\b"),
    "lines with `cast(`": matches(r"\bcast\("),
    "lines with `getattr(`": matches(r"\bgetattr\("),
    "modules with one importer": with_one_importer,
    "imports of extensions": extensions_imported,
    "docstrings that begin badly": bad_beginnings,
} | {f"rooms of {name}": rooms_of(words) for name, words in CAPABILITIES.items()}


def above(numbers: dict[str, int]) -> list[str]:
    """A sentence for each number above its bound."""
    return [
        f"{name}: {number}, and the bound is {BOUNDS[name]}; list them by `python -m scripts.measures {name!r}`"
        for name, number in numbers.items()
        if number > BOUNDS[name]
    ]


def main(arguments: list[str]) -> int:
    """Print the numbers, or the places behind one; 1 if a number is above its bound."""
    if arguments:
        name = " ".join(arguments)
        if name not in MEASURES:
            print(f"unknown measure {name!r}; known: {', '.join(MEASURES)}", file=sys.stderr)
            return 2
        print("\n".join(MEASURES[name](ROOT)))
        return 0
    numbers = {name: len(measure(ROOT)) for name, measure in MEASURES.items()}
    for name, number in numbers.items():
        print(f"{name:28s} {number:5d}   bound {BOUNDS[name]:5d}{'   lower it' if number < BOUNDS[name] else ''}")
    for sentence in above(numbers):
        print(sentence, file=sys.stderr)
    return 1 if above(numbers) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
