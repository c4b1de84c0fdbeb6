"""The links of the start page open what their cards say."""

from urllib.parse import parse_qs, urlsplit

import pytest

from workbench.extensions.classroom.server.named_links import LINKS
from workbench.extensions.classroom.server.site import start_page
from workbench.run.choices.conflicts import conflicts
from workbench.run.choices.share_link import from_link


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.title)
def test_a_link_holds_its_problem_and_method(link):
    address = urlsplit(link.address("/base/"))
    query = parse_qs(address.query)
    assert address.path == "/base/"
    assert query["view"] == [link.view]
    if link.made is None:
        assert "p" not in query
        return
    configuration = from_link(query["p"][0])
    assert configuration == link.made()
    assert not conflicts(configuration)


def test_the_start_page_has_each_link_and_the_race_first():
    text = start_page("/", [])
    places = [text.index(f"<b>{title}</b>") for title in ("Race four methods now", *(link.title for link in LINKS))]
    assert places == sorted(places)
