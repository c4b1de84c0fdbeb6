"""Files of the form of matrices: uploads are kept once, within bounds, and shown by their own names."""

import pytest

from tests.live.builders.forms import SMALL
from workbench.errors import InputError
from workbench.live.builders import matrix_form
from workbench.live.builders.matrix_form import store
from workbench.live.ui.form_fields import Field
from workbench.live.ui.words import shown
from workbench.problems.files import MatrixFile


def test_a_name_with_a_path_in_it_stays_in_the_folder(cache):
    path = store("../../evil dir/..mtx.mtx", SMALL)
    assert path.resolve().is_relative_to(cache.resolve() / "uploads")
    assert path.name == "evil-dir-..mtx.mtx"


def test_an_uploaded_file_has_its_own_name_in_a_form_and_in_sentences(cache):
    path = str(store("small.mtx", SMALL))
    field = Field(MatrixFile.parameters()[0], "matrix-file")
    field.put(path)
    assert field.shown == "small.mtx"
    # What is shown is no new path.
    field.typed("small.mtx")
    assert field.read() == path
    field.typed("other.mtx")
    assert field.read() == "other.mtx"
    assert shown(f"{path} has x0 <= 1") == "small.mtx has x₀ ≤ 1"


def test_uploads_in_all_are_bounded_and_those_that_are_kept_stay(cache, monkeypatch):
    path = store("a.mtx", SMALL)
    monkeypatch.setattr(matrix_form, "MOST_STORED", 2 * len(SMALL) - 1)
    with pytest.raises(InputError, match="uploads that are kept have .* GiB, at most .* ask whoever runs this server"):
        store("b.mtx", SMALL + b"\n")
    assert store("a.mtx", SMALL) == path


def test_an_upload_is_kept_while_another_page_renames_its_own(cache):
    path = store("a.mtx", SMALL)
    # A file that is listed, and gone when its size is asked for.
    (path.parent / "gone").symlink_to(path.parent / "renamed")
    assert store("b.mtx", SMALL + b"\n").read_bytes() == SMALL + b"\n"
