"""The look inside in real JupyterLab: the residual is seen while the run goes on, and the other tabs follow."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

_spec = importlib.util.spec_from_file_location("workbench_test_lab_of_fields", Path(__file__).with_name("lab.py"))
assert _spec is not None
assert _spec.loader is not None
lab = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(lab)

FIELD = ".wb-field canvas.wb-canvas"
CODE = """\
from workbench.live import FieldView
from workbench.run import Session, Stopping, configure
choices = {"preconditioner": "jacobi", "deflation": "blocks:4", "rhs": "random"}
session = Session(configure("bubbles-2d", n=512, stopping=Stopping(rtol=1e-12), **choices))
view = FieldView()
view.follow(session)
view"""


def open_cell(page, lab_url, lab_folder, name, code):
    """Open and run a notebook of one cell."""
    cell = {"cell_type": "code", "id": "a", "execution_count": None, "metadata": {}, "outputs": [], "source": code}
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (lab_folder / "notebooks" / name).write_text(json.dumps(notebook), encoding="utf-8")
    lab.open_notebook(page, lab_url, name)
    lab.run_all(page)


def test_it(page, lab_url, lab_folder):
    open_cell(page, lab_url, lab_folder, "inside.ipynb", CODE + "\nsession.start()\nview")
    page.wait_for_selector(FIELD, timeout=60000)
    page.get_by_label("field", exact=True).select_option("residual")
    page.wait_for_function("at => document.querySelector(at)?.dataset.quantity === 'residual'", arg=FIELD)
    page.wait_for_function("at => Number(document.querySelector(at)?.dataset.iteration) > 30", arg=FIELD)
    page.wait_for_timeout(200)
    print(page.eval_on_selector(FIELD, "c => ({...c.dataset})"))
    page.wait_for_timeout(1000)
    print(page.eval_on_selector(FIELD, "c => ({...c.dataset})"))
