"""Systems that are prepared once: bitwise equal to solves of their own, for other right-hand sides and moved phases."""

import dataclasses
from typing import Any, cast

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import SIDE_BY_SIDE
from workbench import devices
from workbench.deflation import DeflationContext, PiecewiseConstant
from workbench.deflation.blocks import Blocks
from workbench.deflation.levelset import LevelSet
from workbench.deflation.stripes import Stripes
from workbench.devices.accelerator.launcher import USABLE
from workbench.devices.accelerator.placed_phase import PlacedPhase
from workbench.devices.host import box_parts
from workbench.devices.host.boxes import EarlierParts
from workbench.devices.host.components import numbered_components
from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.problems.diffusion import assemble_two_phases
from workbench.registry import find
from workbench.run import Run, configure, prepare, run_through
from workbench.run.cancellation import StoppedError
from workbench.run.choices.in_memory import InMemoryProblem

METHODS = (
    {},
    {"preconditioner": "neumann:2", "deflation": "levelset:4"},
    {"preconditioner": "mg"},
    {"solver": "pipecg"},
    {"preconditioner": "neumann:2", "deflation": "blocks:4", "variant": "def1", "solver": "fcg"},
)


def of_phase(phase, sides="neumann", ratio=1e-3):
    operator = assemble_two_phases(phase, (1.0, 1 / ratio), sides, scale=float(phase.shape[-1] ** 2))
    b = np.zeros(phase.size)
    return LinearSystem(operator, b, grid=phase.shape, coefficients=(1.0, 1 / ratio), phase=phase.reshape(-1))


def discs(grid, centres, radius):
    cells = np.indices(grid) + 0.5
    inside = [sum((cells[k] - centre[k]) ** 2 for k in range(len(grid))) < radius**2 for centre in centres]
    return np.logical_or.reduce(inside).astype(np.int32)


@pytest.mark.parametrize("method", METHODS)
def test_solves_of_one_setup_equal_runs_of_their_own(method):
    configuration = configure("bubbles-2d", n=33, **method)
    prepared = prepare(configuration)
    draw = np.random.default_rng(5)
    for _ in range(3):
        b, x0 = draw.standard_normal((2, 33 * 33))
        result = prepared.solve(b, x0)
        own = run_through(Run(configuration, dataclasses.replace(prepared.system, given_b=b), x0))
        assert result.iterations == own.iterations > 3
        np.testing.assert_array_equal(result.x, own.x)
        np.testing.assert_array_equal(result.history["residual"], own.history["residual"])
        assert result.true_relative_residual == own.true_relative_residual


MOVED = (
    {},
    {"M": "neumann:1"},
    {"M": "neumann:3", "deflation": "stripes", "variant": "a-def2"},
    {"M": "neumann:2", "deflation": "levelset:2"},
    {"M": "neumann:2", "deflation": "blocks:2", "variant": "def1"},
    {"M": "chebyshev:3", "deflation": "levelset:0", "solver": "fcg"},
    {"M": "ssor"},
    {"M": "neumann:2", "deflation": "levelset:4", "coarse": "multilevel:bottom=9", "variant": "a-def2"},
    {"M": "neumann:1", "deflation": "levelset:7", "variant": "a-def2"},
    {"M": "mg"},
    {"M": "jacobi", "solver": "pipecg"},
)


@pytest.mark.parametrize("method", MOVED, ids=lambda method: " ".join(method.values()) or "jacobi")
@pytest.mark.parametrize(
    ("grid", "sides"), [((21, 13), "neumann"), ((21, 13), "y-:dirichlet"), ((9, 7, 11), "neumann")]
)
def test_updated_phases_equal_a_fresh_setup(grid, sides, method):
    draw = np.random.default_rng(3)
    phase = discs(grid, [(4.5,) * len(grid)], 3)
    prepared = prepare(of_phase(phase, sides), **method)
    # Moved by a part of a cell three times, of which the first update has nothing to keep; then grains everywhere.
    for centre in (4.7, 5.0, 5.3, None):
        b = draw.standard_normal(phase.size)
        prepared.solve(b)
        before = phase
        phase = discs(grid, [(centre,) * len(grid)], 3) if centre else phase ^ (draw.random(grid) < 0.3)
        update = prepared.update(phase)
        assert update.changed == np.count_nonzero(phase != before) > 0
        assert update.full == (centre is None)
        assert prepared.system.phase is not None
        numbers = prepared.system.phase.reshape(grid)
        fresh = prepare(of_phase(numbers, sides), **method)
        np.testing.assert_array_equal(numbers > 0, phase > 0)
        for _ in range(2):
            ours, theirs = prepared.solve(b), fresh.solve(b)
            np.testing.assert_array_equal(ours.x, theirs.x)
            assert ours.iterations == theirs.iterations > 2
    assert prepared.update(phase).changed == 0


def test_an_update_that_merges_components_is_full():
    apart = discs((16, 24), [(8, 5), (8, 18)], 4)
    bridge = apart.copy()
    bridge[8] = apart[8] | (np.arange(24) > 5) & (np.arange(24) < 18)
    prepared = prepare(of_phase(apart), M="neumann:1", deflation="levelset:8")
    for phase in (bridge, apart):
        update = prepared.update(phase)
        assert update.full
        assert "merge or split" in update.detail
    nearer = apart.copy()
    nearer[8, 9] = 1
    assert not prepared.update(nearer).full


@pytest.mark.parametrize("accelerator", [SIDE_BY_SIDE, "cuda"], indirect=True)
@pytest.mark.parametrize("method", [MOVED[0], MOVED[4], MOVED[7], MOVED[9]])
def test_an_accelerator_keeps_programs_and_renews_what_they_have_recorded(accelerator, method):
    """After each update, of phases in its memory or the host's, solves equal those of a fresh setup."""
    draw, grid = np.random.default_rng(1), (19, 22)
    phases = [discs(grid, [(6 + step, 6), (13, 16 - step)], 4.3) for step in (0, 0.6, 1.3)]
    phases = [numbered_components(phase, grid) for phase in phases]
    prepared = prepare(of_phase(phases[0].reshape(grid)), device=accelerator.spec, **method)
    kept = []
    for before, phase in zip(phases[:1] + phases, phases, strict=False):
        moved = np.flatnonzero(phase != before)
        given = PlacedPhase.of(accelerator, phase) if len(kept) < 4 else phase
        assert prepared.update(given, numbered=True, moved=moved).changed == moved.size
        fresh = prepare(of_phase(phase.reshape(grid)), device=accelerator.spec, **method)
        for _ in range(2):
            b, x0 = draw.standard_normal((2, phase.size))
            b -= b.mean()
            result, own = prepared.solve(b, x0), fresh.solve(b, x0)
            assert result.iterations == own.iterations > 3
            np.testing.assert_array_equal(result.x, own.x)
            np.testing.assert_array_equal(result.history["residual"], own.history["residual"])
            kept.append(prepared._recurrence)
    assert len(set(kept)) == 1
    assert kept[0]
    np.testing.assert_array_equal(np.asarray(prepared.system.phase), phases[-1])


def test_an_update_without_room_for_both_setups_drops_the_vectors_of_the_method(accelerator):
    grid = (19, 22)
    before, after = (discs(grid, [(9, centre)], 6) for centre in (10, 10.6))
    prepared = prepare(of_phase(before), device=accelerator.spec, M="neumann:1", memory_limit="1 GB")
    b = np.random.default_rng(3).standard_normal(before.size)
    prepared.solve(b - b.mean())
    budget = cast(Any, prepared._setup.device).budget
    budget._memory = int((budget.used + 500) / USABLE)
    assert prepared._recurrence
    assert prepared.update(after).changed
    assert prepared._recurrence is None
    fresh = prepare(of_phase(after), device=accelerator.spec, M="neumann:1")
    np.testing.assert_array_equal(prepared.solve(b - b.mean()).x, fresh.solve(b - b.mean()).x)


def test_only_what_changed_cells_touch_is_made_anew():
    # Where parts of boxes are kept, an error in those far from the changed cells stays; near them it is mended.
    grid = (24, 24)
    before, after = (discs(grid, [(centre, 12)], 7) for centre in (12, 12.4))
    boxes = (8, 8)
    labels, known = box_parts.numbered_parts(before, grid, boxes) or pytest.fail("too many")
    operator: Any = of_phase(before).operator
    rows = box_parts.face_parts_matrix(operator.faces, labels, known) or pytest.fail("too many")
    wrong = rows[0] + 1, *rows[1:]
    earlier = EarlierParts.of(labels, known, wrong, np.flatnonzero(before != after))
    assert 0 < np.count_nonzero(earlier.moved) < np.count_nonzero(earlier.stale) < earlier.stale.size
    moved, parts = box_parts.numbered_parts(after, grid, boxes, earlier) or pytest.fail("too many")
    fresh, fresh_parts = box_parts.numbered_parts(after, grid, boxes) or pytest.fail("too many")
    np.testing.assert_array_equal(moved, fresh)
    for name in ("box", "phases", "sizes"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(fresh_parts, name))
    operator = of_phase(after).operator
    renewed = box_parts.face_parts_matrix(operator.faces, moved, parts, earlier) or pytest.fail("too many")
    anew = box_parts.face_parts_matrix(operator.faces, moved, parts) or pytest.fail("too many")
    np.testing.assert_array_equal(renewed[1], anew[1])
    of_box = np.repeat(parts.box, np.diff(anew[2]))
    np.testing.assert_array_equal(renewed[0] - anew[0], np.where(earlier.stale[of_box], 0, 1))


def test_an_update_keeps_z_where_labels_stay():
    phase = discs((21, 13), [(4.5, 4.5)], 3)
    moved = discs((21, 13), [(5.5, 4.5)], 3)
    draw = np.random.default_rng(2)
    for deflation, kept in ((Blocks(3), True), (Stripes(6), True), (LevelSet(3), False)):
        before, after = (deflation.space(context_of(of)) for of in (phase, moved))
        assert isinstance(before, PiecewiseConstant)
        assert isinstance(after, PiecewiseConstant)
        operator, device = of_phase(phase).operator, devices.device("cpu")
        first = before.bind(operator, operator.bind(device), device)
        after.keep(before, first.z)
        second = after.bind(operator, operator.bind(device), device)
        assert (second.z is first.z) == kept
        vector = draw.standard_normal(phase.size)
        np.testing.assert_allclose(second.z.restrict(vector), np.bincount(after.labels, vector), atol=1e-13)


def context_of(phase):
    operator, device = of_phase(phase).operator, devices.device("cpu")
    A = operator.bind(device)
    return DeflationContext(operator, A, A, device, phase.shape, phase.reshape(-1))


def test_an_update_that_fails_leaves_the_system_before():
    phase = discs((21, 13), [(4.5, 4.5)], 3)
    prepared = prepare(of_phase(phase), M="neumann:2", deflation="levelset:2")
    b = np.random.default_rng(1).standard_normal(phase.size)
    before = prepared.solve(b).x
    with pytest.raises(InputError, match="phases are integers"):
        prepared.update(-phase)
    np.testing.assert_array_equal(prepared.solve(b).x, before)


def test_components_of_one_number_are_numbered():
    # Seven bubbles of one phase, gaps of three cells: as one number multilevel cycles make 300 iterations and more.
    grid = (128, 64)
    phase = discs(grid, [(12, 12), (12, 27), (12, 42), (27, 19), (27, 34), (60, 12), (60, 26)], 6)
    heights = 0.5 + np.arange(128)[:, None] / 64
    b = of_phase(np.zeros(grid, int)).operator.to_csr() @ (phase * heights).reshape(-1)
    configuration = configure(
        InMemoryProblem(), preconditioner="neumann:2", deflation="levelset:16", coarse="multilevel"
    )
    run = Run(configuration, dataclasses.replace(of_phase(phase), given_b=b))
    numbers = run.setup.system.phase
    assert numbers is not None
    assert numbers.max() == 7
    assert run_through(run).converged
    assert run.iterations <= 20
    assert (
        prepare(of_phase(phase), M="neumann:2", deflation="levelset:16", coarse="multilevel").solve(b).iterations <= 20
    )


def test_numbers_persist_while_components_move():
    grid = (12, 40)
    before = numbered_components(discs(grid, [(6, 10), (5, 30)], 4), grid)
    assert set(before) == {0, 1, 2}
    # The second now has the lower rows, with which labels of SciPy would exchange them.
    for step in range(4):
        moved = numbered_components(discs(grid, [(6 - step % 2, 10), (5 + step % 2, 30)], 4), grid, before)
        assert moved.reshape(grid)[6, 10] == before.reshape(grid)[6, 10]
        assert moved.reshape(grid)[6, 30] == before.reshape(grid)[6, 30]
        before = moved
    merged = numbered_components(np.ones(grid), grid, before)
    assert np.unique(merged).size == 1


def test_columns_and_new_entries():
    A = sparse.csr_array(2.5 * np.eye(41) - np.eye(41, k=1) - np.eye(41, k=-1))
    prepared = prepare(A, rtol=1e-10)
    B = np.random.default_rng(2).standard_normal((41, 3))
    result = prepared.solve(B)
    assert result.converged
    np.testing.assert_allclose(A @ result.x, B, atol=1e-8)
    assert prepared.update(2 * A).full
    np.testing.assert_allclose(2 * A @ prepared.solve(B[:, 0]).x, B[:, 0], atol=1e-8)


def test_results_stay_when_another_is_solved():
    prepared = prepare(sparse.diags_array(np.arange(1.0, 8.0)))
    first = prepared.solve(np.ones(7)).x
    kept = first.copy()
    prepared.solve(np.arange(7.0))
    np.testing.assert_array_equal(first, kept)
    assert prepared.solve(np.zeros(7)).iterations == 0


def test_a_failed_solve_leaves_a_usable_system():
    prepared = prepare(configure("two-layer", n=16, stopping={"maxiter": 2}))
    b = np.random.default_rng(0).standard_normal(256)
    first = prepared.solve(b)
    assert not first.converged
    np.testing.assert_array_equal(prepared.solve(b).x, first.x)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (np.full((16, 16), np.nan), "phase is nan in cell 0"),
        (np.ones((8, 32), int), r"phase has shape \(8, 32\); give the shape of the grid"),
        (-np.ones(256, int), "phases are integers from 0"),
        (np.eye(5), r"A has shape \(5, 5\)"),
    ],
)
def test_wrong_updates_are_refused_and_the_system_kept(values, sentence):
    prepared = prepare(configure("two-layer", n=16))
    system = prepared.system
    with pytest.raises(InputError, match=sentence):
        prepared.update(values)
    assert prepared.system is system
    assert prepared.solve(system.b).converged


def test_a_solve_is_stopped_between_two_checks():
    prepared = prepare(configure("two-layer", n=33, preconditioner="jacobi"))
    b = np.random.default_rng(5).standard_normal(33 * 33)
    whole = prepared.solve(b)
    for asked in (0, 2):
        times = iter(range(10))
        with pytest.raises(StoppedError):
            prepared.solve(b, None, lambda times=times, asked=asked: next(times) == asked)
    again = prepared.solve(b)
    assert again.iterations == whole.iterations
    np.testing.assert_array_equal(again.x, whole.x)


def test_wrong_right_hand_sides_and_settings_are_refused():
    A = sparse.csr_array(3 * np.eye(5) - np.eye(5, k=1) - np.eye(5, k=-1))
    prepared = prepare(A)
    with pytest.raises(InputError, match="shape"):
        prepared.solve(np.ones(4))
    with pytest.raises(InputError, match="b holds nan at entry 0"):
        prepared.solve(np.full(5, np.nan))
    with pytest.raises(InputError, match="another pattern"):
        prepared.update(sparse.eye_array(5))
    with pytest.raises(InputError, match="one process"):
        prepare(A, ranks=2)
    with pytest.raises(InputError, match="says the method already"):
        prepare(configure("two-layer", n=16), M="mg")
    for given in ({"M": np.eye(3)}, {"deflation": np.eye(3)}, {"nullspace": np.ones(3)}, {"rtol": 1e-3}, {"M": None}):
        with pytest.raises(InputError, match="says the method already"):
            prepare(configure("two-layer", n=16), **given)
    with pytest.raises(InputError, match="rtol must be a number"):
        prepare(configure("two-layer", n=16), rtol=np.ones(3))
    with pytest.raises(InputError, match="positive and finite, got 0"):
        assemble_two_phases(np.ones((4, 4), int), (1.0, 0.0), "neumann")


@pytest.mark.parametrize("M", ["none", "jacobi", "neumann:2", "ssor", "chebyshev:3"])
def test_the_first_level_of_a_prepared_system_is_symmetric_and_that_of_its_run(M):
    configuration = configure("poisson5", n=9, preconditioner=M, deflation="blocks:3")
    prepared, draw = prepare(configuration), np.random.default_rng(1)
    x, y = draw.standard_normal((2, 81))
    assert np.dot(prepared.precondition(x), y) == pytest.approx(np.dot(x, prepared.precondition(y)))
    # Without a second level the first direction of CG is M^-1 b.
    alone = Run(dataclasses.replace(configuration, deflation=find("deflation", "none")))
    alone.step(), alone.step()
    direction = prepared.precondition(prepared.system.b)
    parallel = np.dot(alone.x, direction) / np.linalg.norm(alone.x) / np.linalg.norm(direction)
    assert parallel == pytest.approx(1)
