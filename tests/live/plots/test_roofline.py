"""The roofline's widget: kernels of a traced run under the roof of a machine of one's choice."""

import re

import pytest
from matplotlib.colors import to_hex

from tests.waiting import LIMIT
from workbench.costs.roofline import RooflinePoint
from workbench.errors import InputError
from workbench.live import RooflineView, TimelineView
from workbench.live.plots import roofline as module
from workbench.live.plots.roofline import sentence
from workbench.live.plots.timeline_messages import TimelineRun, TimelineRuns
from workbench.machines.describe import machine_line
from workbench.machines.profile import Number, Profile, profile
from workbench.machines.retime import retime
from workbench.records import Event, Trace, load, save
from workbench.run import Run, Session, configure, run_through
from workbench.run.jobs.run_queue import MACHINE, QueueSlot
from workbench.words.numbers import amount

MINE = Profile("mine", "my machine", "cpu", Number(20e9, "nominal", "a test"), flops=Number(5e9, "nominal", "a test"))


@pytest.fixture(scope="module")
def result():
    return run_through(Run(configure("two-layer", n=24, preconditioner="neumann:2", deflation="stripes"), trace=True))


@pytest.fixture
def measured(monkeypatch):
    """Measuring takes long and all cores; here it is counted."""
    calls = []

    def calibrate(name, device):
        calls.append(device)
        return Profile(name, "this one", "cpu", bandwidth_measured=Number(1e9 * len(calls), "measured", "a test"))

    module.this_machine.cache_clear()
    monkeypatch.setattr(module, "calibrate", calibrate)
    yield calls
    module.this_machine.cache_clear()


@pytest.mark.parametrize(
    ("rate", "basis", "end"),
    [
        (1e9, "measured", "50% of the 2.00\u202fGB/s measured on mine."),
        (4e9, "measured", "served by the caches."),
        (4e11, "measured", "so measure it again."),
        (4e11, "nominal", "served by the caches."),
    ],
)
def test_what_kernels_do_together(rate, basis, end):
    point = RooflinePoint("A p", calls=1, seconds=1.0, share=1.0, bytes=int(rate), flops=0)
    limit = {f"bandwidth_{basis}": Number(2e9, basis, "a test")}
    assert sentence([point], Profile("mine", "mine", "cpu", **limit)).endswith(end)


def test_the_table_holds_every_kernel_and_its_share_of_the_limit(result):
    view = RooflineView(result, MINE)
    assert view.machine.value == "mine"
    names = {event.name for event in result.trace}
    assert view.table.value.count("<tr>") == len(names) + 1
    assert "E⁻¹" in view.table.value
    assert "20.0\u202fGB/s nominal on my machine" in view.message.value
    # The table says of M what follows from the trace.
    events = [event for event in result.trace if event.name == "M r"]
    rate = sum(event.bytes for event in events) / sum(event.seconds for event in events)
    row = re.search(r'<span title="M r">M⁻¹\u202fr</span>.*?</tr>', view.table.value).group()
    assert f">{amount(rate)}/s<" in row
    points = view.plot.scene.layers[-1]
    assert set(points.keys) <= names
    place = points.keys.index("M r")
    assert points.texts[place][0] == "M⁻¹\u202fr"
    flops = sum(event.flops for event in events) / sum(event.seconds for event in events)
    assert points.texts[place][1] == f"{max(rate / 20e9, flops / 5e9):.0%} of the roofline"
    assert set(view.figures()) == {"roofline"}


def test_another_machine_is_another_roof(result):
    view = RooflineView(result, "v100")
    before = view.plot.scene, view.message.value
    view.machine.value = "k20m"
    assert view.plot.scene is not before[0]
    assert view.plot.scene.layers[0].name.startswith("NVIDIA Tesla K20m")
    assert "K20m" in view.message.value != before[1]
    assert "not on the machine of this roofline" in view.message.value
    assert view.again.disabled
    view.machine.value = module.NONE_YET
    assert "of the" not in view.message.value.split("<br>")[0]


def test_this_machine_is_measured_once_and_anew_when_asked(result, measured):
    view = RooflineView(result)
    RooflineView(result)
    assert measured == ["cpu"]
    assert "1.00\u202fGB/s measured on this one" in view.message.value
    assert not view.again.disabled
    view.again.click()
    assert measured == ["cpu", "cpu"]
    assert "2.00\u202fGB/s measured on this one" in view.message.value


def test_a_session_is_followed_and_nothing_is_measured_meanwhile(measured):
    session = Session(configure("poisson5", n=100, preconditioner="none"), trace=True)
    view = RooflineView(session)
    assert "Trace the run" in view.message.value
    assert not measured
    session.wait(LIMIT)
    assert view.publish() is False
    assert measured == ["cpu"]
    assert "A\u202fp" in view.table.value


def test_a_trace_made_elsewhere_waits_for_a_choice(result, measured, tmp_path):
    here = load(save(result.record(), tmp_path / "a.run.npz"))
    assert RooflineView(here).machine.value == module.HERE
    there = retime(result.trace, profile("v100"))
    assert RooflineView(there).machine.value == "v100"
    there.machine = "a machine that nobody knows"
    view = RooflineView(there)
    assert view.machine.value == module.NONE_YET
    assert "Choose the machine" in view.message.value
    assert measured == ["cpu"]


def test_a_lane_has_the_roof_of_its_own_device(measured):
    trace = Trace(machine_line())
    trace.append(Event("A", "cpu", 0.0, 1.0, bytes=10**9, flops=10**8))
    trace.append(Event("A", "accelerator", 0.0, 1.0, bytes=10**10, flops=10**9))
    view = RooflineView(trace)
    assert not view.lane.disabled
    assert measured == ["cpu"]
    view.lane.value = "accelerator"
    assert measured == ["cpu"]
    assert "does not say on which accelerator" in view.message.value
    assert "10.0\u202fGB/s" in view.message.value


def test_what_cannot_be_placed_leaves_no_old_picture():
    trace = Trace("nowhere")
    trace.append(Event("E^-1", "cpu", 0.0, 1.0))
    view = RooflineView(trace, MINE)
    assert "there are no roofline points" in view.message.value
    assert not view.plot.scene.layers
    assert not view.figures()
    assert "there are no roofline points" in view.plot.scene.note


def test_kernels_have_the_colours_of_the_timeline(result):
    timeline = TimelineRuns([TimelineRun(trace=result.trace, state="done")])
    said = {kernel["code"]: kernel["colour"] for kernel in timeline.news("", 10**6)[0]["kernels"]}
    points = RooflineView(result, MINE).plot.scene.layers[-1]
    assert len(points.keys) > 5
    assert points.colours == [said[key] for key in points.keys]
    # And so has the figure that is saved.
    figure = RooflineView(result, MINE).figures()["roofline"]
    printed = {to_hex(dots.get_facecolor()[0]) for dots in figure.axes[0].collections}
    assert printed == set(points.colours)


def test_a_page_without_code_gives_no_python(served):
    served()
    untraced = run_through(Run(configure("poisson5", n=6)))
    view = RooflineView(untraced)
    assert "Session(" not in view.message.value
    assert "Run it again with kernel timings" in view.plot.scene.note
    timeline = TimelineView(untraced)
    assert "Session(" not in timeline.hint


def test_an_untraced_run_and_an_unknown_machine_are_sentences(result):
    untraced = run_through(Run(configure("poisson5", n=6)))
    assert "Trace the run" in RooflineView(untraced).message.value
    with pytest.raises(InputError, match="unknown machine 'k80'"):
        RooflineView(result, "k80")


def test_a_roof_is_measured_when_no_other_run_is_on_the_machine(result, measured, eventually, opened):
    other = QueueSlot(MACHINE)
    other.enqueue()
    view = opened(RooflineView(result))
    assert not measured
    assert "is measured when no run is active" in view.message.value
    # Asked again while the machine is taken, and let off while nobody looks.
    assert view.publish() is True
    view.hidden = True
    assert view.publish() is False
    view.hidden = False
    other.release()
    view.publisher.wake()
    eventually(lambda: "1.00\u202fGB/s measured on this one" in view.message.value)
    assert measured == ["cpu"]
    assert view.publish() is False


def test_the_machine_is_not_given_to_a_run_while_it_is_measured(result, measured, monkeypatch):
    counted, held = module.calibrate, []

    def calibrate(name, device):
        held.append(MACHINE.busy)
        return counted(name, device)

    monkeypatch.setattr(module, "calibrate", calibrate)
    RooflineView(result).close()
    assert held == [True]
    assert not MACHINE.busy
