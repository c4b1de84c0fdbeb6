"""Names of blocks, problems, runs and kernels."""

import pytest

from workbench.registry import find, kinds, registered
from workbench.run import configure, user_solver
from workbench.words.distinct import distinct_names
from workbench.words.names import (
    block_name,
    code,
    kernel_name,
    method_name,
    name_of,
    run_parts,
    shortened,
    typeset_words,
    with_names,
)
from workbench.words.numbers import chosen

RUN = configure("bubbles-2d", n=96, preconditioner="neumann:2", deflation="levelset:8")


def test_a_run_is_named_by_its_blocks_and_a_problem_by_what_it_is():
    assert RUN.label == "CG, Neumann 2, 8² blocks split by phase"
    assert RUN.problem.label == "4 bubbles in a square, 96²"
    assert RUN.code == "cg + neumann:2 + levelset:8"
    assert RUN.problem.changed({"density_ratio": 1e-6}).label == "4 bubbles in a square, 96², density ratio 10⁻⁶"


@pytest.mark.parametrize(
    ("kind", "text", "name"),
    [
        ("preconditioner", "schwarz:3x3,overlap=4", "Schwarz 3 × 3 (overlap 4)"),
        ("preconditioner", "jacobi + neumann:1", "Jacobi + Neumann 1"),
        ("preconditioner", "amg:rs", "algebraic multigrid of PyAMG (method Ruge-Stüben)"),
        ("preconditioner", "none", "no preconditioner"),
        ("deflation", "blocks:1", "1 block"),
        ("deflation", "levelset:0", "one vector per region"),
        ("coarse", "multilevel:cg", "multilevel cycles (cycle cg)"),
        ("solver", "hybrid1:fused=no", "hybrid CG 1 (fuse kernels of the accelerator no)"),
    ],
)
def test_a_block_is_named_with_what_differs_from_its_defaults(kind, text, name):
    assert block_name(find(kind, text)) == name


def test_no_name_is_code_and_no_two_blocks_share_one():
    for kind in kinds():
        if kind != "problem":
            names = {name: block_name(cls()) for name, cls in registered(kind).items()}
            assert len(set(names.values())) == len(names)
            assert not any(name == code(registered(kind)[each]()) for each, name in names.items())


def test_runs_are_named_by_what_differs_between_them():
    plain = configure("bubbles-2d", n=96, preconditioner="neumann:2")
    larger = configure("bubbles-2d", n=128, preconditioner="neumann:2", stopping={"rtol": 1e-9})
    assert distinct_names([RUN.parts, plain.parts]) == ["8² blocks split by phase", "No deflation"]
    assert distinct_names([plain.parts, larger.parts]) == ["96², tolerance 10⁻⁶", "128², tolerance 10⁻⁹"]
    assert distinct_names([plain.parts, larger.parts], "size", "rtol") == ["CG, Neumann 2"] * 2
    assert distinct_names([RUN.parts, RUN.parts]) == [RUN.label] * 2
    mixed = configure("bubbles-2d", n=96, preconditioner="neumann:2", precision="mixed", format="csr:8")
    assert distinct_names([plain.parts, mixed.parts])[1] == "Mixed precision, A: csr 8"


def test_a_summary_names_blocks_that_the_configuration_lacks():
    parts = run_parts(
        {}, {"problem": {"name": "given"}, "solver": "cg", "preconditioner": "gone:3", "deflation": "none"}
    )
    assert parts["problem"] == "system in memory"
    assert method_name(parts) == "CG, gone:3"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A p, Z^T", "A\u202fp, Zᵀ"),
        ("E^-1", "E⁻¹"),
        ("A2 v", "A₂\u202fv"),
        ("r = r - alpha*s", "r = r − α\u202fs"),
        ("x = x + alpha*p; r = r - alpha*s; rr = (r, r)", "x, r, (r, r)"),
        ("gamma = gamma_part + gamma_there; beta = gamma/previous", "γ, β"),
        ("S = A(X)", "A\u202fX"),
        ("smooth, level 0", "smooth, level 0"),
        ("; ".join(f"{name} = b + c" for name in "defghijklmnop"), "d, e, f and 10 more"),
    ],
)
def test_kernels_are_named_as_mathematics(text, name):
    assert kernel_name(text) == name


def test_a_users_method_is_named_as_its_user_named_it():
    assert block_name(user_solver("my-cg")) == "method my-cg"
    assert name_of("solver", user_solver("my-cg").to_dict()) == "method my-cg"


def test_numbers_that_were_chosen_have_their_digits():
    numbers = (0, 0.25, 1e-4, 2.5e-7, 1e6, 20_000, -1e-6)
    assert " ".join(map(chosen, numbers)) == "0 0.25 10⁻⁴ 2.5\u202f×\u202f10⁻⁷ 10⁶ 20\u202f000 −10⁻⁶"


def test_sentences_on_devices_and_precisions_have_their_names():
    assert with_names("device cpu is there, precision float64 not") == "device CPU is there, precision double not"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("number of bubbles; k^2 for a grid", "number of bubbles; k² for a grid"),
        ("stop at norm <= max(rtol ||b||, atol)", "stop at norm ≤ max(rtol ‖b‖, atol)"),
        ("M^-1 = K^T D^-1 K, times h^-2", "M⁻¹ = Kᵀ D⁻¹ K, times h⁻²"),
        ("below 1e-06; 1e6 of name1e-06", "below 10⁻⁶; 10⁶ of name1e-06"),
        ("at most 2.5e-07, got '1e-6' in #5e3112", "at most 2.5\u202f×\u202f10⁻⁷, got '1e-6' in #5e3112"),
        ("x0 of ~/x0.npy; alpha = 0", "x₀ of ~/x0.npy; α = 0"),
        ("line 'delta = omega - beta*gamma/alpha'", "line 'delta = omega - beta*gamma/alpha'"),
        ("k x k blocks, a box x boxes", "k × k blocks, a box x boxes"),
    ],
)
def test_mathematics_in_sentences_is_printed_as_such(text, printed):
    assert typeset_words(text) == printed


@pytest.mark.parametrize(
    ("name", "most", "short"),
    [
        ("Neumann 2, 8² blocks", 20, "Neumann 2, 8² blocks"),
        ("Neumann 2, 8² blocks split by phase", 19, "Neumann 2, 8²…"),
        ("Neumann 2, 8² blocks split by phase", 21, "Neumann 2, 8² blocks…"),
        ("Neumann 2, 8² blocks", 12, "Neumann 2…"),
        ("a preconditionerofmine", 12, "a precondit…"),
    ],
)
def test_a_long_name_is_cut_between_words(name, most, short):
    assert shortened(name, most) == short
