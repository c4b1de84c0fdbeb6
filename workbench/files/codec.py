"""Plain data as text and back: JSON, links, and tables; each kind of link or file is made of these.

A link is a name with a version, then compressed JSON in URL-safe base64. A table is CSV below lines of comments, each
with an entry in JSON. Arrays have their own module, `arrays`.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import io
import json
import math
import re
import zlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from workbench.errors import InputError

AGAIN = "copy the whole text again"


@dataclasses.dataclass(frozen=True)
class Link:
    """A kind of links. name, version: its first characters, as in cgw1; value: the word for its content in messages.

    longest: characters of a link. most_bytes: of its JSON.
    """

    name: str
    version: int
    value: str
    longest: int
    most_bytes: int

    @property
    def prefix(self) -> str:
        """The first characters of a link of this version."""
        return f"{self.name}{self.version}."

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"\s*{self.name}(\d+)\.")

    def match(self, text: str) -> re.Match[str] | None:
        """The first characters of a link of any version, group 1 being that; None for other texts."""
        return self._pattern.match(text)

    def within(self, text: str) -> str:
        """The link in the query of a page's address; any other text as it is."""
        query = urlsplit(text.strip()).query if text.strip().startswith(("http://", "https://")) else ""
        return next((value for _, value in parse_qsl(query) if self.match(value)), text)

    def pack(self, plain: Mapping[str, Any]) -> str:
        """The link of plain data. Raises InputError where the JSON or the link is too long."""
        content = json.dumps(plain, separators=(",", ":")).encode()
        if len(content) > self.most_bytes:
            raise InputError(
                f"a link holds at most {self.most_bytes} bytes, this {self.value} needs {len(content)}; save it as a "
                "file"
            )
        text = self.prefix + base64.urlsafe_b64encode(zlib.compress(content, 9)).decode().rstrip("=")
        if len(text) > self.longest:
            raise InputError(
                f"a link has at most {self.longest} characters, this one has {len(text)}; save it as a file"
            )
        return text

    def unpack(self, text: str) -> dict[str, Any]:
        """The plain data of a link. White space, such as line breaks inserted by mail programs, is ignored.

        Raises InputError for links of other versions, damaged ones, and those that are or unpack to more than allowed.
        """
        text = "".join(text.split())
        found = self.match(text)
        if found and found.group(1) != str(self.version):
            raise InputError(
                f"the link is of version {found.group(1)[:9]}, this workbench reads version {self.version}; use a "
                "newer workbench"
            )
        if len(text) > self.longest:
            raise InputError(
                f"the link has {len(text)} characters, at most {self.longest} are allowed; save the {self.value} as a "
                "file"
            )
        body = text[len(self.prefix) :]
        unpacking = zlib.decompressobj()
        try:
            packed = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
            content = unpacking.decompress(packed, self.most_bytes + 1)
        except (binascii.Error, ValueError, zlib.error):
            raise InputError(f"the link is damaged; {AGAIN}") from None
        if len(content) > self.most_bytes:
            raise InputError(
                f"the link unpacks to more than {self.most_bytes} bytes, more than any {self.value} needs; {AGAIN}"
            )
        if not unpacking.eof or unpacking.unused_data:
            raise InputError(f"the link is truncated or has trailing characters; {AGAIN}")
        return read_object(content, "the link", self.value)


MAYBE_HALF = re.compile("[\ud800-\udfff]|\\\\u[dD][89a-fA-F]")
"""Half of a surrogate pair in JSON, or what may be one; a whole pair is found too."""


def read_json(content: bytes | str) -> Any:
    """Parse JSON. Half of a surrogate pair, which no page can be sent, becomes a question mark.

    Raises InputError for invalid JSON and for JSON that is nested too deeply.
    """
    try:
        text = content if isinstance(content, str) else content.decode(json.detect_encoding(content), "surrogatepass")
        plain = json.loads(text)
        if MAYBE_HALF.search(text):
            plain = json.loads(json.dumps(plain, ensure_ascii=False).encode(errors="replace"))
        return plain
    # ValueError covers syntax, encoding and numbers with thousands of digits.
    except (ValueError, RecursionError):
        raise InputError("it is not valid JSON") from None


def read_object(content: bytes, where: str, value: str) -> dict[str, Any]:
    """The JSON object in a link or file. where, value: the words for that, and for its content, in the message.

    Raises InputError for other content.
    """
    try:
        plain = read_json(content)
    except InputError:
        plain = None
    if not isinstance(plain, dict):
        raise InputError(f"{where} holds no {value}; {AGAIN}")
    return plain


def finite(value: Any) -> Any:
    """The value with null for NaN and infinity, which JSON lacks."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def table(about: Mapping[str, Any], columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV below the names of their columns. about: entries of comment lines, which start with #."""
    # Few processes write a table.
    import csv

    text = io.StringIO()
    for key, value in about.items():
        text.write(f"# {key}: {json.dumps(value)}\n")
    written = csv.writer(text, lineterminator="\n")
    written.writerow(columns)
    written.writerows(rows)
    return text.getvalue()
