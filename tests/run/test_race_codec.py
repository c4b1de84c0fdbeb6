"""A race as it ended, as a link and as a file: what goes in comes out, and anything else is refused in a sentence."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.records import History, Record
from workbench.run import Race, configure, user_solver
from workbench.run.jobs import race_codec as codec
from workbench.run.jobs import race_curves
from workbench.run.jobs.race_codec import (
    LINK,
    SHORT,
    from_link,
    load_race,
    plain_of,
    read_race,
    save_race,
    to_link,
)
from workbench.run.jobs.race_curves import FILE_POINTS, KEPT, POINTS
from workbench.run.jobs.race_record import EntryRecord, RaceRecord
from workbench.run.jobs.ranking import MEASURES, Sample, rank

METHODS = [
    configure("two-layer", n=16, preconditioner=preconditioner, deflation=deflation)
    for preconditioner, deflation in (("jacobi", "none"), ("neumann:2", "none"), ("neumann:2", "blocks:2"))
]


def record_of(configuration, relative, seconds, **facts):
    """A run with this relative residual and clock."""
    history = History()
    history.extend(residual=np.array(relative, float), seconds=np.array(seconds, float))
    summary = {
        "N": 256, "iterations": len(relative) - 1, "converged": True, "reason": "converged",
        "relative_residual": float(relative[-1]), "true_relative_residual": float(relative[-1]),
        "setup_seconds": 0.25, "compile_seconds": 0.5, "iteration_seconds": float(seconds[-1]),
        "iteration_bytes": 4096, "deflation_vectors": 3 * configuration.deflated, **facts,
    }  # fmt: skip
    made = {"configuration": configuration.to_dict(), "started": "2026-11-30T06:20:00+00:00"}
    return Record(summary, {**made, "machine": {"cpu": "Some CPU"}, "workbench": "1.0"}, history, style=5)


def recalled(race):
    """The entries of a race record in a race, and their later runs."""
    again = Race()
    entries = [again.recall(each.configuration, each.record, each.error) for each in race.entries]
    return entries, {entry: each.samples for entry, each in zip(entries, race.entries, strict=True)}


@pytest.fixture(scope="module")
def ended():
    """A race that has ended, with a failed entry and one that waits."""
    race = Race([*METHODS, configure("two-layer", n=16, deflation="eigenvectors:400")])
    race.wait(LIMIT)
    entries = [EntryRecord.of(entry) for entry in race.entries]
    return RaceRecord.of([*entries, EntryRecord(METHODS[0])], 1e-6, verdict="the verdict")


@st.composite
def curves(draw):
    """A relative residual with its clock, and the clocks of later runs."""
    rows = draw(st.integers(1, 600))
    powers = draw(st.lists(st.floats(-14, 4), min_size=rows, max_size=rows))
    steps = draw(st.lists(st.floats(1e-6, 1e-2), min_size=rows, max_size=rows))
    clock = np.cumsum(steps) - steps[0]
    factors = draw(st.lists(st.floats(0.5, 2.0), max_size=6))
    return 10.0 ** np.array(powers), clock, [Sample(0.1 * factor, clock * factor) for factor in factors]


@settings(max_examples=40)
@given(st.lists(curves(), min_size=1, max_size=3), st.sampled_from([1e-6, 3.3e-4, 1e-9]), st.sampled_from(MEASURES))
def test_ranks_iterations_and_times_come_back(found, tolerance, measure):
    entries = [
        EntryRecord(configuration, record_of(configuration, relative, clock), "", tuple(samples), 7, 9, "a name")
        for configuration, (relative, clock, samples) in zip(METHODS, found, strict=False)
    ]
    race = RaceRecord.of(entries, tolerance, measure)
    back = from_link(to_link(race))
    assert dataclasses.replace(back, entries=()).__dict__ == dataclasses.replace(race, entries=()).__dict__
    for one, other in zip(race.entries, back.entries, strict=True):
        kept = [(each.configuration, each.number, each.listed, each.given) for each in (one, other)]
        assert kept[0] == kept[1]
        assert {name: other.record.summary[name] for name in one.record.summary} == one.record.summary
        assert other.record.style == 5
        assert other.record.history.count == one.record.history.count
    (first, samples), (second, again) = recalled(race), recalled(back)
    for level in {*KEPT, tolerance}:
        one = rank(first, level, measure, samples=samples)
        other = rank(second, level, measure, samples=again)
        assert [finish.iterations for finish in one.finished] == [finish.iterations for finish in other.finished]
        assert [finish.amount for finish in other.finished] == pytest.approx(
            [finish.amount for finish in one.finished], rel=1e-3, abs=1e-6
        )


@given(st.integers(2, 20_000), st.integers(0, 2**32 - 1))
def test_a_curve_keeps_its_ends_and_what_it_reaches(count, seed):
    random = np.random.default_rng(seed)
    relative = np.exp(-np.arange(count) * 30 / count + random.normal(size=count))
    clock = np.cumsum(random.exponential(size=count))
    reached = race_curves.reached(relative, 1e-6)
    for points in (50, POINTS, FILE_POINTS):
        rows = race_curves.thinned(relative, clock, reached, points)
        assert rows.size <= max(points, 60)
        assert rows[0] == 0
        assert rows[-1] == count - 1
        assert set(reached) <= set(rows.tolist())


def test_a_race_that_was_run_comes_back_as_it_ended(ended, tmp_path):
    path = save_race(ended, tmp_path / "one")
    assert path.name == "one.cg-race.json"
    for back in (from_link(to_link(ended)), load_race(path)):
        assert back.verdict == "the verdict"
        assert back.where.endswith(ended.machine)
        assert [each.ended for each in back.entries] == [True, True, True, True, False]
        assert "400 vectors" in back.entries[3].error
        for one, other in zip(ended.entries[:3], back.entries, strict=False):
            summary = other.record.summary
            assert summary["deflation"] == one.record.summary["deflation"]
            assert summary["iteration_bytes"] > 0
            assert np.allclose(other.record.relative_residual, one.record.relative_residual, rtol=1e-3)
            # Short curves are whole.
            assert not other.record.provenance["notes"]


def test_a_link_of_long_runs_is_short_and_says_that_it_is_thinned():
    random = np.random.default_rng(1)
    made = []
    for configuration in METHODS:
        relative = np.exp(-np.linspace(0, 14, 20_000) + random.normal(size=20_000))
        clock = np.cumsum(random.exponential(size=20_000)) * 1e-3
        samples = tuple(Sample(0.1, clock * factor) for factor in random.uniform(0.9, 1.1, 10))
        made.append(EntryRecord(configuration, record_of(configuration, relative, clock), "", samples))
    link = to_link(RaceRecord.of(made, 1e-6))
    assert len(link) <= SHORT
    record = from_link(link).entries[0].record
    assert record.history.count == 20_000
    (note,) = record.provenance["notes"]
    assert note.startswith("The curve of this run is thinned to ")


def test_what_no_link_holds_is_refused(ended):
    own = dataclasses.replace(METHODS[0], solver=user_solver("mine"))
    with pytest.raises(InputError, match="user-defined method"):
        to_link(RaceRecord.of([EntryRecord(own)], 1e-6))
    many = RaceRecord.of([EntryRecord(METHODS[0])] * 101, 1e-6)
    with pytest.raises(InputError, match="at most 100 entries"):
        to_link(many)


@given(st.binary(max_size=300))
def test_random_bytes_are_one_sentence(content):
    with pytest.raises(InputError) as refused:
        read_race(content, "a file")
    assert str(refused.value).count("\n") == 0
    with pytest.raises(InputError):
        from_link(LINK.prefix + content.decode("latin-1"))


@pytest.mark.parametrize("text", ["", "cgw1.AAAA", "cgr2.AAAA", "cgr1.", "hello"])
def test_other_links_are_one_sentence(text):
    with pytest.raises(InputError):
        from_link(text)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.just(10**400), st.floats(), st.text(max_size=9),
    st.just([]), st.just({}), st.lists(st.integers(-9, 2**40), max_size=4),
)  # fmt: skip


def places_in(plain, above=()):
    """The paths to all values of plain data."""
    inner = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for key, value in inner:
        yield (*above, key)
        yield from places_in(value, (*above, key))


@settings(max_examples=150)
@given(st.data())
def test_a_changed_file_opens_or_is_one_sentence(ended, data):
    plain = json.loads(json.dumps(plain_of(ended, 20)))
    *above, last = data.draw(st.sampled_from(list(places_in(plain))))
    place = plain
    for key in above:
        place = place[key]
    place[last] = data.draw(VALUES)
    try:
        race = codec.race_of(plain)
    except InputError:
        return
    entries, samples = recalled(race)
    assert rank(entries, 1e-6, "seconds", samples=samples).tolerance == 1e-6
    assert math.isfinite(race.tolerance)
    assert race.where.startswith("on ")
    # What opens can be shared again.
    assert len(from_link(to_link(race)).entries) == len(race.entries)


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        ("relative_residual", 10**400), ("true_relative_residual", -1.0), ("drift", 10**400), ("N", 2**63 - 1),
        ("setup_seconds", 2**63 - 1), ("iteration_seconds", -1.0), ("setup_seconds", math.nan),
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_a_number_that_no_run_has_is_refused(ended, fact, value):
    plain = plain_of(ended, 20)
    plain["entries"][0]["run"]["facts"][fact] = value
    with pytest.raises(InputError, match=f"the {fact} of a run of the race cannot be read"):
        codec.race_of(plain)


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_a_time_beyond_the_calendar_is_left_out(ended, time):
    assert dataclasses.replace(ended, ended=time, machine="some machine").where == "on some machine"


def test_a_run_that_was_stopped_before_its_first_row_is_as_before_its_start(ended):
    record = dataclasses.replace(ended.entries[0].record, history=History())
    race = RaceRecord.of([EntryRecord(METHODS[0], record), ended.entries[1]], 1e-6)
    first, second = from_link(to_link(race)).entries
    assert (first.configuration, first.ended, second.ended) == (METHODS[0], False, True)


def test_entries_on_two_systems_are_no_race(ended):
    other = configure("two-layer", n=20)
    with pytest.raises(InputError, match="entries of a race solve one system, and these have Two layers, 16² "):
        to_link(RaceRecord.of([EntryRecord(METHODS[0]), EntryRecord(other)], 1e-6))
    plain = plain_of(ended, 20)
    plain["entries"] += plain_of(RaceRecord.of([EntryRecord(other)], 1e-6), 20)["entries"]
    with pytest.raises(InputError, match="entries of a race solve one system"):
        codec.race_of(plain)


def test_another_file_is_refused_by_name(tmp_path):
    path = tmp_path / "a.cg-race.json"
    path.write_text('{"format": "cgw1"}')
    with pytest.raises(InputError, match=r"a\.cg-race\.json is no saved race of version 1"):
        load_race(path)
    path.write_text('{"format": "cgr1", "race": {"entries": []}}')
    with pytest.raises(InputError, match=r"a\.cg-race\.json is damaged: in its race, tolerance, measure"):
        load_race(path)
