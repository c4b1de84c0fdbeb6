"""Every notebook is short, holds no outputs, and runs from top to bottom without anyone watching."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PLACES = ("*.ipynb", "app/*.ipynb", "lessons/*.ipynb", "lessons/solutions/*.ipynb")
NOTEBOOKS = [path for place in PLACES for path in sorted((REPOSITORY / "notebooks").glob(place))]
SLOW = ("01_two_level_explorer", "02_bubbly_flow", "07_two_level_paper", "workbench")
"""The first and the last are what most tests in the browser open and run; the others run races and tables of the size
of a paper, which tests of their own run small."""


BRIEFLY = "from tests.brief_measurements import BRIEF; [setattr(*each) for each in BRIEF]"


def is_slow(path):
    """Solutions differ from their lessons by answers, which other tests judge."""
    return path.stem in SLOW or path.parent.name == "solutions"


def named(path):
    """A name for a notebook: a lesson and its solutions have the same file name."""
    return f"{path.parent.name}-{path.stem}"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A client whose kernel runs one notebook after another: starting one takes longer than most of them.

    Nothing of the user's own Jupyter is read or written. Importing nbformat takes 1.6 s, which no process is to spend
    that only collects these tests.
    """
    import nbformat
    from nbclient import NotebookClient

    folder = tmp_path_factory.mktemp("notebooks")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(folder / name.lower()))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")])))
        resources = {"metadata": {"path": str(folder)}}
        client = NotebookClient(nbformat.v4.new_notebook(), timeout=200, kernel_name="python3", resources=resources)
        with client.setup_kernel():
            yield client


def test_there_are_notebooks():
    assert {"00_tour", "01_two_level_explorer"} <= {path.stem for path in NOTEBOOKS}


def counted_lines(source):
    """The lines of code; paper lines, which stand in strings of several lines, are not counted."""
    inside = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }
    return [line for number, line in enumerate(source.splitlines(), 1) if number not in inside]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_it_is_valid_and_short_without_outputs_and_its_links_lead_somewhere(path):
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    # A lesson of 45 minutes has exercises between its parts, and its solutions a reason after each.
    assert len(notebook.cells) <= (28 if "solutions" in path.parts else 24 if "lessons" in path.parts else 12)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert len(counted_lines(cell.source)) <= 3, cell.source
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for target in text.split("](")[1:]:
        target = target.partition(")")[0]
        assert target.startswith("https://") or (path.parent / target).is_file(), target


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=named(path), marks=[pytest.mark.slow] * is_slow(path)) for path in NOTEBOOKS],
)
def test_it_runs_without_a_browser(path, kernel):
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    kernel.nb = notebook
    kernel.reset_execution_trackers()
    # Every notebook begins without the names and figures of the one before.
    for source in (BRIEFLY, "%reset -f", "import matplotlib.pyplot as plt; plt.close('all'); del plt"):
        kernel.execute_cell(nbformat.v4.new_code_cell(source), 0, store_history=False)
    for index, cell in enumerate(notebook.cells):
        kernel.execute_cell(cell, index)
    assert all("error" not in str(output.output_type) for cell in notebook.cells for output in cell.get("outputs", []))
