"""The timeline: lanes, boxes and the label of the times, the same on the page and in a saved figure."""

import pytest
from matplotlib.colors import to_hex

from workbench.errors import InputError
from workbench.live.plots.timeline_messages import TimelineRun, TimelineRuns
from workbench.plots.figures import draw
from workbench.plots.scenes import timeline_scene
from workbench.plots.scenes.style import KINDS
from workbench.records import Event, Trace


def trace(label="measured", iterations=4, length=1e-5):
    made = Trace("two cores", label)
    for k in range(iterations):
        begin = 3 * k * length
        product = made.append(Event("A", "accelerator", begin, begin + 2 * length, 10000, 0, k))
        made.append(Event("r", "copy to host", begin + 2 * length, begin + 3 * length, 8, 0, k, (product,)))
    return made


def timeline(trace, iterations=None, title=""):
    return draw(timeline_scene(trace, iterations, title=title))


def boxes(figure):
    return [
        (kind.get_label(), kind.get_facecolor()[0]) for kind in figure.axes[0].collections for _ in kind.get_paths()
    ]


def test_lanes_boxes_and_the_label_are_there():
    figure = timeline(trace(), (1, 2), title="a run")
    axes = figure.axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["accelerator", "copy to host"]
    assert len(boxes(figure)) == 4
    assert figure.get_suptitle() == "a run\nmeasured on two cores"
    assert axes.get_xlabel() == "time from the start of iteration 1 (µs)"
    assert axes.get_xlim() == pytest.approx((0, 6e-5))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["A: 67%, 500\u202fMB/s", "r: 33%, 800\u202fkB/s"]


@pytest.mark.parametrize("label", ["modelled", "replayed"])
def test_the_label_is_on_the_figure(label):
    assert label in timeline(trace(label)).get_suptitle()


def test_long_ranges_are_in_milliseconds():
    assert timeline(trace(length=1e-3)).axes[0].get_xlabel().endswith("(ms)")


def test_by_default_two_iterations_in_the_middle_are_shown():
    assert len(boxes(timeline(trace(iterations=9)))) == 4
    assert len(boxes(timeline(trace(iterations=1)))) == 2


def test_colours_of_kernels_are_independent_of_the_range():
    made = Trace("m")
    for k in range(3):
        made.append(Event(f"kernel {k}", "cpu", k, k + 1 - k / 100, iteration=k))
    whole = [to_hex(colour) for _, colour in boxes(timeline(made, (0, 2)))]
    assert whole == list(KINDS["vectors"])
    assert to_hex(boxes(timeline(made, (2, 2)))[0][1]) == whole[2]


def test_the_page_has_the_lanes_names_and_colours_of_the_figure():
    made = Trace("m")
    for lane, name in (("worker 2", "waiting"), ("cpu", "u = M(r)"), ("cpu", "smooth, level 1"), ("cpu", "A")):
        made.append(Event(name, lane, made.count, made.count + 1 - made.count / 100))
    message, _ = TimelineRuns([TimelineRun(trace=made)]).news("", 100)
    figure = timeline(made, (0, 0))
    figure.draw_without_rendering()
    kernels = sorted(message["kernels"], key=lambda kernel: kernel["lane_order"])
    lanes = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert lanes == list(dict.fromkeys(kernel["lane"] for kernel in kernels)) == ["cpu", "worker 2"]
    seen = {label.partition(": ")[0]: to_hex(colour) for label, colour in boxes(figure)}
    on_page = {
        f"coarse solve, {kernel['level']}" if kernel["level"] else kernel["name"]: kernel["colour"]
        for kernel in kernels
    }
    assert seen == on_page
    # The longest first, as in the page's table.
    assert next(iter(seen)) == "waiting"
    assert list(seen)[-1] == "A"


def test_arrows_lead_to_what_waits():
    assert len(timeline(trace(), (1, 2)).axes[0].patches) == 2
    assert not timeline(trace(iterations=200), (0, 199)).axes[0].patches


def test_empty_and_overfull_ranges_are_refused():
    with pytest.raises(InputError, match="there are no events in iterations 7 to 9; the trace has iterations 0 to 3"):
        timeline(trace(), (7, 9))
    with pytest.raises(InputError, match="the trace has no events"):
        timeline(Trace())
    with pytest.raises(InputError, match=r"have 5000 events, a timeline shows up to 4000; .*perfetto"):
        timeline(trace(iterations=2500), (0, 2500))
