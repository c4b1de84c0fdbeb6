"""Texts made from texts: lines behind others, and identities in the place of recurrences."""

from __future__ import annotations

import pytest

from workbench.lines.edit import added, by_identities


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


def test_an_identity_replaces_a_recurrence_and_what_only_that_needed():
    text = "y = B(q)\nq = M(s)\nz = q + y\nu = u - a*z\nr = r - a*s\nx = x + a*u\ng = (r, u)"
    assert by_identities(text, {"u": "M(r)"}).splitlines() == ["u = M(r)", "r = r - a*s", "x = x + a*u", "g = (r, u)"]


def test_an_application_that_is_the_identity_stays():
    text = "u = M(r)\nx = x + u"
    assert by_identities(text, {"u": "M(r)"}) == text
