"""Links in addresses of served pages."""

import pytest

from tests.live.conftest import page_says
from workbench.live import workbench
from workbench.live.ui.page_link import LONGEST_ADDRESS, link_in, link_of_page, query_of
from workbench.live.ui.share_bar import ShareBar
from workbench.run import configure
from workbench.run.choices.share_link import from_link, to_link

CHOSEN = configure("poisson-2d", n=32, a="1+x", deflation="blocks:2")


def test_the_link_of_an_address_is_found_wherever_it_is_pasted(served):
    link = to_link(CHOSEN)
    assert query_of(link) == f"?p={link}"
    assert from_link(link_in(f"https://host/lab?a=1&p={link}#x")) == CHOSEN
    assert link_in(link) == link
    assert link_in("name.cg.json") == "name.cg.json"
    served(f"theme=light&p={link}")
    assert link_of_page() == link
    served("theme=light")
    assert link_of_page() is None
    assert query_of("x" * (LONGEST_ADDRESS + 1)) is None


def test_a_notebook_has_no_query(monkeypatch):
    monkeypatch.setenv("QUERY_STRING", f"p={to_link(CHOSEN)}")
    assert link_of_page() is None


def test_a_page_opens_the_problem_of_its_address(served, view_in):
    served(f"p={to_link(CHOSEN)}")
    explorer = view_in("solve", "two-layer", n=16)
    assert explorer.form.configuration() == CHOSEN


@pytest.mark.parametrize(
    ("query", "sentence"),
    [("p=", "a link begins with cgw1., got ''"), ("p=cgw1.AAAA", "the link is damaged"), ("p=%ff%00", "begins with")],
)
def test_a_damaged_link_is_reported_and_the_page_is_there(served, tmp_path, query, sentence, opened, view_in):
    served(query)
    made = opened(workbench(folder=tmp_path))
    assert made.share.tone == "bad"
    assert made.share.said.startswith("The link in the address of this page cannot be opened: ")
    assert sentence in made.share.said
    assert made.configuration.problem.name == "bubbles-2d"
    explorer = view_in("solve", "two-layer", n=16)
    assert sentence in explorer.share.said
    assert explorer.form.configuration().problem.name == "two-layer"


def test_the_bar_of_a_served_page_copies_an_address(served, tmp_path, eventually):
    served("")
    bar = ShareBar(lambda: CHOSEN, lambda chosen: None, tmp_path)
    assert ["link", "Copy address"] in [action[:2] for action in bar.actions]
    page_says(bar, {"kind": "link"})
    eventually(lambda: bar.number == 1)
    assert bar.text == f"?p={to_link(CHOSEN)}"
    assert bar.said == "Copied the address of this problem."
    loaded = []
    bar = ShareBar(lambda: CHOSEN, loaded.append, tmp_path)
    page_says(bar, {"kind": "open", "text": f"http://host:8866/?p={to_link(CHOSEN)}"})
    eventually(lambda: bar.number == 1)
    assert loaded == [CHOSEN]
