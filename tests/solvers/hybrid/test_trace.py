"""Traces of hybrid runs: four lanes, dependencies respected, copies overlapping with computation."""

from __future__ import annotations

import itertools

import pytest

from workbench.run import Run, Stopping, configure, run_through

SCHEDULES = ("hybrid1", "hybrid2", "hybrid3:share=0.5")
COPIES = ("copy to device", "copy to host")
MAPPING = 50e-6
"""Seconds by which a device's times may be wrong: its clock is taken for the host's, and CUDA's spans are rounded."""
RUNS = 12
"""On two cores, which are the accelerator as well, it is up to the system who runs when."""


def traced(accelerator, spec, n=12, maxiter=40, name="poisson7"):
    stopping = Stopping(rtol=1e-8, maxiter=maxiter)
    configuration = configure(name, n=n, rhs="random", solver=spec, device=accelerator.spec, stopping=stopping)
    return run_through(Run(configuration, trace=True))


@pytest.mark.parametrize("spec", SCHEDULES)
def test_tracing_does_not_change_results(accelerator, spec):
    configuration = configure("poisson27", n=9, rhs="random", solver=spec, device=accelerator.spec)
    plain, found = (run_through(Run(configuration, trace=trace)) for trace in (False, True))
    assert found.iterations == plain.iterations
    assert found.x.tolist() == plain.x.tolist()
    assert set(found.trace.column("iteration").tolist()) == set(range(found.iterations + 1))


@pytest.mark.parametrize("spec", SCHEDULES)
def test_events_start_after_their_dependencies_and_the_one_before_in_their_lane_end(accelerator, spec):
    events = list(traced(accelerator, spec).trace)
    assert any(event.after for event in events)
    for event in events:
        for place in event.after:
            assert event.start >= events[place].end - MAPPING, (event, events[place])
    for lane in ("cpu", "accelerator", *COPIES):
        for one, following in itertools.pairwise(event for event in events if event.lane == lane):
            assert following.start >= one.end - MAPPING


@pytest.mark.parametrize(
    ("spec", "copied"),
    [
        ("hybrid1", {"copy to host": ["w", "r", "u"]}),
        ("hybrid2", {"copy to host": ["n_next"]}),
        ("hybrid3:share=0.5", {"copy to host": ["m", "scalars"], "copy to device": ["m"]}),
    ],
)
def test_an_iteration_copies_as_many_words_as_in_the_paper(accelerator, spec, copied):
    # The second iteration; hybrid2's two n take turns.
    events = [event for event in traced(accelerator, spec).trace if event.iteration == 2]
    for lane in COPIES:
        assert [event.name for event in events if event.lane == lane] == copied.get(lane, [])


def waited_for(events, event):
    return {events[place].name for place in event.after}


def test_hybrid1_waits_for_its_copies_before_its_dot_products(accelerator):
    events = list(traced(accelerator, "hybrid1").trace)
    (dots,) = [event for event in events if event.iteration == 3 and event.name.startswith("gamma = (r, u)")]
    assert dots.lane == "cpu"
    assert waited_for(events, dots) == {"w", "r", "u"}


def test_hybrid2_updates_before_waiting_for_n(accelerator):
    events = list(traced(accelerator, "hybrid2").trace)
    hiding, needing = (
        next(event for event in events if event.iteration == 2 and event.lane == "cpu" and event.name.startswith(first))
        for first in ("q = m", "z = n")
    )
    assert not hiding.after
    assert waited_for(events, needing) == {"n_next"}
    assert hiding.end <= needing.start


def test_hybrid3_waits_for_both_halves_of_m_on_both_sides(accelerator):
    events = list(traced(accelerator, "hybrid3:share=0.5").trace)
    for lane in ("cpu", "accelerator"):
        (part2,) = [event for event in events if event.iteration == 2 and event.lane == lane and event.name == "A2 v"]
        # The host asks the accelerator for it when the cores are done with part 1.
        assert sorted({events[place].lane for place in part2.after} - {"cpu"}) == sorted(COPIES)


def overlapping(trace):
    events = list(trace)
    computing = [event for event in events if event.lane not in COPIES]
    return sum(
        any(min(copy.end, other.end) > max(copy.start, other.start) for other in computing)
        for copy in events
        if copy.lane in COPIES
    )


@pytest.mark.parametrize("spec", SCHEDULES)
def test_copies_overlap_with_computation(accelerator, spec):
    if accelerator.spec != "opencl" and not accelerator.spec.startswith("cuda"):
        pytest.skip("the same queues as opencl")
    counts = []
    while not any(counts) and len(counts) < RUNS:
        counts.append(overlapping(traced(accelerator, spec, n=96, maxiter=15).trace))
    assert any(counts), counts
