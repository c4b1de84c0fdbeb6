"""What workers did on lanes of a trace: by hand, in a run on a cluster, in files, figures and models."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.devices.clock import CPU, WAITING, HostClock
from workbench.extensions.dask.worker_lanes import TRANSFER, Exchange, Span, Work, WorkerLanes, spans
from workbench.extensions.dask.workers import Reply
from workbench.lines.schedule import operator_of
from workbench.machines.profile import profile
from workbench.machines.retime import retime
from workbench.plots.figures import draw
from workbench.plots.scenes import timeline_scene
from workbench.records import Event, Trace, load, load_trace, save, save_trace
from workbench.registry import blocks as registry
from workbench.run import Run, configure, run_through

WORKERS = ["worker 1", "worker 2", "worker 3"]
HOLDER = SimpleNamespace(address="tcp://a:1")


def test_spans_of_a_request_by_hand():
    """Sent at 10, computed from 11 to 13 by a clock that is 100 s ahead, received at 14; the slowest replied at 15."""
    exchange = Exchange(HOLDER, 10.0, 14.0, [Work("box solves", 111.0, 113.0, 8, 2)])
    assert spans([exchange], 100.0, 15.0) == [
        Span(TRANSFER, 10, 11),
        Span("box solves", 11, 13, 8, 2),
        Span(TRANSFER, 13, 14),
        Span(WAITING, 14, 15),
    ]


def test_times_stay_between_request_and_reply_where_the_offset_is_wrong():
    exchange = Exchange(HOLDER, 10.0, 14.0, [Work("box solves", 9.0, 20.0)])
    assert spans([exchange], 0.0, 14.0) == [Span("box solves", 10, 14)]


@pytest.mark.parametrize(("offset", "begun"), [(-7.0, 12.0), (-0.5, 11.5), (0.0, 11.0), (0.5, 10.5), (7.0, 10.0)])
def test_short_work_keeps_its_length_and_lies_in_its_exchange_whatever_the_offset(offset, begun):
    """Sent at 10 and received at 14; the work of two seconds began at 11 by the worker's clock."""
    exchange = Exchange(HOLDER, 10.0, 14.0, [Work("A", 11.0, 12.0), Work("B", 12.0, 13.0)])
    found = [span for span in spans([exchange], offset, 15.0) if span.name not in (TRANSFER, WAITING)]
    assert found == [Span("A", begun, begun + 1), Span("B", begun + 1, begun + 2)]


def test_two_requests_to_one_worker_share_its_lane():
    one = Exchange(HOLDER, 0.0, 5.0, [Work("A", 1.0, 2.0)])
    other = Exchange(HOLDER, 0.5, 4.0, [Work("B", 1.5, 3.0)])
    assert spans([other, one], 0.0, 5.0) == [
        Span(TRANSFER, 0, 1),
        Span("A", 1, 2),
        Span("B", 2, 3),
        Span(TRANSFER, 3, 5),
    ]


def test_a_reply_to_another_worker_is_followed_by_waiting():
    exchange = Exchange(HOLDER, 0.0, None, [Work(TRANSFER, 1.0, 2.0), Work("A", 2.0, 3.0), Work(WAITING, 3.0, 4.0)])
    assert spans([exchange], 0.0, 6.0) == [Span(TRANSFER, 0, 2), Span("A", 2, 3), Span(WAITING, 3, 6)]


def test_the_offset_is_that_of_the_shortest_message():
    replies = iter([Reply(105.0, 0.0, 8.0), Reply(112.5, 10.0, 11.0), Reply(0.0, 0.0, 9.0, lost=True)] * 2)
    trace = Trace()
    clock = HostClock(trace)
    lanes = WorkerLanes(lambda _: next(replies), clock, trace)
    lanes.meet(HOLDER)
    assert lanes.notes == [
        "worker 1 is tcp://a:1",
        "times of workers are on the clock of this process to within 5e+02 ms",
    ]
    trace.append(Event("before", CPU, 0, 1))
    clock.iteration = 3
    at = trace.origin
    lanes.note([Exchange(HOLDER, at + 1, at + 4, [Work("A", at + 104, at + 105)])])
    assert len(trace) == 1
    lanes.resolve()
    lanes.resolve()
    found = [(event.name, event.lane, event.iteration, event.after) for event in trace][1:]
    assert found == [
        (TRANSFER, "worker 1", 3, (0,)),
        ("A", "worker 1", 3, ()),
        (TRANSFER, "worker 1", 3, ()),
    ]
    np.testing.assert_allclose(trace.column("start")[1:], [1, 2, 3], atol=1e-6)


def test_nothing_is_noted_outside_of_the_solve():
    trace = Trace()
    clock = HostClock(trace)
    clock.is_recording = False
    lanes = WorkerLanes(lambda _: Reply(0.0, 0.0, 0.0), clock, trace)
    lanes.note([Exchange(HOLDER, 0.0, 1.0, [])])
    lanes.resolve()
    assert len(trace) == 0


def test_a_lost_worker_has_no_events():
    trace = Trace()
    lanes = WorkerLanes(lambda _: Reply(None, 0.0, 0.0, lost=True), HostClock(trace), trace)
    lanes.note([Exchange(HOLDER, 0.0, 1.0, [])])
    lanes.resolve()
    assert len(trace) == 0


@pytest.fixture(scope="module")
def result(scheduler):
    solver = registry.find("solver", "mpcg", sums="workers")
    M = "schwarz:3x3,overlap=4"
    run = Run(configure("poisson-fd", n=60, solver=solver, preconditioner=M, cluster=scheduler), trace=True)
    return run_through(run)


@pytest.fixture
def trace(result):
    return result.trace


def test_many_right_hand_sides(scheduler):
    chosen = {"solver": "block-cg", "preconditioner": "schwarz:2x2", "rhs": "random:3", "cluster": scheduler}
    result = run_through(Run(configure("poisson-fd", n=20, **chosen), trace=True))
    assert list(result.trace.busy()) == ["cpu", *WORKERS]
    assert "box solves" in {kernel.name for kernel in result.trace.kernels}


def test_each_worker_has_a_lane(trace):
    assert list(trace.busy()) == ["cpu", *WORKERS]
    for lane in WORKERS:
        mine = [event for event in trace if event.lane == lane]
        assert {event.name for event in mine} == {"box solves", "inner products", "sum of the step", TRANSFER, WAITING}
        assert all(one.end <= other.start + 1e-9 for one, other in itertools.pairwise(mine))
        solves = [event for event in mine if event.name == "box solves"]
        assert [event.iteration for event in solves] == list(range(len(solves)))
        assert all(event.bytes > 0 and event.flops > 0 for event in solves)
        assert trace.busy()[lane] == pytest.approx(sum(event.seconds for event in mine if event.name != WAITING))
    addresses, error = trace.notes
    assert addresses.startswith("worker 1 is tcp://127.0.0.1:")
    assert error.startswith("times of workers are on the clock of this process to within ")


def test_workers_work_while_this_process_waits_for_them(trace):
    """Their solves lie within the step of this process that applies M."""
    applied = {event.iteration: event for event in trace if event.lane == CPU and operator_of(event.name) == "M"}
    solves = [event for event in trace if event.name == "box solves"]
    assert solves
    for event in solves:
        outer = applied[event.iteration]
        assert outer.start <= event.start <= event.end <= outer.end


def same(one: Trace, other: Trace) -> None:
    assert [(e.name, e.lane, e.iteration, e.after) for e in one] == [
        (e.name, e.lane, e.iteration, e.after) for e in other
    ]
    np.testing.assert_allclose(one.column("end"), other.column("end"), atol=1e-8)


def test_lanes_survive_files(result, trace, tmp_path):
    same(load_trace(save_trace(trace, tmp_path / "trace.json")), trace)
    saved = load(save(result.record(), tmp_path / "run.npz")).trace
    assert saved is not None
    same(saved, trace)


def test_the_figure_has_the_lanes(trace):
    figure = draw(timeline_scene(trace, (2, 3)))
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cpu", *WORKERS]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert WAITING in legend
    assert any(text.startswith("box solves: ") for text in legend)


def test_a_model_leaves_workers_as_they_were(trace):
    modelled = retime(trace, profile("v100"))
    before, after = ([event.seconds for event in made if event.lane == "worker 1"] for made in (trace, modelled))
    np.testing.assert_allclose(after, before)
    assert "workers are not modelled: what they did keeps its measured time" in modelled.notes
