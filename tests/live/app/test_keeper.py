"""What a served page keeps in its browser, with a browser that is not there."""

import pytest

from tests.live.conftest import page_says
from tests.waiting import LIMIT
from workbench.live import RunList, workbench
from workbench.live.app import keeper as module
from workbench.live.app.keeper import Keeper, packed
from workbench.live.ui.run_list import SOLVE
from workbench.run import Race, Run, Session, configure, run_through
from workbench.run.choices.share_link import to_link
from workbench.run.jobs.race_codec import from_link as from_race_link
from workbench.run.jobs.race_codec import to_link as to_race_link
from workbench.run.jobs.race_record import EntryRecord, RaceRecord

CHOSEN = configure("poisson5", n=8)


@pytest.fixture
def result():
    return run_through(Run(CHOSEN))


class Browser:
    """The storage of a browser: the file of each run that is kept, by its name there."""

    def __init__(self, keeper):
        self.files, self.writes = {}, 0
        keeper.send = self.take

    def take(self, content, buffers=()):
        if content["kind"] == "drop":
            for token in content["tokens"]:
                del self.files[token]
        else:
            self.writes += 1
            self.files[content["token"]] = bytes(buffers[0])


@pytest.fixture
def kept(opened):
    """Makes an empty list of runs, what keeps it, and its browser."""

    def make():
        runs, shown = RunList(), []
        keeper = opened(Keeper(runs, lambda *given: shown.append(given)))
        return runs, keeper, Browser(keeper), shown

    return make


def test_each_run_is_kept_once_and_again_when_it_is_changed(kept, result):
    runs, keeper, browser, _ = kept()
    first, second = runs.add(result, SOLVE), runs.add(result, SOLVE)
    runs.notify()
    assert keeper.wait(LIMIT)
    assert browser.writes == 2
    # Names that nobody guesses.
    assert [len(token) for token in browser.files] == [32, 32]
    runs.rename(first, "another name")
    assert keeper.wait(LIMIT)
    assert (len(browser.files), browser.writes) == (2, 3)
    runs.remove(second)
    assert keeper.wait(LIMIT)
    assert len(browser.files) == 1


def test_what_was_kept_comes_back_as_it_was_and_is_not_sent_again(kept, result):
    runs, keeper, browser, _ = kept()
    runs.pin([runs.add(result, SOLVE, "the name", style=7, hidden=True)], True)
    assert keeper.wait(LIMIT)
    again, other, other_browser, _ = kept()
    for token, content in browser.files.items():
        page_says(other, {"kind": "run", "token": token}, [content])
    assert other.wait(LIMIT)
    (run,) = again.runs
    assert (run.name, run.style, run.origin, run.hidden, run.pinned) == ("the name", 7, SOLVE, True, True)
    assert run.record.summary == result.record().summary
    assert other_browser.writes == 0
    again.rename(run, "renamed")
    assert other.wait(LIMIT)
    assert list(other_browser.files) == list(browser.files)


def test_a_run_that_is_too_large_is_told_and_not_kept(kept, result, monkeypatch):
    monkeypatch.setattr(module, "RUN_BYTES", 1 << 10)
    runs, keeper, browser, _ = kept()
    runs.add(result, SOLVE)
    assert keeper.wait(LIMIT)
    assert keeper.said.startswith("Run 1 has ")
    assert browser.files == {}


@pytest.mark.parametrize(
    ("content", "buffers", "sentence"),
    [
        (
            {"kind": "run", "token": "a"},
            [b"PK damaged"],
            "A run that this browser kept is damaged or not a file of runs",
        ),
        ({"kind": "run", "token": "a"}, [], ""),
        (
            {"kind": "place", "link": "cgw1.AAAA"},
            [],
            "The problem that this browser kept cannot be opened: the link",
        ),
        ({"kind": "place"}, [], "The problem that this browser kept cannot be opened: a link begins with"),
        ("nonsense", [], ""),
    ],
)
def test_what_a_page_makes_up_is_told_and_adds_nothing(kept, content, buffers, sentence):
    runs, keeper, _, shown = kept()
    page_says(keeper, content, buffers)
    assert keeper.wait(LIMIT)
    assert keeper.said.startswith(sentence)
    assert bool(keeper.said) == bool(sentence)
    assert (runs.runs, shown) == ((), [])


def test_a_page_that_would_lose_an_active_run_is_busy(kept, eventually):
    runs, keeper, browser, _ = kept()
    session = Session(CHOSEN)
    runs.add(session, SOLVE)
    assert keeper.wait(LIMIT)
    assert keeper.busy
    session.wait(LIMIT)
    eventually(lambda: not keeper.busy and browser.writes == 1)


@pytest.fixture
def served_page(served, tmp_path, opened):
    """A page that Voila serves at an address that ends with this query."""

    def serve(query):
        served(query)
        return opened(workbench(n=24, folder=tmp_path))

    return serve


def test_the_address_opens_the_view_and_what_is_drawn(served_page, eventually):
    page = served_page(f"p={to_link(CHOSEN)}&view=compare.race")
    assert page.configuration == CHOSEN
    eventually(lambda: (page.keeper.link, page.keeper.view) == (to_link(CHOSEN), "compare.race"))
    assert "Reloading" not in page.explorer.status.text

    page = served_page("view=no.such")
    eventually(lambda: page.keeper.view == "build.build")
    page.view("Build").builder.buttons["add"].click()
    # The form does not have it yet.
    eventually(lambda: page.keeper.link and "5 bubbles" in page.frame.shell.problem["name"])
    eventually(lambda: page.keeper.link == to_link(page.configuration))
    wanted = configure("bubbles-2d", n=40)
    page_says(page.keeper, {"kind": "place", "link": to_link(wanted), "view": "runs.runs"})
    assert page.keeper.wait(LIMIT)
    assert page.configuration == wanted
    eventually(lambda: (page.keeper.link, page.keeper.view) == (to_link(wanted), "runs.runs"))


def test_the_race_is_kept_with_its_results_and_comes_back_after_its_runs(served_page, eventually):
    page = served_page("view=compare.race")
    race = page.view("Race")
    race.look.change(tolerance=1e-3, own=True)
    race.start()
    race.race.wait(LIMIT)
    eventually(lambda: race.entries.repeats is not None and not race.entries.repeats.alive)
    eventually(lambda: race.winner.quote and page.keeper.race)
    eventually(lambda: all(entry.record for entry in from_race_link(page.keeper.race).entries))
    _, *left = [entry.configuration for entry in race.race.entries]
    race.remove(race.race.entries[0])
    eventually(lambda: [entry.configuration for entry in from_race_link(page.keeper.race).entries] == left)
    eventually(lambda: from_race_link(page.keeper.race).verdict == race.winner.text)
    kept, runs = page.keeper.race, [packed(run) for run in page.runs.of("Race")]
    said = race.winner.text
    page.close()

    page = served_page("view=compare.race")
    for place, content in enumerate(runs, 1):
        page_says(page.keeper, {"kind": "run", "token": f"t{place}", "order": place}, [content])
    page_says(page.keeper, {"kind": "race", "link": kept})
    assert page.keeper.wait(LIMIT)
    race = page.view("Race")
    assert [entry.configuration for entry in race.race.entries] == left
    assert race.look.present.tolerance == 1e-3
    # The runs that the list has are those of the entries.
    assert len(page.runs.of("Race")) == len(runs)
    assert {run.number for run in race.entries.listed.values()} == {2, 3, 4}
    assert not race.race.alive
    eventually(lambda: race.winner.text == said)


def test_a_race_that_was_kept_and_is_damaged_is_one_sentence(served_page):
    page = served_page("")
    page_says(page.keeper, {"kind": "race", "link": "cgr1.AAAA"})
    assert page.keeper.wait(LIMIT)
    assert page.keeper.said == (
        "The race that this browser kept cannot be opened: the link is damaged; copy the whole text again"
    )


def test_the_address_opens_a_race_as_it_ended_or_says_why_not(served_page, eventually):
    race = Race([configure("two-layer", n=16), configure("two-layer", n=16, preconditioner="neumann:2")])
    race.wait(LIMIT)
    link = to_race_link(RaceRecord.of([EntryRecord.of(entry) for entry in race.entries], 1e-6))
    page = served_page(f"race={link}&view=compare.race")
    assert page.configuration.problem.label == "Two layers, 16²"
    view = page.view("Race")
    assert [entry.made.history.count for entry in view.race.entries] == [
        entry.run.history.count for entry in race.entries
    ]
    eventually(lambda: "As it ended on " in view.belongs.value)
    assert not view.race.alive
    # Share link is then that of the race.
    page.turn_to("Race")
    text, said = page.share.copied("link")
    assert text.startswith("?race=cgr1.")
    assert "as it ended" in said
    page.close()

    page = served_page("race=cgr1.AAAA&view=compare.race")
    words = "The race in the address of this page cannot be opened: the link is damaged; copy the whole text again"
    eventually(lambda: page.view("Race").status.text == words)
