"""The gallery: pictures that lead to the page of the workbench that shows the same, alive, and to their documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote

from scripts.site.blocks import KINDS
from scripts.site.pictures import Drawn
from scripts.site.places import put
from scripts.site.tables import said
from workbench.extensions.classroom.server.named_links import LINKS, NamedLink
from workbench.live.ui.page_link import PARAMETER, VIEW
from workbench.registry import lookup
from workbench.registry.facts import facts

PLACE = "gallery.md"
SERVED = "http://localhost:8866/"
"""The address of `make app` on the reader's machine."""
DOCUMENTS = {
    "compare.race:start": ("races", "guide.md"),
    "solve.solve": ("runs", "runs.md"),
    "flow.flow": ("flow", "flow.md"),
    "learn.step": ("the family", "family.md"),
    "compare.suggest": ("two levels", "two_levels.md"),
}
"""Of each view of a link its document: words and page."""
HEAD = f"""---
hide: [navigation]
---

# Gallery

Start `make app` on this machine; then a picture opens the workbench at `{SERVED}` with what it shows. The line below
leads to its document.
"""


def page(drawn: Mapping[tuple[str, str], Drawn]) -> str:
    """Write the gallery; returns its place. drawn: of each block its picture."""
    put(PLACE, "\n".join([HEAD, *_named(), *_blocks(drawn)]))
    return PLACE


def _named() -> Iterator[str]:
    """The links of the start page, with their small pictures."""
    yield "## Ten beginnings\n"
    yield from _cards(map(_card, LINKS))


def _card(link: NamedLink) -> str:
    words, document = DOCUMENTS[link.view]
    picture = f'<a href="{link.address(SERVED)}" title="open in the workbench">{link.picture}</a>'
    return f"{picture}\n\n**{said(link.title)}**<br>{said(link.words)}<br>[about {words}]({document})"


def _blocks(drawn: Mapping[tuple[str, str], Drawn]) -> Iterator[str]:
    """The pictures of all blocks that have one, kind by kind."""
    for kind, (title, words) in KINDS.items():
        found = [(name, each) for (of, name), each in drawn.items() if of == kind and each.file]
        yield f"## {title}\n\n{words}\n"
        yield from _cards(_of_block(kind, name, each) for name, each in found)


def _of_block(kind: str, name: str, drawn: Drawn) -> str:
    address = f"{SERVED}?{PARAMETER}={quote(drawn.link)}&{VIEW}=solve.solve"
    picture = drawn.at("blocks/pictures", "thumbnail")
    label = said(facts(lookup(kind, name)).label)
    return f"[{picture}]({address})\n\n[{label}](blocks/{kind}/{name}.md)"


def _cards(cards: Iterator[str]) -> Iterator[str]:
    yield '<div class="gallery" markdown>\n'
    for card in cards:
        yield f"<div markdown>\n\n{card}\n\n</div>\n"
    yield "</div>\n"
