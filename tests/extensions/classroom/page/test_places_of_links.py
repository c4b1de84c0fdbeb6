"""The places of the start page's links in the page."""

from workbench.extensions.classroom.server.named_links import LINKS, RACE
from workbench.live import workbench


def test_views_of_links_are_places_of_the_page(opened):
    page = opened(workbench("two-layer", n=16))
    assert {link.view.partition(":")[0] for link in LINKS} <= set(page.frame.places)


def test_an_address_starts_the_race_and_no_other_item_does(opened, eventually):
    page = opened(workbench("two-layer", n=16))
    page.turn_to_place("compare.race:nothing")
    eventually(lambda: page.view("Race") is not None)
    race = page.view("Race")
    assert not race.race.begun
    page.turn_to_place(RACE)
    eventually(lambda: race.race.begun and len(race.race.entries) == 4)
