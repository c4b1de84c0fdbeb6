"""Pictures of storage formats: the entries of a small matrix and the arrays that hold them, and of a large one where
words and padding lie.

Sources: Tali, Vainikko, figures 2 and 3; Gupta, van Gijzen, Vuik 2013, figures 5 and 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.devices.host import storage
from workbench.extensions.formats.comparison import FormatFacts, Storage, form_title
from workbench.lazy import sparse
from workbench.operators import BandStencil
from workbench.plots.scenes.labelled_cells import labelled_cells
from workbench.plots.scenes.scene import Axis, BarsOf, Scene
from workbench.settings import BY_DIAGONALS, GIVEN_FORM

ENTRIES, PADDING, INDICES = "entries", "padding", "indices"
STYLES = {ENTRIES: 6, PADDING: 1, INDICES: 3}
MOST_CELLS = 64
"""Rows, or entries, of a matrix that is drawn entry by entry."""
MOST_BARS = 128
MOST_AZ, SMALL_AZ = 64, 16
"""Rows up to which the cells of an AZ are drawn, as in the paper, and the rows and columns that are drawn."""
LONGEST_WORD, LONG_WORD = 4, 6
"""Characters that a cell has room for, and one of few."""
FEW = (10, 20)
"""Rows and columns of few cells."""
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


def scenes_of(found: Storage, setting: str, facts: FormatFacts) -> list[Scene]:
    """The pictures of a format of A or a form of AZ: entry by entry for a small matrix, else where its words lie."""
    title = form_title(setting, facts)
    if setting == "az":
        return _of_az(found, facts, title)
    if facts.name == GIVEN_FORM:
        return _as_given(found, title)
    if is_small(found.csr):
        arrays = arrays_of(facts.name, found.csr)
        return [matrix_scene(found.csr), arrays_scene(arrays, title)]
    return [words_scene(words_of(found.csr, facts.stored, facts.nbytes), title)]


def _as_given(found: Storage, title: str) -> list[Scene]:
    given: Any = found.operator
    small, bands = is_small(found.csr), isinstance(given, BandStencil)
    if small and bands:
        constant = given.nbytes < given.main.nbytes * (1 + len(given.lower))
        arrays = bands_of(None if constant else given.main, given.lower)
        return [matrix_scene(found.csr), arrays_scene(arrays, title)]
    facts = found.of(GIVEN_FORM)
    words = np.full(found.unknowns, facts.words / found.unknowns)
    if bands:
        zeros = np.sum([band == 0 for band in given.lower], axis=0)
        return [words_scene({ENTRIES: words - zeros, PADDING: zeros}, title)]
    return [words_scene({INDICES: words}, f"{title}: entries follow from codes")]


def _of_az(found: Storage, facts: FormatFacts, title: str) -> list[Scene]:
    az, labels = found.az, found.labels
    assert az is not None
    assert labels is not None
    words = words_scene(words_of(az, facts.stored, facts.nbytes), title)
    if labels.size > MOST_AZ:
        return [words]
    compressed = facts.name == BY_DIAGONALS
    second = compressed_az_scene(az, labels, SMALL_AZ) if compressed else words
    return [az_scene(az, labels, SMALL_AZ, SMALL_AZ), second]


def matrix_scene(matrix: sparse.csr_array, name: str = "matrix") -> Scene:
    """The entries of a small matrix with their values."""
    entries, size = matrix.tocoo(), matrix.shape[0]
    found = {(int(i), int(j)): value for i, j, value in zip(*entries.coords, entries.data, strict=True)}
    words = {cell: _word(value, (size, size)) for cell, value in found.items()}
    texts = {(i, j): [f"row {i}, column {j}", f"{value:.6g}"] for (i, j), value in found.items()}
    return labelled_cells(name, (size, size), {ENTRIES: list(words)}, words, texts=texts, styles=(STYLES[ENTRIES],))


def arrays_scene(arrays: Sequence[Array], title: str = "") -> Scene:
    """Arrays of a format, one below the other, with their names. title: of the format."""
    kinds: dict[str, list[tuple[int, int]]] = {}
    words, texts = {}, {}
    shape = len(arrays), max(len(array.words) for array in arrays)
    for k, array in enumerate(arrays):
        for j, word in enumerate(array.words):
            padded = array.padding is not None and array.padding[j]
            kinds.setdefault(PADDING if padded else array.kind, []).append((k, j))
            words[k, j] = _word(word, shape)
            texts[k, j] = [f"{array.name}[{j}]", f"{word:.6g}" + (", padding" if padded else "")]
    shown = {kind: kinds[kind] for kind in STYLES if kind in kinds}
    styles = [STYLES[kind] for kind in shown]
    names = [array.name for array in arrays]
    return labelled_cells("arrays", shape, shown, words, texts=texts, x="position", y=title, styles=styles, rows=names)


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
        values, held = (storage.dia_values(each, distances, rowwise=False).reshape(-1, size) for each in (matrix, ones))
        made = [Array(f"val {distances[k]}", values[k], padding=held[k] == 0) for k in range(distances.size)]
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


def words_scene(parts: Mapping[str, np.ndarray], title: str = "") -> Scene:
    """The words in a large matrix: those of each kind per row, shape (N,), as means over the rows of a bar."""
    size = next(iter(parts.values())).size
    bars = min(size, MOST_BARS)
    edges = np.arange(bars + 1) * size // bars
    middles, wide = (edges[:-1] + edges[1:] - 1) / 2, size / bars
    base, layers = np.zeros(bars), []
    for kind, words in parts.items():
        top = base + np.add.reduceat(words.astype(float), edges[:-1]) / np.diff(edges)
        if np.any(top > base):
            texts = [
                [f"rows {low} to {high - 1}", f"{mean:.3g} words of {kind} a row"]
                for low, high, mean in zip(edges, edges[1:], top - base, strict=False)
            ]
            layers.append(BarsOf(kind, middles, top, wide, base.copy(), style=STYLES[kind], texts=texts))
        base = top
    means = ", ".join(f"{words.mean():.3g} of {kind}" for kind, words in parts.items())
    spoken = f"Words a row: {means}."
    span = (0.0, 1.05 * float(base.max(initial=0)))
    y = Axis(", ".join(filter(None, ("words a row", title))), span=span)
    return Scene("words", Axis("row", "count", whole=True), y, layers, spoken=spoken)


def words_of(matrix: sparse.csr_array, found: storage.Stored, nbytes: int) -> dict[str, np.ndarray]:
    """The words of each row of a matrix, or of AZ, in a format that stores so much, by kind; indices are shared by all
    values, padding included. nbytes: of all."""
    lengths = np.diff(matrix.indptr).astype(float)
    padding = np.maximum(found.width - lengths, 0) if found.width else np.zeros_like(lengths)
    value = matrix.data.itemsize / storage.WORD
    share = (nbytes / storage.WORD - found.values * value) / max(1, found.values)
    return {ENTRIES: lengths * value, PADDING: padding * value, INDICES: (lengths + padding) * share}


def az_scene(az: sparse.csr_array, labels: np.ndarray, rows: int, columns: int, names: Sequence[str] = PARTS) -> Scene:
    """The first rows and columns of AZ, coloured by the distance of a column from the label of the row."""
    part = az[:rows, :columns].tocoo()
    kinds, styles = _parts(part, labels, names)
    return labelled_cells("AZ", part.shape, kinds, x="column of AZ", styles=styles)


def compressed_az_scene(az: sparse.csr_array, labels: np.ndarray, rows: int, names: Sequence[str] = PARTS) -> Scene:
    """The first rows of AZ as N x d by diagonals: a column for each distance; what is white is filled with zeros."""
    distances = storage.diagonals(az, labels)
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
    return {names[k]: cells[k] for k in found}, [(1, 2, 0)[k] for k in found]


def _indices(name: str, words: np.ndarray) -> Array:
    return Array(name, words, INDICES)


def _word(value: object, shape: tuple[int, int]) -> str:
    """A value for a cell among these rows and columns; empty where it has no room."""
    longest = LONG_WORD if shape[0] <= FEW[0] and shape[1] <= FEW[1] else LONGEST_WORD
    if isinstance(value, (complex, np.complexfloating)):
        return ""
    text = f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
    return text if len(text) <= longest else ""
