"""Executed notebooks as pages: text, code, and what the cells have shown."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.site import exercises, kept
from scripts.site.figures import SCHEMES
from scripts.site.photographs import entry_of, execute
from scripts.site.places import LESSON, ROOT, SOURCE, on_site, put, relinked

LONGEST_ALT = 600
"""Letters of a description."""
KEYS = re.compile(r", Shift with [^.]* moves it")
"""The part of a description that is of no use for a still picture."""
MARKDOWN = str.maketrans({"[": "(", "]": ")", "<": "‹", ">": "›", '"': "”", "|": "¦", "*": "∗", "_": " ", "`": "’"})
"""Signs of Markdown and what stands for them in a description."""


def notebooks() -> list[Path]:
    """Those that are shown: all but the app and the solutions of exercises."""
    return [
        *sorted((ROOT / "notebooks").glob("*.ipynb"), key=_number),
        *sorted((ROOT / LESSON).glob("*.ipynb"), key=_number),
    ]


def _number(path: Path) -> int:
    return int(path.stem.partition("_")[0])


def pages() -> dict[str, list[str]]:
    """Execute what is not kept and write the pages; returns those of notebooks and of lessons."""
    missing = [path for path in notebooks() if not (entry_of(path) / "outputs.json").exists()]
    if missing:
        execute(missing)
    found: dict[str, list[str]] = {"notebooks": [], "lessons": []}
    for path in notebooks():
        name = str(path.relative_to(ROOT))
        place = on_site(name)
        assert place is not None
        put(place, page(path, name))
        found["lessons" if name.startswith(LESSON) else "notebooks"].append(place)
    return found


def page(path: Path, name: str) -> str:
    """A notebook as Markdown; its pictures are put next to it."""
    made = kept.used(entry_of(path))
    outputs = iter(json.loads((made / "outputs.json").read_text(encoding="utf-8")))
    folder = SOURCE / Path(name).with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    asked = exercises.questions(["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"])
    parts = []
    for cell in cells:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(relinked(text, name))
            continue
        shown, question = next(outputs), next(asked)
        parts.append(question or f"```python\n{text}\n```")
        parts += [] if question else [part for output in shown for part in _as_markdown(output, made, folder)]
    return "\n\n".join([*parts[:1], NOTE, *parts[1:]]) + "\n"


def _as_markdown(output: dict[str, Any], made: Path, folder: Path) -> Iterator[str]:
    """An output of a cell. made: the folder of its pictures; folder: where they go."""
    if output["kind"] in ("picture", "figure"):
        look = "shot" if output["kind"] == "picture" else "drawing"
        for scheme in SCHEMES:
            file = f"{output['file']}.{scheme}.png"
            shutil.copyfile(made / file, folder / file)
            yield f"[{picture(output['alt'], f'{folder.name}/{file}', scheme, look)}]({folder.name}/{file})"
    elif output["kind"] == "html":
        yield f'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">{output["text"]}</div></div>'
    elif output["text"].strip():
        yield f"```text\n{output['text'].rstrip()}\n```"


def picture(alt: str, place: str, scheme: str, look: str) -> str:
    """A picture of one colour scheme in Markdown, with words that say what is seen."""
    return f"![{plain(alt)}]({place}#only-{scheme}){{ .{look} }}"


def plain(alt: str) -> str:
    """A description as one line without signs of Markdown, cut after a word."""
    line = KEYS.sub("", " ".join(alt.split()))
    if len(line) > LONGEST_ALT:
        line = f"{line[:LONGEST_ALT].rsplit(' ', 1)[0]} …"
    return line.translate(MARKDOWN)


NOTE = '!!! note ""\n    Executed when this site was made; pictures are still. `make lab` opens it live.'
