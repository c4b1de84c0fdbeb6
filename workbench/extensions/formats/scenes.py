"""Pictures of storage formats: the entries of a few rows of a matrix, and the arrays that hold them in a format.

Of a large matrix the rows are those of neighbouring cells, or rows in sequence, which are coupled to one another; their
entries are those of the matrix.
Sources: Tali, Vainikko, figures 2 and 3; Gupta, van Gijzen, Vuik 2013, figures 5 and 6.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.devices.host import storage
from workbench.extensions.formats.comparison import ROWS, FormatFacts, Storage, form_title
from workbench.lazy import sparse
from workbench.operators import BandStencil, BoxStencil, TwoPhaseStencil
from workbench.plots.scenes.labelled_cells import labelled_cells
from workbench.plots.scenes.scene import Scene
from workbench.settings import BY_DIAGONALS, GIVEN_FORM
from workbench.words.numbers import MINUS, count

ENTRIES, PADDING, INDICES = "entries", "padding", "indices"
STYLES = {ENTRIES: 6, PADDING: 1, INDICES: 3}
MOST_CELLS = 64
"""Rows, or entries, of a matrix that is drawn entry by entry."""
SIDES = {1: 9, 2: 3, 3: 2}
"""Cells per side of the part of a grid that is drawn, by dimensions."""
IN_SEQUENCE = 9
"""Rows that are drawn of a matrix without a grid."""
MOST_WINDOWS = 500
"""Places that are looked at for them."""
SMALL_AZ = 10
"""Rows and columns of AZ that are drawn."""
ACROSS = 12
"""Words of an array in a line."""
LONGEST_WORD, LONG_WORD = 4, 6
"""Characters that a cell has room for, and one of few."""
FEW = (10, 20)
"""Rows and columns of few cells."""
PART_STYLES = (6, 1, 3)
PARTS = ("own subdomain", "next label", "other labels")
"""The entries of AZ by the distance of their column from the label of their row: 0, 1, more."""


class Array(NamedTuple):
    """An array of a format. kind: of its words, `ENTRIES` or `INDICES`, but those that are padding."""

    name: str
    words: Sequence[Any] | np.ndarray
    kind: str = ENTRIES
    padding: np.ndarray | None = None


def is_small(matrix: sparse.csr_array) -> bool:
    """True if a matrix is small enough to be drawn entry by entry."""
    return max(matrix.shape[0] * 2, int(matrix.nnz)) <= MOST_CELLS


def part_of(found: Storage) -> np.ndarray:
    """The rows that are drawn, ascending: all of a small matrix; of a grid those of the cells around the face between
    two phases, or else at a corner; of another matrix those in sequence with the most couplings to one another."""
    if is_small(found.csr):
        return np.arange(found.unknowns)
    if found.grid is None:
        return _in_sequence(found.csr, IN_SEQUENCE)
    grid, sides = found.grid, [min(side, SIDES[len(found.grid)]) for side in found.grid]
    row = int(np.argmax(_contrasts(found.csr)))
    corners = [
        sorted({int(np.clip(at - back, 0, cells - side)) for back in range(side)})
        for at, side, cells in zip(np.unravel_index(row, grid), sides, grid, strict=True)
    ]
    parts = [_box(corner, sides, grid) for corner in itertools.product(*corners)]
    return max(parts, key=lambda rows: float(_contrasts(sparse.csr_array(found.csr[rows][:, rows])).max()))


def _box(corner: Sequence[int], sides: Sequence[int], grid: tuple[int, ...]) -> np.ndarray:
    """The rows of a box of cells, ascending."""
    cells = [first + np.arange(side) for first, side in zip(corner, sides, strict=True)]
    return np.ravel_multi_index(np.meshgrid(*cells, indexing="ij"), grid).ravel()


def _contrasts(matrix: sparse.csr_array) -> np.ndarray:
    """The ratio of the largest to the smallest coupling of each row, 0 for a row without couplings, shape (N,)."""
    filled = np.diff(matrix.indptr) > 0
    starts = matrix.indptr[:-1][filled]
    couplings = np.where(matrix.indices == storage.rows_of(matrix), 0.0, np.abs(matrix.data))
    most = np.maximum.reduceat(couplings, starts)
    least = np.minimum.reduceat(np.where(couplings > 0, couplings, np.inf), starts)
    found = np.zeros(matrix.shape[0])
    # A row without couplings has an infinite least one.
    found[filled] = most / least
    return found


def _in_sequence(matrix: sparse.csr_array, count: int) -> np.ndarray:
    """The `count` rows one after another that have the most entries in their own columns."""
    last = max(0, matrix.shape[0] - count)
    starts = np.unique(np.linspace(0, last, MOST_WINDOWS).astype(int))
    windows = [slice(start, min(start + count, matrix.shape[0])) for start in starts.tolist()]
    best = max(windows, key=lambda window: matrix[window, window].nnz)
    return np.arange(best.start, best.stop)


def scenes_of(found: Storage, setting: str, facts: FormatFacts) -> list[Scene]:
    """The pictures of a format of A or a form of AZ: entries of some rows, and the arrays that hold them."""
    title = form_title(setting, facts)
    if setting == "az":
        return _of_az(found, facts, title)
    rows = part_of(found)
    part = sparse.csr_array(found.csr[rows][:, rows])
    part.sort_indices()
    arrays = _given_arrays(found, rows) if facts.name == GIVEN_FORM else arrays_of(facts.name, part)
    return [matrix_scene(part, title=part_title(found, rows), square=False), arrays_scene(arrays, title, ACROSS)]


def part_title(found: Storage, rows: np.ndarray) -> str:
    """The rows that are drawn, in words."""
    if rows.size == found.unknowns:
        return "row"
    cells = "neighbouring cells" if found.grid is not None else "in sequence"
    return f"{rows.size} of {count(found.unknowns)} rows, {cells}, from row {count(int(rows[0]))} on"


def _given_arrays(found: Storage, rows: np.ndarray) -> list[Array]:
    """The arrays of the operator as the problem has it, for these rows."""
    given = found.operator
    if isinstance(given, TwoPhaseStencil):
        faces = given.faces
        made = [Array("code", faces.codes[rows], INDICES), Array("coefficient", faces.values)]
        return [*made, Array("wall", faces.walls)] if faces.walled else made
    if isinstance(given, BandStencil):
        constant = given.nbytes < given.main.nbytes * (1 + len(given.lower))
        return bands_of(None if constant else given.main[rows], [band[rows] for band in given.lower])
    if isinstance(given, BoxStencil):
        return [Array("diagonal", [given.diagonal_entry]), Array("coupling", [given.coupling])]
    return []


def _of_az(found: Storage, facts: FormatFacts, title: str) -> list[Scene]:
    az, labels = found.az, found.labels
    assert az is not None
    assert labels is not None
    rows = az_part_of(az)
    first = az_rows_scene(az, labels, rows)
    if facts.name == BY_DIAGONALS:
        return [first, compressed_az_scene(az[rows], labels[rows], rows.size, distances=storage.diagonals(az, labels))]
    part = sparse.csr_array(az[rows])
    part.sort_indices()
    return [first, arrays_scene(az_arrays(facts.name, part, rows), title, ACROSS)]


def az_part_of(az: sparse.csr_array) -> np.ndarray:
    """The rows of AZ that are drawn: those in sequence with the most entries."""
    size = min(SMALL_AZ, az.shape[0])
    start = int(np.argmax(az.indptr[size:] - az.indptr[:-size]))
    return np.arange(start, start + size)


def az_arrays(name: str, part: sparse.csr_array, rows: np.ndarray) -> list[Array]:
    """The arrays of some rows of AZ in a form that stores entries only. rows: their numbers."""
    if name == "csr":
        return arrays_of("csr", part)
    filled = np.flatnonzero(np.diff(part.indptr))
    pointers = np.append(part.indptr[filled], part.nnz)
    if name == ROWS:
        return [*arrays_of("csr", part)[:2], _indices("row", rows[filled]), _indices("ptr", pointers)]
    columns = [tuple(part.indices[part.indptr[row] : part.indptr[row + 1]].tolist()) for row in filled]
    begins = [k for k, row in enumerate(filled) if k == 0 or row != filled[k - 1] + 1 or columns[k] != columns[k - 1]]
    lengths = np.diff([*begins, filled.size])
    distinct = np.array([column for k in begins for column in columns[k]], int)
    return [
        Array("val", part.data),
        _indices("col", distinct),
        _indices("first row", rows[filled[begins]]),
        _indices("rows", lengths),
    ]


def matrix_scene(matrix: sparse.csr_array, name: str = "matrix", title: str = "row", *, square: bool = True) -> Scene:
    """The entries of a small matrix with their values. title: of its rows. square: the cells are."""
    entries, size = matrix.tocoo(), matrix.shape[0]
    found = {(int(i), int(j)): value for i, j, value in zip(*entries.coords, entries.data, strict=True)}
    words = {cell: _word(value, (size, size)) for cell, value in found.items()}
    texts = {(i, j): [f"row {i}, column {j}", f"{value:.6g}"] for (i, j), value in found.items()}
    kinds, styles = {ENTRIES: list(words)}, (STYLES[ENTRIES],)
    return labelled_cells(name, (size, size), kinds, words, texts=texts, y=title, styles=styles, square=square)


def arrays_scene(arrays: Sequence[Array], title: str = "", across: int = 0) -> Scene:
    """Arrays of a format, one below the other, with their names. title: of the format. across: words in a line at most,
    0 for any number."""
    wide = across or max((len(array.words) for array in arrays), default=1)
    kinds: dict[str, list[tuple[int, int]]] = {}
    words, texts, names = {}, {}, []
    shape = sum(-(-len(array.words) // wide) for array in arrays), wide
    for array in arrays:
        above = len(names)
        names += [f"{array.name} {start or ''}".strip() for start in range(0, len(array.words), wide)]
        for j, word in enumerate(array.words):
            cell = above + j // wide, j % wide
            padded = array.padding is not None and array.padding[j]
            kinds.setdefault(PADDING if padded else array.kind, []).append(cell)
            words[cell] = _word(word, shape)
            texts[cell] = [f"{array.name}[{j}]", f"{word:.6g}" + (", padding" if padded else "")]
    shown = {kind: kinds[kind] for kind in STYLES if kind in kinds}
    styles = [STYLES[kind] for kind in shown]
    return labelled_cells(
        "arrays",
        shape,
        shown,
        words,
        texts=texts,
        x="position",
        y=title,
        styles=styles,
        rows=names,
        square=not across,
    )


def arrays_of(name: str, matrix: sparse.csr_array) -> list[Array]:
    """The arrays of a small square matrix in a format; columns of padded formats one after another."""
    size, lengths = matrix.shape[0], np.diff(matrix.indptr)
    rows = storage.rows_of(matrix)
    if name == "coo":
        return [Array("val", matrix.data), _indices("col", matrix.indices), _indices("row", rows)]
    if name == "csr":
        return [Array("val", matrix.data), _indices("col", matrix.indices), _indices("ptr", matrix.indptr)]
    if name == "dia":
        distances = storage.diagonals(matrix)
        ones = sparse.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
        values, stored = (
            storage.dia_values(each, distances, rowwise=False).reshape(-1, size) for each in (matrix, ones)
        )
        made = [Array(f"val {count(distances[k])}", values[k], padding=stored[k] == 0) for k in range(distances.size)]
        return [*made, _indices("distance", distances)]
    width = storage.ell_width(lengths) if name == "ell" else storage.hyb_width(lengths)
    values, columns, rest = storage.ell_arrays(matrix, width, rowwise=False)
    made = [
        Array(f"{array} {k + 1}", words[k * size : (k + 1) * size], kind, lengths <= k)
        for array, words, kind in (("val", values, ENTRIES), ("col", columns, INDICES))
        for k in range(width)
    ]
    if rest.nnz:
        made += [array._replace(name=f"rest {array.name}") for array in arrays_of("coo", rest)]
    return made


def bands_of(main: np.ndarray | None, lower: Sequence[np.ndarray]) -> list[Array]:
    """The arrays of a stencil: its diagonal, None where that is one number, and lower bands, with zeros at walls."""
    made = [] if main is None else [Array("main", main)]
    return made + [Array(f"lower {side}", band, padding=band == 0) for side, band in zip("xyz", lower, strict=False)]


def az_rows_scene(az: sparse.csr_array, labels: np.ndarray, rows: np.ndarray) -> Scene:
    """Some rows of AZ with the columns that have entries there, coloured as by `az_scene`."""
    part = az[rows].tocoo()
    used = np.unique(part.coords[1])[:SMALL_AZ]
    kinds, styles = _parts(part, labels[rows], PARTS)
    placed = {
        kind: [(row, int(np.searchsorted(used, column))) for row, column in cells if column in used]
        for kind, cells in kinds.items()
    }
    shape, columns = (rows.size, max(1, used.size)), [str(column) for column in used]
    words = {
        (int(row), int(np.searchsorted(used, column))): _word(value, shape)
        for row, column, value in zip(*part.coords, part.data, strict=True)
        if column in used
    }
    title = f"{rows.size} of {count(labels.size)} rows of AZ" if rows.size < labels.size else "row of AZ"
    names = [count(int(row)) for row in rows]
    return labelled_cells(
        "AZ",
        shape,
        placed,
        words,
        x="column",
        y=title,
        styles=styles,
        rows=names,
        columns=columns or None,
        square=False,
    )


def az_scene(az: sparse.csr_array, labels: np.ndarray, rows: int, columns: int, names: Sequence[str] = PARTS) -> Scene:
    """The first rows and columns of AZ, coloured by the distance of a column from the label of the row."""
    part = az[:rows, :columns].tocoo()
    kinds, styles = _parts(part, labels, names)
    return labelled_cells("AZ", part.shape, kinds, x="column of AZ", styles=styles)


def compressed_az_scene(
    az: sparse.csr_array,
    labels: np.ndarray,
    rows: int,
    names: Sequence[str] = PARTS,
    *,
    distances: np.ndarray | None = None,
) -> Scene:
    """The first rows of AZ as N x d by diagonals: a column for each distance; what is white is filled with zeros.
    distances: by default those of the rows given."""
    distances = storage.diagonals(az, labels) if distances is None else distances
    part = az[:rows].tocoo()
    kinds, styles = _parts(part, labels, names)
    placed = {
        kind: [(row, int(np.searchsorted(distances, column - labels[row]))) for row, column in cells]
        for kind, cells in kinds.items()
    }
    shape, columns = (part.shape[0], distances.size), [str(distance) for distance in distances]
    return labelled_cells("compressed", shape, placed, x="distance from the label", styles=styles, columns=columns)


def _parts(
    part: sparse.coo_array, labels: np.ndarray, names: Sequence[str]
) -> tuple[dict[str, list[tuple[int, int]]], list[int]]:
    """The entries by part, and the style of each part with entries."""
    cells: list[list[tuple[int, int]]] = [[] for _ in names]
    for row, column in zip(*part.coords, strict=True):
        cells[min(2, abs(int(column) - int(labels[row])))].append((int(row), int(column)))
    found = [k for k in range(len(names)) if cells[k]]
    return {names[k]: cells[k] for k in found}, [PART_STYLES[k] for k in found]


def _indices(name: str, words: np.ndarray) -> Array:
    return Array(name, words, INDICES)


def _word(value: object, shape: tuple[int, int]) -> str:
    """A value for a cell among these rows and columns; empty where it has no room."""
    longest = LONG_WORD if shape[0] <= FEW[0] and shape[1] <= FEW[1] else LONGEST_WORD
    if isinstance(value, (complex, np.complexfloating)):
        return ""
    text = f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
    if len(text) > longest and isinstance(value, (float, np.floating)):
        digits, _, power = f"{value:.1e}".partition("e")
        text = f"{digits}e{int(power)}"
    return text.replace("-", MINUS) if len(text) <= longest else ""
