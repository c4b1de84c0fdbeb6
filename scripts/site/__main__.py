"""Make the site: `python -m scripts.site`. Warnings are errors.

Writes `build/docs/source` and from it `build/docs/site`. What takes long is kept in `build/docs/cache` by its content:
the first call executes all notebooks and takes minutes; one without a change ends at once.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.site import kept
from scripts.site.places import RECORDING, ROOT, SITE, SOURCE, put, relinked

HERE = Path(__file__).parent
RECORDER = ROOT / "scripts" / "recording.py"
LEARN = ("teaching.md",)
USE = ("guide.md", "python.md", "command_line.md", "ranks.md", "petsc.md", "flow.md", "class_data.md", "glossary.md")
MEASURED = ("results.md", "family.md", "papers.md", "papers_rows.md", "benchmarks.md")
INSIDE = ("architecture.md", "two_levels.md", "devices.md", "lines.md", "runs.md", "traces.md", "live.md", "style.md")
INSIDE += ("input_and_files.md", "how_to_add.md", "how_to_extend.md")
FIRST = "getting_started.md"


def main() -> int:
    """Make it; returns the exit status."""
    start = time.monotonic()
    with kept.alone():
        if kept.is_made():
            print(f"{SITE.relative_to(ROOT)}/index.html: nothing has changed, {time.monotonic() - start:.1f} s")
            return 0
        key = kept.begun()
        shutil.rmtree(SOURCE, ignore_errors=True)
        nav = written()
        seconds = time.monotonic() - start
        with recorded():
            built(SOURCE, SITE, nav)
        kept.pruned()
        kept.ended(key)
    whole = time.monotonic() - start
    print(f"{SITE.relative_to(ROOT)}/index.html: {seconds:.0f} s for its pages, {whole - seconds:.0f} s for HTML")
    return 0


def built(source: Path, site: Path, nav: list) -> None:
    """Make HTML of Markdown. Raises SystemExit after the warnings, if there are any."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s  %(message)s")
    build(load_config(str(HERE / "mkdocs.yml"), docs_dir=str(source), site_dir=str(site), nav=nav, strict=True))


@contextlib.contextmanager
def recorded() -> Iterator[None]:
    """Record the film of the start page while the block runs, unless it is kept, and put it on the site.

    Raises RuntimeError where that fails.
    """
    film = kept.entry("recording", RECORDER)
    with ThreadPoolExecutor(1) as pool:
        waiting = None if film.exists() else pool.submit(_record, film)
        yield
        if waiting is not None:
            waiting.result()
    for path in kept.used(film).iterdir():
        shutil.copyfile(path, SITE / path.name)


def _record(film: Path) -> None:
    with kept.filled(film) as folder:
        ended = subprocess.run([sys.executable, RECORDER, folder / RECORDING], check=False, stdout=subprocess.PIPE)
        if ended.returncode:
            raise RuntimeError("the film of the start page could not be recorded; the reason is above")


def written() -> list:
    """Write all pages; returns how they are listed. Pictures of blocks are drawn while notebooks are executed."""
    from scripts.site import blocks, exercises, gallery, notebooks, pictures, reference

    shutil.copytree(HERE / "assets", SOURCE / "assets")
    shutil.copytree(ROOT / "docs" / "images", SOURCE / "images")
    for page in HERE.glob("*.md"):
        shutil.copyfile(page, SOURCE / page.name)
    documents = [f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))]
    for name in [*documents, *kept.PROJECT]:
        text = relinked((ROOT / name).read_text(encoding="utf-8"), name)
        # A page of one part needs no contents, and its lines the room.
        put(name.removeprefix("docs/"), text if "\n## " in text else f"---\nhide: [toc]\n---\n\n{text}")
    with ThreadPoolExecutor(1) as pool:
        drawing = pool.submit(pictures.pictures)
        executed = notebooks.pages()
        drawn = drawing.result()
    kinds = blocks.pages({block: each.markdown for block, each in drawn.items()})
    return [
        {"Start": "index.md"},
        {"Getting started": FIRST},
        {
            "Learn": [
                {"Lessons": executed["lessons"]},
                {"Notebooks": executed["notebooks"]},
                *LEARN,
                exercises.solutions(),
            ]
        },
        {"Gallery": [gallery.page(drawn), "saved_runs.md"]},
        {"Problems and methods": ["blocks/index.md", blocks.settings(), *({title: pages} for title, pages in kinds)]},
        {"How to use it": [*USE]},
        {"Measurements": [*MEASURED]},
        {"How it works": [*INSIDE]},
        {"Reference": reference.pages()},
        {"Project": [*kept.PROJECT]},
    ]


if __name__ == "__main__":
    sys.exit(main())
