"""What MkDocs does beyond its plugins: mathematics as MathML, and nothing that would be fetched from elsewhere."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

from scripts.site import saved_runs
from workbench.words.names import typeset_words

MATHS = re.compile(r'<(span|div) class="arithmatex">(?:\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>', re.DOTALL)
TAG = re.compile(r"(<!--.*?-->|<[^>]+>)", re.DOTALL)
APART = re.compile(r"<(/?)(?:code|pre|math|script|style|svg)\b")
ELSEWHERE = re.compile(r"https://(?:unpkg\.com|fonts\.googleapis\.com|fonts\.gstatic\.com)/")


def on_page_content(text: str, **_more: Any) -> str:
    """Set $...$ as MathML and M^-1 in sentences as M⁻¹, and put saved runs where a page asks for them."""
    return saved_runs.placed(typeset(MATHS.sub(mathml, text)))


def typeset(text: str) -> str:
    """HTML with its sentences typeset as those of the workbench are; what is code or mathematics stays."""
    made, within = [], 0
    for piece in TAG.split(text):
        if found := APART.match(piece):
            within += -1 if found[1] else 1
        elif not within and not piece.startswith("<"):
            piece = html.escape(typeset_words(html.unescape(piece)), quote=False)
        made.append(piece)
    return "".join(made)


def mathml(found: re.Match[str]) -> str:
    """One formula."""
    if found[1] == "div":
        return f'<div class="formula">{convert(html.unescape(found[2]), display="block")}</div>'
    return convert(html.unescape(found[2]))


def on_post_build(config: Any, **_more: Any) -> None:
    """Take addresses out of the theme's scripts, of which this site uses nothing, and their source maps."""
    site = Path(config.site_dir)
    for path in site.rglob("*.map"):
        path.unlink()
    for path in [*site.rglob("*.js"), *site.rglob("*.css")]:
        text = path.read_text(encoding="utf-8")
        clean = re.sub(r"^(//|/\*)# sourceMappingURL=.*\n?", "", ELSEWHERE.sub("", text), flags=re.MULTILINE)
        if clean != text:
            path.write_text(clean, encoding="utf-8")
