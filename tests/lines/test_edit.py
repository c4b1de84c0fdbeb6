"""Texts made from texts: lines behind others, other names, and identities in the place of recurrences."""

from __future__ import annotations

import pytest

from workbench.lines.edit import added, by_identities, with_names, without_unread
from workbench.lines.types import LinesError


def test_lines_are_added_behind_the_last_that_sets_a_name():
    text = "\n    r = r - a*s\n    g = (r, r)\n    s = 2*s\n"
    assert added(text, {"r": "n = (r, s)\nm = (s, s)", "s": "h = (s, s)"}).splitlines() == [
        "r = r - a*s",
        "n = (r, s)",
        "m = (s, s)",
        "g = (r, r)",
        "s = 2*s",
        "h = (s, s)",
    ]


def test_lines_behind_a_name_that_none_sets_are_an_error():
    with pytest.raises(KeyError):
        added("x = 2*x", {"y": "g = (x, x)"})


def test_an_identity_is_evaluated_before_the_first_line_that_reads_its_name():
    text = "u = u - a*z\nr = r - a*s\nx = x + a*u\ng = (r, u)"
    assert by_identities(text, {"u": "M(r)"}).splitlines() == ["r = r - a*s", "u = M(r)", "x = x + a*u", "g = (r, u)"]


def test_a_name_that_is_read_before_its_recurrence_is_evaluated_twice():
    text = "p = u + b*p\nr = r - a*s\nu = u - a*q\ng = (r, u)"
    assert by_identities(text, {"u": "M(r)"}).splitlines() == [
        "u = M(r)",
        "p = u + b*p",
        "r = r - a*s",
        "u = M(r)",
        "g = (r, u)",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "r = r - a*s\np = u + b*p\nu = u - a*q",
        "u = u - a*q\np = u + b*p\nr = r - a*s",
        "r = r - a*s\np = u + b*p\nr = r - a*p\nu = u - a*q",
    ],
    ids=["r is new, u old", "u is new, r old", "r is set twice"],
)
def test_a_name_that_is_read_while_its_identity_does_not_hold_is_refused(text):
    with pytest.raises(LinesError, match=r"reads u where u = M\(r\) does not hold"):
        by_identities(text, {"u": "M(r)"})


def test_an_application_that_is_the_identity_stays():
    text = "u = M(r)\nx = x + u"
    assert by_identities(text, {"u": "M(r)"}) == text


def test_vectors_that_no_line_reads_are_left_out_with_what_only_they_needed():
    start, iterate = without_unread("q = M(b)\ny = B(q)\nr = b", "y = B(q)\nr = r - a*b\nx = x + a*r\ng = (r, r)")
    assert start.splitlines() == ["r = b"]
    assert iterate.splitlines() == ["r = r - a*b", "x = x + a*r", "g = (r, r)"]


def test_a_vector_that_the_other_text_sets_before_it_reads_it_is_left_out():
    start, iterate = without_unread("q = M(b)\nr = b", "q = M(r)\nr = r - a*q\nx = x + r")
    assert start == "r = b"
    assert iterate.splitlines() == ["q = M(r)", "r = r - a*q", "x = x + r"]


def test_names_change_in_operands_targets_and_arguments_and_not_inside_other_names():
    text = "u = M(r)\ngamma = (r, u)\nuu = (u,\n      u)\nw = A(u) \nx = x + u*uu"
    assert with_names(text, {"u": "m"}).splitlines() == [
        "m = M(r)",
        "gamma = (r, m)",
        "uu = (m,",
        "      m)",
        "w = A(m)",
        "x = x + m*uu",
    ]
