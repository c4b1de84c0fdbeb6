"""The walk through a first lesson in docs/teaching.md: its blocks as a notebook, and what it says of them."""

import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

TEXT = (Path(__file__).parents[3] / "docs" / "teaching.md").read_text(encoding="utf-8")
SECTION = TEXT[TEXT.index("## Your own lessons") : TEXT.index("## 90 minutes")]
BLOCKS = re.findall(r"```(\w+)\n(.*?)\n```", SECTION, re.DOTALL)
(SAID,) = [body for kind, body in BLOCKS if kind == "text"]
"""The line of the terminal."""
CODE = [body for kind, body in BLOCKS if kind == "python"]


def write(folder):
    """Write the notebook that the document makes; returns its path."""
    cells = [
        new_markdown_cell(body) if kind == "markdown" else new_code_cell(body)
        for kind, body in BLOCKS
        if kind != "text"
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path = folder / SAID.partition(":")[0]
    folder.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path
