"""The start page and the pages of lessons: what leads where."""

import re

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from workbench.extensions.classroom.server.site import (
    LessonPage,
    StartPage,
    lesson_head,
    site_rules,
    start_page,
    written,
)
from workbench.extensions.lessons import LESSONS
from workbench.extensions.papers import papers


@pytest.fixture
def folder(tmp_path):
    """A folder of two lessons, and a file that is none."""
    for name in ("3_rounding.ipynb", "1_without_pain.ipynb", "9_other.ipynb"):
        (tmp_path / "lessons" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "lessons" / name).write_text("{}", encoding="utf-8")
    return tmp_path


def asked(uri):
    start = RequestStartLine("GET", uri, "HTTP/1.1")
    return HTTPServerRequest(start_line=start, headers=HTTPHeaders({"Host": "localhost"}))


@pytest.mark.parametrize("base", ["/", "/class/"])
def test_an_address_without_a_query_is_the_start_page_and_a_lesson_has_its_own(folder, base):
    rules = site_rules(base, folder / "lessons", str(folder), {"notebook_path": "app/workbench.ipynb"})

    def found(path):
        return next((rule for rule in rules if rule.matcher.match(asked(f"{base}{path}")) is not None), None)

    assert found("").target is StartPage
    for other in ("?p=cgw1.x", "?view=build.build", "s/k7m2pd", "teacher", "lesson/polynomials", "lesson/rounding/x"):
        assert found(other) is None, other
    for path in ("lesson/rounding", "lesson/rounding/"):
        assert found(path).target is LessonPage
        assert found(path).target_kwargs["notebook_path"] == "lessons/3_rounding.ipynb"


def test_the_start_page_lists_the_lessons_that_are_written_and_all_papers(folder):
    names = list(written(folder / "lessons"))
    assert names == ["without-pain", "rounding"]
    text = start_page("/class/", [LESSONS[name] for name in names])
    assert [lesson.question in text for lesson in LESSONS.values()] == [name in names for name in LESSONS]
    addresses = re.findall(r'href="(?!data:)([^"]*)"', text)
    assert all(address.startswith("/class/") for address in addresses)
    for paper in papers().values():
        assert f"/class/?view=papers.papers%3A{paper.name}" in addresses
        assert paper.title in text
    # One of the papers has an earlier version, which is another paper.
    assert sum("papers.papers" in address for address in addresses) == len(papers()) + 1


def test_a_lesson_leads_to_those_before_and_after_it():
    names = ["without-pain", "rounding", "waiting"]
    heads = [re.findall(r'href="/lesson/([^"]*)"', lesson_head("/", LESSONS[name], names)) for name in names]
    assert heads == [["rounding"], ["without-pain", "waiting"], ["rounding"]]


def test_behind_a_proxy_links_have_the_base_of_the_browser(folder):
    rules = site_rules("/class/", folder / "lessons", str(folder), {}, "/")
    start, *lessons = rules
    assert start.matcher.match(asked("/")) is not None
    assert lessons[0].matcher.match(asked("/class/lesson/rounding")) is None
    addresses = re.findall(r'<a[^>]* href="([^"]*)"', start.target_kwargs["text"])
    assert all(address.startswith("/class/") for address in addresses)


def test_a_base_is_text_of_an_attribute():
    text = start_page('/a"b&c/', []) + lesson_head('/a"b&c/', LESSONS["rounding"], ["without-pain", "rounding"])
    assert 'a"b' not in text
    assert 'href="/a&quot;b&amp;c/?view=build.build"' in text
