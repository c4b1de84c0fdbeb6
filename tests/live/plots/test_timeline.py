"""What the timeline sends: every event once, everything after a reload, another run from its start, a sentence else."""

import collections

import numpy as np
import pytest

from tests.live.conftest import ENDLESS, ended
from tests.waiting import LIMIT
from workbench.devices.clock import LANES
from workbench.errors import InputError
from workbench.live import TimelineView
from workbench.live.plots import timeline as module
from workbench.live.plots.timeline_messages import totals
from workbench.machines.profile import profile
from workbench.machines.retime import retime
from workbench.plots.figures import draw
from workbench.plots.scenes.style import KINDS
from workbench.records import Event, Trace, load, save
from workbench.run import RunQueue, Session, State, Stopping, configure
from workbench.words.names import kernel_name
from workbench.words.numbers import number

MODELLED = ["measured, this machine", "modelled, NVIDIA Tesla V100, 32 GB"]
BOTH_DEVICES = ("cpu", "opencl")
FIELDS = (("start", "<f8"), ("seconds", "<f4"), ("kernel", "<i4"), ("iteration", "<i4"))


@pytest.fixture
def view(opened):
    return opened(TimelineView())


def session(*, trace=True, n=32, **choices):
    return Session(configure("two-layer", n=n, **choices), trace=trace)


def arrived(page):
    """What the page would have: the columns of all events and the names of the kernels, put together from messages."""
    parts, kernels = [], []
    for message, buffer in list(page.received):
        if message["reset"]:
            parts, kernels = [], []
        assert message["first"] == sum(part["start"].size for part in parts), "a gap in the stream"
        assert message["firstKernel"] == len(kernels)
        kernels += message["kernels"]
        place, columns = 0, {}
        for name, kind in FIELDS:
            columns[name] = np.frombuffer(buffer, kind, message["count"], place)
            place += columns[name].nbytes
        assert place + 32 * message["flows"] == len(buffer)
        assert columns["kernel"].size == 0 or columns["kernel"].max() < len(kernels)
        parts.append(columns)
    return {name: np.concatenate([part[name] for part in parts]) for name, _ in FIELDS}, kernels


def count(page):
    return arrived(page)[0]["start"].size if page.received else 0


def assert_same(page, trace):
    columns, kernels = arrived(page)
    rows = trace.rows
    np.testing.assert_array_equal(columns["start"], rows["start"])
    np.testing.assert_allclose(columns["seconds"], rows["end"] - rows["start"], rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(columns["kernel"], rows["kernel"])
    np.testing.assert_array_equal(columns["iteration"], rows["iteration"])
    assert [kernel["name"] for kernel in kernels] == [kernel_name(kernel.name) for kernel in trace.kernels]


def test_a_run_arrives_whole_and_in_order(view, page, eventually):
    going = session(n=64)
    view.show(going, "run 1")
    going.wait(LIMIT)
    eventually(lambda: count(page) == going.run.trace.count and page.messages[-1]["over"])
    assert_same(page, going.run.trace)
    assert page.messages[-1]["label"] == "measured"
    assert not page.messages[-1]["live"]
    assert page.messages[-1]["title"] == "run 1"


def test_only_new_events_and_kernels_are_sent(view, page, eventually):
    going = session(n=64, stopping=Stopping(rtol=1e-12))
    view.show(going)
    for steps in range(1, 5):
        going.step()
        eventually(lambda steps=steps: going.run and going.run.history.count == steps and going.state == "paused")
        eventually(lambda: count(page) == going.run.trace.count)
    assert len([message for message in page.messages if message["count"]]) >= 4
    # The empty view may have been sent before.
    sent = [message for message in page.messages if message["run"] == page.messages[-1]["run"]]
    assert [message["reset"] for message in sent] == [True] + [False] * (len(sent) - 1)
    assert_same(page, going.run.trace)
    going.stop()


def test_events_go_in_pieces_and_again_after_a_reload(view, page_of, eventually, monkeypatch, run_in):
    monkeypatch.setattr(module, "MOST_EVENTS", 50)
    page = page_of(view)
    done = run_in("ended", view, n=32, trace=True)
    eventually(lambda: count(page) == done.run.trace.count)
    assert len(page.messages) > 2
    assert max(message["count"] for message in page.messages) == 50
    assert_same(page, done.run.trace)
    page.received.clear()
    page.reload()
    eventually(lambda: count(page) == done.run.trace.count)
    assert page.messages[0]["reset"]
    assert_same(page, done.run.trace)


def test_what_waits_for_what_comes_with_the_events(view, page_of, eventually, monkeypatch):
    monkeypatch.setattr(module, "MOST_EVENTS", 2)
    trace = Trace()
    first = trace.append(Event("A", "accelerator", 0.0, 1.0))
    second = trace.append(Event("r", "copy to host", 1.5, 2.0, after=(first,)))
    trace.append(Event("x", "cpu", 2.5, 3.0, after=(first, second)))
    assert trace.waits().tolist() == [[1, 0], [2, 0], [2, 1]]
    page = page_of(view)
    view.show(trace)
    eventually(lambda: count(page) == trace.count)
    found = [np.frombuffer(buffer, "<f8", 4 * m["flows"], 20 * m["count"]) for m, buffer in page.received]
    np.testing.assert_array_equal(
        np.concatenate(found).reshape(-1, 4), [[1, 1.5, 0, 1], [1, 2.5, 0, 2], [2, 2.5, 1, 2]]
    )


def test_a_record_from_a_file_a_result_and_a_trace_are_shown_each_from_its_start(view, page, eventually, tmp_path):
    done = ended(n=32, trace=True)
    loaded = load(save(done.result.record(), tmp_path / "a.run.npz"))
    other = ended(n=32, trace=True, preconditioner="neumann:2")
    runs = set()
    for source, run in ((loaded, done), (other, other), (done.result, done), (other, other), (loaded.trace, done)):
        view.show(source)
        eventually(lambda n=run.run.trace.count: count(page) == n and page.messages[-1]["firstKernel"] == 0)
        runs.add(page.messages[-1]["run"])
        assert_same(page, run.run.trace)
        assert page.messages[-1]["over"]
        assert page.messages[-1]["note"] == ""
    assert len(runs) == 5


@pytest.mark.parametrize("label", ["modelled", "replayed"])
def test_the_word_of_a_trace_and_its_notes_are_told(page_of, eventually, label, opened):
    trace = Trace("V100", label, ["what the host does is left out"])
    trace.append(Event("A", "accelerator", 0.0, 1e-3, 1000, 10, 1))
    view = opened(TimelineView(trace))
    page = page_of(view)
    eventually(lambda: count(page) == 1)
    reported = page.messages[-1]
    assert (reported["label"], reported["machine"], reported["notes"]) == (label, "V100", trace.notes)


@pytest.fixture
def kernels_of(view, page, eventually):
    """Shows an event of each of these names and lanes, and returns the kernels as the page has them."""

    def shown(*events):
        trace = Trace()
        for place, (name, lane) in enumerate(events):
            trace.append(Event(name, lane, place, place + 0.5))
        view.show(trace)
        eventually(lambda: count(page) == trace.count)
        return arrived(page)[1]

    return shown


def test_lanes_have_their_order_and_kernels_one_style_by_name(kernels_of):
    lanes = [("A", lane) for lane in reversed(LANES)]
    kernels = kernels_of(*lanes, *((f"kernel {place}", "cpu") for place in range(30)))
    assert [kernel["lane_order"] for kernel in kernels[:4]] == [3, 2, 1, 0]
    assert len({kernel["style"] for kernel in kernels[:4]}) == 1
    assert len({kernel["style"] for kernel in kernels}) == 31
    assert {kernel["colour"] for kernel in kernels if kernel["lane"] == "cpu"} <= {*KINDS["vectors"], *KINDS["copies"]}


def test_lanes_of_workers_are_below_the_others_in_the_order_of_their_numbers(kernels_of):
    given = ("waiting", "worker 10"), ("box solves", "worker 2"), ("M", "cpu"), ("transfer", "worker 1")
    kernels = sorted(kernels_of(*given), key=lambda kernel: kernel["lane_order"])
    assert [kernel["lane"] for kernel in kernels] == ["cpu", "worker 1", "worker 2", "worker 10"]
    assert [kernel["idle"] for kernel in kernels] == [False, False, False, True]
    assert [kernel["worker"] for kernel in kernels] == [False, True, True, True]


def test_all_kernels_of_a_level_look_the_same(kernels_of):
    names = "A", "smooth, level 0", "restrict to level 1", "smooth, level 1", "correct from level 1"
    kernels = kernels_of(*((name, "cpu") for name in names))
    assert [kernel["level"] for kernel in kernels] == ["", "level 0", "level 0", "level 1", "level 0"]
    assert [kernel["style"] for kernel in kernels] == [0, 1, 1, 2, 1]


def test_a_run_without_a_trace_says_how_to_get_one(view, page, eventually):
    view.show(ended(n=32), "run 7")
    eventually(lambda: page.messages and page.messages[-1]["note"].startswith("run 7 has no trace. "))
    assert count(page) == 0


def test_a_run_that_fails_in_setup_tells_its_sentence(view, page, eventually):
    failing = Session(configure("poisson5", n=8, deflation="blocks:64"), trace=True)
    view.show(failing)
    failing.start()
    eventually(lambda: page.messages and page.messages[-1]["state"] == "failed")
    assert failing.error in page.messages[-1]["note"]


def test_a_canvas_behind_another_tab_is_sent_nothing_until_it_is_seen(view, page, eventually, run_in):
    eventually(lambda: page.messages)
    page.received.clear()
    view.link.hidden = True
    done = run_in("ended", view, n=32, trace=True)
    view.publisher.wake()
    eventually(lambda: view.trace is done.run.trace)
    assert not page.messages
    view.link.hidden = False
    view.publisher.wake()
    eventually(lambda: count(page) == done.run.trace.count)


def test_clear_keeps_a_run_that_goes_on(view, page, eventually, run_in):
    going = run_in("running", view, n=64, trace=True)
    view.clear()
    eventually(lambda: count(page) > 0)
    going.stop()
    going.wait(LIMIT)
    view.clear()
    eventually(lambda: page.messages[-1]["note"] == module.HINT)
    assert view.trace is None


def test_a_run_at_rest_is_compared_with_a_machine(view, page, eventually, run_in):
    done = run_in("ended", view, n=32, trace=True)
    eventually(lambda: count(page) == done.run.trace.count)
    view.machine = "v100"
    eventually(lambda: count(page) == 2 * done.run.trace.count and page.messages[-1]["groups"])
    columns, kernels = arrived(page)
    reported = page.messages[-1]
    assert [group["title"] for group in reported["groups"]] == MODELLED
    assert [kernel["group"] for kernel in kernels] == [0] * (len(kernels) // 2) + [1] * (len(kernels) // 2)
    trace, made = done.run.trace, retime(done.run.trace, profile("v100"))
    half = trace.count
    np.testing.assert_array_equal(columns["start"][:half], trace.column("start"))
    assert columns["start"][half] == pytest.approx(trace.column("start")[0])
    ends = columns["start"] + columns["seconds"]
    assert ends[half:].max() - columns["start"][half] == pytest.approx(made.seconds, rel=1e-4)
    styles = {kernel["name"]: kernel["style"] for kernel in kernels[: len(kernels) // 2]}
    assert all(styles[kernel["name"]] == kernel["style"] for kernel in kernels)
    assert "measured, this machine: " in reported["words"]
    times = trace.seconds / made.seconds
    said = f"{number(times)} times as fast" if times > 1 else f"{number(1 / times)} times as long"
    assert said in reported["words"]
    view.machine = ""
    eventually(lambda: count(page) == half and not page.messages[-1]["groups"])
    assert page.messages[-1]["words"] == ""


def test_a_machine_waits_until_the_run_rests(view, page, eventually, run_in):
    view.machine = "v100"
    going = run_in("running", view, n=256, trace=True)
    eventually(lambda: page.messages and page.messages[-1]["words"] == module.AFTER_THE_RUN and count(page) > 0)
    assert not page.messages[-1]["groups"]
    going.pause()
    eventually(lambda: page.messages[-1]["groups"])
    going.resume()
    eventually(lambda: not page.messages[-1]["groups"] and page.messages[-1]["live"])
    going.stop()
    going.wait(LIMIT)
    eventually(lambda: page.messages[-1]["groups"] and count(page) == 2 * going.run.trace.count)


def test_what_a_profile_cannot_tell_is_a_sentence(view, page, eventually):
    trace = Trace("a node")
    trace.append(Event("copy", "copy to host", 0.0, 1e-3, 1000))
    view.show(trace)
    view.machine = "xeon-16"
    eventually(lambda: page.messages and "is a CPU; add an accelerator" in page.messages[-1]["words"])
    assert count(page) == 1
    # Only machines with numbers for copies are offered.
    assert "xeon-16" not in {name for name, _ in view.machines}
    assert [retime(trace, profile(name)).count for name, _ in view.machines] == [1] * len(view.machines)
    view.machine = "nowhere"
    eventually(lambda: "unknown machine" in page.messages[-1]["words"].lower())
    modelled = Trace("V100", "modelled")
    modelled.append(Event("A", "cpu", 0.0, 1.0, 1000))
    view.machine = "v100"
    view.show(modelled)
    eventually(lambda: "modelled already" in page.messages[-1]["words"])
    assert not view.machines


def test_a_run_on_cores_and_accelerator_is_compared_with_a_machine_for_each(view, page, eventually):
    assert {"v100", "xeon-16"} <= {name for name, _ in view.machines}
    assert not view.accelerators
    trace = Trace("a node")
    for place, lane in enumerate(LANES):
        trace.append(Event("A", lane, place, place + 1e-3, 10**6))
    view.show(trace)
    eventually(lambda: view.accelerators)
    assert {profile(name).kind for name, _ in view.machines} == {"cpu"}
    # The GTX 1060 has no numbers for copies.
    assert {name for name, _ in view.accelerators} == {"c2070", "h200", "k20m", "k40", "rtx2080s", "v100"}
    view.machine = "xeon-16"
    eventually(lambda: page.messages[-1]["words"] == module.BOTH)
    view.accelerator = "v100"
    eventually(lambda: page.messages[-1]["groups"])
    made = retime(trace, profile("xeon-16"), profile("v100"))
    assert page.messages[-1]["groups"][1]["title"] == f"modelled, {made.machine}"
    modelled = arrived(page)[0]["seconds"][trace.count :]
    np.testing.assert_allclose(modelled, made.column("end") - made.column("start"), rtol=1e-6)
    view.machine = "v100"
    eventually(lambda: "are not a CPU and a GPU" in page.messages[-1]["words"])


def test_all_lanes_of_a_hybrid_run_fill_while_it_runs(view, page_of, eventually, run_in):
    pytest.importorskip("pyopencl")
    page = page_of(view)
    chosen = {"device": "opencl", "solver": "hybrid3", "preconditioner": "jacobi", "deflation": "none"}
    # So many cells that rounding errors end it long after all lanes have filled.
    going = run_in("running", view, n=512, trace=True, **chosen)
    for more in (1, 100):
        before = {lane: lanes_of(page).get(lane, 0) for lane in LANES}
        eventually(lambda n=more, old=before: all(lanes_of(page).get(lane, 0) >= old[lane] + n for lane in LANES))
        assert going.state is State.RUNNING
    # What waits for what is known of these runs.
    assert page.messages[-1]["flows"] > 0


def lanes_of(page):
    """Events by lane that the page has."""
    if not page.received:
        return {}
    columns, kernels = arrived(page)
    return dict(collections.Counter(kernels[number]["lane"] for number in columns["kernel"].tolist()))


def test_two_runs_fill_lanes_on_one_time_axis_while_both_run(view, page_of, eventually):
    pytest.importorskip("pyopencl")
    choices = {"n": 96, "preconditioner": "jacobi", "deflation": "none", "stopping": ENDLESS}
    going = [Session(configure("two-layer", **choices, device=name), trace=True, queue=None) for name in BOTH_DEVICES]
    page = page_of(view)
    view.show(going)
    for run in going:
        run.start()
    for more in (1, 50):
        before = in_sets(page)
        eventually(lambda n=more, old=before: all(in_sets(page)[k] >= old[k] + n for k in (0, 1)))
        assert [run.state for run in going] == [State.RUNNING] * 2
    assert page.messages[-1]["live"]
    for run in going:
        run.stop()
        run.join(LIMIT)
    eventually(lambda: count(page) == sum(run.run.trace.count for run in going) and page.messages[-1]["over"])
    said = page.messages[-1]
    assert [group["name"] for group in said["groups"]] == ["On CPU", "On OpenCL"]
    assert [group["title"] for group in said["groups"]] == [
        "On CPU: measured, this machine",
        "On OpenCL: measured, this machine",
    ]
    columns, kernels = arrived(page)
    groups = np.array([kernel["group"] for kernel in kernels])[columns["kernel"]]
    for group, run in enumerate(going):
        rows, mine = run.run.trace.rows, groups == group
        # Nothing lost and nothing mixed, whichever came first.
        np.testing.assert_array_equal(columns["iteration"][mine], rows["iteration"])
        names = [kernel_name(kernel.name) for kernel in run.run.trace.kernels]
        assert [kernels[k]["name"] for k in columns["kernel"][mine][:50]] == [names[k] for k in rows["kernel"][:50]]
        np.testing.assert_allclose(np.diff(columns["start"][mine]), np.diff(rows["start"]), atol=1e-9)
        assert columns["start"][mine][0] == pytest.approx(0.0, abs=0.05)
    assert "On OpenCL: " in said["words"]
    assert " times as " in said["words"]
    figure = draw(view.scenes((1, 2))["timeline"])
    lanes = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    # The place between them has the title of the second.
    assert lanes[:3] == ["cpu", "", "accelerator"]


def in_sets(page):
    """Events of the two sets of lanes that the page has."""
    if not page.received:
        return [0, 0]
    columns, kernels = arrived(page)
    groups = np.array([kernel["group"] for kernel in kernels], int)[columns["kernel"]]
    return [int((groups == group).sum()) for group in (0, 1)]


def test_kernels_that_the_clock_cannot_tell_are_compared_in_words():
    first, second = Trace(), Trace()
    first.append(Event("A", "cpu", 0.0, 1.0))
    for at in (0.0, 2.0):
        second.append(Event("A", "cpu", at, at))
    assert totals([("one", first), ("two", second)]).endswith("kernels alone too short to be timed.")
    assert totals([("two", second), ("one", first)]) == "two: no time to compare with."


def test_a_run_that_waits_has_its_place_and_says_so(view, page, eventually):
    queue = RunQueue()
    # With fewer cells rounding errors end it.
    chosen = configure("two-layer", n=64, stopping=ENDLESS)
    first, second = (Session(chosen, trace=True, queue=queue) for _ in range(2))
    view.show([first, second], ["one", "the other"])
    for run in (first, second):
        run.start()
    eventually(lambda: in_sets(page)[0] > 0)
    eventually(lambda: page.messages[-1]["groups"][1]["title"] == "the other is queued")
    assert not page.messages[-1]["groups"][1]["live"]
    first.stop()
    eventually(lambda: in_sets(page)[1] > 0)
    eventually(lambda: page.messages[-1]["groups"][1]["title"] == "the other: measured, this machine")
    assert not page.messages[-1]["over"]
    second.stop()
    for run in (first, second):
        run.join(LIMIT)


def test_a_run_is_compared_with_another_and_with_a_machine(view, page, eventually):
    runs = [ended(n=32, trace=True, deflation=name) for name in ("none", "stripes:4")]
    view.show(runs)
    view.machine = "v100"
    total = 2 * runs[0].run.trace.count + runs[1].run.trace.count
    eventually(lambda: count(page) == total and len(page.messages[-1]["groups"]) == 3)
    assert [group["kind"] for group in page.messages[-1]["groups"]] == ["first", "other", "model"]
    assert page.messages[-1]["groups"][2]["title"].endswith("deflation: modelled, NVIDIA Tesla V100, 32 GB")
    assert len(draw(view.scenes()["timeline"]).axes[0].get_yticklabels()) == 5
    view.machine = ""
    eventually(lambda: len(page.messages[-1]["groups"]) == 2)
    view.show(runs[1])
    eventually(lambda: page.messages[-1]["groups"] == [] and count(page) == runs[1].run.trace.count)


def test_a_run_without_a_trace_next_to_one_says_so_in_its_place(view, page, eventually):
    view.show([ended(n=12, trace=True), ended(n=12)], ["one", "the other"])
    eventually(lambda: count(page))
    assert page.messages[-1]["groups"][1]["title"].startswith("the other has no trace")
    with pytest.raises(InputError, match="at least one run"):
        view.show([])
