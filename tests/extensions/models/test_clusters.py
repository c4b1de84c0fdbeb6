"""The model of ranks: an iteration by hand, messages of slabs and boxes, noise, coarse solves, crossings."""

from __future__ import annotations

import dataclasses

import pytest

from workbench.devices.clock import NETWORK, WAITING
from workbench.errors import InputError
from workbench.extensions.models.one_rank import expected_on_ranks, one_rank, one_rank_of
from workbench.extensions.models.ranks_model import (
    COUNTS,
    cluster,
    clusters,
    coarse_seconds,
    model_on_ranks,
    model_ranks,
    overtakes,
    scaling_on_ranks,
)
from workbench.extensions.models.shared_rows import Fabric
from workbench.machines.profile import Number, Profile, profile
from workbench.run import Run, configure


def number(value):
    return Number(value, "assumed", "a test")


def a_cluster(bandwidth=4e10, per_node=4, network_latency=5e-6):
    return Profile(
        "c",
        "a cluster",
        "cpu",
        bandwidth_nominal=number(bandwidth),
        ranks_per_node=number(per_node),
        peer_bandwidth=number(1e10),
        peer_latency=number(1e-6),
        network_bandwidth=number(2e10),
        network_latency=number(network_latency),
    )


def of(solver, problem="poisson7", n=12, **more):
    return one_rank(configure(problem, n=n, solver=solver, **more))


@pytest.fixture(scope="module")
def cg():
    return of("cg")


@pytest.fixture(scope="module")
def pipecg():
    return of("pipecg")


def moved(one, rows, ghosts=0):
    """Bytes of an iteration on a rank; ghosts: rows computed as well in front of a product."""
    parts = [part for _, parts in one.steps for part in parts]
    return sum(part.event.bytes * (rows + ghosts * bool(part.planes)) / one.unknowns for part in parts)


def test_one_rank_has_its_share_of_a_node_and_no_messages(cg):
    found = expected_on_ranks(cg, a_cluster(), 1)
    assert found.seconds == pytest.approx(moved(cg, 12**3) / 1e10, rel=1e-5)
    assert {event.lane for event in found.trace} == {"rank 0"}


def test_an_iteration_of_cg_on_slabs_by_hand(cg):
    """12 planes of 144 rows on 6 ranks of two nodes: the third rank and the fourth receive through the network too."""
    machine, fabric = a_cluster(), Fabric.of(a_cluster())
    found = expected_on_ranks(cg, machine, 6)
    # The rank in the middle, rank 3, is the last of its node: one plane through the link, one through the network.
    exchange = max(1e-6 + 8 * 144 / 1e10, 5e-6 + 8 * 144 / 2e10)
    # delta alone, then gamma, uu and rr: two doublings in a node, one between the two nodes.
    sums = fabric.all_reduce(6, 8) + fabric.all_reduce(6, 24)
    assert fabric.all_reduce(6, 8) == pytest.approx(2 * (1e-6 + 8e-10) + 5e-6 + 4e-10)
    work = moved(cg, 2 * 144, ghosts=2 * 144) / 1e10
    assert found.seconds == pytest.approx(work + exchange + sums, rel=1e-4)


def test_boxes_exchange_their_faces(cg):
    machine = a_cluster()
    found = expected_on_ranks(cg, machine, 8, n=24, shape="boxes")
    rows, face = 12**3, 144
    inside = 3 * (1e-6 + 2 * 8 * face / 1e10)
    between = 3 * (5e-6 + 2 * 4 ** (2 / 3) * 8 * face / 2e10)
    sums = Fabric.of(machine).all_reduce(8, 8) + Fabric.of(machine).all_reduce(8, 24)
    work = moved(cg, rows, ghosts=6 * face) / 1e10
    assert found.seconds == pytest.approx(work + max(inside, between) + sums, rel=1e-4)


def test_pipelined_cg_hides_its_sum_and_noise_delays_it(cg, pipecg):
    machine, fabric = a_cluster(), Fabric.of(a_cluster())
    large = {"n": 240, "shape": "boxes"}
    quiet = expected_on_ranks(pipecg, machine, 64, **large).seconds
    noisy = dataclasses.replace(fabric, noise=1e-5)
    late = 1e-5 * sum(1 / k for k in range(1, 65))
    assert noisy.all_reduce(64, 8) == pytest.approx(fabric.all_reduce(64, 8) + late)
    # The product takes longer than the sum: it hides the delay, which CG pays twice.
    assert expected_on_ranks(pipecg, machine, 64, fabric=noisy, **large).seconds == pytest.approx(quiet, rel=1e-9)
    before = expected_on_ranks(cg, machine, 64, **large).seconds
    after = expected_on_ranks(cg, machine, 64, fabric=noisy, **large).seconds
    assert after - before == pytest.approx(2 * late, rel=1e-6)


def test_a_series_exchanges_its_planes_once_and_thin_slabs_are_refused():
    one = of("cg", problem="two-layer", n=16, preconditioner="neumann:3")
    planes = [part.planes for _, parts in one.steps for part in parts if part.planes]
    assert sorted(planes) == [1, 3]
    assert expected_on_ranks(one, a_cluster(), 4).seconds
    refused = expected_on_ranks(one, a_cluster(), 8)
    assert "16 planes on 8 ranks leave 2; use at most 5 ranks, or shape boxes" in refused.why


@pytest.mark.parametrize(("problem", "planes"), [("poisson27", 1), ("poisson125", 2)])
def test_a_matrix_exchanges_as_many_planes_as_its_rows_reach(problem, planes):
    one = of("cg", problem=problem, n=9)
    assert [part.planes for _, parts in one.steps for part in parts if part.planes] == [planes]


def test_every_rank_solves_with_all_of_e():
    one = of("cg", problem="bubbles-3d", n=12, preconditioner="neumann:1", deflation="blocks:3", coarse="sparse")
    words = [part.words for _, parts in one.steps for part in parts if part.words]
    assert words == [27]
    solves = [part.event for _, parts in one.steps for part in parts if part.redundant]
    assert [event.name for event in solves] == ["E^-1"]
    machine = a_cluster()
    alone, many = (expected_on_ranks(one, machine, ranks, n=64, shape="boxes").trace for ranks in (1, 512))
    assert coarse_seconds(alone) == pytest.approx(solves[0].seconds)
    summed = Fabric.of(machine).all_reduce(512, 27 * 8)
    assert coarse_seconds(many) == pytest.approx(solves[0].seconds + summed)
    # Nothing else of the solve is left to do: the sum of Z^T r is waited for.
    assert any(event.name == WAITING for event in many)


def test_lines_decide_what_overtakes_on_many_ranks(cg, pipecg):
    machine = a_cluster(network_latency=1e-4)
    model = model_ranks([cg, pipecg], machine, n=120, shape="boxes")
    assert list(model.seconds) == ["CG", "Pipelined CG"]
    at = model.crossings["Pipelined CG"]
    place = COUNTS.index(at)
    first, other = model.seconds.values()
    assert other[place] < first[place]
    assert place == 0 or other[place - 1] >= first[place - 1]
    assert f"Pipelined CG takes less time than CG from {at} ranks on" in model.sentences
    assert scaling_on_ranks(cg, machine, n=120, shape="boxes") == first
    # No sum costs anything: the method with more vectors is never faster.
    free = dataclasses.replace(machine, network_latency=number(0), peer_latency=number(0))
    assert model_ranks([cg, pipecg], free, n=120, shape="boxes").crossings == {"Pipelined CG": None}
    assert overtakes([4, 8, 16], [None, 2.0, 2.0], [1.0, 1.0, None]) == 8


def test_lanes_are_ranks_and_the_network(pipecg):
    trace = expected_on_ranks(pipecg, a_cluster(), 12).trace
    assert {event.lane for event in trace} == {"rank 0", "rank 6", "rank 11", NETWORK}
    assert any("nothing was measured on several ranks" in note for note in trace.notes)
    assert any("is nominal" in note or "is a test" in note for note in trace.notes)


def test_clusters_have_all_numbers_with_their_sources():
    for found in clusters().values():
        fabric = Fabric.of(found)
        assert fabric.per_node == found.ranks_per_node.value
        assert fabric.noise == 0
    assert cluster("ARCHER2") == profile("archer2")


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda one: cluster("k40"), "unknown cluster 'k40'; known: .*archer2"),
        (lambda one: expected_on_ranks(one, a_cluster(), 0), "the model has 1 to 4096 ranks, got 0"),
        (lambda one: expected_on_ranks(one, a_cluster(), 5000), "the model has 1 to 4096 ranks, got 5000"),
        (lambda one: expected_on_ranks(one, a_cluster(), 4, shape="box"), "unknown shape 'box'; did you mean boxes"),
        (lambda one: expected_on_ranks(one, a_cluster(), 4, n=0), "at least 1 plane, got 0"),
        (lambda one: model_ranks([one], a_cluster(), noise=-1), "noise is the mean delay in seconds, .* got -1"),
        (lambda one: model_ranks([one, one], a_cluster()), "two methods have the same solver and deflation"),
        (lambda one: of("cg", preconditioner="ssor"), "preconditioner ssor does not run on ranks; use"),
        (lambda one: of("cg", preconditioner="chebyshev"), "the model of ranks has preconditioner none, .* got cheb"),
        (lambda one: one_rank_of(Run(configure("poisson5", n=4))), "needs a traced run"),
        (lambda one: model_on_ranks([], a_cluster()), "a model needs at least one method"),
    ],
)
def test_wrong_input_is_a_sentence(act, sentence, cg):
    with pytest.raises(InputError, match=sentence):
        act(cg)
