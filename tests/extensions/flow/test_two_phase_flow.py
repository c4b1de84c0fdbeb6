"""The flow of two fluids against known solutions; pressures by a direct solver, so that only the flow is tested."""

import dataclasses
import functools
import itertools
import math

import numpy as np
import pytest
from scipy import ndimage
from scipy.sparse import linalg

from workbench.devices.accelerator.placed_phase import PlacedPhase
from workbench.devices.host.components import numbered_components
from workbench.devices.interchange import on_host
from workbench.errors import InputError
from workbench.extensions.flow import two_phase_flow
from workbench.extensions.flow.components import Components
from workbench.extensions.flow.padded_grid import GHOSTS, PaddedGrid
from workbench.extensions.flow.rising_bubbles import BubbleSystems, RisingBubbles
from workbench.extensions.flow.two_phase_flow import Fluids, TwoPhaseFlow
from workbench.problems.diffusion import assemble_two_phases

WATER_AIR = Fluids((1000.0, 10.0), (1.0, 0.1), 1.0, 9.81)
EQUAL = Fluids((1.0, 0.05), (1.0, 0.05), 0.0, 0.0)


def centres(grid):
    """Coordinates of the cells, x first."""
    return [grid.h * (axis + 0.5) for axis in np.indices(grid.grid)[::-1]]


def disc(grid, centre, radius):
    return np.sqrt(sum((x - m) ** 2 for x, m in zip(centres(grid), centre, strict=True))) - radius


def direct(flow, b):
    A = assemble_two_phases(flow.components.labels, flow.fluids.coefficients, "neumann", scale=flow.grid.h**-2)
    p, b = np.zeros(b.size), on_host(b, "b")
    p[1:] = linalg.splu(A.to_csr().tocsc()[1:, 1:]).solve(b[1:])
    return p - p.mean()


def advance(flow, steps=1, until=math.inf):
    for _ in range(steps):
        if flow.time >= until * (1 - 1e-12):
            break
        flow.end(direct(flow, flow.begin(until)))
    return flow


def flow_of(cells, fluids, phi, no_slip=None, **values):
    grid = PaddedGrid(cells, 1 / cells[0], no_slip or (False,) * (len(cells) - 1) + (True,))
    return TwoPhaseFlow(grid, fluids, phi(grid), **values)


@pytest.mark.parametrize("height", [0.5, 0.513])
def test_a_flat_interface_stays_at_rest(height):
    flow = advance(flow_of((16, 21), WATER_AIR, lambda grid: centres(grid)[1] - height), 10)
    assert np.abs(flow.u).max() < 1e-10


def test_a_sphere_of_the_same_fluid_stays_at_rest():
    fluids = Fluids((1000.0, 10.0), (1000.0, 10.0), 0.0, 9.81)
    flow = advance(flow_of((9, 8, 13), fluids, lambda grid: disc(grid, (0.5, 0.5, 0.5), 0.3)), 5)
    assert np.abs(flow.u).max() == 0.0


@pytest.mark.parametrize("cells", [(24, 40), (12, 11, 15)])
def test_a_bubble_in_the_middle_stays_symmetric(cells):
    fluids = Fluids((1000.0, 10.0), (1.0, 0.1), 1.96, 0.98)
    middle = (0.5, *(count / cells[0] / 2 for count in cells[1:-1]), 0.5)
    flow = advance(flow_of(cells, fluids, lambda grid: disc(grid, middle, 0.3)), 20)
    up = flow.speed(len(cells) - 1)
    assert up.max() > 0.01
    np.testing.assert_allclose(up, up[..., ::-1], atol=1e-10 * up.max())


@pytest.mark.parametrize(("ratio", "bound"), [(1.0, 2e-3), (1000.0, 8e-3)])
def test_the_pressure_in_a_drop_at_rest(ratio, bound):
    """Laplace's jump sigma/R, and the spurious currents as capillary numbers mu |u|/sigma."""
    fluids, errors = Fluids((ratio, 0.1 * ratio**0.5), (1.0, 0.1), 1.0, 0.0), []
    for n in (20, 40):
        flow = advance(flow_of((n, n), fluids, lambda grid: disc(grid, (0.5, 0.5), 0.25)), 30)
        p, inside = flow.grid.inside(flow.p), flow.inside
        errors.append(abs((p[inside].mean() - p[~inside].mean()) / 4 - 1))
        assert fluids.outside[1] * np.abs(flow.u).max() < bound
    assert errors[1] < errors[0] < 0.03


def test_a_vortex_that_decays_converges_with_first_order():
    errors = []
    for n in (16, 32):
        flow = flow_of((n, n), EQUAL, lambda grid: np.ones(grid.grid), (False, False), largest_dt=0.25 / n)
        faces = (np.arange(n + 2 * GHOSTS) - GHOSTS) / n
        y, x = np.meshgrid(faces, faces, indexing="ij")
        half = 0.5 / n
        at_start = np.array(
            [
                np.sin(np.pi * x) * np.cos(np.pi * (y + half)),
                -np.cos(np.pi * (x + half)) * np.sin(np.pi * y),
            ]
        )
        flow.u[:] = at_start.reshape(2, -1)
        advance(flow, 10**6, until=0.25)
        assert flow.time == pytest.approx(0.25)
        exact = math.exp(-2 * math.pi**2 * 0.05 * 0.25) * at_start.reshape(2, -1)
        errors.append(np.abs(flow.grid.inside(flow.u) - flow.grid.inside(exact)).max())
    assert errors[0] < 5e-3
    assert errors[1] < errors[0] / 1.9


def test_a_vortex_in_a_box_keeps_the_volume():
    n, period = 64, 2.0
    flow = flow_of((n, n), EQUAL, lambda grid: disc(grid, (0.5, 0.75), 0.15))
    corners = (np.arange(n + 2 * GHOSTS + 1) - GHOSTS) / n
    stream = np.sin(np.pi * corners[None, :]) ** 2 * np.sin(np.pi * corners[:, None]) ** 2 / np.pi
    u = np.array([-np.diff(stream, axis=0)[:, :-1], np.diff(stream, axis=1)[:-1]]) * n
    before, steps = flow.grid.inside(flow.share()).copy(), 2 * n
    for step in range(steps):
        flow.u[:] = u.reshape(2, -1) * math.cos(math.pi * (step + 0.5) / steps)
        flow.dt = period / steps
        flow.steps = step
        flow.move(lambda part: None)
    after = flow.grid.inside(flow.share())
    assert after.sum() == pytest.approx(before.sum(), rel=1e-4)
    assert np.abs(after - before).sum() < 0.12 * before.sum()


def test_bubbles_that_merge_keep_their_volume_and_one_number():
    """A stagnation point between two bubbles thins the film until it is below a cell; then the flow continues."""
    flow = flow_of(
        (40, 40),
        Fluids((1.0, 0.01), (0.1, 0.001), 0.05, 0.0),
        lambda grid: np.minimum(disc(grid, (0.3, 0.5), 0.17), disc(grid, (0.7, 0.5), 0.17)),
    )
    volumes = flow.components.volumes.copy()
    assert flow.components.count == 2
    away = (np.arange(40 + 2 * GHOSTS) - GHOSTS) / 40 - 0.5
    inflow = np.array([np.broadcast_to(-away, (46, 46)), np.broadcast_to(away[:, None], (46, 46))]).reshape(2, -1)
    for step in range(150):
        flow.u[:], flow.dt, flow.steps = inflow, 0.01, step
        flow.move(lambda part: None)
        if flow.components.has_regrouped:
            break
    assert flow.components.count == 1
    assert flow.components.volumes.sum() == pytest.approx(volumes.sum(), rel=1e-12)
    flow.u[:] = 0
    advance(flow, 10)
    assert not flow.components.has_regrouped
    assert flow.grid.inside(flow.share()).sum() / 1600 == pytest.approx(volumes.sum(), rel=1e-4)
    # One jump for both: what they have in common is pulled into one round drop, so that its neck widens.
    assert flow.speed(1)[:20].min() < 0 < flow.speed(1)[20:].max()


def test_ghosts_of_velocities_are_those_of_every_wall():
    """Against a loop over axes: normal velocities odd about the wall face, tangential ones odd without slip."""
    grid = PaddedGrid((4, 5, 6), 0.25, (True, False, True))
    u = np.random.default_rng(1).standard_normal((3, grid.size))
    expected = u.reshape(3, *grid.shape).copy()
    for d, e in itertools.product(range(3), range(3)):
        v, n = np.moveaxis(expected[d], 2 - e, 0), grid.cells[e]
        if e == d:
            v[[GHOSTS, GHOSTS + n]] = 0
            v[:GHOSTS] = -v[2 * GHOSTS : GHOSTS : -1]
            v[GHOSTS + n + 1 :] = -v[GHOSTS + n - 1 : n : -1]
        else:
            sign = -1 if grid_no_slip(e) else 1
            v[:GHOSTS] = sign * v[2 * GHOSTS - 1 : GHOSTS - 1 : -1]
            v[-GHOSTS:] = sign * v[-GHOSTS - 1 : -2 * GHOSTS - 1 : -1]
    grid.fill_faces(u)
    np.testing.assert_array_equal(u.reshape(3, *grid.shape), expected)


def grid_no_slip(direction):
    return (True, False, True)[direction]


def test_what_is_far_from_the_interface_does_not_count(monkeypatch):
    """A band of six cells and the whole grid give the same flow but for what the kink at the band's edge adds."""

    def moved():
        phi = lambda grid: np.minimum(disc(grid, (0.3, 0.4), 0.2), disc(grid, (0.75, 0.8), 0.2))  # noqa: E731
        return advance(flow_of((40, 52), Fluids((1.0, 0.01), (0.1, 0.001), 0.05, 0.98), phi), 40)

    banded = moved()
    assert banded.grid.around(np.abs(banded.phi) < 5.9 / 40).cells < 0.7 * banded.grid.count
    monkeypatch.setattr(two_phase_flow, "BAND", 1e3)
    whole = moved()
    near = np.abs(whole.phi) < 3 / 40
    np.testing.assert_allclose(banded.phi[near], whole.phi[near], atol=5e-3 / 40)
    np.testing.assert_allclose(banded.u, whole.u, atol=2e-2 * np.abs(whole.u).max())


def test_the_cells_around_chosen_ones_are_pieces_of_rows():
    """Against SciPy's dilation, within the walls; odd sizes, 2D and 3D."""
    draw = np.random.default_rng(3)
    for cells in ((9, 7), (5, 6, 7)):
        grid = PaddedGrid(cells, 1.0, (False,) * len(cells))
        chosen = draw.random(grid.size) < 0.03
        rows = grid.around(chosen)
        found = np.zeros(grid.size, bool)
        for first, end in zip(rows.first, rows.end, strict=True):
            assert not found[first:end].any()
            found[first:end] = True
        box = np.ones((3,) * len(cells), bool)
        expected = grid.inside(ndimage.binary_dilation(chosen.reshape(grid.shape), box).reshape(-1))
        np.testing.assert_array_equal(grid.inside(found), expected)
        assert found.sum() == expected.sum() == rows.cells


def test_bubbles_are_followed_as_if_all_cells_were_numbered_again(device):
    """Some cells move in a step, so that bubbles also merge, split, appear and vanish."""
    draw = np.random.default_rng(0)
    for shape in ((23, 31), (11, 13, 9)):

        def smooth(shape=shape):
            return ndimage.gaussian_filter(draw.standard_normal(shape), 1.5)

        values = smooth()
        placed = (lambda labels: labels) if device.name == "cpu" else functools.partial(PlacedPhase.of, device)
        components, anew = Components(values < -0.8 * values.std(), placed), 0
        for _ in range(100):
            values = values + 0.1 * smooth()
            before, inside = np.asarray(components.labels).reshape(-1), values < -0.8 * values.std()
            moved = np.flatnonzero(inside.reshape(-1) != (before > 0))
            components.follow(moved, lambda inside=inside: inside)
            numbered = numbered_components(inside.view(np.uint8), shape, before)
            np.testing.assert_array_equal(np.asarray(components.labels).reshape(-1), numbered)
            np.testing.assert_array_equal(components.numbers, np.unique(numbered[numbered > 0]))
            anew += components.has_regrouped
        assert 5 < anew < 60


def test_a_bubble_that_vanishes_leaves_its_volume_to_the_nearest():
    """One cell goes, the next time another one moves by a cell, where it has no cell in common with itself."""
    inside = np.zeros((9, 12), bool)
    inside[2:6, 1:4] = inside[6, 6] = inside[2:4, 9:11] = True
    components = Components(inside)
    components.restore(components.labels, np.array([0.0, 12.0, 4.0, 1.0]))
    left, right = (int(components.labels[cell]) for cell in ((2, 1), (2, 9)))
    moved = inside.copy()
    moved[6, 6], moved[7, 7] = False, True
    components.follow(np.flatnonzero(moved != inside), lambda: moved)
    assert components.volumes[components.labels[7, 7]] == 1.0
    gone = moved.copy()
    gone[7, 7] = False
    components.follow(np.flatnonzero(gone != moved), lambda: gone)
    assert components.volumes[[left, right]].tolist() == [12.0, 5.0]
    assert components.volumes.sum() == 17.0


BOXES = {
    "2D": {"n": 37, "height": 48 / 37, "count": 3, "sides": "no-slip"},
    "3D": {"n": 20, "dimensions": 3, "height": 1.15, "bubbles": "0.33,0.36,0.34,0.22; 0.7,0.7,0.75,0.2"},
}


@pytest.mark.parametrize(
    "box", [pytest.param(box, id=name, marks=[pytest.mark.slow] * (name == "2D")) for name, box in BOXES.items()]
)
def test_a_flow_on_an_accelerator_is_that_of_the_cpu(accelerator, box):
    """Half of the steps from a state that went through the host."""
    problem = RisingBubbles(density_ratio=0.01, volume_error=1e-10, **box)
    sides = [BubbleSystems(problem, device) for device in ("cpu", accelerator.spec)]
    ours, theirs = {}, {}
    for half in range(2):
        for side in sides:
            advance(side.flow, 2)
        ours, theirs = (side.state() for side in sides)
        for name, values in ours.items():
            np.testing.assert_allclose(theirs[name], values, rtol=0, atol=1e-10 * np.abs(values).max(), err_msg=name)
        assert sides[1].measures() == pytest.approx(sides[0].measures(), rel=1e-10)
        if half == 0:
            sides[1] = BubbleSystems(problem, accelerator.spec)
            sides[1].restore(theirs)
    assert np.abs(sides[0].fields()["u_x"] - sides[1].fields()["u_x"]).max() < 1e-10
    sides[1].flow.grid.assign(sides[1].flow.u, np.full_like(theirs["u"], np.nan))
    with pytest.raises(InputError, match="not finite"):
        sides[1].flow.begin()


def test_a_flow_needs_double_precision(accelerator, monkeypatch):
    monkeypatch.setattr(accelerator, "layout", dataclasses.replace(accelerator.layout, double=False))
    with pytest.raises(InputError, match="does not compute in double precision, which a flow needs; use device cpu"):
        RisingBubbles(n=16).flow(accelerator.spec)


def test_viscosity_begins_from_what_it_added_before():
    flows = [RisingBubbles(n=24, density_ratio=0.001).flow() for _ in range(2)]
    needed = np.zeros((2, 12))
    for step in range(12):
        flows[1].increment_steps = [0.0, 0.0]
        for k, flow in enumerate(flows):
            advance(flow)
            needed[k, step] = flow.viscous_iterations
    assert needed[0, 4:].mean() < 0.6 * needed[1, 4:].mean()
    ours, anew = (flow.u for flow in flows)
    assert np.abs(ours - anew).max() < 0.01 * np.abs(anew).max()


def test_a_velocity_that_grows_without_bound_is_refused():
    flow = flow_of((16, 16), WATER_AIR, lambda grid: disc(grid, (0.5, 0.5), 0.25))
    advance(flow)
    flow.u[0] = 1e9
    with pytest.raises(InputError, match="the time step has collapsed to .* larger n"):
        flow.begin()
    flow.u[0] = np.nan
    with pytest.raises(InputError, match="not finite"):
        flow.begin()
