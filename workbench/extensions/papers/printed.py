"""Numbers printed in the papers, from a TOML file for each, with the digits that the papers give."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

from workbench.extensions import flow
from workbench.words.numbers import MINUS, count, number

DATA = Path(__file__).parent / "data"
FILES = {
    "two-level": DATA / "two_level_pcg_gpu.toml",
    "hybrid-pipecg": DATA / "hybrid_pipecg.toml",
    "block-cg": DATA / "block_cg_opencl.toml",
    "mpcg": DATA / "mpcg_erlang_cuda.toml",
    # The flow compares its bubbles with it, also without a paper.
    "hysing": Path(str(flow.__file__)).parent / "data" / "hysing.toml",
}
"""The papers, and their files."""


class PrintedNumber(float):
    """A number that knows its digits in print: 20.15 is no 20.1, and 9.80 no 9.8."""

    text: str

    def __new__(cls, text: str | float) -> PrintedNumber:
        made = super().__new__(cls, text)
        made.text = str(text).replace("-", MINUS)
        return made


def printed_text(value: object) -> str:
    """A printed number in the digits of its paper, others with three; both ends of a range."""
    if isinstance(value, (list, tuple)):
        return "–".join(map(printed_text, value))
    if isinstance(value, PrintedNumber):
        return value.text
    if isinstance(value, int):
        return count(value)
    return number(value) if isinstance(value, float) else str(value)


@functools.cache
def printed_in(paper: str) -> dict[str, Any]:
    """The numbers printed in a paper, with its title, authors and year."""
    return tomllib.loads(FILES[paper].read_text(encoding="utf-8"), parse_float=PrintedNumber)


def who(paper: str) -> str:
    """Authors and year of a paper, and an earlier paper on the same."""
    about = printed_in(paper)
    written = ", ".join(str(about[key]) for key in ("authors", "year") if key in about)
    earlier = about.get("earlier")
    return f"{written}; earlier, {earlier['year']}: {earlier['title']}" if earlier else written
