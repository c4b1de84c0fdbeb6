"""Parts of a matrix in Build: of a chosen size, on the pattern, at places of the unknowns, and used in Solve."""

import io
import re

import numpy as np
import pytest
from scipy.io import mmwrite

from tests.live.builders.forms import take, upload
from workbench.live import MatrixBuilder
from workbench.live.builders import matrix_facts
from workbench.run import configure


@pytest.fixture
def builder(opened):
    return opened(MatrixBuilder())


def grid(n=12):
    """A Laplacian of n x n unknowns, as text."""
    buffer = io.BytesIO()
    mmwrite(buffer, configure("poisson5", n=n).problem.assemble().operator.to_csr())
    return buffer.getvalue()


def test_parts_of_a_matrix_are_shown_for_a_size_and_in_their_order(builder):
    parts = builder.parts
    assert parts.box.layout.display == parts.form.box.layout.display == "none"
    upload(builder, "grid.mtx", grid())
    assert parts.box.layout.display is None
    assert re.fullmatch(r"\d parts of .* unknowns, grown in .*s; E is (\d) × \1 with \d+ entries\.", parts.line.text)
    parts.form.set("size", "10")
    assert builder.wait()
    labels, given = parts.grown.labels, parts.pattern.scene.values
    assert np.bincount(labels).max() <= 20
    assert parts.line.text.startswith(f"{labels.max() + 1} parts of ")
    assert parts.grown.neighbours.shape == (labels.max() + 1,) * 2
    # The unknowns lie at eigenvectors of the graph.
    (points,) = parts.places.scene.layers
    assert (points.x.size, parts.places.scene.x.title) == (144, "rank in eigenvector 2 of the graph")
    parts.form.set("order", "sorted")
    assert builder.wait()
    assert not np.array_equal(parts.pattern.scene.values, given)
    assert parts.grown.labels is labels
    # A wrong size changes nothing, and one beyond N is a single part.
    parts.form.set("size", "1")
    assert builder.wait()
    assert parts.grown.labels is labels
    parts.form.set("size", "1000")
    assert builder.wait()
    assert parts.line.text.startswith("1 part of 144 unknowns, ")
    assert parts.line.text.endswith("E is 1 × 1 with 1 entry.")
    builder.form.set("source", "path")
    assert parts.box.layout.display == "none"


def test_parts_are_used_in_solve(opened):
    present = [configure("bubbles-2d", n=16)]
    builder = opened(MatrixBuilder(configuration=lambda: present[0], use=lambda made: present.insert(0, made)))
    upload(builder, "grid.mtx", grid())
    builder.parts.form.set("size", "30")
    assert builder.wait()
    builder.parts.button.click()
    assert (present[0].problem, present[0].deflation.spec) == (builder.problem, "parts:30")
    assert builder.parts.line.text.endswith("Solve deflates by them.")


def test_parts_lie_at_the_coordinates_of_a_file(builder, tmp_path):
    (tmp_path / "grid.mtx").write_bytes(grid())
    places = np.stack(np.divmod(np.arange(144.0), 12), axis=1)
    np.save(tmp_path / "grid_coord.npy", places)
    take(builder, "path", str(tmp_path / "grid.mtx"))
    (points,) = builder.parts.places.scene.layers
    assert np.array_equal(np.stack([points.x, points.y], axis=1), places)
    np.save(tmp_path / "grid_coord.npy", places[:9])
    builder.show_matrix()
    assert builder.wait()
    assert "Its coordinates are not used: " in builder.parts.line.text
    assert builder.parts.places.scene.x.title.startswith("rank in eigenvector 2")


def test_a_large_matrix_has_no_picture_of_parts(monkeypatch, builder):
    monkeypatch.setattr(matrix_facts, "MOST_KEPT", 100)
    upload(builder, "grid.mtx", grid())
    assert builder.facts.rows["parts"] == "drawn for at most 100 entries"
    assert builder.parts.box.layout.display == "none"
