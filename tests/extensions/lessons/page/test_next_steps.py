"""Where a lesson leads: links on a served page, calls in a notebook."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from workbench.extensions.lessons import LESSONS
from workbench.live import Lesson, RaceView
from workbench.run import Configuration, configure
from workbench.run.choices.share_link import from_link
from workbench.run.jobs.race_codec import from_link as from_race_link

RACES = [
    pytest.param(step, id=f"{taught.name}-{place}")
    for taught in LESSONS.values()
    for place, step in enumerate(taught.next_steps)
    if step.race is not None
]


@pytest.mark.parametrize("name", LESSONS)
def test_a_link_opens_the_problem_of_its_step(name, monkeypatch):
    monkeypatch.setenv("SERVER_SOFTWARE", "voila/0.5")
    monkeypatch.setenv("SCRIPT_NAME", f"/lesson/{name}")
    shown = Lesson(name).next_steps().value
    addresses = [html.unescape(each) for each in re.findall(r'href="([^"]+)"', shown)]
    steps = LESSONS[name].next_steps
    assert len(addresses) == len(steps) > 0
    for address, step in zip(addresses, steps, strict=True):
        assert address.startswith("../?")
        query = parse_qs(urlsplit(address).query)
        assert query["view"] == [step.view]
        if step.made is not None:
            assert from_link(query["p"][0]) == step.made()
        if step.race is not None:
            raced = from_race_link(query["race"][0])
            assert [each.configuration for each in raced.entries] == methods_of(step)
            assert raced.measure == step.race().measure
    # Paper has their words.
    assert shown.count("wb-onpaper") == len(steps)
    monkeypatch.setenv("SCRIPT_NAME", f"/lesson/{name}/")
    assert 'href="../../?' in Lesson(name).next_steps().value


def test_every_step_in_a_race_has_its_entries():
    steps = [step for taught in LESSONS.values() for step in taught.next_steps if step.view == "compare.race"]
    assert [each.values[0] for each in RACES] == steps


@pytest.mark.parametrize("step", RACES)
def test_a_race_opens_before_its_start_on_its_axis_with_entries_to_compare(step, opened):
    view = opened(RaceView())
    view.open(from_race_link(parse_qs(urlsplit(step.query).query)["race"][0]))
    assert [entry.configuration for entry in view.race.entries] == methods_of(step)
    assert len(set(methods_of(step))) >= 2
    assert view.look.present.measure == step.race().measure
    assert view.look.present.tolerance == methods_of(step)[0].stopping.rtol
    assert not view.race.begun
    assert view.controller.complaint == ""


def test_a_notebook_shows_calls_that_make_the_same_problems():
    shown = html.unescape(Lesson("deflation").next_steps().value)
    steps = LESSONS["deflation"].next_steps
    calls = re.findall(r"<code>workbench\((.*?)\)</code>", shown)
    found = [eval(call, {"configure": configure}) for call in calls]
    assert all(isinstance(each, Configuration) for each in found)
    assert found == [step.made() for step in steps if step.made is not None]
    races = re.findall(r"<code>RaceView(\(.*?\))</code>", shown)
    found = [list(eval(call, {"configure": configure})) for call in races]
    assert found == [methods_of(step) for step in steps if step.race is not None] != []


def methods_of(step):
    """The configurations of the entries with which a step opens."""
    return [entry.configuration for entry in step.race().entries]
