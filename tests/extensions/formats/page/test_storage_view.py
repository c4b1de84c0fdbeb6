"""The view on storage formats: words, what is measured, pictures, and a choice that a run takes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import io, sparse

from workbench.errors import InputError
from workbench.extensions.formats.comparison import storage_of
from workbench.extensions.formats.scenes import az_part_of, part_of, scenes_of
from workbench.live import StorageView
from workbench.run import configure, solve
from workbench.settings import AZ_FORMS, FORMATS
from workbench.words.numbers import count


def cells(view, name):
    """A row of the table by its columns."""
    place = [fact["id"] for fact in view.table.facts].index(name)
    return dict(zip(view.table.columns, view.table.rows[place], strict=True))


def test_formats_are_listed_measured_and_chosen(opened, eventually):
    taken = []
    base = configure("two-layer", n=9, deflation="stripes")
    view = opened(StorageView(base, taken.append))
    # The bar and the table are brought up to date one after the other, and A may be assembled in between.
    eventually(lambda: len(view.table.rows) == 1 + len(FORMATS) + 4 and "press Measure" in view.status.text)
    assert cells(view, "format:ell")["Words"]["key"] == 1.5 * 5 * 81
    assert cells(view, "format:problem")["In a run"]["text"] == "chosen"
    view.measure().join()
    eventually(lambda: "fastest here" in view.status.text)
    assert set(view.seconds) == {("format", at) for at in ("problem", *FORMATS)} | {("az", at) for at in AZ_FORMS}
    eventually(lambda: cells(view, "format:dia")["Time here"]["key"] == view.seconds["format", "dia"])
    assert set(view.converted) == set(view.seconds) - {("format", "problem")}
    found = cells(view, "format:dia")
    assert found["Conversion"]["key"] == view.converted["format", "dia"]
    assert found["In products"]["key"] == view.converted["format", "dia"] / view.seconds["format", "csr"]
    assert cells(view, "format:problem")["Conversion"]["key"] is None
    # The note follows the table.
    eventually(lambda: view.storage.pays(view.seconds, view.converted) in view.note.value)
    assert "Conversion: from CSR, the median of 3" in view.note.value
    view.table.press("take", ["format:dia"])
    view.table.press("take", ["az:dia"])
    assert [(each.format, each.az) for each in taken] == [("dia", "compact"), ("dia", "dia")]
    eventually(lambda: cells(view, "az:dia")["In a run"]["text"] == "chosen")
    # The choice changes neither the matrix nor what was measured.
    view.rebase(taken[-1])
    assert view.seconds


def test_what_a_run_cannot_have_is_greyed_with_its_reason(opened, eventually):
    view = opened(StorageView(configure("bubbles-2d", n=8, precision="mixed")))
    eventually(lambda: view.table.rows)
    assert {fact["id"] for fact in view.table.facts if not fact["acts"]} == {f"format:{name}" for name in FORMATS}
    with pytest.raises(InputError, match="format ell cannot be chosen: precision mixed keeps A as a byte per cell"):
        view.take("format", "ell")
    view.table.chosen = ["format:ell"]
    eventually(lambda: "ELLPACK cannot be chosen: precision mixed" in view.note.value)


def test_a_matrix_that_is_large_or_elsewhere_waits_and_one_that_is_missing_is_said(opened, eventually, tmp_path):
    for base in (configure("poisson5", n=1000), configure("suitesparse", matrix="Janna/Queen_4147")):
        view = opened(StorageView(base))
        eventually(lambda view=view: "press Measure to assemble A" in view.status.text)
        assert view.storage is None
    view = opened(StorageView(configure("matrix-file", path=str(tmp_path / "no.mtx"))))
    eventually(lambda: "no.mtx" in view.status.text and view.status.tone == "bad")
    view.measure().join()
    eventually(lambda: "no.mtx" in view.status.text and view.status.tone == "bad")
    view.rebase(configure("poisson5", n=4))
    eventually(lambda: len(view.table.rows) == 1 + len(FORMATS) and "press Measure for" in view.status.text)


def test_pictures_of_a_small_matrix_hold_its_arrays():
    """The entries of a path of 3 x 3 cells with 33 entries, and the words of a larger matrix."""
    found = storage_of(configure("poisson5", n=3))
    matrix, arrays = scenes_of(found, "format", found.of("csr"))
    assert sum(layer.x.size for layer in matrix.layers if layer.name) == found.entries == 33
    assert arrays.y.names == ["ptr", "col 24", "col 12", "col", "val 24", "val 12", "val"]
    kinds = {layer.name: layer.x.size for layer in scenes_of(found, "format", found.of("dia"))[1].layers}
    assert (kinds["entries"], kinds["padding"], kinds["indices"]) == (33, 45 - 33, 5)


@pytest.mark.parametrize("base", [configure("two-layer", n=32), configure("bubbles-3d", n=16, count=1)])
def test_a_large_matrix_is_shown_by_rows_of_neighbouring_cells_around_an_interface(base):
    found = storage_of(base)
    rows = part_of(found)
    assert rows.size == {2: 9, 3: 8}[len(found.grid)]
    part = found.csr[rows][:, rows]
    couplings = abs(part - sparse.diags_array(part.diagonal())).tocsr().data
    couplings = couplings[couplings > 0]
    # Both phases are among them.
    assert couplings.max() / couplings.min() > 400
    matrix, arrays = scenes_of(found, "format", found.of("csr"))
    assert matrix.y.title.startswith(f"{rows.size} of {count(found.unknowns)} rows, neighbouring cells, from row ")
    sizes = {layer.name: layer.x.size for layer in arrays.layers if layer.name}
    assert sizes == {"entries": part.nnz, "indices": part.nnz + rows.size + 1}


def test_uniform_and_gridless_matrices_are_shown_by_rows_that_are_coupled(tmp_path):
    corner = part_of(storage_of(configure("poisson5", n=20)))
    assert corner.tolist() == [0, 1, 2, 20, 21, 22, 40, 41, 42]
    A = sparse.lil_array((200, 200))
    A.setdiag(4.0)
    A[120:124, 120:124] = [[9, 1, 1, 1], [1, 9, 1, 1], [1, 1, 9, 1], [1, 1, 1, 9]]
    io.mmwrite(tmp_path / "A.mtx", sparse.coo_array(A))
    rows = part_of(storage_of(configure("matrix-file", path=str(tmp_path / "A.mtx"))))
    assert rows.size == 9
    assert {*range(120, 124)} <= {*rows.tolist()}


def test_the_form_of_the_problem_is_shown_by_its_codes_and_coefficients():
    found = storage_of(configure("bubbles-2d", n=32))
    _, arrays = scenes_of(found, "format", found.of("problem"))
    read = {text[0]: text[1] for layer in arrays.layers if layer.name for text in layer.texts}
    rows = part_of(found)
    assert [int(read[f"code[{k}]"]) for k in range(rows.size)] == found.operator.faces.codes[rows].tolist()
    assert float(read["coefficient[0]"]) == pytest.approx(found.operator.faces.values[0])


def test_pictures_of_az_hold_the_entries_of_its_fullest_rows():
    found = storage_of(configure("two-layer", n=4, deflation="stripes"))
    rows = az_part_of(found.az)
    entries = found.az[rows].nnz
    whole, compressed = scenes_of(found, "az", found.az_forms[0])
    for scene in (whole, compressed):
        assert sum(layer.x.size for layer in scene.layers if layer.name) == entries
    assert compressed.x.names == ["-2", "-1", "0", "1", "2"]
    large = storage_of(configure("bubbles-2d", n=32, deflation="levelset:4"))
    rows = az_part_of(large.az)
    for facts in large.az_forms[1:]:
        _, arrays = scenes_of(large, "az", facts)
        sizes = {layer.name: layer.x.size for layer in arrays.layers if layer.name}
        assert sizes["entries"] == large.az[rows].nnz, facts.name
    # Rows of a run share their columns.
    runs = [text[1] for layer in arrays.layers if layer.name for text in layer.texts if text[0].startswith("rows[")]
    assert sum(map(int, runs)) == np.count_nonzero(np.diff(large.az[rows].indptr))


def test_complex_entries_have_formats_too(opened, eventually, tmp_path):
    A = sparse.diags_array([np.full(9, -1.0), np.full(10, 4 + 1j), np.full(9, -1.0)], offsets=[-1, 0, 1])
    io.mmwrite(tmp_path / "A.mtx", sparse.coo_array(A), symmetry="symmetric")
    view = opened(StorageView(configure("matrix-file", path=str(tmp_path / "A.mtx"), solver="cocg")))
    eventually(lambda: len(view.table.rows) == len(FORMATS))
    assert cells(view, "format:dia")["Words"]["key"] == 2 * 30 + 3 / 2
    view.measure().join()
    assert len(view.seconds) == len(FORMATS)


def test_a_small_problem_alone_is_enough(opened, eventually):
    view = opened(StorageView("poisson5"))
    view.wait()
    chosen = view.take("format", "hyb")
    assert chosen is view.base
    assert solve(view.storage.csr, np.ones(view.storage.unknowns), format=chosen.format).converged
