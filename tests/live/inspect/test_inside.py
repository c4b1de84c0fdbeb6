"""The look inside as a whole: one run in all views of one page, and what is not seen does nothing."""

import threading

import pytest

from tests.live.conftest import ended
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live import InsideView, explore
from workbench.live.inspect.inside import DRAWING
from workbench.live.inspect.inside_page import HINT, InsidePage
from workbench.live.ui.run_list import RunList, labels
from workbench.plots.figures import read_provenance
from workbench.records import load, save
from workbench.run import Race, Run, configure, run_through


@pytest.fixture
def view(opened):
    return opened(InsideView())


def sentence(view, name):
    """What stands in place of a view that cannot be made."""
    (box,) = view.parts[name].children[1:]
    return getattr(box.children[0], "value", "") if box.children else ""


def run_of(**choices):
    return run_through(Run(configure("two-layer", n=12, **choices), trace=True))


def test_a_run_is_followed_by_all_views_and_another_one_after_it(view, page_of, eventually):
    field, timeline = page_of(view.field), page_of(view.timeline)
    convergence = page_of(view.convergence)
    assert sentence(view, "Spectrum") == ""
    assert view.field.quantity == "solution"
    first, second = run_of(), run_of(deflation="stripes:2")
    for result in (first, second):
        view.follow(result)
        eventually(lambda n=result.iterations: field.messages and field.messages[-1].get("iteration") == n)
        eventually(lambda n=result.trace.count: sum(m["count"] for m in since_reset(timeline)) == n)
        eventually(lambda: view.spectrum and view.roofline)
        assert view.spectrum.slider.max == result.iterations
        assert view.roofline.trace is result.trace
        eventually(lambda n=result.iterations: curves(convergence) == [n + 1])
    views = (view.timeline, view.convergence, view.field, view.roofline.plot, *view.spectrum.plots.values())
    assert {part.group for part in views} == {view.group}


def curves(page):
    """The samples of each curve that the page has."""
    messages = since_reset(page)
    return [sum(curve["count"] for m in messages for curve in m["curves"])] if messages else []


def since_reset(page):
    messages = page.messages
    starts = [place for place, message in enumerate(messages) if message["reset"]]
    return messages[starts[-1] :] if starts else []


def test_the_views_of_an_active_run_grow(view, page_of, eventually, run_in):
    timeline = page_of(view.timeline)
    session = run_in("running", view, problem="poisson5", n=256, trace=True)
    eventually(lambda: view.spectrum and "Ritz values reach" in view.spectrum.message.value)
    eventually(lambda: any(message.get("count") for message in timeline.messages))
    view.hide(True)
    message = view.spectrum.message.value
    before = session.run.iterations
    eventually(lambda: session.run.iterations > before + 20)
    assert view.spectrum.publish() is False
    assert view.spectrum.message.value == message


def test_a_run_without_timings_has_no_roofline(view):
    view.follow(run_of())
    assert view.parts["Roofline"].layout.display is None
    view.follow(run_through(Run(configure("two-layer", n=12))))
    assert view.parts["Roofline"].layout.display == "none"


def test_a_view_is_made_by_a_worker_and_a_run_without_one_says_why(view, eventually, monkeypatch):
    made_by = []
    monkeypatch.setattr(
        "workbench.live.plots.spectrum.SpectrumView.show", lambda _view: made_by.append(threading.current_thread().name)
    )
    view.follow(run_of())
    eventually(lambda: view.spectrum)
    assert made_by[0] == "workbench-inside"
    monkeypatch.undo()
    view.follow(run_of(solver="sd"))
    eventually(lambda: "no β" in sentence(view, "Spectrum"))
    view.follow(run_of())
    eventually(lambda: view.spectrum and sentence(view, "Spectrum") != DRAWING)


def test_a_loaded_run_is_replayed(view, page_of, eventually, tmp_path):
    field = page_of(view.field)
    result = run_of(deflation="stripes:2")
    loaded = load(save(result.record(with_solution=True), tmp_path / "a.run.npz"))
    view.follow(loaded)
    view.field.quantity = "solution"
    eventually(lambda: field.messages and field.messages[-1].get("iteration") == result.iterations)
    eventually(lambda: view.spectrum)
    assert list(view.spectrum.exact) == ["A", "M^-1 A", "M^-1 P A"]


def test_a_view_that_is_taken_off_is_served_no_more(eventually, opened):
    view = opened(InsideView(run_of()))
    assert view.publisher.views
    view.close()
    # What a worker was making is closed when it is made.
    eventually(lambda: not view.publisher.views)


def test_the_explorer_is_served_when_the_page_that_looks_inside_is_closed(eventually):
    explorer, ticks = explore(n=12), []
    explorer.run().wait(LIMIT)
    page = InsidePage(explorer.runs, explorer.publisher)
    page.close()
    explorer.publisher.add(lambda: bool(ticks.append(1)))
    eventually(lambda: ticks)
    explorer.close()


def test_runs_of_all_views_are_looked_into_and_made_again_with_timings(eventually, opened):
    runs = RunList()
    page = InsidePage(runs)
    assert page.choice.disabled
    with pytest.raises(InputError, match="run something first"):
        page.run_again()
    explorer = opened(explore(n=12))
    solved = runs.add(explorer.run().wait(LIMIT), "Solve")
    race = Race([configure("two-layer", n=12, deflation=name) for name in ("none", "stripes")])
    entries = [runs.add(entry, "Race") for entry in race.entries]
    assert [label for label, _ in page.choice.options] == labels([solved])
    with pytest.raises(InputError, match="cannot be looked into before it ends"):
        page.look(entries[0])
    race.wait(LIMIT)
    runs.notify()
    assert [label for label, _ in page.choice.options] == labels([entries[1], entries[0], solved])
    # What was shown stays.
    assert page.shown is solved
    page.choice.index = 0
    assert runs.chosen == [entries[1]]
    assert page.inside.source is race.entries[1].result
    runs.choose([entries[0].number])
    assert page.inside.source is race.entries[0].result
    assert page.offer.layout.display is None
    # The timeline says what is missing, and the menu names the run.
    assert page.status.text == ""
    page.again.click()
    session = page.inside.source
    assert session.configuration == race.entries[0].configuration
    session.wait(LIMIT)
    assert session.run.trace.count
    eventually(lambda: page.offer.layout.display == "none")
    assert page.shown.parts["timings"] == "with timings"
    assert not entries[0].parts["timings"]
    assert page.shown.origin == "Inspect"
    page.close()
    page.inside.publisher.close()


def test_runs_that_are_chosen_together_stand_on_one_timeline(opened, eventually):
    runs = RunList()
    one, two, three = (runs.add(run_of(deflation=name), "Solve") for name in ("none", "stripes:2", "stripes:3"))
    untimed = runs.add(run_through(Run(configure("two-layer", n=12))), "Solve")
    page = opened(InsidePage(runs))
    timeline = page.inside.timeline
    shown = lambda: [run.trace for run in timeline._shown.runs]  # noqa: E731
    runs.choose([one.number, three.number])
    assert (page.shown, page.others) == (three, [one])
    assert shown() == [three.source.trace, one.source.trace]
    assert timeline.run == "1"
    assert [key for key, _ in timeline.runs] == ["2", "1"]
    # The roofline is that of the run under the pointer.
    eventually(lambda: page.inside.roofline and page.inside.roofline.trace is three.source.trace)
    timeline.pointed = 1
    eventually(lambda: page.inside.roofline.trace is one.source.trace)
    eventually(lambda: "Roofline of 1: " in page.inside.parts["Roofline"].children[0].value)
    timeline.pointed = 0
    eventually(lambda: page.inside.roofline.trace is three.source.trace)
    # The menu on the timeline chooses in the list, and what is shown stays.
    timeline.run = "2"
    assert runs.chosen == [two, three]
    assert shown() == [three.source.trace, two.source.trace]
    runs.choose([run.number for run in runs.runs])
    assert page.shown is three
    assert page.others == [one, two]
    assert timeline.runs[0] == ["1,2", "runs 1, 2"]
    # One without kernel timings has nothing to compare.
    assert untimed not in page.others
    timeline.run = ""
    assert (runs.chosen, shown()) == ([three], [three.source.trace])
    runs.choose([untimed.number])
    assert page.shown is untimed
    assert timeline.runs == []
    page.look(two, one)
    assert page.others


def test_a_run_that_does_not_say_what_it_was_cannot_be_made_again(opened):
    record = run_of().record()
    record.provenance.pop("configuration")
    runs = RunList()
    runs.add(record, "File")
    page = opened(InsidePage(runs))
    page.again.click()
    assert "so it cannot be repeated" in page.status.text
    assert page.status.tone == "bad"


def test_a_snapshot_after_the_end_leaves_trace_and_history_as_they_were(page_of, eventually, opened):
    session = ended("two-layer", n=24, deflation="stripes", trace=True)
    result = session.result
    count, last = result.trace.count, result.history.count
    view = opened(InsideView(session))
    page = page_of(view.field)
    for quantity in ("solution", "residual"):
        view.field.quantity = quantity
        eventually(lambda q=quantity: view.field.look is not None and view.field.look.quantity == q)
    eventually(lambda: page.messages)
    assert (session.run.trace.count, session.run.history.count) == (count, last)


def test_what_is_on_a_hidden_page_does_nothing(view, page_of, eventually):
    field = page_of(view.field)
    view.hide(True)
    view.follow(run_of())
    assert view.field.link.hidden
    assert view.timeline.link.hidden
    assert view.spectrum is None
    assert not any(message.get("width") for message in field.messages)
    view.hide(False)
    eventually(lambda: view.spectrum)
    assert not view.spectrum.hidden
    view.hide(True)
    assert view.spectrum.hidden
    view.hide(False)
    eventually(lambda: any(message.get("width") for message in field.messages))


def test_figures_go_into_the_folder_under_the_time_of_the_run_with_its_provenance(tmp_path, eventually, opened):
    view = opened(InsideView(folder=tmp_path))
    names = set()
    for started, shown in (("12:00:00", ("spectrum", "roofline")), ("12:00:01", ("roofline",))):
        run = Run(configure("two-layer", n=12), trace=True)
        run.started = f"2026-01-31T{started}+00:00"
        result = run_through(run)
        view.follow(result)
        for name in shown:
            bar = eventually(lambda name=name: getattr(view, name)).save_bar
            paths = bar.save("svg", 1)
            assert {path.parent for path in paths} == {tmp_path}
            for path in paths:
                assert read_provenance(path)["configuration"] == result.provenance["configuration"]
            names |= {path.name for path in paths}
    kinds = [name.partition("-")[0] for name in names]
    assert sorted(kinds) == ["estimates", "levels", "ritz", "roofline", "roofline"]


def test_on_a_page_an_untraced_run_is_told_what_to_press_and_in_a_notebook_what_to_write(page_of, eventually, opened):
    run = run_through(Run(configure("two-layer", n=12)))
    alone, paged = InsideView(run), InsideView(run, hint=HINT)
    for view, words in ((alone, "Session(configuration, trace=True)"), (paged, "Press “Run again with timings”")):
        page = page_of(view.timeline)
        eventually(lambda page=page, words=words: page.messages and words in page.messages[-1]["note"])
        view.close()
    explorer = opened(explore(n=12))
    page = InsidePage(explorer.runs, explorer.publisher)
    assert page.inside.timeline.hint == HINT
