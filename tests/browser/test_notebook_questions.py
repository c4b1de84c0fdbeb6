"""What notebook 01 asks of a matrix can be answered, in JupyterLab and in Voila."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("place", ["lab", "voila"])
def test_a_neumann_series_of_any_order_converges_on_a_stiff_matrix(explorer, tmp_path):
    """Defect 12: item 5 asked why `neumann` refuses bcsstk15, where it converges.

    Plates like those of bcsstk15, whose rows of |L D^-1| sum to more than 1: the biharmonic operator on a square.
    """
    side = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(12, 12))
    laplacian = sparse.kron(side, sparse.eye_array(12)) + sparse.kron(sparse.eye_array(12), side)
    plate = sparse.csr_array(laplacian @ laplacian)
    assert np.abs(sparse.tril(plate, -1)).sum(axis=1).max() > plate.diagonal().min()
    path = tmp_path / "plate.mtx"
    scipy.io.mmwrite(path, sparse.coo_array(plate), symmetry="symmetric")
    # From the file: JupyterLab keeps only the cells near the one in sight on its page.
    cells = json.loads((explorer.folder / "01_two_level_explorer.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells)
    (item,) = re.findall(r"A real matrix:.*?(?=\n\n|\n\d+\. |$)", text, re.DOTALL)
    assert "Neumann" in item
    assert not re.search("refuse", item, re.IGNORECASE)

    explorer.choose("problem", "matrix-file")
    explorer.until(lambda: not explorer.enabled("Run"))
    explorer.fill("path", str(path))
    explorer.until(lambda: explorer.enabled("Run"))
    explorer.choose("rhs", "ones-scaled")
    explorer.choose("preconditioner", "jacobi")
    explorer.run()
    for order in ("1", "2", "3"):
        explorer.choose("preconditioner", "neumann")
        explorer.fill("order", order)
        explorer.run()
        assert "Converged" in explorer.status
    assert explorer.page.locator(".wb-runlist tbody tr").count() == 4
