"""The view of a cluster: a turn moves the sentences, the curves and the lanes."""

import pytest

from workbench.errors import InputError
from workbench.live import ClusterView
from workbench.words.numbers import count


@pytest.fixture(scope="module")
def view():
    return ClusterView()


def test_curves_mark_where_a_method_overtakes_cg(view):
    view.turn(n=128, ranks=1024)
    crossing = view.model.crossings["Pipelined CG"]
    names = [layer.name for layer in view.plot.scene.layers]
    assert names[:3] == ["CG", "Pipelined CG", "Gropp's CG"]
    assert f"Pipelined CG takes less than CG from {count(crossing)} ranks on" in names
    assert {event.lane for event in view.lanes.trace} == {"rank 0", "rank 512", "rank 1023", "network"}


def test_every_slider_moves_the_curves(view):
    view.turn(n=128, ranks=1024)
    for name in view.sliders:
        if name == "ranks":
            continue
        before = view.model.seconds
        options = [option for _, option in view.sliders[name].options]
        view.turn(**{name: options[len(options) // 4] or options[-1]})
        assert view.model.seconds != before, name


def test_slabs_end_where_planes_do(view):
    view.turn(n=128)
    view.shape.value = "slabs"
    assert view.model.seconds["CG"][-1] is None
    assert "use at most 128 ranks, or shape boxes" in view.message.value
    view.shape.value = "boxes"
    view.like.value = "mox"
    assert view.machine.ranks_per_node.value == 14


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda _: ClusterView(like="v100"), "unknown cluster 'v100'"),
        (lambda view: view.turn(latency=3), "unknown slider 'latency'"),
    ],
)
def test_wrong_words_are_sentences(view, act, sentence):
    with pytest.raises(InputError, match=sentence):
        act(view)
