"""Names of runs that are shown together: distinct, short, and of what differs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.run import configure
from workbench.words.distinct import LONGEST, distinct_names
from workbench.words.names import run_parts

PROBLEMS = [
    ("bubbles-2d", {"n": 96}),
    ("bubbles-2d", {"n": 128, "density_ratio": 1e-6}),
    ("bubbles-3d", {"n": 48}),
    ("poisson5", {"n": 64}),
]
CHOICES = {
    "solver": ("cg", "pipecg", "chronopoulos-gear", "block-cg", "hybrid3"),
    "preconditioner": ("none", "jacobi", "neumann:2", "schwarz:3x3,overlap=4", "amg:rs", "jacobi + neumann:1"),
    "deflation": ("none", "blocks:8", "levelset:8", "levelset:0", "stripes"),
    "coarse": ("auto", "cholesky", "multilevel"),
    "device": ("cpu", "opencl", "cuda:1"),
    "precision": ("float64", "mixed"),
    "rhs": ("problem", "random:8", "ones"),
    "x0": ("problem", "random"),
    "seed": (0, 7),
    "format": ("problem", "csr:8"),
}


def parts(problem, choices):
    name, given_by = PROBLEMS[problem]
    return run_parts({**choices, "problem": configure(name, **given_by).problem})


@st.composite
def runs(draw):
    pick = {name: st.sampled_from(values) for name, values in CHOICES.items()}
    problems = st.integers(0, len(PROBLEMS) - 1)
    made = [parts(draw(problems), draw(st.fixed_dictionaries(pick))) for _ in range(draw(st.integers(2, 6)))]
    # Runs of one configuration have one name, and their numbers tell them apart.
    return list({tuple(each.items()): each for each in made}.values())


@settings(max_examples=300, deadline=None)
@given(runs())
def test_names_are_distinct_and_short(made):
    names = distinct_names(made)
    assert len({*names}) == len(made) or len(made) == 1
    assert len(made) == 1 or max(map(len, names)) <= LONGEST


@settings(max_examples=100, deadline=None)
@given(runs(), st.sampled_from([("cpu", "opencl"), ("opencl", "cuda:1")]))
def test_two_runs_that_differ_in_the_device_alone_are_told_apart_by_it(made, devices):
    texts = [run_parts({"device": device})["device"] for device in devices]
    one, other = ({**made[0], "device": text} for text in texts)
    assert distinct_names([one, other]) == [text[0].upper() + text[1:] for text in texts]


@pytest.mark.parametrize(
    ("given_by", "name"),
    [
        ({"deflation": "blocks:8"}, "8² blocks"),
        ({"deflation": "blocks:1"}, "1 block"),
        ({"deflation": "levelset:0"}, "One vector per region"),
        ({"rhs": "random:8", "solver": "block-cg"}, "Block CG, b: 8 random columns"),
    ],
)
def test_what_a_run_does_not_have_is_not_named(given_by, name):
    plain = configure("bubbles-2d", n=96)
    assert distinct_names([plain.parts, configure("bubbles-2d", n=96, **given_by).parts])[1] == name


def test_blocks_of_a_cube_are_counted_in_space():
    assert configure("bubbles-3d", n=48, deflation="levelset:4").label == "CG, Jacobi, 4³ blocks split by phase"
    assert run_parts({"deflation": "blocks:4"})["deflation"] == "4 blocks per side"


def test_names_of_equal_runs_are_short_too():
    made = [{"solver": "conjugate gradients " * 5}] * 2
    assert [len(name) for name in distinct_names(made)] == [LONGEST, LONGEST]


def test_names_that_differ_in_the_case_of_their_first_letter_are_numbered():
    assert distinct_names([{"solver": "method one"}, {"solver": "Method one"}]) == ["Method one (1)", "Method one (2)"]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "n", "rtol"]), inner),
    max_leaves=4,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["problem", "solver", "deflation", "stopping", "rhs", "device", "x0"]), PLAIN))
def test_a_run_whose_file_has_odd_values_still_has_a_name(configuration):
    assert all(isinstance(name, str) for name in distinct_names([run_parts(configuration)]))


def test_settings_alone_follow_the_method_where_another_run_is_named_by_it():
    plain = configure("bubbles-2d", n=96, preconditioner="neumann:2").parts
    timed = {**plain, "timings": "with timings"}
    assert distinct_names([plain, timed]) == ["CG, Neumann 2", "CG, Neumann 2, with timings"]
    long = configure("bubbles-2d", n=96, preconditioner="neumann:2", deflation="levelset:8").parts
    assert distinct_names([long, {**long, "timings": "with timings"}])[1] == "CG, Neumann 2, 8² blocks…, with timings"


LONG = ("pipecg-rr", "pipe-pr-cg")


def test_names_that_are_equal_once_cut_keep_their_ends():
    entries = [
        configure("two-layer", n=8, solver=solver, preconditioner=boxes).parts
        for boxes in ("schwarz:2x2,overlap=2", "schwarz:3x3,overlap=0")
        for solver in LONG
    ]
    names = distinct_names(entries)
    assert names[::2] == ["Pipelined CG with…, Schwarz 2 × 2", "Pipelined CG…, Schwarz 3 × 3 (overlap 0)"]
    assert max(map(len, names)) <= 40


def test_a_cut_name_that_is_the_beginning_of_another_keeps_its_end():
    methods = ({}, {"preconditioner": "neumann:2"}, {"preconditioner": "neumann:2", "deflation": "levelset:8"})
    runs = [configure("bubbles-2d", n=n, **method).parts for n in (16, 24) for method in methods]
    names = distinct_names([*runs, {**runs[2], "timings": "with timings"}])
    assert names[2] == "16², Neumann 2, 8² blocks split by phase"
    assert names[-1] == "16², Neumann 2, 8² blocks…, with timings"


def test_methods_with_several_preconditioners_have_whole_names_with_their_boxes():
    entries = [
        configure("two-layer", n=48, solver=solver, preconditioner=f"schwarz:2x2,overlap={overlap}").parts
        for overlap in (2, 0)
        for solver in ("mpcg", "sum-cg")
    ]
    boxes = ("Schwarz 2 × 2", "Schwarz 2 × 2 (overlap 0)")
    assert distinct_names(entries) == [f"{method}, {each}" for each in boxes for method in ("MPCG", "Sum-CG")]


def test_names_do_not_differ_by_the_sign_of_a_cut_alone():
    each = [
        configure("two-layer", n=48, solver=solver, preconditioner=f"schwarz:2x2,overlap={overlap}").parts
        for overlap in (2, 0)
        for solver in LONG
    ]
    names = distinct_names(each)
    assert len({name.rstrip("…") for name in names}) == 4
    assert sum("overlap 0" in name for name in names) == 2
