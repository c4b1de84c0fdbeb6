"""Pictures of the start page: one for each link, of the numbers of the link, and a race that may stand still."""

import json
import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from workbench.extensions.classroom.server import start_pictures
from workbench.extensions.classroom.server.named_links import LINKS
from workbench.extensions.classroom.server.site import start_page
from workbench.extensions.classroom.server.start_pictures import picture_of, race_picture, start_data
from workbench.words.numbers import duration


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.title)
def test_every_link_has_a_picture_that_is_whole(link):
    picture = ElementTree.fromstring(picture_of(link.title))
    assert len(list(picture)) > 0
    assert len(picture_of(link.title)) < 60_000


def test_the_bubbles_of_a_picture_are_those_of_its_problem():
    (link,) = (link for link in LINKS if link.title == "50 random bubbles")
    (marks,) = (each.marks for each in start_data().pictures if each.title == link.title)
    geometry = link.made().problem.geometry()
    np.testing.assert_allclose(np.array(marks[0].at)[:, :2], geometry.centres, rtol=2e-3)
    np.testing.assert_allclose(np.array(marks[0].at)[:, 2], geometry.radii, rtol=2e-3)


def test_the_race_has_four_methods_the_fastest_first_and_each_with_its_time():
    race = sorted(start_data().race, key=lambda each: each.seconds[-1])
    names = re.findall(r"</i>([^<]*) <b[^>]*>([^<]*)</b>", race_picture())
    assert names == [(each.name, duration(each.seconds[-1], 2)) for each in race]
    assert len(race) == 4
    assert all(each.residuals[-1] < 1e-6 and np.all(np.diff(each.seconds) > 0) for each in race)


def test_the_race_stands_still_where_less_motion_is_wanted():
    text = start_page("/", [])
    assert re.search(r"prefers-reduced-motion: reduce\) { \.site-racing \* { animation: none", text)
    assert text.count("<svg") == 1 + len(LINKS)


def test_without_recorded_numbers_there_are_no_pictures(monkeypatch, tmp_path):
    monkeypatch.setattr(start_pictures, "start_data", lambda: None)
    assert (picture_of(LINKS[0].title), race_picture()) == ("", "")


def _without_end(plain):
    plain["race"][0].update(seconds=[], residuals=[])


def _of_two_lengths(plain):
    plain["race"][0]["seconds"].pop()


def _without_logarithm(plain):
    plain["race"][0]["residuals"][1] = 0.0


def _without_numbers(plain):
    plain["pictures"][0]["marks"][0]["at"] = [[]]


def _of_another_kind(plain):
    plain["pictures"][0]["marks"][0]["kind"] = "star"


def _not_a_number(plain):
    plain["pictures"][0]["marks"][0]["at"][0][0] = math.nan


@pytest.mark.parametrize(
    "spoil", [_without_end, _of_two_lengths, _without_logarithm, _without_numbers, _of_another_kind, _not_a_number]
)
def test_numbers_that_cannot_be_drawn_leave_a_page_without_pictures(monkeypatch, tmp_path, spoil):
    plain = json.loads(start_pictures.FILE.read_text())
    spoil(plain)
    (tmp_path / "start.json").write_text(json.dumps(plain))
    monkeypatch.setattr(start_pictures, "FILE", tmp_path / "start.json")
    monkeypatch.setattr(start_pictures, "start_data", start_pictures.start_data.__wrapped__)
    assert (picture_of(LINKS[0].title), race_picture()) == ("", "")
