"""The line on what is wrong in Build: where it is shown, until when, and that what is typed stays text."""

from workbench.live.app.unbuilt_notice import UnbuiltNotice
from workbench.run import configure

CHOSEN, OTHER = (configure("bubbles-2d", n=n).problem for n in (16, 20))


def shown(notice):
    """What the line says; it takes no place where it says nothing."""
    assert (notice.layout.display == "none") == (notice.value == "")
    return notice.value


def test_it_is_shown_on_other_pages_until_it_is_mended_or_another_problem_is_chosen():
    notice = UnbuiltNotice()
    assert not shown(notice)
    notice.update("a is 1+*x.", CHOSEN, in_build=False)
    assert f"In Build: a is 1+*x. This page works on {CHOSEN.label}." in shown(notice)
    notice.update("a is 1+*x.", CHOSEN, in_build=True)
    assert not shown(notice)
    notice.update("a is 1+*x.", OTHER, in_build=False)
    assert not shown(notice)
    notice.update("a is 1+*y.", OTHER, in_build=False)
    assert OTHER.label in shown(notice)
    notice.update("", OTHER, in_build=False)
    assert not shown(notice)


def test_without_a_problem_it_says_nothing():
    notice = UnbuiltNotice()
    notice.update("a is 1+*x", None, in_build=False)
    assert not shown(notice)


def test_what_is_typed_is_text():
    notice = UnbuiltNotice()
    notice.update("a is <img src=x>", CHOSEN, in_build=False)
    assert "&lt;img src=x&gt;" in shown(notice)


def test_a_fault_that_has_not_been_noted_is_not_superseded():
    # The page may come to a drawing before this line has heard of its fault.
    notice = UnbuiltNotice()
    assert not notice.is_superseded_by(CHOSEN)
    notice.update("a is wrong", CHOSEN, in_build=True)
    assert notice.is_superseded_by(OTHER)
    notice.update("", OTHER, in_build=True)
    assert not notice.is_superseded_by(CHOSEN)
