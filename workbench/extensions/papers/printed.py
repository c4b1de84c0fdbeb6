"""Numbers printed in the papers, of the TOML files beside this module."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"

FILES = {
    "two-level": "two_level_pcg_gpu",
    "hybrid-pipecg": "hybrid_pipecg",
    "block-cg": "block_cg_opencl",
    "mpcg": "mpcg_erlang_cuda",
    "hysing": "hysing",
}
"""The papers, and their files."""


@functools.cache
def printed_in(paper: str) -> dict[str, Any]:
    """The numbers printed in a paper, with its title, authors and year."""
    return tomllib.loads((DATA / f"{FILES[paper]}.toml").read_text(encoding="utf-8"))


def who(paper: str) -> str:
    """Authors and year of a paper, and an earlier paper on the same."""
    about = printed_in(paper)
    written = ", ".join(str(about[key]) for key in ("authors", "year") if key in about)
    earlier = about.get("earlier")
    return f"{written}; earlier, {earlier['year']}: {earlier['title']}" if earlier else written
