"""Figure files: formats, searchable text, errors, display without pyplot."""

import subprocess
import sys

import pytest
from IPython.core.formatters import DisplayFormatter

from workbench.errors import InputError
from workbench.plots.figures import save
from workbench.plots.figures.style import new_figure


@pytest.fixture
def figure():
    made = new_figure(3, 2)
    made.add_subplot().set_xlabel("iteration")
    return made


def test_text_in_a_drawing_stays_text(figure, tmp_path):
    assert ">iteration</text>" in save(figure, tmp_path / "a.svg").read_text(encoding="utf-8")


def test_an_unknown_format_is_refused(figure, tmp_path):
    with pytest.raises(InputError, match=r"use \.svg, \.pdf or \.png"):
        save(figure, tmp_path / "a.docx")


def test_a_missing_folder_is_refused(figure, tmp_path):
    with pytest.raises(InputError, match="cannot write"):
        save(figure, tmp_path / "nowhere" / "a.svg")


def test_pyplot_is_not_needed():
    script = "import sys, workbench.plots.figures; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_notebook_shows_a_figure_without_pyplot(figure):
    shown, _ = DisplayFormatter().format(figure)
    assert shown["image/png"].startswith(b"\x89PNG")
