"""Make the site: `python -m scripts.site`. Warnings are errors.

Writes `build/docs/source` and from it `build/docs/site`. What takes long is kept in `build/docs/cache` by its content:
the first call executes all notebooks and takes minutes, later ones half a minute.
"""

from __future__ import annotations

import logging
import shutil
import sys
import time
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config

from scripts.site import blocks, notebooks, pictures, reference
from scripts.site.places import RECORDING, ROOT, SITE, SOURCE, put, relinked

HERE = Path(__file__).parent
PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
USE = (
    "guide.md",
    "python.md",
    "command_line.md",
    "ranks.md",
    "petsc.md",
    "flow.md",
    "teaching.md",
    "class_data.md",
    "glossary.md",
)
MEASURED = ("results.md", "family.md", "papers.md", "benchmarks.md")
INSIDE = ("architecture.md", "two_levels.md", "devices.md", "lines.md", "runs.md", "traces.md", "live.md", "style.md")
INSIDE += ("input_and_files.md", "how_to_add.md", "how_to_extend.md")


def main() -> int:
    """Make it; returns the exit status."""
    start = time.monotonic()
    shutil.rmtree(SOURCE, ignore_errors=True)
    nav = written()
    seconds = time.monotonic() - start
    built(SOURCE, SITE, nav)
    whole = time.monotonic() - start
    print(f"{SITE.relative_to(ROOT)}/index.html: {seconds:.0f} s for its pages, {whole - seconds:.0f} s for HTML")
    return 0


def built(source: Path, site: Path, nav: list) -> None:
    """Make HTML of Markdown. Raises SystemExit after the warnings, if there are any."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s  %(message)s")
    build(load_config(str(HERE / "mkdocs.yml"), docs_dir=str(source), site_dir=str(site), nav=nav, strict=True))


def written() -> list:
    """Write all pages; returns how they are listed."""
    shutil.copytree(HERE / "assets", SOURCE / "assets")
    shutil.copytree(ROOT / "docs" / "images", SOURCE / "images")
    for file in (RECORDING, RECORDING.with_suffix(".png")):
        shutil.copyfile(file, SOURCE / file.name)
    for page in HERE.glob("*.md"):
        shutil.copyfile(page, SOURCE / page.name)
    documents = [f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))]
    for name in [*documents, *PROJECT]:
        put(name.removeprefix("docs/"), relinked((ROOT / name).read_text(encoding="utf-8"), name))
    executed = notebooks.pages()
    kinds = blocks.pages(pictures.pictures())
    return [
        {"Start": "index.md"},
        {"Saved runs": "saved_runs.md"},
        {"Learn": [{"Lessons": executed["lessons"]}, {"Notebooks": executed["notebooks"]}]},
        {"Blocks": ["blocks/index.md", *({title: pages} for title, pages in kinds)]},
        {"Use": [*USE]},
        {"Measured": [*MEASURED]},
        {"Inside": [*INSIDE]},
        {"Reference": reference.pages()},
        {"Project": [*PROJECT]},
    ]


if __name__ == "__main__":
    sys.exit(main())
