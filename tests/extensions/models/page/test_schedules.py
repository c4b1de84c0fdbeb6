"""The schedules' widget: a turn moves the sentence, the lanes and the curves."""

import pytest

from workbench.errors import InputError
from workbench.extensions.models.schedules import METHODS
from workbench.live import Schedules
from workbench.words.numbers import duration


@pytest.fixture(scope="module")
def schedules():
    return Schedules("k20m", "hybrid1")


def test_it_says_what_the_method_takes_and_which_is_the_fastest(schedules):
    schedules.like.value = "k40"
    schedules.like.value = "k20m"
    fastest = min(schedules.seconds, key=lambda name: schedules.seconds[name])
    assert f"{duration(schedules.seconds['hybrid1'])} per iteration" in schedules.message.value
    assert METHODS[fastest].label in schedules.message.value
    assert schedules.lanes.trace.label == "modelled"
    assert {event.lane for event in schedules.lanes.trace} == {"cpu", "accelerator", "copy to host"}


def test_every_method_has_lanes_on_one_accelerator():
    """Those of pipelined CG had no events."""
    view = Schedules("h200")
    for name in METHODS:
        view.method.value = name
        assert view.lanes.trace.seconds == pytest.approx(2 * view.seconds[name], rel=0.2), name
    view.close()


def test_every_slider_moves_the_picture_and_the_times(schedules):
    schedules.like.value = "v100"
    for name in schedules.sliders:
        if name == "memory" or name.startswith("gpus"):
            continue
        before = dict(schedules.seconds), schedules.plot.scene.message()
        slider = schedules.sliders[name]
        schedules.turn(**{name: slider.value * 3})
        assert schedules.seconds != before[0], name
        assert schedules.plot.scene.message() != before[1], name


def test_several_gpus_have_lanes_curves_and_sliders_of_their_own():
    schedules = Schedules("h200", "cg gpu")
    schedules.turn(gpus=64, unknowns=3e7, entries=7)
    assert {event.lane for event in schedules.lanes.trace} == {"GPU 1", "GPU 33", "GPU 64", "network"}
    assert f"Modelled on 64 GPUs: <b>{METHODS['cg gpu'].label}</b> takes" in schedules.message.value
    assert schedules.plot.scene.name == "scaling"
    cg, pipelined, ideal, line = schedules.plot.scene.layers
    assert cg.y[6] == schedules.seconds["cg gpu"]
    assert pipelined.y[6] == schedules.seconds["pipecg gpu"]
    assert line.value == 64
    assert 1 < ideal.y.size < 13, "as far as the methods have room"
    assert (ideal.y <= pipelined.y[: ideal.y.size] * (1 + 1e-12)).all()
    for name in ("gpus_per_node", "gpus_link", "gpus_link_latency", "gpus_network", "gpus_network_latency"):
        before = dict(schedules.seconds)
        schedules.turn(**{name: schedules.sliders[name].value / 4})
        assert schedules.seconds != before, name
    schedules.method.value = "hybrid1"
    assert "cannot run: it is modelled with one GPU alone; the fastest is" in schedules.message.value
    assert schedules.lanes.trace is None
    schedules.turn(gpus=1)
    assert schedules.plot.scene.name == "crossover"


def test_the_plot_has_the_times_of_each_method_and_marks_the_fastest(schedules):
    *methods, rings, line = schedules.plot.scene.layers
    assert [curve.name for curve in methods] == [METHODS[name].label for name in schedules.seconds]
    at = 3
    quickest = min(curve.y[list(curve.x).index(rings.x[at])] for curve in methods if rings.x[at] in curve.x)
    assert rings.y[at] == quickest
    assert line.value == round(schedules.sliders["unknowns"].value)


def test_a_small_memory_leaves_hybrid_3(schedules):
    schedules.like.value = "k20m"
    schedules.turn(unknowns=6e6, entries=120)
    assert schedules.seconds["hybrid1"] is None
    assert schedules.seconds["hybrid3"] is not None
    assert "cannot run: needs" in schedules.message.value
    assert schedules.lanes.trace is None
    schedules.turn(unknowns=1e6, entries=50)
    assert schedules.lanes.trace is not None


def test_numbers_of_a_machine_are_positions_of_the_sliders(schedules):
    schedules.like.value = "v100"
    schedules.like.value = "h200"
    assert schedules.numbers.accelerator == pytest.approx(4.045e12, rel=1e-12)
    assert schedules.numbers.memory == pytest.approx(141e9, rel=1e-12)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda _: Schedules("k80"), "a machine is one of k20m, k40, v100, h200, got 'k80'"),
        (lambda _: Schedules("k20m", "hybrid"), "a method is one of .*, got 'hybrid'"),
        (lambda shown: shown.turn(links=3), "unknown slider 'links'; did you mean link"),
        (lambda shown: shown.turn(link=0), "slider link needs a positive value, got 0"),
    ],
)
def test_wrong_words_are_sentences(schedules, act, sentence):
    with pytest.raises(InputError, match=sentence):
        act(schedules)


def test_a_lesson_unfolds_several_gpus_and_meets_the_entries_of_its_question(schedules):
    assert schedules.several.selected_index is None
    schedules.turn(entries=7)
    assert schedules.sliders["entries"].value == 7
    assert schedules.unfolded().several.selected_index == 0
