"""Inner products of terms by the workers that hold them: dense algebra, the same runs, lost workers, refusals."""

from __future__ import annotations

import asyncio
import os
import signal

import numpy as np
import pytest
from scipy import sparse

from tests.extensions.dask.faults import hang_and_be_missed, kill_during, process_of, watched_clusters
from workbench.devices.pieces import Pieces
from workbench.errors import DeviceError, InputError
from workbench.extensions.dask.part_sums import PartSums, edge_of, part_of
from workbench.extensions.dask.tree_node import Neighbour, Peer, Place, TreeNode, Unreached
from workbench.extensions.dask.tree_sums import TreeSums
from workbench.registry import blocks as registry
from workbench.run import Configuration, Run, configure, run_through, solve

distributed = pytest.importorskip("distributed")
BOXES = "schwarz:3x3,overlap=4"


def configuration(cluster: str | None, name: str = "mpcg", M: str = BOXES, n: int = 40, **choice) -> Configuration:
    solver = registry.find("solver", name, sums="workers" if cluster else "here", **choice)
    return configure("poisson-fd", n=n, solver=solver, preconditioner=M, cluster=cluster)


def assert_same(found, expected):
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.x, expected.x, rtol=0, atol=1e-10 * abs(expected.x).max())


def random_system(dtype=float):
    """A matrix of 30 unknowns that couples neighbours, and 4 pieces that overlap, one of them in two parts."""
    rng = np.random.default_rng(0)
    A = np.diag(rng.random(30) + 4) + np.diag(rng.random(29), 1) + np.diag(rng.random(28), 2)
    A = (A + A.T).astype(dtype)
    if np.iscomplexobj(A):
        A[0, 1], A[1, 0] = 1j, -1j
    parts = [np.arange(0, 9), np.r_[7:14, 20:22], np.arange(13, 23), np.arange(21, 30)]
    return rng, sparse.csr_array(A), Pieces(30, parts)


def dense(pieces, local):
    """The terms in columns of all unknowns."""
    Z = np.zeros((pieces.size, pieces.count), local.dtype)
    for box in range(pieces.count):
        Z[pieces.part(box), box] = local[pieces.firsts[box] : pieces.firsts[box + 1]]
    return Z


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("boxes", [range(1), range(1, 3), range(4)])
def test_the_sums_of_a_part_are_those_of_dense_algebra(boxes, dtype):
    rng, A, pieces = random_system(dtype)
    terms = [(rng.random(pieces.local_size) + (1j if dtype is np.complex128 else 0)).astype(dtype) for _ in range(6)]
    r = rng.random(30).astype(dtype)
    part, around, inside = part_of(A, pieces, boxes)
    sums = PartSums(part, np.dtype(dtype))
    near = [terms[-1][edge_of(around, pieces, range(box, box + 1)) + pieces.firsts[box]] for box in part.numbers]
    own = slice(pieces.firsts[boxes.start], pieces.firsts[boxes.stop])
    values = sums([term[own] for term in terms], np.concatenate(near), r[pieces.indices[own]])
    columns = np.column_stack([A @ dense(pieces, terms[-1]), r])
    found = np.zeros((6, pieces.count, pieces.count + 1), dtype)
    numbers = np.append(part.numbers, pieces.count)
    for (box, column), row in zip(sums.pairs, values, strict=True):
        found[:, boxes.start + box, numbers[column]] = row
    for place, term in enumerate(terms):
        expected = dense(pieces, term).conj().T @ columns
        np.testing.assert_allclose(
            found[place][boxes.start : boxes.stop], expected[boxes.start : boxes.stop], rtol=1e-12
        )
    weights = rng.random((6, len(boxes)))
    step = sum(dense(pieces, term)[:, boxes.start : boxes.stop] @ row for term, row in zip(terms, weights, strict=True))
    np.testing.assert_allclose(sums.combined([term[own] for term in terms], weights), step[inside], rtol=1e-12)


class LocalNode(TreeNode):
    """A node in this process. others: all nodes, by name."""

    def __init__(self, others: dict[str, LocalNode]) -> None:
        super().__init__()
        self.others = others

    async def ask(self, peer, method, *arguments):
        return await getattr(self.others[peer.key], method)(*arguments)


def a_tree(missing: str = ""):
    """Two boxes of a chain of 8 unknowns, 0 to 4 and 3 to 7, on a node each, with a term each."""
    A = sparse.csr_array(np.diag(np.full(8, 2.0)) - np.diag(np.ones(7), 1) - np.diag(np.ones(7), -1))
    pieces = Pieces(8, [np.arange(5), np.arange(3, 8)])
    nodes: dict[str, LocalNode] = {}
    nodes |= {"a": LocalNode(nodes), "b": LocalNode(nodes)}
    made = [part_of(A, pieces, range(box, box + 1)) for box in range(2)]
    # A couples the unknowns 0 to 4 with 5, so that of the other box 3, 4 and 5 are needed.
    edges = [edge_of(around, pieces, range(1 - box, 2 - box)) for box, (_, around, _) in enumerate(made)]
    np.testing.assert_array_equal(edges, [[0, 1, 2], [2, 3, 4]])
    places = [
        Place(
            *(0, [Peer("", "b")], [Neighbour(Peer("", "b"), slice(5, 8))], slice(0, 5), {1: edges[1]}),
            *(range(1), 8, np.arange(5), [np.arange(3, 8)]),
        ),
        Place(1, [], [Neighbour(Peer("", "a"), slice(0, 3))], slice(3, 8), {0: edges[0]}, range(1, 2), 5),
    ]
    for node, (part, *_), place in zip(nodes.values(), made, places, strict=True):
        node.link(part, place)
        node.restore([np.arange(1.0, 6)], np.ones(5))
    nodes.pop(missing, None)
    return nodes


def test_a_tree_of_two_boxes_by_hand():
    nodes = a_tree()
    rows = asyncio.run(nodes["a"].rows(1))
    assert [found.number for found in rows] == [0, 1]
    # z = 1 2 3 4 5 0 0 0 and z' = 0 0 0 1 2 3 4 5: A z = 0 0 0 0 6 -5 0 0, A z' = 0 0 -1 0 0 0 0 6.
    assert [found.values.ravel().tolist() for found in rows] == [[30, -3, 15], [-3, 30, 15]]
    assert rows[0].marks == tuple(sorted(rows[0].marks))


def test_the_step_of_two_boxes_by_hand():
    found = asyncio.run(a_tree()["a"].step(np.array([[2.0, 10.0]])))
    # 2 z + 10 z', and z, z' as above.
    assert found.values.tolist() == [2, 4, 6, 18, 30, 30, 40, 50]
    assert sorted(found.marks) == [0, 1]
    assert asyncio.run(a_tree(missing="b")["a"].step(np.ones((1, 2)))) == Unreached("")


def test_a_tree_repeats_its_answer_and_counts_iterations():
    nodes = a_tree()
    for node in nodes.values():
        node._latest = np.zeros(5)
    for _ in range(2):
        (values, *_) = [found.values for found in asyncio.run(nodes["a"].rows(2))]
        np.testing.assert_array_equal(values, [[0, 0], [0, 0], [15, 0]])
    assert asyncio.run(nodes["a"].rows(1))[0].values.shape == (3, 1)


def test_a_node_that_is_missing_is_named():
    nodes = a_tree(missing="b")
    assert asyncio.run(nodes["a"].rows(1)) == Unreached("")


def test_an_error_of_a_node_is_returned():
    nodes = a_tree()
    nodes["b"]._sums = None
    assert isinstance(asyncio.run(nodes["a"].rows(1)), TypeError)


@pytest.mark.parametrize(
    ("M", "choice"),
    [
        (BOXES, {}),
        (BOXES, {"keep": 2}),
        (BOXES, {"restart": 3}),
        (BOXES, {"name": "mpcg-adaptive", "tau": 1.0}),
        ("schwarz:5x1,overlap=3,coefficients=constant", {}),
        ("schwarz:2x2,precision=float32", {}),
        ("schwarz:1x1", {}),
    ],
)
def test_runs_are_the_same(scheduler, M, choice):
    expected, found = (run_through(Run(configuration(name, M=M, **choice))) for name in (None, scheduler))
    assert_same(found, expected)
    boxes = [note for note in found.provenance["notes"] if note.startswith("inner products and step: ")]
    assert len(boxes) == 1


def test_a_complex_matrix_without_a_grid(scheduler):
    A = np.diag(np.full(30, 4 + 0j)) + np.diag(np.full(29, 1j), 1) + np.diag(np.full(29, -1j), -1)
    solver = registry.find("solver", "mpcg", sums="workers")
    M, b = "schwarz:5x1,overlap=2", np.arange(30) + 1j
    expected, found = solve(A, b, solver="mpcg", M=M), solve(A, b, solver=solver, M=M, cluster=scheduler)
    assert_same(found, expected)


def test_the_bytes_that_are_said(scheduler):
    """Three boxes of a chain of 12 unknowns, each grown by 1: a neighbour needs 3 unknowns, in four directions."""
    A = np.diag(np.full(12, 2.0)) - np.diag(np.ones(11), 1) - np.diag(np.ones(11), -1)
    solver = registry.find("solver", "mpcg", sums="workers")
    result = solve(A, np.ones(12), solver=solver, M="schwarz:3x1,overlap=1", cluster=scheduler)
    notes = str(result.provenance["notes"])
    assert "compute them, and send one another 0.096 kB of terms" in notes
    # All 12 unknowns from the root, 6 and 5 from the two below it.
    assert "0.184 kB of the step travel along their tree" in notes


def test_other_applications_of_M_disturb_nothing(scheduler):
    expected = run_through(Run(configuration(None)))
    run = Run(configuration(scheduler))
    r, u = np.random.default_rng(0).random((2, 39**2))
    for _ in range(5):
        run.step()
        run.setup.M.apply(r, u)
    assert_same(run_through(run), expected)


def lost(result) -> list[str]:
    return [note for note in result.provenance["notes"] if "was lost in" in note]


@pytest.mark.slow
@pytest.mark.parametrize("root", [True, False], ids=["the root", "a leaf"])
@pytest.mark.parametrize("method", ["rows", "step", "solve_and_keep"])
def test_a_worker_that_is_lost_during_a_request_changes_nothing(method, root, monkeypatch):
    expected = run_through(Run(configuration(None)))
    run = Run(configuration("local:3"))
    for _ in range(4):
        run.step()
    connected = run.setup.workers
    holder = run.setup.first_level.members[0].solver.shares[0 if root else 2].holder
    pid = process_of(connected, holder)
    kill_during(connected, pid, monkeypatch, method)
    result = run_through(run)
    assert_same(result, expected)
    (note,) = lost(result)
    assert note.startswith(f"worker {holder.address} was lost in ")
    assert note.endswith(
        "and their solves were repeated" if method == "solve_and_keep" else "and were sent their terms again"
    )


@pytest.mark.slow
def test_a_node_that_hangs_is_lost_once_the_scheduler_misses_it(monkeypatch):
    """The root does not hang, but waits for it."""
    made = watched_clusters(monkeypatch)
    expected = run_through(Run(configuration(None)))
    run = Run(configuration("local:3"))
    run.step()
    connected = run.setup.workers
    holder = run.setup.first_level.members[0].solver.shares[2].holder
    pid = process_of(connected, holder)
    call, timers = connected.call, []

    def hanging(name, calls, **more):
        if name == "rows" and not timers:
            timers.append(hang_and_be_missed(made[0], pid, holder))
        return call(name, calls, **more)

    monkeypatch.setattr(connected, "call", hanging)
    result = run_through(run)
    timers[0].join()
    assert_same(result, expected)
    assert lost(result)[0].startswith(f"worker {holder.address} was lost in the inner products after application ")


@pytest.mark.slow
def test_two_of_three_workers_lost_one_after_the_other():
    expected = run_through(Run(configuration(None)))
    run = Run(configuration("local:3"))
    for pid in run.setup.workers.processes[:2]:
        run.step()
        os.kill(pid, signal.SIGKILL)
        run.step()
    result = run_through(run)
    assert_same(result, expected)
    assert len(lost(result)) >= 2


@pytest.mark.slow
def test_a_loss_while_the_others_are_joined_again(monkeypatch):
    expected = run_through(Run(configuration(None)))
    run = Run(configuration("local:3"))
    for _ in range(3):
        run.step()
    first, second, _ = run.setup.workers.processes
    kill_during(run.setup.workers, second, monkeypatch, "link")
    os.kill(first, signal.SIGKILL)
    result = run_through(run)
    assert_same(result, expected)
    assert len(lost(result)) >= 2


def test_workers_that_do_not_reach_one_another_end_the_run(scheduler, monkeypatch):
    run = Run(configuration(scheduler))
    run.step()
    monkeypatch.setattr(TreeSums, "_reply", lambda self, *_: Unreached("tcp://far:1"))
    with pytest.raises(DeviceError, match="worker tcp://far:1 of cluster .* does not answer the other workers, which"):
        run.setup.first_level.members[0]._sums.columns([])


def test_sums_that_workers_cannot_compute_are_refused():
    solver = registry.find("solver", "mpcg", sums="workers")
    chosen = {"solver": solver, "n": 20}
    with pytest.raises(InputError, match="mpcg with sums=workers needs preconditioner schwarz alone, and a cluster"):
        Run(configure("poisson-fd", preconditioner=BOXES, **chosen))
    with pytest.raises(InputError, match="mpcg with sums=workers needs preconditioner schwarz alone, and a cluster"):
        Run(configure("poisson-fd", preconditioner="schwarz:2x2 + coarse:4", cluster="local:2", **chosen))
    with pytest.raises(InputError, match="mpcg with sums=workers needs deflation none"):
        Run(configure("poisson-fd", preconditioner=BOXES, deflation="blocks:4", cluster="local:2", **chosen))
