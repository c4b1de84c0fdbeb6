"""The link in the address of a served page: `http://host:8866/?p=cgw1....` opens that problem."""

from __future__ import annotations

import os
from collections.abc import Callable
from urllib.parse import parse_qs, quote, urlsplit

from workbench.errors import InputError
from workbench.live.ui.frontend import in_voila
from workbench.run import Configuration
from workbench.run.choices.share_link import from_link

PARAMETER, VIEW, RACE = "p", "view", "race"
LONGEST_ADDRESS = 8000
"""Characters of a link in an address; servers and proxies refuse longer ones."""


def link_of_page() -> str | None:
    """The share link in the address of the page that started this kernel, None without one. Voila passes the query."""
    return _in_query(PARAMETER, os.environ.get("QUERY_STRING", "")) if in_voila() else None


def view_of_page() -> str:
    """The view in that address, as "compare.race"; empty without one."""
    return _in_query(VIEW, os.environ.get("QUERY_STRING", "")) or "" if in_voila() else ""


def race_of_page() -> str | None:
    """The link of a race in that address; None without one."""
    return _in_query(RACE, os.environ.get("QUERY_STRING", "")) if in_voila() else None


def query_of_race(link: str) -> str | None:
    """The query that opens the link of a race; None where it is too long for an address."""
    return f"?{RACE}={quote(link)}&{VIEW}=compare.race" if len(link) <= LONGEST_ADDRESS else None


def asked_for(chosen: Callable[[], Configuration]) -> tuple[Configuration, str]:
    """The configuration of the page's address, else the chosen one; and a sentence on a link that cannot be opened."""
    link, refused = link_of_page(), ""
    if link is not None:
        try:
            return from_link(link), ""
        except InputError as error:
            refused = f"The link in the address of this page cannot be opened: {error}"
    return chosen(), refused


def link_in(text: str) -> str:
    """The share link of a page's address, or that of its race; any other text as it is."""
    query = urlsplit(text).query if text.startswith(("http://", "https://")) else ""
    return _in_query(RACE, query) or _in_query(PARAMETER, query) or text


def query_of(link: str) -> str | None:
    """The query that opens a link, to follow the address of the page; None where it is too long for an address."""
    return f"?{PARAMETER}={quote(link)}" if len(link) <= LONGEST_ADDRESS else None


def _in_query(name: str, query: str) -> str | None:
    values = parse_qs(query, keep_blank_values=True).get(name)
    return values[0] if values else None
