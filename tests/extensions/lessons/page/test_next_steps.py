"""Where a lesson leads: links on a served page, calls in a notebook."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from workbench.extensions.lessons import LESSONS
from workbench.live import Lesson
from workbench.live.compare.race_opening import opening
from workbench.run import Configuration, configure
from workbench.run.choices.share_link import from_link


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
    # Paper has their words.
    assert shown.count("wb-onpaper") == len(steps)
    monkeypatch.setenv("SCRIPT_NAME", f"/lesson/{name}/")
    assert 'href="../../?' in Lesson(name).next_steps().value


@pytest.mark.parametrize(
    ("name", "step", "solvers"), [("without-pain", 0, ["sd", "cg"]), ("rounding", 1, ["pipecg", "cg"])]
)
def test_a_race_of_two_methods_opens_with_both(name, step, solvers):
    made = LESSONS[name].next_steps[step].made()
    assert [each.solver.name for each in opening(made)[:2]] == solvers


def test_a_notebook_shows_calls_that_make_the_same_problems():
    shown = html.unescape(Lesson("deflation").next_steps().value)
    calls = re.findall(r"<code>workbench\((.*?)\)</code>", shown)
    made = [step.made() for step in LESSONS["deflation"].next_steps if step.made is not None]
    found = [eval(call, {"configure": configure}) for call in calls]
    assert all(isinstance(each, Configuration) for each in found)
    assert found == made
