"""A matrix without a grid, from the file that is dropped to a race against PyAMG's cycle."""

from __future__ import annotations

import base64
import io
import tarfile

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite
from scipy.spatial import Delaunay

from tests.browser import lab
from tests.browser.bench import Bench
from tests.browser.test_sentences import RACE, SOLVE, says

pytestmark = pytest.mark.browser

BUILD = ".wb-building"
DROPPED = """([name, text]) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)), data = new DataTransfer();
  data.items.add(new File([bytes], name));
  return data;
}"""


def mesh(inner: int = 400) -> tuple[sparse.csr_array, np.ndarray]:
    """Linear elements for -Laplace on triangles of random points in the unit square, x = 0 on its sides; places."""
    side = np.linspace(0, 1, 21)[:-1]
    sides = [np.stack([side, 0 * side], 1), np.stack([side, 0 * side + 1], 1), np.stack([0 * side, side], 1)]
    places = np.concatenate([np.random.default_rng(2).uniform(0.02, 0.98, (inner, 2)), *sides, [[1.0, 1.0]]])
    corners = Delaunay(places).simplices
    across = places[corners[:, [1, 2, 0]]] - places[corners[:, [2, 0, 1]]]
    area = abs(across[:, 0, 0] * across[:, 1, 1] - across[:, 0, 1] * across[:, 1, 0]) / 2
    entries = np.einsum("eik,ejk->eij", across, across)[area > 1e-12] / (4 * area[area > 1e-12, None, None])
    corners = corners[area > 1e-12]
    rows, columns = np.repeat(corners, 3, axis=1).ravel(), np.tile(corners, (1, 3)).ravel()
    whole = sparse.csr_array(sparse.coo_array((entries.ravel(), (rows, columns)), shape=(len(places),) * 2))
    return sparse.csr_array((whole + whole.T)[:inner, :inner] / 2), places[:inner]


def archive(name: str, A: sparse.csr_array, places: np.ndarray) -> bytes:
    """The matrix and its places as an archive of the SuiteSparse collection has them."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for part, values in ((name, A), (f"{name}_coord", places)):
            text = io.BytesIO()
            mmwrite(text, values)
            about = tarfile.TarInfo(f"{name}/{part}.mtx")
            about.size = text.tell()
            text.seek(0)
            tar.addfile(about, text)
    return packed.getvalue()


@pytest.fixture
def bench(page, app_url):
    """The page for a matrix of the workbench."""
    page.goto(f"{app_url}/{lab.WORKBENCH}")
    page.locator(BUILD).get_by_text("Matrix", exact=True).first.click()
    page.get_by_role("radio", name="File", exact=True).click()
    return Bench(page, lambda stage: None)


def drop(page, name, content):
    area = page.locator(f"{BUILD} .wb-file")
    transfer = page.evaluate_handle(DROPPED, [name, base64.b64encode(content).decode()])
    for event in ("dragover", "drop"):
        area.dispatch_event(event, {"dataTransfer": transfer})


def test_a_matrix_is_dropped_its_parts_are_seen_and_four_methods_race_against_the_cycle_of_pyamg(bench):
    pytest.importorskip("pyamg")
    page = bench.page
    drop(page, "disk.tar.gz", archive("disk", *mesh()))
    says(bench, f"{BUILD} .wb-status", "Matrix disk is read.")
    # Parts, on the pattern and at the places that came with the matrix.
    page.get_by_label("Unknowns per part").fill("40")
    page.keyboard.press("Enter")
    line = page.locator(f"{BUILD} .wb-status", has_text="grown in")

    def grown():
        """The number of parts of the size that was typed; those of the size before are fewer."""
        number = line.inner_text().split(" parts")[0] if line.count() else ""
        return number if number.isdigit() and 5 <= int(number) <= 20 else ""

    bench.until(grown)
    pattern = page.locator(f"{BUILD} canvas[data-title='Parts on the pattern']")
    bench.until(lambda: int(pattern.get_attribute("data-frames") or 0) > 0)
    places = page.locator(f"{BUILD} .wb-chart canvas").last
    bench.until(lambda: int(places.get_attribute("data-layers") or 0) > 0)
    # They are the second level in Solve.
    page.locator(BUILD).get_by_role("button", name="Use in Solve").click()
    says(bench, f"{BUILD} .wb-status", "Solve deflates by them.")
    bench.turn_to("Solve", f"{SOLVE} canvas")
    assert page.locator(f'{SOLVE} [data-field="deflation"] .wb-pick').get_attribute("data-value") == "parts"
    # Four methods, and PyAMG.
    bench.turn_to("Race", f"{RACE} canvas")
    table = page.locator(f"{RACE} .wb-sorted table")
    bench.until(lambda: len(lab.column(table, "entry")) == 4)
    page.get_by_role("button", name="+ multigrid of PyAMG").locator("visible=true").click()
    bench.until(lambda: len(lab.column(table, "entry")) == 5)
    assert "Algebraic multigrid of PyAMG" in lab.column(table, "entry")[-1]
    page.locator(f'{RACE} .wb-runbar [data-act="run"]:enabled').click()
    bench.until(lambda: all(state.startswith("converged") for state in lab.column(table, "state")))
    assert all(int(each) > 0 for each in lab.column(table, "iterations"))
