"""The text of a PDF that Chromium has made: glyphs of its pages, by the tables of their fonts."""

from __future__ import annotations

import re
import zlib

OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)\nendobj", re.DOTALL)
GLYPHS = re.compile(rb"/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)> Tj")
SINGLE = re.compile(rb"^<([0-9A-Fa-f]{4})> <([0-9A-Fa-f]+)>$", re.MULTILINE)
RANGE = re.compile(rb"^<([0-9A-Fa-f]{4})> <([0-9A-Fa-f]{4})> <([0-9A-Fa-f]{4})>$", re.MULTILINE)


def pages_of(pdf: bytes) -> list[list[str]]:
    """The texts of each page, as they are drawn at once: a line of a paragraph, or the words of a button."""
    objects = {int(number): body for number, body in OBJECT.findall(pdf)}
    found = []
    for body in objects.values():
        if b"/Type /Page\n" not in body:
            continue
        fonts = {name: _letters(objects, int(number)) for name, number in re.findall(rb"/(F\d+) (\d+) 0 R", body)}
        content = _stream(objects[int(re.search(rb"/Contents (\d+) 0 R", body)[1])])
        letters: dict[int, str] = {}
        text = []
        for font, glyphs in GLYPHS.findall(content):
            if font:
                letters = fonts.get(font, {})
            elif glyphs:
                codes = (int(glyphs[at : at + 4], 16) for at in range(0, len(glyphs), 4))
                text.append("".join(letters.get(code, "?") for code in codes))
        found.append(text)
    return found


def _letters(objects: dict[int, bytes], number: int) -> dict[int, str]:
    """Letters by glyph, from the table of a font."""
    table = re.search(rb"/ToUnicode (\d+) 0 R", objects[number])
    if table is None:
        return {}
    text, found = _stream(objects[int(table[1])]), {}
    for first, last, letter in RANGE.findall(text):
        for step, glyph in enumerate(range(int(first, 16), int(last, 16) + 1)):
            found[glyph] = chr(int(letter, 16) + step)
    for glyph, letters in SINGLE.findall(text):
        found[int(glyph, 16)] = bytes.fromhex(letters.decode()).decode("utf-16-be")
    return found


def _stream(body: bytes) -> bytes:
    """The content of an object."""
    head, _, rest = body.partition(b"stream\n")
    length = int(re.search(rb"/Length (\d+)", head)[1])
    return zlib.decompress(rest[:length]) if b"/FlateDecode" in head else rest[:length]
