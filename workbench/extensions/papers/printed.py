"""Numbers printed in the papers, from a TOML file for each."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

from workbench.extensions import flow

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


@functools.cache
def printed_in(paper: str) -> dict[str, Any]:
    """The numbers printed in a paper, with its title, authors and year."""
    return tomllib.loads(FILES[paper].read_text(encoding="utf-8"))


def who(paper: str) -> str:
    """Authors and year of a paper, and an earlier paper on the same."""
    about = printed_in(paper)
    written = ", ".join(str(about[key]) for key in ("authors", "year") if key in about)
    earlier = about.get("earlier")
    return f"{written}; earlier, {earlier['year']}: {earlier['title']}" if earlier else written
