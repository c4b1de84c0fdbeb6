"""The view on storage formats: words, what is measured, pictures, and a choice that a run takes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import io, sparse

from workbench.errors import InputError
from workbench.extensions.formats.comparison import storage_of
from workbench.extensions.formats.scenes import scenes_of
from workbench.live import StorageView
from workbench.run import configure, solve
from workbench.settings import AZ_FORMS, FORMATS


def cells(view, name):
    """A row of the table by its columns."""
    place = [fact["id"] for fact in view.table.facts].index(name)
    return dict(zip(view.table.columns, view.table.rows[place], strict=True))


def test_formats_are_listed_measured_and_chosen(opened, eventually):
    taken = []
    base = configure("two-layer", n=9, deflation="stripes")
    view = opened(StorageView(base, taken.append))
    eventually(lambda: len(view.table.rows) == 1 + len(FORMATS) + 4)
    assert "press Measure" in view.status.text
    assert cells(view, "format:ell")["Words"]["key"] == 1.5 * 5 * 81
    assert cells(view, "format:problem")["In a run"]["text"] == "chosen"
    view.measure().join()
    eventually(lambda: "fastest here" in view.status.text)
    assert set(view.seconds) == {("format", at) for at in ("problem", *FORMATS)} | {("az", at) for at in AZ_FORMS}
    eventually(lambda: cells(view, "format:dia")["Time here"]["key"] == view.seconds["format", "dia"])
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
    assert arrays.y.names == ["ptr", "col", "val"]
    kinds = {layer.name: layer.x.size for layer in scenes_of(found, "format", found.of("dia"))[1].layers}
    assert (kinds["entries"], kinds["padding"], kinds["indices"]) == (33, 45 - 33, 5)


def test_pictures_of_a_large_matrix_add_up_to_its_words():
    large = storage_of(configure("two-layer", n=32, deflation="stripes"))
    for setting, facts in [("format", each) for each in large.formats] + [("az", each) for each in large.az_forms]:
        (words,) = scenes_of(large, setting, facts)
        # 1024 rows are divided evenly among bars.
        assert np.max([layer.y for layer in words.layers], axis=0).mean() == pytest.approx(facts.words / 1024)


def test_pictures_of_az_hold_its_entries():
    found = storage_of(configure("two-layer", n=4, deflation="stripes"))
    dia = found.az_forms[0]
    whole, compressed = scenes_of(found, "az", dia)
    for scene in (whole, compressed):
        assert sum(layer.x.size for layer in scene.layers) == found.az.nnz
    assert compressed.x.names == ["-2", "-1", "0", "1", "2"]


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
