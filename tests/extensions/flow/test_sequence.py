"""Sequences: starts, methods changed on the way, records, and what a method may count on."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from workbench.devices.interchange import on_host
from workbench.errors import InputError
from workbench.extensions.flow import records
from workbench.extensions.flow.reference import references
from workbench.extensions.flow.rising_bubbles import RisingBubbles
from workbench.extensions.flow.two_phase_flow import TwoPhaseFlow
from workbench.extensions.papers.comparison import deviation
from workbench.run import Prepared, configure
from workbench.run.cancellation import StoppedError
from workbench.run.choices.share_link import from_link, to_link
from workbench.sequences.sequence import Sequence
from workbench.sequences.starts import StartVectors, extend

SMALL = {"n": 24, "until": 0.2, "preconditioner": "neumann:2", "deflation": "levelset:4"}
TWO = {"bubbles": "0.3,0.4,0.17; 0.7,0.6,0.17", "density_ratio": 0.001}


def through(sequence):
    for _ in sequence:
        pass
    return sequence


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    sequence = through(Sequence("rising-bubbles", keep=True, **SMALL, **TWO))
    return sequence, records.save(sequence, tmp_path_factory.mktemp("flow") / "two")


def test_the_first_test_case_of_hysing():
    """On 40 x 80 cells within a tenth of a percent of the range of three groups."""
    series = through(Sequence("rising-bubbles", n=40, preconditioner="jacobi")).series
    found = {"rise_velocity": max(series["rise_velocity"]), "centre": series["centre"][-1]}
    found["circularity"] = min(series["circularity"])
    for name, reference in references("case1").items():
        assert abs(deviation(reference.values, found[name])) < 0.1
    assert series["time"][-1] == pytest.approx(3.0)
    assert np.ptp(series["volume"]) < 5e-4 * series["volume"][0]


def test_a_replay_equals_the_record(recorded):
    sequence, path = recorded
    method = {name: SMALL[name] for name in ("preconditioner", "deflation")}
    replayed = through(Sequence(str(path), **method))
    assert replayed.series["iterations"] == sequence.series["iterations"]
    np.testing.assert_array_equal(replayed.x, sequence.x)
    for step in (1, sequence.steps):
        np.testing.assert_array_equal(replayed.phase_at(step), sequence.phase_at(step))


def test_a_sequence_goes_on_as_if_it_had_not_been_saved(recorded, tmp_path):
    whole, _ = recorded
    part = Sequence("rising-bubbles", **SMALL, **TWO)
    for _ in range(8):
        part.step()
    resumed = through(records.resume(records.save(part, tmp_path / "part.seq.npz")))
    np.testing.assert_array_equal(resumed.x, whole.x)
    for name in ("time", "iterations", "rise_velocity", "moved_cells"):
        assert resumed.series[name] == whole.series[name]


def test_the_last_pressure_is_worth_more_with_changed_cells_continued(recorded):
    _, path = recorded
    means = {
        start: np.mean(through(Sequence(str(path), preconditioner="jacobi", start=start)).series["iterations"][5:])
        for start in ("zero", "last", "linear", "quadratic", "fischer:3")
    }
    assert means["linear"] < 0.9 * means["zero"]
    assert max(means[start] for start in ("last", "quadratic", "fischer:3")) < means["zero"]


def test_changed_cells_take_what_their_phase_would_have():
    """Functions linear in each phase are continued exactly, in 2D and 3D, also next to walls."""
    draw = np.random.default_rng(2)
    for shape in ((9, 7), (6, 7, 5)):
        places = np.indices(shape)
        before = places[-1] < 3
        inside = before.copy()
        inside[..., 3] |= draw.random(shape[:-1]) < 0.5
        slopes = draw.standard_normal(len(shape))
        linear = np.tensordot(slopes, places, 1)
        then, now = ((linear + 5 * phase).reshape(-1) for phase in (before, inside))
        vector = then.copy()
        extend([vector], inside, before, np.flatnonzero(inside != before))
        np.testing.assert_allclose(vector, now, atol=1e-12)
        assert np.abs(then - now).max() == pytest.approx(5)


def test_extrapolation_is_exact_for_polynomials_of_its_degree():
    coefficients = np.random.default_rng(1).standard_normal((3, 5))
    for degree, kind in enumerate(("last", "linear", "quadratic")):
        starts = StartVectors(kind)
        x = lambda time, degree=degree: sum(coefficients[k] * time**k for k in range(degree + 1))  # noqa: E731
        for time in (0.0, 0.1, 0.25, 0.35):
            starts.note(x(time), time)
        np.testing.assert_allclose(starts.vector(0.5, np.zeros(5), lambda v: v), x(0.5), atol=1e-12)


def test_another_method_takes_over_between_two_steps():
    sequence = Sequence("rising-bubbles", **SMALL)
    sequence.step()
    sequence.use(preconditioner="mg", deflation="none")
    sequence.step()
    assert [mark.step for mark in sequence.methods[0].marks] == [1, 2]
    assert sequence.configuration.problem == sequence.problem
    sequence.reset()
    assert (sequence.steps, [mark.step for mark in sequence.methods[0].marks]) == (0, [1])
    with pytest.raises(InputError, match="the problem of a sequence stays"):
        sequence.use(n=32)


def test_further_methods_solve_the_same_systems(tmp_path):
    alone = Sequence("rising-bubbles", **SMALL)
    sequence = Sequence("rising-bubbles", others=[{"preconditioner": "mg", "deflation": "none"}], **SMALL)
    for _ in range(3):
        alone.step()
        sequence.step()
    late = sequence.add(start="zero")
    lame = sequence.add(preconditioner="jacobi", deflation="none", stopping={"maxiter": 2})
    alone.step()
    sequence.step()
    np.testing.assert_array_equal(sequence.x, alone.x)
    leading, mg, *_ = sequence.methods
    assert leading.iterations == alone.series["iterations"]
    assert all(0 < few <= many for few, many in zip(mg.iterations, leading.iterations, strict=True))
    assert np.isnan(late.iterations[:3]).all()
    assert late.iterations[3] > leading.iterations[3]
    assert "not converged" in lame.failure
    assert np.isnan(lame.iterations[3])
    sequence.remove(lame)
    again = records.resume(records.save(sequence, tmp_path / "three"))
    np.testing.assert_array_equal(again.methods[2].iterations, late.iterations)
    assert again.step().number == 5


def test_a_step_that_fails_can_be_made_by_another_method():
    sequence = Sequence("rising-bubbles", n=24, preconditioner="jacobi", stopping={"maxiter": 2})
    with pytest.raises(InputError, match="step 1 at time .* not converged"):
        sequence.step()
    sequence.use(preconditioner="mg", stopping={"maxiter": 100})
    assert sequence.step().number == 1


def test_a_replay_that_is_stopped_renews_what_its_methods_have_not_reached(recorded):
    _, path = recorded
    method, second = {"preconditioner": "jacobi"}, {"preconditioner": "neumann:2", "deflation": "levelset:4"}
    whole, part = (Sequence(str(path), others=[second], **method) for _ in range(2))
    while (step := whole.step()) is not None:
        if step.moved_cells or step.number == 1:
            with pytest.raises(StoppedError):
                part.step(lambda: True)
        part.step()
    assert max(whole.series["moved_cells"]) > 0
    assert part.series["moved_cells"] == whole.series["moved_cells"]
    assert [each.iterations for each in part.methods] == [each.iterations for each in whole.methods]


def failing(sequence, monkeypatch, cause):
    """Begin a step that does not end, after a step that renews distances and owners."""
    if cause == "stopped":
        # In the solve of the second method, when the first has ended its own.
        second = sequence.methods[1]
        solve, begun = second.solve, []
        monkeypatch.setattr(second, "solve", lambda *given: begun.append(1) or solve(*given))
        with pytest.raises(StoppedError):
            sequence.step(lambda: bool(begun))
        return
    name = "_transport" if cause == "level set" else "_viscosity"
    part = getattr(TwoPhaseFlow, name)

    def spoiled(flow):
        part(flow)
        (flow.phi if cause == "level set" else flow.u[1])[np.abs(flow.phi).argmin()] = np.nan

    monkeypatch.setattr(TwoPhaseFlow, name, spoiled)
    with pytest.raises(InputError, match=f"the {cause} is not finite in the step after time .*; use a larger n"):
        sequence.step()
    monkeypatch.undo()


@pytest.mark.parametrize("cause", ["stopped", "velocity", "level set"])
def test_a_step_that_does_not_end_leaves_the_state_before_it(cause, tmp_path, monkeypatch):
    """It can be saved, resumed, and stepped on, as if it had not been begun."""
    second = {"preconditioner": "jacobi", "deflation": "none"}
    whole, part = (Sequence("rising-bubbles", keep=True, others=[second], **SMALL, **TWO) for _ in range(2))
    for _ in range(10):
        whole.step()
        part.step()
    before = part.systems.state()
    failing(part, monkeypatch, cause)
    assert part.steps == len(part.kept) == len(part.methods[1].iterations) == 10
    for name, values in part.systems.state().items():
        np.testing.assert_array_equal(values, before[name])
    resumed = records.resume(records.save(part, tmp_path / "part"))
    for sequence in (whole, part, resumed):
        sequence.step()
    for sequence in (part, resumed):
        np.testing.assert_array_equal(sequence.x, whole.x)
        assert sequence.series["rise_velocity"] == whole.series["rise_velocity"]
    assert [method.iterations for method in part.methods] == [method.iterations for method in whole.methods]


def test_a_time_step_that_collapses_ends_the_sequence_with_its_state_kept(tmp_path):
    sequence = Sequence("rising-bubbles", **SMALL)
    sequence.step()
    sequence.systems.flow.u[0, 500] = 1e9
    flow = sequence.systems.flow
    before = {name: values.copy() for name, values in sequence.systems.fields().items()}, flow.time, flow.dt
    for _ in range(2):
        with pytest.raises(InputError, match="the time step has collapsed to .* since the velocity has grown to"):
            sequence.step()
    for name, values in sequence.systems.fields().items():
        np.testing.assert_array_equal(values, before[0][name], err_msg=name)
    assert (flow.time, flow.dt) == before[1:]
    assert records.resume(records.save(sequence, tmp_path / "before")).steps == 1


def test_levels_of_mg_are_renewed_where_they_are_too_old(recorded, monkeypatch, tmp_path):
    """Also where no cell changes in a step whose number is a multiple."""
    kept, moved = [], []
    update = Prepared.update

    def noted(prepared, values, **settings):
        kept.append(settings["keep_coarse"])
        moved.append(sequence.steps)
        return update(prepared, values, **settings)

    monkeypatch.setattr(Prepared, "update", noted)
    sequence = Sequence(str(recorded[1]), preconditioner="mg", deflation="none", renewed_every=3)
    for _ in range(4):
        sequence.step()
    again = records.resume(records.save(sequence, tmp_path / "kept"))
    assert again.methods[0].label.endswith("levels of every 3rd step")
    through(sequence)
    made, expected = 0, []
    for step in moved:
        expected.append(step - made < 3)
        made = made if expected[-1] else step
    assert kept == expected
    assert {True, False} <= set(kept)
    assert any(not keep and step % 3 for keep, step in zip(kept, moved, strict=True))
    with pytest.raises(InputError, match="renewed_every keeps coarse levels of preconditioner mg, and jacobi has none"):
        sequence.use(preconditioner="jacobi", renewed_every=2)


def test_seven_bubbles_are_numbered_and_need_few_iterations():
    sequence = Sequence(
        "rising-bubbles", n=64, height=1.0, count=7, radius=0.08, geometry_seed=3, density_ratio=0.001, until=0.05,
        preconditioner="neumann:2", deflation="levelset:16", coarse="multilevel",
    )  # fmt: skip
    for _ in range(5):
        sequence.step()
    assert sequence.series["bubbles"][-1] == 7
    assert sorted(np.unique(sequence.labels).tolist()) == list(range(8))
    assert max(sequence.series["iterations"]) <= 20


def test_a_sequence_on_an_accelerator_is_that_of_the_cpu(accelerator):
    """Phases, and solutions to the tolerance, next to a second method on the cores; the setup has the last phase."""
    problem: Any = {"n": 27, "height": 30 / 27, "count": 2, "geometry_seed": 5, "radius": 0.16, "density_ratio": 0.01}
    method: Any = {
        "preconditioner": "neumann:2",
        "deflation": "levelset:9",
        "coarse": "multilevel",
        "variant": "a-def2",
    }
    cores = Sequence("rising-bubbles", volume_error=1e-9, **problem, **method)
    other = Sequence("rising-bubbles", volume_error=1e-9, device=accelerator.spec, **problem, **method)
    other.add(device="cpu", preconditioner="mg")
    for _ in range(9):
        ours, theirs = cores.step(), other.step()
        assert ours
        assert theirs
        assert theirs.moved_cells == ours.moved_cells
        np.testing.assert_array_equal(np.asarray(other.labels), cores.labels)
        np.testing.assert_array_equal(other.phase_at(other.steps), cores.phase_at(cores.steps))
        np.testing.assert_allclose(on_host(other.x, "x"), cores.x, rtol=0, atol=1e-6 * np.abs(cores.x).max())
    assert sum(cores.series["moved_cells"]) > 2
    assert not other.methods[1].failure
    prepared = other.methods[0]._prepared
    assert prepared
    of_phase = dataclasses.replace(prepared.system, phase=np.asarray(cores.labels).reshape(-1))
    fresh = Prepared(prepared.configuration, dataclasses.replace(of_phase, operator=prepared.system.operator))
    b = np.random.default_rng(0).standard_normal(cores.x.size)
    np.testing.assert_array_equal(prepared.solve(b - b.mean()).x, fresh.solve(b - b.mean()).x)


def test_heat_is_kept_and_bounded():
    series = through(Sequence("heat-steps", n=40, count=4, until=0.1, stopping={"rtol": 1e-10})).series
    assert np.ptp(series["heat"]) < 1e-8 * series["heat"][0]
    assert np.all(np.diff(series["hottest"]) < 0)
    assert min(series["coldest"]) >= 0


def test_the_first_system_is_a_problem_that_a_link_shares():
    configuration = configure("rising-bubbles", n=16, eotvos=20, start="fischer:4", preconditioner="mg")
    assert from_link(to_link(configuration)) == configuration
    system = configuration.problem.assemble()
    assert system.grid == (32, 16)
    assert abs(system.b.sum()) < 1e-10 * np.abs(system.b).sum()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"n": 8}, "a bubble of radius 0.25 has 2 cells, at least 4 are needed; use 16 or more cells per side"),
        ({"bubbles": "0.26,0.5,0.25"}, "bubble 1 is 0.64 cells from a wall"),
        ({"bubbles": "0.3,0.5,0.19; 0.7,0.5,0.2"}, "bubbles 1 and 2 are 0.64 cells apart"),
        ({"bubbles": "0.3,1.8,0.19"}, "bubble 1 is 0.64 cells from a wall"),
        (
            {"count": 7, "n": 32},
            "a bubble of radius 0.0683 has 2.2 cells, at least 4 are needed; use 59 or more cells per side",
        ),
        (
            {"count": 1000},
            r"only \d+ of 1000 bubbles with radius .* use fewer or smaller bubbles",
        ),
        ({"n": 24, "height": 1.03}, r"height 1.03 is 24.72 cells of n = 24, .* use height 1.041666667, or another n"),
        ({"density_ratio": 0}, "density_ratio must be between 0.0001 and 1, got 0"),
        ({"start": "fischer:0"}, "start is one of zero, last, linear, quadratic, or fischer:1 to fischer:32"),
        ({"ranks": 2}, "a prepared solve runs in one process"),
        ({"solver": "block-cg"}, "one column at a time"),
    ],
)
def test_what_cannot_be_begun_is_refused(values, sentence):
    with pytest.raises(InputError, match=sentence):
        Sequence("rising-bubbles", **values).step()


@pytest.mark.parametrize(("dimensions", "n", "count"), [(2, 48, 3), (2, 64, 9), (3, 48, 7)])
def test_bubbles_at_random_keep_from_walls_and_each_other(dimensions, n, count):
    """At least 4 cells of radius and 2 cells apart with every seed; where more cells allow it, no further."""
    moved = 0
    for seed in range(12):
        box = {"dimensions": dimensions, "count": count, "geometry_seed": seed, "height": 1.0}
        found, fine = (RisingBubbles(n=cells, **box).geometry() for cells in (n, 160))
        assert found.radii.min() * n >= 4 - 1e-9
        assert min((found.centres.T - found.radii).min(), (1 - found.centres.T - found.radii).min()) * n >= 2 - 1e-9
        for k, centre in enumerate(found.centres[1:], 1):
            apart = np.linalg.norm(found.centres[:k] - centre, axis=1) - found.radii[:k] - found.radii[k]
            assert apart.min() * n >= 2 - 1e-9
        moved += not np.array_equal(found.centres, fine.centres)
    assert 0 < moved < 12


def test_one_system_is_no_sequence():
    with pytest.raises(InputError, match="'two-layer' is one system; a sequence is rising-bubbles"):
        Sequence("two-layer")


def test_files_that_are_no_records_are_refused(recorded, tmp_path):
    _, path = recorded
    whole = path.read_bytes()
    (tmp_path / "cut.seq.npz").write_bytes(whole[: len(whole) // 2])
    arrays = dict(np.load(path))
    np.savez(tmp_path / "other.seq.npz", **{**arrays, "format": np.array("workbench sequence 9")})
    np.savez(tmp_path / "foreign.seq.npz", x=np.ones(3))
    np.savez(tmp_path / "short.seq.npz", **{**arrays, "phases": arrays["phases"][1:]})
    b = arrays["b"].copy()
    b[2, 3] = np.nan
    np.savez(tmp_path / "nan.seq.npz", **{**arrays, "b": b})
    for name, sentence in {
        "cut": "damaged or has another format",
        "other": "version 9, this workbench reads 1",
        "foreign": "no record of a sequence",
        "short": "its phases have the shape",
        "nan": "not finite",
        "none": "no record of a sequence at",
    }.items():
        with pytest.raises(InputError, match=sentence):
            Sequence(str(tmp_path / f"{name}.seq.npz"))


def test_a_record_names_blocks_by_its_grid_and_counts_vectors(tmp_path):
    made = Sequence("rising-bubbles", n=16, until=0.02, keep=True, preconditioner="neumann:2", deflation="blocks:4")
    made.step()
    made.step()
    path = records.save(made, tmp_path / "steps")
    replayed = Sequence(
        f"recorded:{path}", preconditioner="neumann:2", deflation="blocks:4", others=[{"deflation": "none"}]
    )
    assert replayed.problem.grid == (32, 16)
    replayed.run()
    counted = {row["method"]: row["deflation_vectors"] for row in replayed.ranking()}
    assert counted == {"CG, Neumann 2, 4² blocks": 16, "CG, Neumann 2": 0}
    assert configure("recorded").problem.grid is None
