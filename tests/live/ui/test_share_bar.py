"""`ShareBar` without a browser: the replies to its buttons, and the configurations that it opens."""

import pytest

from tests.live.conftest import page_says
from workbench.errors import InputError
from workbench.live.ui.share_bar import ShareBar
from workbench.run import configure
from workbench.run.choices.share_link import from_link, to_link

CHOSEN = configure("poisson-2d", n=32, a="1+x", deflation="blocks:2")


def bar_over(folder, chosen=CHOSEN):
    """A bar for a form with that configuration, and the list of configurations it has loaded into the form."""
    loaded = []
    return ShareBar(lambda: chosen, loaded.append, folder), loaded


def press(bar, eventually, **message):
    """Send the message of a button, and wait for the reply."""
    before = bar.number
    page_says(bar, message)
    eventually(lambda: bar.number > before)


def test_the_buttons_answer_with_the_text_to_copy(tmp_path, eventually):
    bar, _ = bar_over(tmp_path)
    press(bar, eventually, kind="link")
    assert from_link(bar.text) == CHOSEN
    assert bar.said == f"Copied the share link, {len(bar.text)} characters."
    press(bar, eventually, kind="command")
    assert bar.text.startswith("workbench solve poisson-2d --n 32 --param a=1+x")
    press(bar, eventually, kind="python")
    assert bar.text.startswith("from workbench.run import Run, configure, run_through")


def test_a_problem_is_saved_under_a_name_of_its_own_and_opened_again(tmp_path, eventually):
    bar, loaded = bar_over(tmp_path / "deep" / "exports")
    for _ in range(2):
        press(bar, eventually, kind="keep")
        assert bar.said.startswith("Written to ")
        assert bar.text == ""
    names = sorted(path.name for path in bar.folder.iterdir())
    assert names == [
        "Poisson-from-formulas-32x32-coefficient-of-x-1-x-CG-Jacobi-2x2-blocks-2.cg.json",
        "Poisson-from-formulas-32x32-coefficient-of-x-1-x-CG-Jacobi-2x2-blocks.cg.json",
    ]
    press(bar, eventually, kind="open", text=names[0])
    assert loaded == [CHOSEN]
    assert bar.said == "Opened Poisson from formulas, 32², coefficient of ∂x 1+x with CG, Jacobi, 2² blocks."
    press(bar, eventually, kind="open", text=f" {to_link(configure('two-layer'))}\n")
    assert loaded[1] == configure("two-layer")


def test_a_problem_goes_to_the_page_that_asked_and_comes_back_from_a_file(tmp_path, eventually, monkeypatch):
    bar, loaded = bar_over(tmp_path / "exports")
    sent = []
    monkeypatch.setattr(bar, "send", lambda message, buffers: sent.append((message, b"".join(buffers))))
    press(bar, eventually, kind="save", page="here")
    ((message, content),) = sent
    name = "Poisson-from-formulas-32x32-coefficient-of-x-1-x-CG-Jacobi-2x2-blocks.cg.json"
    assert message == {"kind": "file", "page": "here", "name": name}
    assert bar.said == f"Downloaded {name}"
    assert not bar.folder.exists()
    press(bar, eventually, kind="open", name=name, text=content.decode())
    assert loaded == [CHOSEN]
    press(bar, eventually, kind="open", name="a.cg.json", text="{")
    assert bar.tone == "bad"
    assert "a.cg.json" in bar.said
    assert "upload" not in bar.said
    press(bar, eventually, kind="open", name="a.txt", text="{}")
    assert bar.said == "'a.txt' is not a saved problem; choose a .cg.json file"
    assert loaded == [CHOSEN]


def test_a_page_without_code_saves_nothing_on_its_server(tmp_path, served, eventually):
    assert [action[0] for action in bar_over(tmp_path)[0].actions][-2:] == ["save", "keep"]
    served()
    bar = bar_over(tmp_path / "exports")[0]
    assert [action[0] for action in bar.actions][-1] == "save"
    press(bar, eventually, kind="keep")
    assert (bar.tone, bar.folder.exists()) == ("bad", False)
    assert bar.said == "this page writes nothing where its kernel runs; press Save problem to download the file"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is nothing to open"),
        ("two-layer", "'two-layer' is neither a link"),
        ("cgw1.AAAA", "the link is"),
        ("missing.cg.json", "no saved configuration at"),
        ("~nosuchuser/a.cg.json", "cannot be a path"),
    ],
)
def test_what_cannot_be_opened_is_reported(tmp_path, eventually, text, sentence):
    bar, loaded = bar_over(tmp_path)
    press(bar, eventually, kind="open", text=text)
    assert (bar.tone, loaded) == ("bad", [])
    assert sentence in bar.said


def test_an_unexpected_error_is_reported(tmp_path, eventually):
    def burst(_chosen=None):
        raise RuntimeError("a wheel came off")

    bar = ShareBar(lambda: CHOSEN, burst, tmp_path)
    press(bar, eventually, kind="open", text=to_link(CHOSEN))
    assert (bar.said, bar.tone) == ("sharing failed by a RuntimeError: a wheel came off", "bad")


def test_a_wrong_value_in_the_form_is_reported_and_nothing_is_copied(tmp_path, eventually):
    def wrong():
        raise InputError("n must be between 2 and 8192, got 1")

    bar = ShareBar(wrong, lambda chosen: None, tmp_path)
    press(bar, eventually, kind="python")
    assert (bar.said, bar.text, bar.tone) == ("n must be between 2 and 8192, got 1", "", "bad")
