"""The timeline figure: lanes, boxes and the label of the times."""

import pytest
from matplotlib.colors import to_hex

from workbench.errors import InputError
from workbench.figures import save, timeline
from workbench.recording import Event, Trace
from workbench.scenes.style import KINDS


def trace(label="measured", iterations=4, length=1e-5):
    made = Trace("two cores", label)
    for k in range(iterations):
        begin = 3 * k * length
        product = made.append(Event("A", "accelerator", begin, begin + 2 * length, 10000, 0, k))
        made.append(Event("r", "copy to host", begin + 2 * length, begin + 3 * length, 8, 0, k, (product,)))
    return made


def boxes(figure):
    return [box for box in figure.axes[0].collections if box.get_paths()]


def test_lanes_boxes_and_the_label_are_there():
    figure = timeline(trace(), (1, 2), title="a run")
    axes = figure.axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["accelerator", "copy to host"]
    assert len(boxes(figure)) == 4
    assert axes.get_title(loc="left") == "a run\nmeasured on two cores"
    assert axes.get_xlabel() == "time from the start of iteration 1, µs"
    assert axes.get_xlim() == pytest.approx((0, 60))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["A: 67%, 0.5 GB/s", "r: 33%, 0.0 GB/s"]


@pytest.mark.parametrize("label", ["modelled", "replayed"])
def test_the_label_is_on_the_figure(label):
    assert label in timeline(trace(label)).axes[0].get_title(loc="left")


def test_long_ranges_are_in_milliseconds():
    assert timeline(trace(length=1e-3)).axes[0].get_xlabel().endswith("ms")


def test_by_default_two_iterations_in_the_middle_are_shown():
    assert len(boxes(timeline(trace(iterations=9)))) == 4
    assert len(boxes(timeline(trace(iterations=1)))) == 2


def test_colours_of_kernels_are_independent_of_the_range():
    made = Trace("m")
    for k in range(3):
        made.append(Event(f"kernel {k}", "cpu", k, k + 1 - k / 100, iteration=k))
    whole = [to_hex(box.get_facecolor()[0]) for box in boxes(timeline(made, (0, 2)))]
    assert whole == list(KINDS["vectors"])
    assert to_hex(boxes(timeline(made, (2, 2)))[0].get_facecolor()[0]) == whole[2]


def test_the_timeline_is_written(tmp_path):
    assert save(timeline(trace()), tmp_path / "t.png").stat().st_size > 1000


def test_empty_and_overfull_ranges_are_refused():
    with pytest.raises(InputError, match="there are no events in iterations 7 to 9; the trace has iterations 0 to 3"):
        timeline(trace(), (7, 9))
    with pytest.raises(InputError, match="the trace has no events"):
        timeline(Trace())
    with pytest.raises(InputError, match=r"have 5000 events, a timeline shows up to 4000; .*perfetto"):
        timeline(trace(iterations=2500), (0, 2500))
